"""The requests that open a session's engine from its log, extend it, fork it, save it, and close it."""

import zlib
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import orjson
from msgspec import Struct

from playground.sessions.protocol.base import Message, Query, Request
from playground.sessions.protocol.errors import FieldProblem

# Outcomes of attempts, in a form that any engine version can read, so that a replay under another version finds the first difference.


class Outcome(NamedTuple):
    """One attempt: its last position, its pod, its outcome, and the chosen node."""

    position: int
    pod: str
    outcome: str
    node: str


class Difference(Struct, frozen=True):
    """The first difference of a replay: the attempt's number, and its outcome before and now (None: it was not made).

    `attempt` 0 is a step that this engine cannot make: `why` gives the reason.
    """

    attempt: int
    position: int
    was: dict[str, Any] | None
    now: dict[str, Any] | None
    why: str = ""


def of(attempts: Sequence[Any], since: int, upto: int) -> list[Outcome]:
    """Return the outcomes of a journal's attempts from index `since` on that ended at or before position `upto`."""
    stop = bisect_right(attempts, upto, key=lambda attempt: attempt.last_position)
    return [Outcome(a.last_position, a.pod, a.outcome, a.node) for a in attempts[since:stop]]


def pack(outcomes: Sequence[Outcome]) -> bytes:
    """Pack outcomes for storage: compressed JSON, by column."""
    return zlib.compress(orjson.dumps([list(column) for column in zip(*outcomes, strict=True)]), 6)


def unpack(data: bytes) -> list[Outcome]:
    return [Outcome(*row) for row in zip(*orjson.loads(zlib.decompress(data)), strict=True)]


def difference(was: Sequence[Outcome], now: Sequence[Outcome]) -> Difference | None:
    """Return the first attempt with a different outcome, or None. `now` may have more attempts than `was`."""
    for number, old in enumerate(was):
        new = now[number] if number < len(now) else None
        if old != new:
            position = old.position if new is None else min(old.position, new.position)
            return Difference(number + 1, position, old._asdict(), None if new is None else new._asdict())
    return None


RowKind = Literal["command", "step", "play", "run"]


class LogRow(Struct, frozen=True, array_like=True):
    """An entry of the log: a command applied at `at`, or engine steps from `at` to `to`.

    `payload` is compressed JSON, `size` its length before that.
    """

    seq: int
    kind: RowKind
    at: int
    to: int
    payload: bytes
    size: int = 0


class Checkpoint(Struct, frozen=True):
    """A serialized world at a position. It is valid only for the engine with this `fingerprint` and the commands with this `digest`.

    `work` is the time in seconds of a replay from the start to here, `parts` the number of the archive's parts that it needs.
    """

    position: int
    work: float
    parts: int
    digest: str
    fingerprint: str
    data: bytes


class Archive(Struct, frozen=True):
    """A session's checkpoints with their shared parts; `volume` identifies these: the parts of another volume do not fit."""

    volume: str = ""
    parts: list[bytes] = []
    checkpoints: list[Checkpoint] = []


class OpenedEngine(Struct, frozen=True):
    """The result of opening an engine: `restored` is the position that needed no replay, `differs` a full replay's first difference."""

    restored: int
    differs: Difference | None


class Open(Request[OpenedEngine], frozen=True, kw_only=True):
    """Make a session's engine from its log, starting at the last checkpoint that can be used.

    `outcomes` are the outcomes of attempts (opening.pack), `outcomes_saved` their number in the database. `lesson`: the document of the
    story's lesson, if it is not built in (playground/lessons/own.py).
    """

    seed: int
    story: str
    rows: list[LogRow]
    head: int
    archive: Archive
    outcomes: list[bytes]
    outcomes_saved: int
    lesson: bytes = b""


class Extend(Request[None], frozen=True, kw_only=True):
    """Follow the log: discard what comes after position `keep`, which is known to be in it, and add the rows from there on."""

    rows: list[LogRow]
    head: int
    keep: int


