"""The requests of comparisons, re-runs, traces, and files to a session's engine."""

from typing import Literal

from msgspec import Struct

from playground.presenters.words import Message as Words
from playground.sessions.protocol.base import Message, Query, Request
from playground.sessions.protocol.looking import ConfiguredWorld
from playground.sessions.protocol.opening import LogRow
from scheduler_core.formats.export import Difference


class OutlinedPod(Struct, frozen=True):
    """A pod's place, and the position at which the pod came there."""

    node: str
    place: str
    at: int


class OutlinedAttempt(Struct, frozen=True):
    """An attempt, as the journal records it."""

    pod: str
    started: int
    ended: int
    first_position: int
    last_position: int
    outcome: str
    node: str
    message: str
    evaluated: int
    feasible: int
    tied: int
    nominated: str
    victims: list[str]


class ResourceUse(Struct, frozen=True):
    """The requested and allocatable amounts of a resource."""

    resource: str
    requested: int
    allocatable: int


class HistoryOutline(Struct, frozen=True):
    """A history up to a head: attempts from index `first` on, each pod's place, sums, and the configuration.

    `bound` has (virtual time, number of pods with a node) for each change of that number. `cut`: the outline reached its size limit.
    """

    head: int
    now: int
    idle: bool
    first: int
    attempts: list[OutlinedAttempt]
    pods: dict[str, OutlinedPod]
    cut: bool
    nodes: int
    tried: int
    resources: list[ResourceUse]
    bound: list[tuple[int, int]]
    configuration: ConfiguredWorld


class Outline(Query[HistoryOutline], frozen=True, kw_only=True):
    """An outline of the history, with the attempts that ended after position `since`."""

    since: int


class AttemptDigests(Query[list[str]], frozen=True, kw_only=True):
    """The digests of attempts from index `first` on: at least one, at most `most`, as many as a short time limit allows."""

    first: int
    most: int


class WeightedPlugin(Struct, frozen=True):
    name: str
    weight: int


class ScoredNode(Struct, frozen=True):
    """A node's scores by plugin: raw, normalized, weighted."""

    node: str
    total: int
    cells: dict[str, tuple[int, int, int]]


class ScoreBoard(Struct, frozen=True):
    """Scores of `nodes` nodes, the best first; the chosen one is among the rows."""

    plugins: list[WeightedPlugin]
    rows: list[ScoredNode]
    nodes: int


class CountedRefusal(Struct, frozen=True):
    """The number of nodes that a plugin refused with a text, and some of them."""

    plugin: str
    text: str
    count: int
    nodes: list[str]


class AttemptDetail(OutlinedAttempt, frozen=True):
    """An attempt with its scores and refusals."""

    board: ScoreBoard | None
    refusals: list[CountedRefusal]
    draw: int | None


class OneSidedCommand(Struct, frozen=True):
    """A command in only one of the two histories (`side` 0 or 1): its position, its sentence, and the source it came from."""

    side: int
    at: int
    sentence: Words
    source: str


class CommandDifferences(Struct, frozen=True):
    """The commands after the common part that only one history has, in order, and the number that both have. `cut`: too many to list."""

    rows: list[OneSidedCommand]
    same: int
    cut: bool


class Comparison(Struct, frozen=True):
    """The result of comparing two sessions up to their `heads`.

    `common` is the position where they diverge; `first` the index, from there on, of the first attempt that differs, `attempts` that
    attempt in each; `clock` the index of the first one that began or ended at another time. `late`: the time limit ended the comparison
    early.
    """

    common: int
    heads: tuple[int, int]
    sides: tuple[HistoryOutline, HistoryOutline]
    commands: CommandDifferences
    first: int | None
    late: bool
    attempts: tuple[AttemptDetail | None, AttemptDetail | None]
    clock: int | None


class Attempt(Query[AttemptDetail], frozen=True, kw_only=True):
    """One attempt by its index, in detail."""

    index: int


class LeftOut(Struct, frozen=True):
    """A command that no longer applied, and the reason."""

    at: int
    said: Words


class RerunResult(Struct, frozen=True):
    """The result of a re-run from position `first` on, with the kept commands as (old position, new position).

    `left` are commands that no longer applied, `refused` is their total number. `head` and `now` are the end of the new history, `end`
    and `before` that of the original. `complete`: the re-run reached the end of the original.
    """

    first: int
    kept: list[tuple[int, int]]
    left: list[LeftOut]
    refused: int
    complete: bool
    head: int
    now: int
    end: int
    before: int


class RerunProgress(Struct, frozen=True):
    """The progress of a re-run: `done` of `total` positions of the original history are processed."""

    done: int
    total: int
    result: RerunResult | None


class Rerun(Query[RerunProgress], frozen=True, kw_only=True):
    """Begin or continue a re-run of a history for some `seconds`; `token` identifies it.

    The re-run skips the commands at the positions `skip`; with a `seed` its random draws use that seed, from the first step on.
    """

    token: str
    skip: list[int]
    seed: int | None
    max_objects: int
    max_steps: int
    seconds: float


class DropTask(Message, frozen=True, kw_only=True):
    """Drop a search or a re-run that no client continues."""

    token: str


class Moments(Query[list[int | None]], frozen=True, kw_only=True):
    """The virtual time at each of some positions; None for those that the time limit did not allow to find out."""

    positions: list[int]
    seconds: float


FileForm = Literal["chrome", "otlp", "csv", "zip"]


class TracedLesson(Struct, frozen=True, omit_defaults=True):
    """The lesson of a session, as a trace names it; for a variant also the original lesson and the variant's number. "": no lesson."""

    story: str = ""
    origin: str = ""
    variant: str = ""


class OpenTrace(Request[None], frozen=True, kw_only=True):
    """Begin to write a trace of a log; `detail`: the first and the last attempt described node by node. The process has no other task."""

    seed: int
    rows: list[LogRow]
    head: int
    detail: tuple[int, int]
    created: str
    lesson: TracedLesson = TracedLesson()


class TracedCommand(Struct, frozen=True, array_like=True):
    """A command of a trace, as the payload of a log entry."""

    at: int
    payload: bytes


class TraceMaker(Struct, frozen=True):
    """A trace's maker from its first line; "" if unknown."""

    engine: str
    kube: str
    created: str


class TraceChecked(Struct, frozen=True):
    """The check of a trace: its log, the number of attempts with the same result, the position reached, and the first difference.

    `records` of the file were compared; `passed_over` are fields of its commands that this version does not know. `kube`: the release at
    the end of the history.
    """

    seed: int
    head: int
    commands: list[TracedCommand]
    attempts: int
    position: int
    difference: Difference | None
    maker: TraceMaker
    records: int
    passed_over: list[str]
    lesson: TracedLesson = TracedLesson()
    kube: str = ""


class CheckTrace(Request[TraceChecked], frozen=True, kw_only=True):
    """Compute a trace again; its world may have at most `max_objects`."""

    data: bytes
    max_objects: int


class OpenFile(Request[None], frozen=True, kw_only=True):
    """Begin to make a file of a log: `form` is chrome, otlp, csv (one `table`) or zip (all tables). The process has no other task.

    `most`: the maximum size in bytes.
    """

    seed: int
    rows: list[LogRow]
    head: int
    form: FileForm
    table: str = ""
    most: int


class FilePart(Struct, frozen=True):
    """The number of steps processed; then the next part of the file or the trace, and whether it is the last."""

    steps: int
    data: bytes
    done: bool


class NextPart(Request[FilePart], frozen=True, kw_only=True):
    """Return the next part of the file or the trace that was begun last."""
