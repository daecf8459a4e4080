"""Commands: all changes that a user can make to a world, as frozen data.

As JSON, a command has its class name under `kind` (`msgspec.to_builtins` writes it, `command_from_json` reads it). The log of a session
consists of commands. Unknown fields are ignored, because the log of another version may have them.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec

from scheduler_core.apimachinery.objects import FieldError, InvalidObject, Manifest, parse_time
from scheduler_core.apimachinery.objects.typed import FieldProblem, convert_data
from scheduler_core.apiserver.faults import FAULT_CODES, MAX_FAULT_MESSAGE, MAX_FAULT_TIMES, MAX_LATENCY, Fault
from scheduler_core.apiserver.rewriting import merge_patch
from scheduler_core.apiserver.status import Refused
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.trace.kinds import CommandApplied
from scheduler_core.scheduler.extenders.behaviour import Behaviour
from scheduler_core.scheduler.extenders.written import Latency
from scheduler_core.scheduler.plugins.cel import NAME_PATTERN, Definition

__all__ = ["DEFAULT_SCHEDULER_NAME", "FAULT_CODES", "KINDS", "MAX_FAULT_MESSAGE", "MAX_FAULT_TIMES"]
__all__ += ["AnswerExtender", "ApplyObjects", "BeginLife", "BindPod", "CallAPI", "CancelDrain", "Command"]
__all__ += ["Continuation", "CreateObject", "DecidePermit", "DefinePlugin", "DeleteObjects", "DrainNode", "EvictPod"]
__all__ += ["FailCall", "FieldProblem", "OutsideAnswer", "PartitionScheduler", "PatchObject", "Redo", "Ref"]
__all__ += ["Refused", "ReportCondition", "ReportDeviceCondition", "ScaleObject", "SetConfiguration", "SetExtender"]
__all__ += ["SetKubelet", "SetPrograms", "SetSettings", "SetUsage", "StartScheduler", "StopScheduler", "Undo"]
__all__ += ["command_from_json", "merge_patch", "refuse"]


DEFAULT_SCHEDULER_NAME = "kube-scheduler"
Time = Annotated[int, msgspec.Meta(ge=0)]
MAX_CLOCK_OFFSET = 365 * 86_400 * SECOND


def _check_time(field: str, text: str | msgspec.UnsetType) -> None:
    try:
        if text is not msgspec.UNSET:
            parse_time(text)
    except ValueError:
        raise FieldProblem(field, text, "a time such as 2026-01-31T12:00:00Z") from None


class Ref(msgspec.Struct, frozen=True):
    """Names one object; `namespace` is "" for kinds that have none."""

    kind: str
    namespace: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise FieldProblem("name", None, "a string")


class Continuation(msgspec.Struct, frozen=True):
    """What of a world is in none of its objects, and that decisions hang on: where its stream of draws is, how many objects it has
    made (names and uids are made of that), and where each scheduler's search for nodes begins next.
    """

    draws: Annotated[int, msgspec.Meta(ge=0)] = 0
    created: Annotated[int, msgspec.Meta(ge=0)] = 0
    next_start: dict[str, Annotated[int, msgspec.Meta(ge=0)]] = {}


class ApplyObjects(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Creates objects, or replaces those of the same name; all or none. `create_only` refuses names that are taken.

    `force`: pods, and claims for devices, that can't be changed in place are deleted and made
    anew, as kubectl replace --force does. `continues`: the objects are all of another world's, which goes on here.
    `stopped`: an import's nodes whose kubelets do nothing; with it, pods that terminate end when their cluster would have ended them.
    `taken`: when the cluster was so, which is the present now if the world has no objects of its own.
    `time`: the clock goes on to this virtual time (ns) first, but past nothing that is still to happen.
    """

    objects: tuple[Manifest, ...]
    create_only: bool = False
    force: bool | msgspec.UnsetType = msgspec.UNSET
    continues: Continuation | msgspec.UnsetType = msgspec.UNSET
    stopped: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    taken: str | msgspec.UnsetType = msgspec.UNSET
    time: Time | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        _check_time("taken", self.taken)


