"""The request for a sequence diagram, and its answer."""

from typing import NotRequired, TypedDict

from playground.presenters.words import Message
from playground.sessions.protocol.base import Query


class Arrow(TypedDict):
    """An arrow between two lifelines, or a note beside one if both are the same.

    `note` starts a part of the diagram, `gap` reports omitted steps, and `names` are the plugins of a folded row.
    """

    source: str
    target: str
    words: Message
    head: Message | str
    sentence: Message | None
    no: bool
    kind: str
    point: str
    plugin: str
    t: int
    at: int
    back: NotRequired[bool]
    note: NotRequired[Message | None]
    gap: NotRequired[Message]
    names: NotRequired[list[str]]


class SequencePart(TypedDict):
    """An attempt of a pod, or a start of a scheduler: its number, the step before it, and its virtual time."""

    n: int
    first: int
    t: str
    outcome: str


class FoundSequence(TypedDict):
    """The arrows from a step on. `next` is the step to continue from, or None at the end. `still`: no move follows there."""

    position: int
    now: int
    pod: str
    scheduler: str
    known: bool
    parts: list[SequencePart]
    pods: list[str]
    schedulers: list[str]
    first: int
    later: bool
    still: bool
    rows: list[Arrow]
    next: int | None


class Sequence(Query[FoundSequence], frozen=True, kw_only=True):
    """The records of a pod, or of a scheduler's process, as arrows (presenter.py), from step `first` on.

    Takes at most `seconds`.
    """

    pod: str
    scheduler: str
    first: int
    seconds: float
