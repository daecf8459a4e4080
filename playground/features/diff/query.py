"""The request for the page of differences, and its answer."""

from typing import TypedDict

from playground.sessions.protocol.base import Query


class Line(TypedDict):
    """A field of an object with its value before and after; "" without a value."""

    path: str
    before: str
    after: str


class ObjectRow(TypedDict):
    """An object that differs. `what`: created, deleted, or changed. `more`: the number of lines left out."""

    kind: str
    key: str
    what: str
    lines: list[Line]
    more: int


class QueueRow(TypedDict):
    """A place of pods in a scheduler, with the pods that arrived and left. `order` is set only if the order of the active queue changed."""

    scheduler: str
    place: str
    was: int
    now: int
    came: list[str]
    more_came: int
    left: list[str]
    more_left: int
    order: Line | None


class EndedAttempt(TypedDict):
    """An attempt that ended in between, and the step at which it ended."""

    number: int
    pod: str
    outcome: str
    node: str
    at: int


class Difference(TypedDict):
    """The differences. `total` is the number of selected rows, of which one page is included. `kinds` counts the rows of each kind before
    the selection.
    """

    since: int
    to: int
    since_t: str
    to_t: str
    rows: list[ObjectRow]
    total: int
    kinds: dict[str, int]
    queues: list[QueueRow]
    attempts: list[EndedAttempt]
    more_attempts: int
    settings: list[Line]


class Changes(Query[Difference], frozen=True, kw_only=True):
    """The request for the differences between two positions (presenter.py). `kind` and `q` (a part of the name) filter the rows."""

    since: int
    kind: str
    q: str
    first: int
    most: int