class DeleteObjects(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Deletes objects as kubectl delete does; all or none. `time`: as in ApplyObjects."""

    refs: tuple[Ref, ...]
    grace_period_seconds: int | msgspec.UnsetType = msgspec.UNSET
    propagation_policy: Literal["Background", "Foreground", "Orphan"] | msgspec.UnsetType = msgspec.UNSET
    user: str | msgspec.UnsetType = msgspec.UNSET
    time: Time | msgspec.UnsetType = msgspec.UNSET


class PatchObject(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Changes one object by a JSON merge patch (RFC 7386)."""

    ref: Ref
    patch: Manifest
    type: Literal["merge", "strategic"] | msgspec.UnsetType = msgspec.UNSET
    subresource: str | msgspec.UnsetType = msgspec.UNSET
    user: str | msgspec.UnsetType = msgspec.UNSET


class SetConfiguration(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Restarts a scheduler with a KubeSchedulerConfiguration (None: kube's default), or adds one under a new name."""

    configuration: Manifest | None = None
    scheduler: Annotated[str, msgspec.Meta(min_length=1)] = DEFAULT_SCHEDULER_NAME


class SetSettings(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Changes settings of the world (see WorldSettings); what a scheduler reads only when it starts has the schedulers restart."""

    settings: Mapping[str, Any]


class DefinePlugin(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Defines a plugin of one's own in CEL, defines it anew, or takes it away (None); schedulers that use it restart."""

    plugin: Annotated[str, msgspec.Meta(min_length=1, max_length=100, pattern=NAME_PATTERN)]
    definition: Definition | None = None


class DecidePermit(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Allows or rejects a pod that waits on Permit, in the name of every plugin it waits for."""

    pod: str
    decision: Literal["allow", "reject"]


class FailCall(Fault, frozen=True, tag_field="kind", tag=True):
    """Has the next API calls of a kind about a pod fail, or take their time (see Fault); `times` 0 takes back what was asked."""

    def __post_init__(self) -> None:
        if self.times and not self.code and self.latency is None:
            raise FieldProblem("code", self.code, "a status code, a latency, or both")
        if not self.code and (self.message or self.after_write):
            raise FieldProblem("code", self.code, "a status code, because message or after_write is set")

    @property
    def fault(self) -> Fault:
        return Fault(*msgspec.structs.astuple(self))


class CreateObject(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Creates one object as kubectl create does: a Node is registered, and its kubelet starts."""

    manifest: Manifest
    user: str = ""


class ScaleObject(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Sets how many replicas a workload is to have."""

    ref: Ref
    replicas: Annotated[int, msgspec.Meta(ge=0, le=100_000)]


class BindPod(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Binds a pod (namespace/name) to a node by hand."""

    pod: str
    node: str


class EvictPod(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Asks for the eviction of a pod (namespace/name), which budgets may refuse. `uid`, `resource_version`: of the pod that is meant."""

    pod: str
    grace_period_seconds: int | None = None
    dry_run: bool = False
    uid: str = ""
    resource_version: str = ""
    user: str = ""


class DrainNode(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Cordons a node and evicts its pods, as kubectl drain does; what a budget refuses is asked for again every 5 s."""

    node: str
    ignore_daemon_sets: bool = False
    force: bool = False
    grace_period_seconds: int | None = None
    delete_empty_dir_data: bool = False


class CancelDrain(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Ends a drain that goes on, as Ctrl-C ends kubectl drain; the node stays cordoned, and evicted pods end."""

    node: str


class SetKubelet(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Stops the kubelet of a node, or starts it again."""

    node: str
    running: bool


class ReportCondition(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Has a node's kubelet, or a problem detector beside it, report a condition from now on."""

    node: str
    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str = ""
    message: str = ""


class ReportDeviceCondition(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Has a driver report a condition of an allocated device. `claim`: namespace/name; `device`: driver/pool/device, "" for all of them."""

    claim: str
    type: str
    status: Literal["True", "False", "Unknown"] = "True"
    device: str = ""
    reason: str = ""
    message: str = ""


class SetPrograms(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Says what runs in the containers: rules, the first of which that fits a container counts (docs/world.md)."""

    rules: tuple[Manifest, ...]


class SetUsage(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Says what kubelets measure: entries that hold from a time on (docs/world.md)."""

    entries: tuple[Manifest, ...]


class SetExtender(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Says what the server of an extender does, which is known by its urlPrefix; null: nobody listens there (docs/extenders.md)."""

    url_prefix: Annotated[str, msgspec.Meta(min_length=1, max_length=2048)]
    behaviour: Behaviour | None = None


class OutsideAnswer(msgspec.Struct, frozen=True):
    """An HTTP status with a body, or the error that kept it from coming (`in_body`: while the body was read). It took `latency` (ns)."""

    status: Annotated[int, msgspec.Meta(ge=0, le=999)] = 0
    body: str = ""
    error: str = ""
    latency: Latency = 0
    in_body: bool = False


class AnswerExtender(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """What came back for a call of an extender that goes outside: the call of this `number` in an `attempt` of the scheduler."""

    scheduler: Annotated[str, msgspec.Meta(min_length=1)]
    attempt: int
    number: int
    answer: OutsideAnswer


class CallAPI(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """A client's request to the API server that changes something: `path` below the server's own, the body as JSON.

    `agent` is who asks, such as "kubectl apply"; `time`: the virtual time (ns) of a live world, 0 elsewhere.
    """

    method: Literal["POST", "PUT", "PATCH", "DELETE"]
    path: Annotated[str, msgspec.Meta(max_length=4096)]
    query: dict[str, str] = {}
    body: Any = None
    content_type: str = ""
    agent: str = ""
    manager: str = ""
    time: Time = 0


class BeginLife(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Has the present be a moment of the calendar, and new uids look as kube's do; `live`: time passes as on the wall from then on."""

    start: str
    live: bool = True

    def __post_init__(self) -> None:
        _check_time("start", self.start)


class Undo(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Puts back what the last edit changed; the world's time goes on."""


class Redo(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Makes the edit again that was undone last."""


class StartScheduler(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Starts a kube-scheduler as a process of its own, which stands for election where its configuration says so.

    Its clock is ahead by `clock_offset` (ns), and goes `clock_rate` seconds a second.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=63, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")]
    configuration: Manifest | None = None
    clock_offset: Annotated[int, msgspec.Meta(ge=-MAX_CLOCK_OFFSET, le=MAX_CLOCK_OFFSET, extra={"unit": "ns"})] = 0
    clock_rate: Annotated[float, msgspec.Meta(ge=0.01, le=100)] = 1.0


class StopScheduler(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Tells a scheduler's process to end (SIGTERM), or kills it (SIGKILL)."""

    name: str
    signal: Literal["SIGTERM", "SIGKILL"] = "SIGTERM"


class PartitionScheduler(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    """Cuts a scheduler off from the API server, or connects it again. Its calls hang for so long (ns), and fail."""

    name: str
    partitioned: bool
    hang: Annotated[int, msgspec.Meta(ge=0, le=MAX_LATENCY, extra={"unit": "ns"})] = SECOND


# What Undo passes over.
NO_EDITS = (DecidePermit, StartScheduler, StopScheduler, PartitionScheduler, AnswerExtender, BeginLife)

Command = (
    ApplyObjects
    | DeleteObjects
    | PatchObject
    | SetConfiguration
    | SetSettings
    | DefinePlugin
    | DecidePermit
    | FailCall
    | CreateObject
    | ScaleObject
    | BindPod
    | EvictPod
    | DrainNode
    | CancelDrain
    | SetKubelet
    | ReportCondition
    | ReportDeviceCondition
    | SetPrograms
    | SetUsage
    | StartScheduler
    | StopScheduler
    | PartitionScheduler
    | SetExtender
    | AnswerExtender
    | CallAPI
    | BeginLife
    | Undo
    | Redo
)
KINDS: tuple[str, ...] = tuple(command.__name__ for command in get_args(Command))


def _fields_of_commands() -> list[tuple[str, Any, Any]]:
    """Return every field of the commands, optional in a record because other commands lack it. A null value is written."""
    hints = {
        name: hint
        for command in get_args(Command)
        for name, hint in get_type_hints(command, include_extras=True).items()
        if name in command.__struct_fields__ and name not in CommandApplied.__struct_fields__
    }
    return [(name, hint | msgspec.UnsetType, msgspec.UNSET) for name, hint in hints.items()]


CommandRecord: Any = msgspec.defstruct(
    "CommandRecord",
    _fields_of_commands(),
    bases=(CommandApplied,),
    namespace={"__doc__": CommandApplied.__doc__},
    module=__name__,
    frozen=True,
)
"""What the record of a command says: the command, without the objects' own text."""


def refuse(path: str, received: object, expected: str) -> Refused:
    """The error of one field of a command."""
    return Refused((FieldError(path, repr(received), expected),))


def command_from_json(data: object) -> Command:
    """Return the command of JSON data. Raise Refused with the field at fault."""
    try:
        command: Command = convert_data(data, Command)
    except InvalidObject as invalid:
        raise Refused(invalid.errors) from invalid
    return command
