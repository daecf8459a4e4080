"""Deltas as HTML: out-of-band fragments from the templates that the page itself is made of."""

from __future__ import annotations

from collections.abc import Iterable

from django.template.loader import get_template

from playground.sessions.protocol.looking import PanelChange


def render_delta(changes: Iterable[PanelChange]) -> str:
    """A panel that changed as a whole, or the cards of it that changed."""
    return "".join(map(_render, changes))


def _render(change: PanelChange) -> str:
    if change.panel is not None:
        template = get_template(f"playground/panels/{change.name}.html")
        return template.render({"panel": change.panel, "oob": True})
    template = get_template(f"playground/panels/{change.name}_card.html")
    return "".join(
        template.render({"card": card, "id": name, "oob": True}) for name, card in change.cards.items()
    )
