"""Panels as HTML: on a page, and as the out-of-band fragments of a delta. Both come from the same templates (templates/panels)."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from django.http import HttpRequest
from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, override

from playground.presenters.panel import AnyPanel, PanelChange
from playground.templating.words import words_now


def render_panels(
    panels: Mapping[str, AnyPanel], request: HttpRequest | None = None, standing: Mapping[str, Any] | None = None
) -> dict[str, SafeString]:
    """Panels by name, as a page has them. `standing` says where the viewer stands (templatetags/look.py)."""
    return {
        name: mark_safe(_render(name, {"panel": panel, "short_names": panel.names, **(standing or {})}, request))  # noqa: S308 - a template's
        for name, panel in panels.items()
    }


def render_delta(changes: Iterable[PanelChange], language: str | None = None) -> str:
    """A panel that changed as a whole, or the cards of it that changed, in a language; without one in that of the request."""
    with override(language or get_language()):
        shared = {"oob": True, "words": words_now()}
        return "".join(_render_change(change, shared) for change in changes)


def _render_change(change: PanelChange, shared: Mapping[str, Any]) -> str:
    if change.panel is not None:
        return _render(change.name, {**shared, "panel": change.panel, "short_names": change.panel.names})
    template = f"{change.name}_card"
    shared = {**shared, "short_names": change.names}
    return "".join(_render(template, {**shared, "id": name, "card": card}) for name, card in change.cards.items())


def _render(template: str, context: dict[str, Any], request: HttpRequest | None = None) -> str:
    html: str = _template(template).render(context, request)
    return html


@cache
def _template(name: str) -> Any:
    return get_template(f"{name}.html", using="panels")
