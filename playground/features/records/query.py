"""The requests of the records page."""

from msgspec import Struct

from playground.presenters.sentences.kinds import Row
from playground.presenters.words import Message
from playground.sessions.protocol.base import Query
from playground.sessions.protocol.breakpoints import Breakpoint


class StepRecords(Struct, frozen=True):
    """The records of one step, as rows (presenters/sentences/records), and the number of `more` records."""

    position: int
    t: str
    rows: list[Row]
    more: int


class RecordsFound(Struct, frozen=True):
    """Steps, newest first, and the position to continue from (0: the end)."""

    steps: list[StepRecords]
    before: int


class Records(Query[RecordsFound], frozen=True, kw_only=True):
    """The request for records of whole steps up to a position, newest first; with `point`, those that match. Takes at most `seconds`."""

    point: Breakpoint | None
    most: int
    seconds: float


class ListedStep(Struct, frozen=True):
    """A step as one line. `type` is its extension point, or the kind of record.

    `ends`: the outcome of a cycle that ended in this step. `command`: a command was applied.
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
    """Steps, newest first, and the position to continue from (0: the end)."""

    steps: list[ListedStep]
    before: int


class StepList(Query[StepsFound], frozen=True, kw_only=True):
    """The request for steps up to a position, newest first, filtered by `text` in their line or pod, and by `kind`."""

    text: str
    kind: str
    most: int
    seconds: float
