"""The table of a sequence diagram: for each kind of record who says what to whom.

It is the counterpart of sentences/records.py, which tells the same records whole. The calls are named as kube-scheduler names them
(kube: pkg/scheduler/schedule_one.go, pkg/scheduler/scheduler.go, cmd/kube-scheduler/app/server.go @ v1.34.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from playground.presenters.amounts import duration
from playground.presenters.scene import short
from playground.presenters.sequence.lifelines import (
    API,
    BINDING,
    CACHE,
    CONTROLLERS,
    CYCLE,
    ELECTOR,
    HANDLERS,
    KUBELET,
    PLUGINS,
    PROCESS,
    QUEUE,
    USER,
)
from playground.presenters.words import Message, brief, exactly, gettext_noop, message
from scheduler_core.base.trace.kinds import (
    ApiCall,
    ApiThrottled,
    AttemptEnded,
    AttemptStarted,
    BindingEnded,
    BindingStarted,
    CommandApplied,
    EventRecorded,
    ExtenderAsked,
    Facts,
    LeaderElection,
    NodeSelected,
    ObjectChanged,
    PluginRan,
    PodAssumed,
    PodForgotten,
    PodWaits,
    PointStarted,
    PreemptionStarted,
    QueueMoved,
    Reconciled,
    SchedulerStage,
    SchedulerStarted,
    TimerFired,
    WaitDecided,
    WaitEnded,
    WatchEventHeard,
)
from scheduler_core.world.readonly import ATTEMPT_FAILED, BACKOFF_COMPLETE, Point

F = TypeVar("F", bound=Facts)


class Standing(NamedTuple):
    """The context that a record lacks: the cycle that the pod is in, and whether a scheduler's start is drawn."""

    cycle: str = CYCLE
    start_up: bool = False


Who = str | Callable[[F, Standing], str]


@dataclass(frozen=True, slots=True)
class Line(Generic[F]):
    """An arrow from a lifeline to another, or a note beside one where both are the same; `answer` is a second arrow, back."""

    facts: type[F]
    source: Who[F]
    target: Who[F]
    words: Callable[[F], Message]
    answer: Callable[[F], Message | None] = lambda facts: None


# The world around

_COMMANDS = {
    "ApplyObjects": gettext_noop("kubectl apply"),
    "CreateObject": gettext_noop("POST: create it"),
    "DeleteObjects": "DELETE",
    "PatchObject": "PATCH",
    "FailCall": gettext_noop("a call is to fail or to be slow"),
    "EvictPod": gettext_noop("POST: an eviction"),
    "BindPod": gettext_noop("POST: a binding"),
    "DrainNode": "kubectl drain",
    "StartScheduler": gettext_noop("start"),
    "StopScheduler": gettext_noop("end"),
}
_POINTS = {
    Point.QUEUE_SORT: "Less",
    Point.EXTENDER_FILTER: "findNodesThatPassExtenders",
    Point.EXTENDER_PREEMPT: "callExtenders",
    Point.EXTENDER_PRIORITIZE: "Prioritize",
    Point.EXTENDER_BIND: "extendersBinding",
    Point.RESERVE: "RunReservePluginsReserve",
    Point.UNRESERVE: "RunReservePluginsUnreserve",
}


def _kubelets(controller: str) -> bool:
    return controller in ("kubelet", "allocation-manager", "eviction-manager", "out-of-memory-killer")


def _reporter(event: EventRecorded, standing: Standing) -> str:
    if standing.start_up:
        return ELECTOR
    if _kubelets(event.reporter):
        return KUBELET
    return CONTROLLERS if event.reporter.endswith("controller") else standing.cycle


def _describe_reconcile(done: Reconciled) -> Message:
    return exactly(brief(done.did)) if done.did else message(gettext_noop("nothing to do"))


# The queue


def _moves_from(moved: QueueMoved, standing: Standing) -> str:
    if moved.cause == ATTEMPT_FAILED:
        return standing.cycle
    return HANDLERS if not moved.came_from or moved.event else QUEUE


def _moves_to(moved: QueueMoved, standing: Standing) -> str:
    return CYCLE if moved.cause == "popped" else QUEUE


def _describe_queue_move(moved: QueueMoved) -> Message:
    if moved.cause == "popped":
        return message(gettext_noop("Pop: %(pod)s"), pod=short(moved.pod))
    if moved.cause == ATTEMPT_FAILED:
        return message(gettext_noop("AddUnschedulableIfNotPresent: %(place)s"), place=moved.to)
    if moved.cause == BACKOFF_COMPLETE:
        return message(gettext_noop("its backoff is over: %(place)s"), place=moved.to)
    if moved.to == "binding":
        return message(gettext_noop("no longer in the queue's hands"))
    if not moved.came_from:
        return message(gettext_noop("Add: %(place)s"), place=moved.to)
    return message(gettext_noop("%(cause)s: %(place)s"), cause=moved.cause, place=moved.to)


