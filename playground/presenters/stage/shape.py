"""Shape: what each stage gives the stage panel."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from playground.presenters.words import Message

Body = TypeVar("Body", covariant=True)
Card = TypeVar("Card", covariant=True)


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