class Fork(Request[None], frozen=True, kw_only=True):
    """Copy an engine up to a position for a new session, with those of its checkpoints that were copied in the database, too."""

    new: int
    at: int
    volume: str
    parts: int
    checkpoints: list[int]
    outcomes_saved: int


class NewOutcomes(Struct, frozen=True):
    """Outcomes of `count` attempts (opening.pack), from index `first` on."""

    first: int
    count: int
    data: bytes


class ArchivePart(Struct, frozen=True):
    """A new part of an archive."""

    number: int
    data: bytes


class NewCheckpoints(Struct, frozen=True):
    """The parts of an archive to store: a new part, new checkpoints, and the positions of dropped ones."""

    volume: str
    part: ArchivePart | None
    checkpoints: list[Checkpoint]
    dropped: list[int]


class SavedData(Struct, frozen=True):
    """The data to store in the database. `more`: there is more to save; `covered`: the session would reopen almost without a replay."""

    outcomes: NewOutcomes | None
    checkpoints: NewCheckpoints | None
    more: bool
    covered: bool

    @property
    def is_something(self) -> bool:
        """True if there is data to store."""
        kept = self.checkpoints
        return self.outcomes is not None or bool(kept and (kept.part or kept.checkpoints or kept.dropped))


class Save(Request[SavedData], frozen=True, kw_only=True):
    """Save the history up to a logged position. Worlds that a replay reaches in under `least` seconds are not saved."""

    upto: int
    least: float


class ForgetSaved(Request[None], frozen=True, kw_only=True):
    """Start again with the next save, because the returned data could not be stored."""

    outcomes_saved: int


class ReplayProgress(Struct, frozen=True):
    """The progress of a replay, in positions."""

    done: int
    total: int


class ClearUp(Request[None], frozen=True, kw_only=True):
    """Return unused memory to the system."""


class AskProgress(Request[ReplayProgress], frozen=True, kw_only=True):
    """Return the progress of a replay. Answered at once, in the middle of other work."""


class Interrupt(Message, frozen=True, kw_only=True):
    """End the present slice of a run early."""


class Close(Message, frozen=True, kw_only=True):
    """Release a session's memory."""


class ListedChange(Struct, frozen=True):
    """A difference in v1: its kind (scheduler_core's Change), the original line, the change, and its effect on decisions."""

    kind: str
    line: int | None
    text: str
    effect: str = ""


class MissingPlugin(Struct, frozen=True):
    """A plugin that the playground lacks: its name, its extension points and first line in the text, and a note about it."""

    name: str
    points: list[str]
    line: int | None
    about: str = ""


class DiffLine(Struct, frozen=True):
    """A line of a diff; "…" is for omitted lines that both texts have."""

    sign: Literal["+", "-", " ", "…"]
    text: str


class Offer(Struct, frozen=True):
    """A configuration that was found: its kind (`what`, and its older version), its place, and its v1 text.

    `without` is the v1 text without the missing plugins; `diff` compares the original with the version without these, in the text's own
    form if `kept`. `errors` prevent it from being applied; `gates` and `config_file` come from flags.
    """

    what: str
    where: str
    line: int | None
    version: str = ""
    release: str = ""
    changes: list[ListedChange] = []
    missing: list[MissingPlugin] = []
    text: str = ""
    without: str = ""
    diff: list[DiffLine] = []
    errors: list[FieldProblem] = []
    gates: str = ""
    config_file: str = ""
    kept: bool = False

    @property
    def lossy(self) -> bool:
        """True if a change affects decisions."""
        return any(change.kind == "lost" for change in self.changes)


class AdoptionResult(Struct, frozen=True):
    """The result of reading a text. `manifest` is its only configuration if that can be applied as is; otherwise there are offers.

    `errors` are kube-scheduler's errors about the text as is, or YAML errors.
    """

    manifest: Any = None
    offers: list[Offer] = []
    errors: list[FieldProblem] = []


class AdoptConfiguration(Query[AdoptionResult], frozen=True, kw_only=True):
    """Find configurations in a text, and return what is necessary to apply them to the world at a position."""

    text: str