# Cycles


def _asks(asked: PointStarted | PluginRan, standing: Standing) -> str:
    return QUEUE if asked.point in (Point.PRE_ENQUEUE, Point.QUEUE_SORT) else standing.cycle


def _point(started: PointStarted) -> Message:
    return exactly(_POINTS.get(Point(started.point), f"Run{started.point}Plugins"))


def _fine(ran: PluginRan) -> bool:
    return ran.status["code"] in ("Success", "Skip") and not ran.refusals


def _plugin_to(ran: PluginRan, standing: Standing) -> str:
    """A refusal goes back to who asked; what passes is a note."""
    return PLUGINS if _fine(ran) else _asks(ran, standing)


def _plugin(ran: PluginRan) -> Message:
    if ran.refusals:
        return message(
            gettext_noop("%(plugin)s refuses %(k)s of %(n)s nodes"),
            plugin=ran.plugin,
            k=ran.refusals,
            n=ran.evaluated,
        )
    return exactly(f"{ran.plugin}: {ran.status['code']}")


def _attempt_ended(ended: AttemptEnded) -> Message:
    if ended.outcome == "scheduled":
        return message(gettext_noop("it goes to %(node)s"), node=ended.node)
    return exactly(ended.message)


def _binding_to(ended: BindingEnded, standing: Standing) -> str:
    return CACHE if ended.outcome == "bound" else BINDING


def _binding_ended(ended: BindingEnded) -> Message:
    if ended.outcome == "bound":
        return message(gettext_noop("FinishBinding: bound to %(node)s"), node=ended.node)
    return message(gettext_noop("not bound: %(message)s"), message=ended.message)


def _call(call: ApiCall) -> Message:
    if call.verb == "BIND":
        return message(gettext_noop("POST binding: %(pod)s → %(node)s"), pod=short(call.pod), node=call.node)
    if call.status:
        return message(
            gettext_noop("PATCH status of %(pod)s: %(fields)s"),
            pod=short(call.pod),
            fields=", ".join(call.status),
        )
    if call.pod and call.kind:
        return exactly(f"{call.verb} {call.kind} {short(call.object)}")
    return exactly(f"{call.verb} {short(call.pod or call.object)}")


def _answer(call: ApiCall) -> Message | None:
    if call.fault or call.error:
        return exactly(call.fault or call.error)
    return exactly("201 Created") if call.verb == "BIND" else None


def _evicts(started: PreemptionStarted) -> Message:
    victims = ", ".join(short(victim) for victim in started.victims)
    return message(
        gettext_noop("prepareCandidate on %(node)s: %(victims)s"), node=started.node, victims=victims
    )


# A scheduler's start

_STAGES: dict[str, tuple[str, str, str]] = {
    "starting": (PROCESS, HANDLERS, gettext_noop("start: list and watch every kind")),
    "listed": (HANDLERS, PROCESS, gettext_noop("WaitForCacheSync: all have synced")),
    "standby": (PROCESS, ELECTOR, gettext_noop("LeaderElector.Run: asks every retryPeriod")),
    "working": (PROCESS, QUEUE, gettext_noop("Run: the scheduling loop begins")),
    "ending": (USER, PROCESS, gettext_noop("SIGTERM: no cycle begins any more")),
    "ended": (PROCESS, PROCESS, gettext_noop("has ended")),
}
_ELECTION: dict[str, tuple[str, str, str]] = {
    "acquired": (ELECTOR, API, gettext_noop("takes the Lease")),
    "renewed": (ELECTOR, API, gettext_noop("renews the Lease again")),
    "not renewed": (ELECTOR, API, gettext_noop("can't renew the Lease, tries again")),
    "lost": (ELECTOR, PROCESS, gettext_noop("renewDeadline is over: the Lease is lost")),
    "released": (ELECTOR, API, gettext_noop("gives the Lease back")),
    "not released": (ELECTOR, API, gettext_noop("can't give the Lease back")),
    "OnNewLeader": (API, ELECTOR, gettext_noop("OnNewLeader: %(leader)s")),
    "OnStartedLeading": (ELECTOR, PROCESS, "OnStartedLeading"),
    "OnStoppedLeading": (ELECTOR, PROCESS, "OnStoppedLeading"),
}
_OTHER = (PROCESS, PROCESS, gettext_noop("comes to another stage"))


