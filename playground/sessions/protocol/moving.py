"""The requests that move a session's head (commands, steps, runs, API requests), and those that find a viewer's next position."""

from typing import Any, Literal

from msgspec import Struct

from playground.presenters.panel import Delta
from playground.presenters.words import Message
from playground.sessions.protocol.base import Query, Request
from playground.sessions.protocol.breakpoints import Hit
from playground.sessions.protocol.errors import FieldProblem
from playground.sessions.protocol.looking import Follower
from playground.sessions.protocol.opening import Offer
from playground.sessions.protocol.until import Until
from scheduler_core.apiserver.door import Call
from scheduler_core.world.simulation import Grain

Reason = Literal["", "idle", "until", "budget", "runaway"]


class AppliedCommand(Struct, frozen=True):
    """The result of a command, applied at one position and ending at the next; `payload` and `size` are its row of the log.

    `deltas` are what followers see once the row is written; empty if they could not be computed.
    """

    to: int
    payload: bytes
    size: int
    deltas: list[Delta] = []


class Apply(Request[AppliedCommand], frozen=True, kw_only=True):
    """Apply a command: JSON as in the log, {"command", "source"}; `packed`: compressed with zlib. `max_objects` limits the cluster."""

    data: bytes
    max_objects: int
    followers: list[Follower] = []
    packed: bool = False


class PlannedObject(Struct, frozen=True):
    """The planned action of an import on one object; `index` is the document's number in the text."""

    action: str
    kind: str
    namespace: str
    name: str
    index: int
    changed: list[str]
    reason: str
    errors: list[FieldProblem]


class MissingObjects(Struct, frozen=True):
    """Objects of a kind that an import refers to but lacks: `count` objects refer to them, first `of`; `command` would export them."""

    kind: str
    names: list[str]
    of: str
    count: int
    command: str


class ImportPlan(Struct, frozen=True):
    """The plan of an import; `command` (in the form for Apply) applies all accepted objects, and is empty if there are none.

    `configurations` are the scheduler configurations in the text; they are not objects, and are applied separately. `kept` is the text in
    the form that may be stored, `left_out` are the numbers of removed credentials by kind, `shift` is the shift of a snapshot's times in
    ns. `without_effect` are the warnings about fields without an effect here. `read` describes the text and its conversion. For a
    `renamed` import `names` are the old and the new names, which are never stored, and `unneeded` is the number of objects omitted
    because they decide nothing. A `large` one was read from a file in turns, and is applied in turns. `amounts`: the `cpu` (milli) and
    `memory` of the nodes, the pods with a node (`placed`), and those without (`pending`).
    """

    items: list[PlannedObject]
    warnings: list[str]
    command: bytes
    configurations: list[Offer] = []
    read: list[Message] = []
    kept: bytes = b""
    left_out: dict[str, int] = {}
    shift: int = 0
    without_effect: list[str] = []
    missing: list[MissingObjects] = []
    renamed: bool = False
    names: list[tuple[str, str]] = []
    unneeded: int = 0
    large: bool = False
    amounts: dict[str, int] = {}

    @property
    def accepted(self) -> int:
        """The number of objects to create or change."""
        return sum(item.action in ("created", "changed") for item in self.items)

    def obstacles(self, create_only: bool) -> list[PlannedObject]:
        """Return the objects that prevent applying the whole text: refused or ignored ones, and taken names."""
        wanted = ("created",) if create_only else ("created", "changed", "unchanged")
        return [item for item in self.items if item.action not in wanted]


class PreviewImport(Request[ImportPlan], frozen=True, kw_only=True):
    """The plan for importing a text at the head; `rename`: under other names."""

    text: bytes
    rename: bool = False


ImportStage = Literal["read", "clean", "try", "keep"]


class PackedPlan(Struct, frozen=True):
    """A plan for storage, each part compressed with zlib: an ImportPlan (msgpack), its command (`size` bytes of JSON; b"": none) and the
    text. `names` are those of ImportPlan.
    """

    plan: bytes
    command: bytes
    text: bytes
    size: int
    accepted: int
    names: list[tuple[str, str]] = []


class ImportProgress(Struct, frozen=True):
    """The progress of a large import: `done` of `total` in a stage; `made` is the plan when the last stage is complete."""

    stage: ImportStage
    done: int
    total: int
    made: PackedPlan | None = None


class ReadImport(Request[ImportProgress], frozen=True, kw_only=True):
    """Begin or continue to plan the import of a file at the head, for some `seconds`; `token` identifies it.

    A file may have `most_bytes`, and as many when it is unpacked.
    """

    token: str
    file: str
    rename: bool
    most_bytes: int
    seconds: float


class ImportApplied(Struct, frozen=True):
    """The result of applying a large import; None if its plan is no longer stored, or does not match the head."""

    applied: AppliedCommand | None = None


