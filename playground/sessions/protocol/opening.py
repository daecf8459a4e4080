"""A session's engine is opened from its log, follows it, is forked, saved and left."""

import zlib
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import orjson
from msgspec import Struct

from playground.sessions.protocol.base import Message, Query, Request
from playground.sessions.protocol.errors import FieldProblem

# What attempts came to, in a form that any engine can read: so that a replay under another one can say where it first differs.


class Outcome(NamedTuple):
    """One attempt: where it ended, whose it was, how it ended, and the node it chose."""

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
    """The outcomes of a journal's attempts from the `since`th on that ended at or before a position."""
    stop = bisect_right(attempts, upto, key=lambda attempt: attempt.last_position)
    return [Outcome(a.last_position, a.pod, a.outcome, a.node) for a in attempts[since:stop]]


def pack(outcomes: Sequence[Outcome]) -> bytes:
    """Pack outcomes for storage: compressed JSON, by column."""
    return zlib.compress(orjson.dumps([list(column) for column in zip(*outcomes, strict=True)]), 6)


def unpack(data: bytes) -> list[Outcome]:
    return [Outcome(*row) for row in zip(*orjson.loads(zlib.decompress(data)), strict=True)]


def difference(was: Sequence[Outcome], now: Sequence[Outcome]) -> Difference | None:
    """The first attempt that came to something else; None where there is none. `now` may know more than `was`."""
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
    """A world at a position as bytes. It counts only for the engine whose `fingerprint` it has, over the commands that `digest` sums up.

    `work` is the time in seconds that a replay from the start to here takes, `parts` how many parts of the archive it needs.
    """

    position: int
    work: float
    parts: int
    digest: str
    fingerprint: str
    data: bytes


class Archive(Struct, frozen=True):
    """A session's checkpoints with the parts that they share; `volume` names these: parts of another one don't fit."""

    volume: str = ""
    parts: list[bytes] = []
    checkpoints: list[Checkpoint] = []


class OpenedEngine(Struct, frozen=True):
    """`restored` is the position that did not have to be replayed, `differs` where a replay of the whole log came to something else."""

    restored: int
    differs: Difference | None


class Open(Request[OpenedEngine], frozen=True, kw_only=True):
    """Make a session's engine from its log, from the last checkpoint on where there is one that can be used.

    `outcomes` are what attempts came to (outcomes.pack), `outcomes_saved` how many of them the database has. `lesson`: where the story is
    one of people's own, the lesson as it is handed on (playground/lessons/own.py).
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
    """Follow the log: forget what comes after position `keep`, which is known to be in it, and take the rows from there on."""

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
    """Outcomes of `count` attempts (outcomes.pack), from the `first`th (counted from 0) on."""

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
    """The data to store in the database. `more`: there is more to save; `covered`: the session would be restored in no time."""

    outcomes: NewOutcomes | None
    checkpoints: NewCheckpoints | None
    more: bool
    covered: bool

    @property
    def is_something(self) -> bool:
        """True if there is anything to write."""
        kept = self.checkpoints
        return self.outcomes is not None or bool(kept and (kept.part or kept.checkpoints or kept.dropped))


class Save(Request[SavedData], frozen=True, kw_only=True):
    """A request to save the history up to a logged position. Worlds replayed in under `least` seconds are not worth it."""

    upto: int
    least: float


class ForgetSaved(Request[None], frozen=True, kw_only=True):
    """A request to start again with the next save, because the returned data could not be stored."""

    outcomes_saved: int


class ReplayProgress(Struct, frozen=True):
    """The progress of a replay, in positions."""

    done: int
    total: int


class ClearUp(Request[None], frozen=True, kw_only=True):
    """Give memory back that nothing needs any more."""


class AskProgress(Request[ReplayProgress], frozen=True, kw_only=True):
    """Answered at once, in the middle of other work."""


class Interrupt(Message, frozen=True, kw_only=True):
    """End the present slice of a run early."""


class Close(Message, frozen=True, kw_only=True):
    """Give a session's memory back."""


class ListedChange(Struct, frozen=True):
    """A difference in v1: its kind (scheduler_core's Change), the original line, the change, and its effect on decisions."""

    kind: str
    line: int | None
    text: str
    effect: str = ""


class MissingPlugin(Struct, frozen=True):
    """A plugin that is not here: its name, the extension points that name it and the first line, and what is known of it."""

    name: str
    points: list[str]
    line: int | None
    about: str = ""


class DiffLine(Struct, frozen=True):
    """A line of a diff; "…" stands for lines that are the same in both."""

    sign: Literal["+", "-", " ", "…"]
    text: str


class Offer(Struct, frozen=True):
    """A configuration that was found: what it is (`what`, and the older version it is of), where, and its v1 text.

    `without` is the v1 text without the plugins that are not here; `diff` is against what was found, with the plugins left out, and of the
    text itself where `kept`. `errors` keep it from being applied; `gates` and `config_file` are what flags name besides.
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
    """Look for configurations in a text, and say what it takes to apply them to the world of a position."""

    text: str
