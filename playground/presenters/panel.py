"""Panel: what one panel shows, JSON-safe."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from playground.presenters.look import Look
from playground.presenters.names import Names

NAMES_AS_THEY_ARE = Names()
Context = TypeVar("Context", covariant=True)
Card = TypeVar("Card", covariant=True)


@dataclass(frozen=True, slots=True)
class Panel(Generic[Context, Card]):
    """`context` is the panel's own data; `cards` maps an element's id to what that card shows, in the order they stand in. `names` are the
    short forms of the cluster's names (`{{ name|apart }}`).

    The types of both are what the panel's templates may read: tests/test_contexts.py compares them.
    """

    name: str
    context: Context
    cards: Mapping[str, Card] = field(default_factory=dict)
    names: Names = NAMES_AS_THEY_ARE

    def to_json(self) -> dict[str, Any]:
        """The panel as a template or another process reads it."""
        return {"name": self.name, "context": self.context, "cards": self.cards}


AnyPanel: TypeAlias = Panel[Any, Any]


class Shown(Struct, frozen=True):
    """Panels by name."""

    position: int
    panels: dict[str, AnyPanel]


class PanelChange(Struct, frozen=True):
    """The differences in a panel: the whole panel, or the changed cards."""

    name: str
    panel: AnyPanel | None = None
    cards: dict[str, dict[str, Any]] = {}
    names: Names = NAMES_AS_THEY_ARE


class Delta(Struct, frozen=True):
    """The differences on a page, and the pods that moved."""

    panels: list[PanelChange]
    moved: list[str]


class Seen(Struct, frozen=True, array_like=True):
    """The contents of a page: a position, with a look."""

    position: int
    look: Look
