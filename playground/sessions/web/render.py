"""Deltas as HTML: out-of-band fragments from the templates that the page itself is made of."""

from typing import Any

from django.template.loader import get_template


def render_delta(panels: list[dict[str, Any]]) -> str:
    """A panel that changed as a whole comes with `cards`, else only the cards that changed come, each with its `card`."""
    return "".join(_render(panel) for panel in panels)


def _render(panel: dict[str, Any]) -> str:
    if "card" in panel:
        template = get_template(f"playground/panels/{panel['name']}_card.html")
        return template.render({"card": panel["card"], "id": panel["id"], "oob": True})
    return get_template(f"playground/panels/{panel['name']}.html").render({"panel": panel, "oob": True})
