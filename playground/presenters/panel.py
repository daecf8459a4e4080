"""Panel: what one panel shows, JSON-safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

Context = TypeVar("Context", covariant=True)
Card = TypeVar("Card", covariant=True)


@dataclass(frozen=True, slots=True)
class Panel(Generic[Context, Card]):
    """`context` is the panel's own data; `cards` maps an element's id to what that card shows, in the order they stand in.

    The types of both are what the panel's templates may read: tests/test_contexts.py compares them.
    """

    name: str
    context: Context
    cards: Mapping[str, Card] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The panel as a template or another process reads it."""
        return {"name": self.name, "context": self.context, "cards": self.cards}


AnyPanel: TypeAlias = Panel[Any, Any]