def _stage(came: SchedulerStage) -> tuple[str, str, str]:
    return _STAGES.get(came.stage, _OTHER)


def _election(said: LeaderElection) -> tuple[str, str, str]:
    return _ELECTION.get(said.what, _OTHER)


LINES: tuple[Line[Any], ...] = (
    Line(
        CommandApplied,
        USER,
        lambda command, standing: PROCESS if standing.start_up else API,
        lambda command: message(_COMMANDS.get(command.kind, command.kind)),
    ),
    Line(
        ObjectChanged,
        API,
        lambda changed, standing: API if standing.start_up else HANDLERS,
        lambda changed: exactly(f"{changed.type} {changed.kind} {changed.name}"),
    ),
    Line(
        WatchEventHeard, HANDLERS, HANDLERS, lambda heard: exactly(f"{heard.type} {heard.kind} {heard.name}")
    ),
    Line(
        Reconciled,
        lambda done, standing: KUBELET if _kubelets(done.controller) else CONTROLLERS,
        lambda done, standing: API if done.did else CONTROLLERS,
        _describe_reconcile,
    ),
    Line(
        EventRecorded,
        _reporter,
        API,
        lambda event: message(gettext_noop("Event %(reason)s"), reason=event.reason),
    ),
    Line(QueueMoved, _moves_from, _moves_to, _describe_queue_move),
    Line(TimerFired, QUEUE, QUEUE, lambda fired: exactly(fired.timer)),
    Line(
        AttemptStarted,
        CYCLE,
        CACHE,
        lambda started: message(gettext_noop("UpdateSnapshot: nodes: %(n)s"), n=started.nodes),
    ),
    Line(PointStarted, _asks, PLUGINS, _point),
    Line(PluginRan, PLUGINS, _plugin_to, _plugin),
    Line(
        NodeSelected,
        CYCLE,
        CYCLE,
        lambda selected: message(gettext_noop("selectHost: %(node)s"), node=selected.node),
    ),
    Line(AttemptEnded, CYCLE, CYCLE, _attempt_ended),
    Line(
        ExtenderAsked,
        lambda asked, standing: standing.cycle,
        PLUGINS,
        lambda asked: exactly(f"POST {asked.url}"),
    ),
    Line(
        PodAssumed,
        CYCLE,
        CACHE,
        lambda assumed: message(gettext_noop("AssumePod on %(node)s"), node=assumed.node),
    ),
    Line(
        PodForgotten,
        lambda forgotten, standing: CACHE if forgotten.cause else standing.cycle,
        CACHE,
        lambda forgotten: message(gettext_noop("ForgetPod: its node has the room again")),
    ),
    Line(PodWaits, PLUGINS, CYCLE, lambda waits: message(gettext_noop("Wait: it waits on Permit"))),
    Line(
        WaitDecided,
        PLUGINS,
        BINDING,
        lambda said: message(
            gettext_noop("%(decision)s in the name of %(plugin)s"),
            decision=said.decision.capitalize(),
            plugin=said.plugin or "–",
        ),
    ),
    Line(
        WaitEnded,
        PLUGINS,
        BINDING,
        lambda ended: message(gettext_noop("WaitOnPermit: %(code)s"), code=ended.status["code"]),
    ),
    Line(BindingStarted, CYCLE, BINDING, lambda started: message(gettext_noop("go: the binding cycle"))),
    Line(BindingEnded, BINDING, _binding_to, _binding_ended),
    Line(PreemptionStarted, PLUGINS, BINDING, _evicts),
    Line(ApiCall, BINDING, API, _call, _answer),
    Line(
        ApiThrottled,
        BINDING,
        BINDING,
        lambda held: message(gettext_noop("the client waits %(time)s"), time=duration(held.wait)),
    ),
    Line(
        SchedulerStarted,
        PROCESS,
        PROCESS,
        lambda started: message(gettext_noop("New: profiles %(names)s"), names=", ".join(started.profiles)),
    ),
    Line(
        SchedulerStage,
        lambda came, standing: _stage(came)[0],
        lambda came, standing: _stage(came)[1],
        lambda came: message(_stage(came)[2]),
    ),
    Line(
        LeaderElection,
        lambda said, standing: _election(said)[0],
        lambda said, standing: _election(said)[1],
        lambda said: message(_election(said)[2], leader=said.leader.rpartition("_")[0] or said.leader or "–"),
    ),
)
"""One for each kind of record."""

BY_KIND: dict[str, Line[Any]] = {line.facts.KIND: line for line in LINES}
