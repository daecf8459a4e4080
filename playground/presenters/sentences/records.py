"""The sentence of each kind of record: what it is of, and what happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from playground.presenters.amounts import duration
from playground.presenters.scene import short
from playground.presenters.sentences.claims import of_claim_call
from playground.presenters.sentences.step import of_step
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.trace.kinds import (
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
from scheduler_core.view import Code, Record, StepFacts

F = TypeVar("F", bound=Facts)


@dataclass(frozen=True, slots=True)
class Sentence(Generic[F]):
    """How records of a kind are told; `head` is what they are of. One that is not `telling` never stands for a whole step."""

    facts: type[F]
    head: str | Callable[[F], str]
    describe: Callable[[F], Message]
    telling: bool = True


_FINE = (Code.SUCCESS.kube_name, Code.SKIP.kube_name, Code.WAIT.kube_name)
_FAILED = ("unschedulable", "error", "failed")


def of_record(record: Record) -> dict[str, Any]:
    """`head` names the kind of thing, or the extension point; `sentence` says what happened."""
    return of_facts(record.facts)


def of_facts(facts: Facts) -> dict[str, Any]:
    sentence = BY_KIND[facts.KIND]
    head = sentence.head if isinstance(sentence.head, str) else sentence.head(facts)
    return {"head": head, "sentence": sentence.describe(facts)}


def row(record: Record) -> dict[str, Any]:
    """A record as a row of a list; `no` marks refusals and failures."""
    source = record.source
    if isinstance(source, StepFacts) and source.nodes is not None:
        step = source.step
        no = bool(step.refused) or step.status.code.kube_name not in _FINE
        return {
            "kind": record.kind,
            "head": f"{step.point} · {step.plugin}",
            "sentence": of_step(step, short(source.pod)),
            "no": no,
        }
    return {"kind": record.kind, **of_record(record), "no": _failed(record.facts)}


def _failed(facts: Facts) -> bool:
    if isinstance(facts, PluginRan):
        return facts.status["code"] not in _FINE
    if isinstance(facts, AttemptEnded | BindingEnded):
        return facts.outcome in _FAILED
    if isinstance(facts, EventRecorded):
        return facts.type == "Warning"
    return isinstance(facts, ApiCall) and bool(facts.fault)


def _attempt_ended(ended: AttemptEnded) -> Message:
    pod = short(ended.pod)
    if ended.outcome == "scheduled":
        return message(gettext_noop("%(pod)s goes to %(node)s"), pod=pod, node=ended.node)
    return message(gettext_noop("%(pod)s finds no node: %(message)s"), pod=pod, message=ended.message)


def _binding_ended(ended: BindingEnded) -> Message:
    pod, node = short(ended.pod), ended.node
    if ended.outcome == "bound":
        return message(gettext_noop("%(pod)s is bound to %(node)s"), pod=pod, node=node)
    return message(
        gettext_noop("%(pod)s is not bound to %(node)s: %(message)s"),
        pod=pod,
        node=node,
        message=ended.message,
    )


def _node_selected(selected: NodeSelected) -> Message:
    node, pod = selected.node, short(selected.pod)
    if len(selected.tied) > 1:
        return message(
            gettext_noop("%(n)s nodes tie for %(pod)s; the draw takes %(node)s"),
            n=len(selected.tied),
            pod=pod,
            node=node,
        )
    return message(gettext_noop("%(node)s has the highest total for %(pod)s"), node=node, pod=pod)


def _attempt_started(started: AttemptStarted) -> Message:
    text = gettext_noop("%(pod)s was popped from the queue; the cycle sees the cluster as it is now")
    return message(text, pod=short(started.pod))


def _binding_started(started: BindingStarted) -> Message:
    text = gettext_noop("%(pod)s on its way to %(node)s")
    return message(text, pod=short(started.pod), node=started.node)


def _wait_ended(ended: WaitEnded) -> Message:
    return message(gettext_noop("the wait of %(pod)s has ended"), pod=short(ended.pod))


def _wait_decided(decided: WaitDecided) -> Message:
    if decided.decision == "allow":
        text = gettext_noop("%(plugin)s allows %(pod)s, which waits on Permit")
    else:
        text = gettext_noop("%(plugin)s rejects %(pod)s, which waits on Permit: %(why)s")
    return message(text, plugin=decided.plugin or "–", pod=short(decided.pod), why=decided.message)


def _pod_waits(waits: PodWaits) -> Message:
    return message(gettext_noop("%(pod)s waits"), pod=short(waits.pod))


def _extender_asked(asked: ExtenderAsked) -> Message:
    text = _ASKED.get(asked.verb, gettext_noop("%(extender)s is asked about %(pod)s"))
    return message(text, extender=asked.extender, pod=short(asked.pod), n=asked.nodes, node=asked.node)


_ASKED = {
    "filter": gettext_noop("%(extender)s is asked which of %(n)s nodes suit %(pod)s"),
    "prioritize": gettext_noop("%(extender)s is asked to score %(n)s nodes for %(pod)s"),
    "preempt": gettext_noop("%(extender)s is asked about the victims for %(pod)s on %(n)s nodes"),
    "bind": gettext_noop("%(extender)s is asked to bind %(pod)s to %(node)s"),
}


def _pod_assumed(assumed: PodAssumed) -> Message:
    text = gettext_noop("the cache counts %(pod)s on %(node)s before the API server knows")
    return message(text, pod=short(assumed.pod), node=assumed.node)


def _pod_forgotten(forgotten: PodForgotten) -> Message:
    return message(gettext_noop("the cache takes %(pod)s back"), pod=short(forgotten.pod))


def _watch_event(heard: WatchEventHeard) -> Message:
    return message(
        gettext_noop("the scheduler hears of %(kind)s %(name)s: %(change)s"),
        kind=heard.kind,
        name=heard.name,
        change=heard.type.lower(),
    )


_TIMERS = {
    "flush_backoff": gettext_noop("once a second: pods whose backoff is over become active"),
    "flush_unschedulable": gettext_noop(
        "every 30 s: pods that have been unschedulable for too long are tried again"
    ),
}


def _timer_fired(fired: TimerFired) -> Message:
    """What a flush of the queue does (kube: scheduling_queue.go, Run @ v1.34.1)."""
    return message(_TIMERS.get(fired.timer, fired.timer))


_COMMANDS = {
    "ApplyObjects": gettext_noop("objects created or changed: %(n)s"),
    "DeleteObjects": gettext_noop("objects deleted: %(n)s"),
    "PatchObject": gettext_noop("an object was changed"),
    "SetConfiguration": gettext_noop("the scheduler starts anew with another configuration"),
    "SetSettings": gettext_noop("the world's settings were changed"),
    "DefinePlugin": gettext_noop("a plugin of one's own was defined or taken away"),
    "DecidePermit": gettext_noop("the wait on Permit was decided from outside"),
    "FailCall": gettext_noop("API calls about a pod were asked to fail or to be slow"),
    "CreateObject": gettext_noop("an object was created"),
    "ScaleObject": gettext_noop("a workload was scaled"),
    "BindPod": gettext_noop("a pod was bound by hand"),
    "EvictPod": gettext_noop("an eviction was asked for"),
    "DrainNode": gettext_noop("a node is being drained"),
    "CancelDrain": gettext_noop("a drain was called off"),
    "SetKubelet": gettext_noop("a kubelet was stopped or started"),
    "ReportCondition": gettext_noop("a node reports another condition"),
    "ReportDeviceCondition": gettext_noop("a driver reports a condition of a device"),
    "SetPrograms": gettext_noop("something else runs in the containers"),
    "SetUsage": gettext_noop("pods or nodes use other amounts"),
    "StartScheduler": gettext_noop("a scheduler's process was started"),
    "StopScheduler": gettext_noop("a scheduler's process was told to end"),
    "PartitionScheduler": gettext_noop("a scheduler was cut off, or connected again"),
    "SetExtender": gettext_noop("an extender was given another behaviour"),
    "AnswerExtender": gettext_noop("an extender has answered from outside"),
    "Undo": gettext_noop("the last change was taken back"),
    "Redo": gettext_noop("the change taken back was made again"),
}


def _command(command: CommandApplied) -> Message:
    text = _COMMANDS.get(command.kind, gettext_noop("a command was applied"))
    return message(text, n=command.objects if command.kind == "ApplyObjects" else command.count or 0)


def _object(changed: ObjectChanged) -> Message:
    return message(
        gettext_noop("%(kind)s %(name)s: %(change)s"),
        kind=changed.kind,
        name=changed.name,
        change=changed.type.lower(),
    )


def _reconciled(done: Reconciled) -> Message:
    if not done.did:
        return message(gettext_noop("%(key)s: nothing to do"), key=done.key)
    return message(gettext_noop("%(key)s: %(did)s"), key=done.key, did=done.did)


def _queue_moved(moved: QueueMoved) -> Message:
    return message(
        gettext_noop("%(pod)s moves to %(place)s (%(cause)s)"),
        pod=short(moved.pod),
        place=moved.to,
        cause=moved.cause,
    )


def _api_call(call: ApiCall) -> Message:
    pod = short(call.pod)
    if call.pod and call.kind:
        return _object_call(call, pod)
    if not call.fault:
        return message(gettext_noop("%(verb)s %(pod)s: done"), verb=call.verb, pod=pod)
    if call.again_after:
        return message(
            gettext_noop("%(verb)s %(pod)s fails and is made again after %(time)s: %(message)s"),
            verb=call.verb,
            pod=pod,
            time=duration(call.again_after),
            message=call.fault,
        )
    return message(
        gettext_noop("%(verb)s %(pod)s fails: %(message)s"), verb=call.verb, pod=pod, message=call.fault
    )


def _object_call(call: ApiCall, pod: str) -> Message:
    """About another object, on behalf of a pod."""
    if call.effects:
        return of_claim_call(call, pod)
    about = {"verb": call.verb, "kind": call.kind, "object": call.object, "pod": pod}
    if call.fault or call.error:
        text = gettext_noop("%(verb)s %(kind)s %(object)s for %(pod)s fails: %(message)s")
        return message(text, **about, message=call.fault or call.error)
    return message(gettext_noop("%(verb)s %(kind)s %(object)s for %(pod)s: done"), **about)


def _throttled(throttled: ApiThrottled) -> Message:
    return message(
        gettext_noop(
            "the API client holds a call about %(pod)s back for %(time)s, to stay within its limits"
        ),
        pod=short(throttled.pod),
        time=duration(throttled.wait),
    )


def _plugin_ran(ran: PluginRan) -> Message:
    """A plugin that was asked about the pod alone: before the queue, or in a binding cycle."""
    code, pod = ran.status["code"], short(ran.pod)
    if code in _FINE:
        return message(gettext_noop("%(code)s for %(pod)s"), code=code, pod=pod)
    reason = ", ".join(ran.status["reasons"])
    return message(gettext_noop("%(code)s for %(pod)s: %(reason)s"), code=code, pod=pod, reason=reason)


def _event(event: EventRecorded) -> Message:
    return message(
        gettext_noop("%(pod)s %(reason)s: %(message)s"),
        pod=short(f"{event.namespace}/{event.name}"),
        reason=event.reason,
        message=event.message,
    )


def _point_started(started: PointStarted) -> Message:
    return message(gettext_noop("begins for %(pod)s"), pod=short(started.pod))


def _preemption_started(started: PreemptionStarted) -> Message:
    return message(
        gettext_noop("%(pod)s begins to have pods evicted from %(node)s: %(victims)s"),
        pod=short(started.pod),
        node=started.node,
        victims=", ".join(short(victim) for victim in started.victims),
    )


def _scheduler_started(started: SchedulerStarted) -> Message:
    return message(gettext_noop("begins with the profiles %(names)s"), names=", ".join(started.profiles))


_STAGES = {
    "starting": gettext_noop("%(name)s starts, and lists every object"),
    "listed": gettext_noop("%(name)s: its informers have synced"),
    "standby": gettext_noop("%(name)s stands for election"),
    "working": gettext_noop("%(name)s: its scheduling loop begins"),
    "ending": gettext_noop("%(name)s is told to end, and begins no cycle any more"),
    "ended": gettext_noop("%(name)s has ended"),
}
_ELECTION = {
    "acquired": gettext_noop("%(name)s has acquired the lease"),
    "renewed": gettext_noop("%(name)s has renewed the lease again"),
    "not renewed": gettext_noop("%(name)s could not renew the lease, and tries again"),
    "lost": gettext_noop("%(name)s has lost the lease"),
    "released": gettext_noop("%(name)s has given the lease back"),
    "not released": gettext_noop("%(name)s could not give the lease back"),
    "OnNewLeader": gettext_noop("%(name)s sees a new leader: %(leader)s"),
    "OnStartedLeading": gettext_noop("%(name)s begins to lead"),
    "OnStoppedLeading": gettext_noop("%(name)s stops leading"),
}


def _scheduler_stage(came: SchedulerStage) -> Message:
    text = _STAGES.get(came.stage, gettext_noop("%(name)s comes to another stage"))
    return message(text, name=_host(came.identity))


def _leader_election(said: LeaderElection) -> Message:
    text = _ELECTION.get(said.what, gettext_noop("%(name)s: leader election"))
    return message(text, name=_host(said.identity), leader=_host(said.leader) or "–")


def _host(identity: str) -> str:
    """An identity without its UUID."""
    return identity.rpartition("_")[0] or identity


SENTENCES: tuple[Sentence[Any], ...] = (
    Sentence(AttemptEnded, gettext_noop("The scheduling cycle ends"), _attempt_ended),
    Sentence(BindingEnded, gettext_noop("The binding cycle ends"), _binding_ended),
    Sentence(NodeSelected, gettext_noop("Select"), _node_selected),
    Sentence(AttemptStarted, gettext_noop("A scheduling cycle begins"), _attempt_started),
    Sentence(BindingStarted, gettext_noop("A binding cycle begins"), _binding_started),
    Sentence(WaitEnded, gettext_noop("WaitOnPermit"), _wait_ended),
    Sentence(WaitDecided, gettext_noop("Permit"), _wait_decided),
    Sentence(PodWaits, gettext_noop("Permit"), _pod_waits),
    Sentence(ExtenderAsked, gettext_noop("Extender"), _extender_asked),
    Sentence(PodAssumed, gettext_noop("Assume"), _pod_assumed),
    Sentence(PodForgotten, gettext_noop("Forget"), _pod_forgotten),
    Sentence(WatchEventHeard, gettext_noop("Informer"), _watch_event),
    Sentence(TimerFired, gettext_noop("The queue's timer"), _timer_fired),
    Sentence(CommandApplied, gettext_noop("A change from outside"), _command),
    Sentence(ObjectChanged, gettext_noop("API server"), _object),
    Sentence(Reconciled, lambda done: done.controller, _reconciled),
    Sentence(QueueMoved, gettext_noop("Queue"), _queue_moved),
    Sentence(ApiCall, gettext_noop("API call"), _api_call),
    Sentence(ApiThrottled, gettext_noop("API client"), _throttled),
    Sentence(PluginRan, lambda ran: f"{ran.point} · {ran.plugin}", _plugin_ran, telling=False),
    Sentence(EventRecorded, gettext_noop("Kubernetes Event"), _event, telling=False),
    Sentence(PointStarted, lambda started: started.point, _point_started, telling=False),
    Sentence(PreemptionStarted, gettext_noop("Preemption"), _preemption_started, telling=False),
    Sentence(SchedulerStage, gettext_noop("Scheduler"), _scheduler_stage),
    Sentence(LeaderElection, gettext_noop("Leader election"), _leader_election),
    Sentence(SchedulerStarted, gettext_noop("Scheduler"), _scheduler_started, telling=False),
)
"""One for each kind, the most telling first."""

BY_KIND: dict[str, Sentence[Any]] = {sentence.facts.KIND: sentence for sentence in SENTENCES}
RANK = {sentence.facts.KIND: rank for rank, sentence in enumerate(SENTENCES) if sentence.telling}
