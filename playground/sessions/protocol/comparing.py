"""What a comparison and a re-run ask of a session's engine."""

from msgspec import Struct

from playground.presenters.words import Message as Words
from playground.sessions.protocol.base import Message, Query
from playground.sessions.protocol.looking import Configured


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
    configuration: Configured


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
