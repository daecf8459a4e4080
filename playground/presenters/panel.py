"""Panel: what one panel shows, JSON-safe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from playground.presenters.look import Look


@dataclass(frozen=True, slots=True)
class Panel:
    """`context` is the panel's own data; `cards` maps an element's id to what that card shows, in the order they stand in."""

    name: str
    context: dict[str, Any]
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The panel as a template or another process reads it."""
        return {"name": self.name, "context": self.context, "cards": self.cards}


class Shown(Struct, frozen=True):
    """Panels by name."""

    position: int
    panels: dict[str, Panel]


class PanelChange(Struct, frozen=True):
    """The differences in a panel: the whole panel, or the changed cards."""

    name: str
    panel: Panel | None = None
    cards: dict[str, dict[str, Any]] = {}


class Delta(Struct, frozen=True):
    """The differences on a page, and the pods that moved."""

    panels: list[PanelChange]
    moved: list[str]


class Seen(Struct, frozen=True, array_like=True):
    """The contents of a page: a position, with a look."""

    position: int
    look: Look