class ApplyImport(Request[ImportApplied], frozen=True, kw_only=True):
    """Apply the large import that was planned with `token`. The limits are those of Apply."""

    token: str
    max_objects: int
    followers: list[Follower] = []


class TextApplied(Struct, frozen=True):
    """The result of applying a text at the head; `applied` is None if an obstacle prevented it, or it would change nothing."""

    plan: ImportPlan
    applied: AppliedCommand | None = None


class ApplyText(Request[TextApplied], frozen=True, kw_only=True):
    """Apply all objects of a text or none, without another change between its plan and its command. The limits are those of Apply."""

    text: bytes
    create_only: bool
    max_objects: int
    followers: list[Follower] = []


class QueueProgress(Struct, frozen=True):
    """The number of attempts so far, and of pods in queues that will be attempted."""

    decided: int
    waiting: int


class OutsideCall(Struct, frozen=True):
    """A call of a real extender that the head waits for: `timeout` in ns, `tls` as in the configuration."""

    scheduler: str
    attempt: int
    number: int
    url: str
    body: bytes
    timeout: int
    tls: dict[str, Any] = {}
    enable_https: bool = False


class Movement(Struct, frozen=True):
    """A move of the engine from `at` to `to`.

    `reason` is why a run ended, `hit` its breakpoint, `doing` what a run did that was stopped as a runaway. `deltas` are as in
    AppliedCommand. The engine continues only after the calls in `awaited` have been answered.
    """

    at: int
    to: int
    before: QueueProgress
    after: QueueProgress
    reason: Reason = ""
    hit: Hit | None = None
    doing: Message | None = None
    deltas: list[Delta] = []
    awaited: list[OutsideCall] = []


class Step(Request[Movement], frozen=True, kw_only=True):
    """Make engine steps of a grain; the reason is "idle" if nothing was left to do. Unless `keep`, no viewer will see where they end."""

    grain: Grain
    times: int = 1
    keep: bool = True
    followers: list[Follower] = []


class Run(Request[Movement], frozen=True, kw_only=True):
    """Run at full speed for some `seconds`, at most `most` steps; fewer if interrupted, at a condition, or if nothing is left to do."""

    seconds: float
    most: int
    keep: bool = True
    until: Until | None = None


class RequireFuture(Request[None], frozen=True, kw_only=True):
    """Refuse a run to a condition that can no longer occur."""

    until: Until


class Forward(Query[int], frozen=True, kw_only=True):
    """The position one step of a grain after another one; a command is a step of its own."""

    grain: Grain
    head: int


class Back(Query[int], frozen=True, kw_only=True):
    """The position from which one step of a grain leads to `at`, or past it."""

    grain: Grain
    head: int


# The API server of a session.


class ApiAnswer(Struct, frozen=True):
    """An answer of the API server; `live`: the session runs in real time; `more`: ReadOn returns the rest."""

    status: int
    body: bytes
    content_type: str
    headers: list[tuple[str, str]] = []
    live: bool = False
    more: bool = False


class Read(Query[ApiAnswer], frozen=True, kw_only=True):
    """An API request that changes nothing, at a position; `token` identifies its answer, if that is long."""

    call: Call
    token: str = ""


class ReadOn(Request[ApiAnswer], frozen=True, kw_only=True):
    """Return the next part of an answer."""

    token: str


class APIWrite(Struct, frozen=True, kw_only=True):
    """An API request that may change something. `wall`: the wall-clock time (ns since 1970)."""

    call: Call
    body: bytes
    content_type: str
    agent: str
    manager: str
    wall: int


class WriteResult(Struct, frozen=True):
    """The answers to API requests, fewer if interrupted, and the commands of these; the last one has the deltas for followers."""

    answers: list[ApiAnswer]
    applied: list[AppliedCommand]


class Write(Request[WriteResult], frozen=True, kw_only=True):
    """Execute API requests at the head, one after the other. The limits are those of Apply."""

    calls: list[APIWrite]
    max_objects: int
    followers: list[Follower] = []


class GoLive(Request[Movement], frozen=True, kw_only=True):
    """Make the steps of a live world that are due at a wall-clock time (ns since 1970)."""

    wall: int
    followers: list[Follower] = []


class StartedWatch(Struct, frozen=True):
    """A watch that began: its number, its first events, and the bookmark of version 0; or number 0 and the error."""

    number: int
    first: ApiAnswer
    mark: bytes


class BeginWatch(Request[StartedWatch], frozen=True, kw_only=True):
    """Watch a collection or an object; `token` identifies the first events, if these are long."""

    call: Call
    token: str


class WatchedEvents(Struct, frozen=True):
    """The new events of watches, each with the watches' numbers, the watches that continue, and the newest resourceVersion."""

    parts: list[tuple[list[int], bytes]]
    alive: list[int]
    version: int


class NextSeen(Request[WatchedEvents], frozen=True):
    """Return the new events of all watches."""


class EndWatch(Request[None], frozen=True, kw_only=True):
    """End the watch of a client that disconnected."""

    number: int
