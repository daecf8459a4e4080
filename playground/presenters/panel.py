"""Panels as JSON-safe data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from playground.presenters.look import Look
from playground.presenters.names import Names
from playground.presenters.words import Message

NAMES_AS_THEY_ARE = Names()
Context = TypeVar("Context", covariant=True)
Card = TypeVar("Card", covariant=True)


@dataclass(frozen=True, slots=True)
class Panel(Generic[Context, Card]):
    """`context` is the panel's own data; `cards` maps the ids of elements to their data, in display order. `names` are the cluster's
    short names (`{{ name|apart }}`).

    The panel's templates may read the types of both: tests/test_contexts.py compares them.
    """

    name: str
    context: Context
    cards: Mapping[str, Card] = field(default_factory=dict)
    names: Names = NAMES_AS_THEY_ARE

    def to_json(self) -> dict[str, Any]:
        """Return the panel for a template or another process."""
        return {"name": self.name, "context": self.context, "cards": self.cards}


AnyPanel: TypeAlias = Panel[Any, Any]


class ShownPanels(Struct, frozen=True):
    """The panels of a position, by name."""

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


class SeenPage(Struct, frozen=True, array_like=True):
    """The contents of a page: a position, with a look."""

    position: int
    look: Look


Body = TypeVar("Body", covariant=True)


@dataclass(frozen=True, slots=True)
class Stage(Generic[Body, Card]):
    """`question` is the heading; `detail` and then `facts`, a few words each, are shown beside it.

    `body` is the stage's own data, for templates/panels/stage/<name>.html.

    `forms` are alternative displays, name to title; the first is the default. The form "nodes" is the cluster map below the stage; `map`
    shows it below the other forms, too. Only changed `cards` are sent, by the ids of their elements; `kind` selects a card's template
    (templates/panels/stage/<kind>.html).
    """

    question: Message
    body: Body
    detail: Message | None = None
    forms: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    map: bool = False
    facts: list[Message] = field(default_factory=list)
