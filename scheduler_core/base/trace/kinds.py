"""What a record says: one frozen class for each kind of record.

The fields' names, types and descriptions are what expressions know of `record.data`, and what docs/trace.md is printed from. As JSON a
field that has its default is left out.
"""

from typing import Annotated, Any, ClassVar, TypedDict

import msgspec


class Facts(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The facts of one record. `KIND` is the kind's name; a `DECISION` is part of exported traces."""

    KIND: ClassVar[str]
    DECISION: ClassVar[bool] = False

    def to_json(self) -> dict[str, Any]:
        """The record's `data`."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data


class StatusData(TypedDict):
    """A Status as JSON."""

    code: str
    plugin: str
    reasons: list[str]


PodKey = Annotated[str, "the pod: namespace/name"]
NodeName = Annotated[str, "the node"]
ObjectKind = Annotated[str, "the object's kind"]
Namespace = Annotated[str, "its namespace, empty for a kind that has none"]
ObjectName = Annotated[str, "its name"]
Change = Annotated[str, "ADDED, MODIFIED or DELETED"]
PointName = Annotated[str, "the extension point"]


class CommandApplied(Facts, frozen=True):
    """A command was applied.

    Its own fields are added where commands are known (CommandRecord).
    """

    KIND: ClassVar = "command"

    kind: Annotated[str, "which command"]
    objects: Annotated[int | None, "how many objects it creates or changes"] = None
    count: Annotated[int | None, "how many objects it deletes"] = None

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))  # what commands have as tuples are lists
        return data


class ObjectChanged(Facts, frozen=True):
    """An object was added, modified or deleted in the API server."""

    KIND: ClassVar = "object"

    type: Change
    kind: ObjectKind
    namespace: Namespace
    name: ObjectName


class Reconciled(Facts, frozen=True):
    """A controller looked at an object, and did what there was to be done."""

    KIND: ClassVar = "reconciled"

    controller: Annotated[str, "kube's name of the controller"]
    key: Annotated[str, "the object: namespace/name, or a name"]
    did: Annotated[str, "what was done and why; empty for nothing"]


class EventRecorded(Facts, frozen=True):
    """A Kubernetes Event was recorded."""

    KIND: ClassVar = "event"
    DECISION: ClassVar = True

    t: Annotated[int, "virtual time (ns)"]
    type: Annotated[str, "Normal or Warning"]
    reason: Annotated[str, "kube's reason, such as FailedScheduling"]
    kind: ObjectKind
    namespace: Namespace
    name: ObjectName
    message: Annotated[str, "kube's text"]
    reporter: Annotated[str, "who says it"]
    count: Annotated[int, "how often"]
    action: Annotated[str, "kube's word for what was being done"]
    related: Annotated[str, "the other pod that it is about: namespace/name, or empty"]


class QueueMoved(Facts, frozen=True):
    """A pod moved within the scheduling queue, into it or out of it."""

    KIND: ClassVar = "queue_moved"
    DECISION: ClassVar = True

    pod: PodKey
    came_from: Annotated[str, "the place where it was, empty for a new one"] = msgspec.field(name="from")
    to: Annotated[str, "the place it came to"]
    cause: Annotated[
        str,
        "kube's label of the event, or ScheduleAttemptFailure, BackoffComplete, popped, already assumed, already queued",
    ]
    event: Annotated[str, "the event that moved it"] = ""
    plugin: Annotated[str, "the plugin whose hint decided"] = ""
    hint: Annotated[str, "the hint's name"] = ""


class AttemptStarted(Facts, frozen=True):
    """A pod was popped and its scheduling cycle began."""

    KIND: ClassVar = "attempt_started"
    DECISION: ClassVar = True

    attempt: Annotated[int, "its number in the world"]
    pod: PodKey
    profile: Annotated[str, "the scheduler's name in the pod's spec"]
    nodes: Annotated[int, "how many nodes the snapshot has"]
    tries: Annotated[int, "which attempt of this pod"]


class PointStarted(Facts, frozen=True):
    """The first plugin of an extension point began."""

    KIND: ClassVar = "point_started"

    point: PointName
    pod: PodKey


class PluginRan(Facts, frozen=True):
    """A plugin answered at an extension point."""

    KIND: ClassVar = "plugin_ran"
    DETAIL: ClassVar = ("refused", "scores", "nodes", "stage", "evidence")
    """What is told node by node, and made only when somebody asks for it."""

    point: PointName
    plugin: Annotated[str, "the plugin"]
    pod: PodKey
    status: Annotated[StatusData, "its answer for the pod"]
    evaluated: Annotated[int | None, "how many nodes it was asked about"] = None
    refusals: Annotated[int | None, "how many of them it refused"] = None
    refused: Annotated[dict[str, StatusData] | None, "its answer for each node that it refused"] = None
    scores: Annotated[dict[str, int] | None, "the score of each node"] = None
    nodes: Annotated[list[str] | None, "of PreFilter: the nodes that are left to look at"] = None
    stage: Annotated[str, "of Filter: which pass"] = ""
    evidence: Annotated[dict[str, Any] | None, "of PostFilter: what preemption looked at"] = None


class NodeSelected(Facts, frozen=True):
    """A node was drawn among the best ones."""

    KIND: ClassVar = "node_selected"
    DECISION: ClassVar = True

    pod: PodKey
    node: NodeName
    tied: Annotated[list[str], "the best nodes in list order"]
    draw: Annotated[int | None, "its index among them, null where there was one"]
    feasible: Annotated[int, "how many nodes were feasible"]


class AttemptEnded(Facts, frozen=True):
    """A scheduling cycle ended."""

    KIND: ClassVar = "attempt_ended"
    DECISION: ClassVar = True

    attempt: Annotated[int, "its number in the world"]
    pod: PodKey
    outcome: Annotated[str, "scheduled, unschedulable or error"]
    node: Annotated[str, "the node, empty where none was chosen"]
    message: Annotated[str, "kube's text, empty where it was scheduled"]
    evaluated: Annotated[int, "the number of examined nodes"]
    feasible: Annotated[int, "how many of them were feasible"]
    draw: Annotated[int | None, "the node's index among the best ones, null where nothing was drawn"]


class ExtenderAsked(Facts, frozen=True):
    """A scheduler extender was asked; what it answered is said by the record of its step."""

    KIND: ClassVar = "extender_asked"

    pod: PodKey
    extender: Annotated[str, "the extender: its urlPrefix"]
    verb: Annotated[str, "filter, prioritize, preempt or bind"]
    url: Annotated[str, "where it was asked"]
    nodes: Annotated[int, "about how many nodes, but for bind"] = 0
    node: Annotated[str, "the node to bind to"] = ""


class PodAssumed(Facts, frozen=True):
    """The cache counts the pod on its node before the API server knows."""

    KIND: ClassVar = "pod_assumed"
    DECISION: ClassVar = True

    pod: PodKey
    node: NodeName


class PodForgotten(Facts, frozen=True):
    """The cache took an assumed pod back."""

    KIND: ClassVar = "pod_forgotten"
    DECISION: ClassVar = True

    pod: PodKey
    cause: Annotated[str, "expired, where no watch event confirmed the binding in time"] = ""


class PodWaits(Facts, frozen=True):
    """A Permit plugin made the pod wait."""

    KIND: ClassVar = "pod_waits"
    DECISION: ClassVar = True

    pod: PodKey
    node: NodeName
    timeouts: Annotated[dict[str, int], "how long it waits at most (ns), by plugin"]


class WaitDecided(Facts, frozen=True):
    """A plugin allowed or rejected a pod that waits on Permit."""

    KIND: ClassVar = "wait_decided"
    DECISION: ClassVar = True

    pod: PodKey
    plugin: Annotated[str, "in whose name; empty for none"]
    decision: Annotated[str, "allow or reject"]
    message: Annotated[str, "why it was rejected"] = ""


class WaitEnded(Facts, frozen=True):
    """The wait on Permit ended."""

    KIND: ClassVar = "wait_ended"
    DECISION: ClassVar = True

    pod: PodKey
    status: Annotated[StatusData, "Success, or why it was rejected"]


class BindingStarted(Facts, frozen=True):
    """The binding cycle began."""

    KIND: ClassVar = "binding_started"
    DECISION: ClassVar = True

    pod: PodKey
    node: NodeName


class BindingEnded(Facts, frozen=True):
    """The binding cycle ended."""

    KIND: ClassVar = "binding_ended"
    DECISION: ClassVar = True

    pod: PodKey
    node: NodeName
    outcome: Annotated[str, "bound, unschedulable or error"]
    message: Annotated[str, "kube's text, empty where it was bound"]


class PreemptionStarted(Facts, frozen=True):
    """Victims began to be evicted."""

    KIND: ClassVar = "preemption_started"

    pod: Annotated[str, "the preemptor: namespace/name"]
    node: NodeName
    victims: Annotated[list[str], "the pods that have to go, the most important first"]


class ApiCall(Facts, frozen=True):
    """The scheduler asked the API server to write something."""

    KIND: ClassVar = "api_call"

    verb: Annotated[str, "BIND, PATCH (of a status), DELETE, UPDATE or CREATE"]
    pod: Annotated[str, "the pod: namespace/name"] = ""
    node: Annotated[str, "of BIND: the node"] = ""
    status: Annotated[list[str] | None, "of PATCH: the fields of the status that are written"] = None
    kind: Annotated[str, "of another object than the pod: its kind"] = ""
    object: Annotated[str, "of another object than the pod: namespace/name, with /status where that is written"] = ""
    patch: Annotated[dict[str, Any] | None, "of UPDATE: the JSON merge patch"] = None
    effects: Annotated[
        list[str] | None, "what it does to a claim: protected, unprotected, allocated, deallocated, reserved, released"
    ] = None
    devices: Annotated[list[str] | None, "those that it allocates or deallocates: driver/pool/device"] = None
    error: Annotated[str, "the API server's answer where it refused"] = ""
    fault: Annotated[str, "the failure that was asked for"] = ""
    again_after: Annotated[int, "after how long the client makes the call again (ns)"] = 0


class SchedulerStarted(Facts, frozen=True):
    """A scheduler began with a configuration."""

    KIND: ClassVar = "scheduler_started"
    DECISION: ClassVar = True

    profiles: Annotated[list[str], "the scheduler's names that pods ask for"]


class SchedulerStage(Facts, frozen=True):
    """A scheduler's process came to another stage."""

    KIND: ClassVar = "scheduler_stage"
    DECISION: ClassVar = True

    stage: Annotated[str, "starting, listed, standby, working, ending or ended"]
    identity: Annotated[str, "host name and UUID of the process"]


class LeaderElection(Facts, frozen=True):
    """A candidate took, lost or gave back the lease, could not renew it, or saw another leader; not: a renewal that went well."""

    KIND: ClassVar = "leader_election"
    DECISION: ClassVar = True

    what: Annotated[
        str,
        "acquired, renewed (after a failure), not renewed, lost, released, not released, OnNewLeader, OnStartedLeading or OnStoppedLeading",
    ]
    identity: Annotated[str, "the candidate"]
    leader: Annotated[str, "who leads, as far as the candidate knows; empty for none"]


class TimerFired(Facts, frozen=True):
    """A timer of the queue fired."""

    KIND: ClassVar = "timer_fired"
    DECISION: ClassVar = True

    timer: Annotated[str, "flush_backoff or flush_unschedulable"]


class WatchEventHeard(Facts, frozen=True):
    """A scheduler whose informers lag heard of a change in the API server."""

    KIND: ClassVar = "watch_event"

    type: Change
    kind: ObjectKind
    namespace: Namespace
    name: ObjectName


class ApiThrottled(Facts, frozen=True):
    """The scheduler's API client held a call back, to stay within its limits."""

    KIND: ClassVar = "api_throttled"

    call: Annotated[str, "bind, status, delete or volumes"]
    pod: PodKey
    wait: Annotated[int, "for how long (ns)"]
    qps: Annotated[int | float, "calls a second"]
    burst: Annotated[int, "calls at once"]


CLASSES: tuple[type[Facts], ...] = (
    CommandApplied,
    ObjectChanged,
    Reconciled,
    EventRecorded,
    QueueMoved,
    AttemptStarted,
    PointStarted,
    PluginRan,
    ExtenderAsked,
    NodeSelected,
    AttemptEnded,
    PodAssumed,
    PodForgotten,
    PodWaits,
    WaitDecided,
    WaitEnded,
    BindingStarted,
    BindingEnded,
    PreemptionStarted,
    ApiCall,
    SchedulerStarted,
    SchedulerStage,
    LeaderElection,
    TimerFired,
    WatchEventHeard,
    ApiThrottled,
)
"""In the order in which people are shown them."""

KINDS: dict[str, type[Facts]] = {facts.KIND: facts for facts in CLASSES}
