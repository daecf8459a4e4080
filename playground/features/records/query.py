"""The request of the records page."""

from msgspec import Struct

from playground.presenters.sentences.kinds import Row
from playground.presenters.words import Message
from playground.sessions.protocol.base import Query
from playground.sessions.protocol.breakpoints import Breakpoint


class StepRecords(Struct, frozen=True):
    """Records of one step, as rows (presenters/sentences/records), and how many more there are."""

    position: int
    t: str
    rows: list[Row]
    more: int


class RecordsFound(Struct, frozen=True):
    """Steps, the newest first, and where to go on (0: that was all)."""

    steps: list[StepRecords]
    before: int


class Records(Query[RecordsFound], frozen=True, kw_only=True):
    """Records up to a position, the newest first, of whole steps; with `point` those that match. At most so many seconds are spent."""

    point: Breakpoint | None
    most: int
    seconds: float


class ListedStep(Struct, frozen=True):
    """A step as one line; `type` is its extension point, or the kind of thing that happened.

    `ends` says how a cycle of the pod ended in it; `command`: something was asked of the world.
    """

    position: int
    type: str
    sentence: Message | None
    pod: str
    cycle: int
    no: bool
    ends: str
    command: bool


class StepsFound(Struct, frozen=True):
    """Steps, the newest first, and where to go on (0: that was all)."""

    steps: list[ListedStep]
    before: int


class StepList(Query[StepsFound], frozen=True, kw_only=True):
    """Steps up to a position, the newest first; with `text` those whose line or pod has it in it, with `kind` those of it."""

    text: str
    kind: str
    most: int
    seconds: float
