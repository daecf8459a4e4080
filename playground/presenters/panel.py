"""Panel: what one panel shows, JSON-safe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Panel:
    """`context` is the panel's own data; `cards` maps an element's id to what that card shows, in the order they stand in."""

    name: str
    context: dict[str, Any]
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The panel as a template or another process reads it."""
        return {"name": self.name, "context": self.context, "cards": self.cards}
