"""Panel: what one panel shows, JSON-safe."""

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


class ShownPanels(Struct, frozen=True):
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


class SeenPage(Struct, frozen=True, array_like=True):
    """The contents of a page: a position, with a look."""

    position: int
    look: Look


Body = TypeVar("Body", covariant=True)


@dataclass(frozen=True, slots=True)
class Stage(Generic[Body, Card]):
    """`question` heads the stage; `detail` and then `facts`, a few words each, stand beside it.

    `body` is the stage's own data, for templates/panels/stage/<name>.html.

    `forms` are the other forms of the same answer: name to title, the first one is shown unless the look names another. The form "nodes" is
    the cluster map, which stands beneath the stage; `map` says whether it is seen below the other forms as well. Of `cards`, by the ids of
    their elements, only those that change are sent; each names its template by its `kind` (templates/panels/stage/<kind>.html).
    """

    question: Message
    body: Body
    detail: Message | None = None
    forms: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    map: bool = False
    facts: list[Message] = field(default_factory=list)
