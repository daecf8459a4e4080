"""What a comparison and a re-run ask of a session's engine."""

from typing import Literal

from msgspec import Struct

from playground.presenters.words import Message as Words
from playground.sessions.protocol.base import Message, Query, Request
from playground.sessions.protocol.looking import ConfiguredWorld
from playground.sessions.protocol.opening import LogRow
from scheduler_core.formats.export import Difference


class OutlinedPod(Struct, frozen=True):
    """A pod's place, and the position since which the pod is there."""

    node: str
    place: str
    at: int


class OutlinedAttempt(Struct, frozen=True):
    """An attempt as the journal keeps it."""

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
    """A history up to a head: attempts from index `first` on, where each pod is, sums, and the configuration.

    `bound` is (virtual time, pods that have a node), where that number changed. `cut`: there is more than an outline may hold.
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
    """A history in outline, with the attempts that ended after position `since`."""

    since: int


class AttemptDigests(Query[list[str]], frozen=True, kw_only=True):
    """Digests of attempts from an index on: at least one, at most `most`, as many as a short time allows."""

    first: int
    most: int


class WeightedPlugin(Struct, frozen=True):
    name: str
    weight: int


class ScoredNode(Struct, frozen=True):
    """A node's scores by plugin: raw, normalised, weighted."""

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
    """A command that only one of the two has (0 or 1): where it was applied, what it says, the form it came by."""

    side: int
    at: int
    sentence: Words
    source: str


class CommandDifferences(Struct, frozen=True):
    """The commands after the parting that only one of the two has, in order, and how many both have. `cut`: there were too many."""

    rows: list[OneSidedCommand]
    same: int
    cut: bool


class Comparison(Struct, frozen=True):
    """The result of comparing two sessions up to their `heads`.

    `common` is the position where they part; `first` the index, from there on, of the first attempt that differs, `attempts` that
    one in each; `clock` the index of the first that began or ended at another time. `late`: the time was over before all were
    compared.
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
    """One attempt by its index, looked into."""

    index: int


class LeftOut(Struct, frozen=True):
    """A command that no longer applied, and why."""

    at: int
    said: Words


class RerunResult(Struct, frozen=True):
    """A history made again from position `first` on, with its commands as (old position, new position).

    `left` are commands that no longer applied, `refused` in all. `head` and `now` are where it ends, `end` and `before` where the history
    ended. `complete`: it came as far as that one.
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
    """`done` of `total` positions of the history have been gone through."""

    done: int
    total: int
    result: RerunResult | None


class Rerun(Query[RerunProgress], frozen=True, kw_only=True):
    """Make a history again, or go on with that for some seconds; `token` names it.

    It lacks the commands at the positions `skip`; with a `seed` its draws begin with that one, from the first step on.
    """

    token: str
    skip: list[int]
    seed: int | None
    max_objects: int
    max_steps: int
    seconds: float


class DropTask(Message, frozen=True, kw_only=True):
    """Nobody goes on with a search or a re-run."""

    token: str


class Moments(Query[list[int | None]], frozen=True, kw_only=True):
    """The virtual time at each of some positions; None for those that the time was not enough to find out."""

    positions: list[int]
    seconds: float


FileForm = Literal["chrome", "otlp", "csv", "zip"]


class TracedLesson(Struct, frozen=True, omit_defaults=True):
    """The lesson of a session as a trace names it; of a variant also what it is one of, and its number. Nothing where there is none."""

    story: str = ""
    origin: str = ""
    variant: str = ""


class OpenTrace(Request[None], frozen=True, kw_only=True):
    """Begin to write a trace of a log; `detail`: the first and the last attempt described node by node. The process has no other one."""

    seed: int
    rows: list[LogRow]
    head: int
    detail: tuple[int, int]
    created: str
    lesson: TracedLesson = TracedLesson()


class TracedCommand(Struct, frozen=True, array_like=True):
    """A command of a trace as a log's payload."""

    at: int
    payload: bytes


class TraceMaker(Struct, frozen=True):
    """A trace's maker from its first line; "" if unknown."""

    engine: str
    kube: str
    created: str


class TraceChecked(Struct, frozen=True):
    """A trace computed again: the log behind it, how many attempts came out the same, up to which position, and what differs.

    `records` of the file were compared; `passed_over` are fields of its commands that are not known here. `kube`: the release that its
    history ends with.
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
    """Compute a trace again; its world may have so many objects."""

    data: bytes
    max_objects: int


class OpenFile(Request[None], frozen=True, kw_only=True):
    """Begin to make a file of a log: `form` is chrome, otlp, csv (one `table`) or zip (all tables). The process has no other one.

    `most`: the bytes that it may have.
    """

    seed: int
    rows: list[LogRow]
    head: int
    form: FileForm
    table: str = ""
    most: int


class FilePart(Struct, frozen=True):
    """The number of steps processed; then the file or the trace itself, part after part, and whether that was the last."""

    steps: int
    data: bytes
    done: bool


class NextPart(Request[FilePart], frozen=True, kw_only=True):
    """Go on with the file or the trace that was begun last."""
