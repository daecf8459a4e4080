"""The one sentence: what keeps a pod from running, by its state and then by the reason that came nearest to letting it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from playground.presenters.amounts import clock
from playground.presenters.scene import short
from playground.presenters.why.facts import join, list_headlines
from playground.presenters.why.reasons import about
from playground.presenters.words import Message, exactly, gettext_noop, message
from scheduler_core.analysis.explain import KUBELET, Explanation, Given, State

FEW = 8  # nodes of a cluster of which each is told of

_NO_SCHEDULER = gettext_noop("No running scheduler has a profile named %(scheduler)s, so %(pod)s stays Pending.")
_NO_NODE = gettext_noop("The nodeName of %(pod)s is %(node)s, which does not exist, so no kubelet will start the pod.")
_GATED = gettext_noop("%(pod)s is not scheduled until its scheduling gates are removed: %(list)s.")
_PREEMPTING = gettext_noop("%(pod)s is not tried until the victims that make room for it have terminated.")
_HELD = gettext_noop("%(plugin)s holds %(pod)s back: %(message)s")
_QUOTA = gettext_noop("%(pod)s cannot be created because the quota %(quota)s is used up (missing pods: %(count)s).")
_QUOTA_HAS_ROOM = gettext_noop("%(pod)s was refused while the quota %(quota)s was used up (missing pods: %(count)s).")
_REFUSED = gettext_noop("%(pod)s cannot be created (missing pods: %(count)s): %(message)s.")
_NO_NODES = gettext_noop("%(pod)s waits because the cluster has no nodes.")
_FITS = gettext_noop("%(pod)s fits %(node)s now and waits in the active queue.")
_FITS_BACKOFF = gettext_noop("%(pod)s fits %(node)s now. Its next attempt follows its backoff.")
_FITS_UNHEARD = gettext_noop("%(pod)s fits %(node)s now, but no event has triggered another attempt.")
_ATTEMPTING = gettext_noop("%(pod)s is in its scheduling cycle.")
_BINDING = gettext_noop("%(pod)s is being bound to %(node)s.")
_COMPLETED = gettext_noop(
    "%(pod)s has completed on %(node)s: its containers ended without an error, and the kubelet does not start them again."
)
_SCHEDULED = gettext_noop("%(pod)s is on %(node)s.")
_NOMINATED = gettext_noop("%(pod)s waits for %(node)s, where lower-priority pods are being preempted for it.")

_REFUSES = gettext_noop("The kubelet of %(node)s refuses %(pod)s: %(message)s.")
_REFUSES_AGAIN = gettext_noop(
    "The kubelet of %(node)s refuses %(pod)s: %(message)s. Pods of its owner that ended before it: %(count)s."
)
_WOULD_REFUSE = gettext_noop("The kubelet of %(node)s would refuse %(pod)s: %(message)s.")
_WOULD_REFUSE_AGAIN = gettext_noop(
    "The kubelet of %(node)s would refuse %(pod)s: %(message)s. Pods of its owner that ended before it: %(count)s."
)
_FAILED = gettext_noop("%(pod)s failed on %(node)s: %(message)s.")
_FAILED_AGAIN = gettext_noop(
    "%(pod)s failed on %(node)s: %(message)s. Pods of its owner that ended before it: %(count)s."
)
_EVICTED = gettext_noop("The kubelet of %(node)s evicted %(pod)s: %(message)s.")
_EVICTED_AGAIN = gettext_noop(
    "The kubelet of %(node)s evicted %(pod)s: %(message)s. Pods of its owner that ended before it: %(count)s."
)
_ENDED = {State.FAILED: (_FAILED, _FAILED_AGAIN), State.REFUSED: (_REFUSES, _REFUSES_AGAIN)}
_FAILED_SILENTLY = gettext_noop("%(pod)s has failed, and its status does not say why.")
_PAUSED = gettext_noop("%(pod)s is not created because the Deployment is paused (missing pods: %(count)s).")
_SUSPENDED = gettext_noop("%(pod)s is not created because the Job is suspended (missing pods: %(count)s).")
_ELSEWHERE = gettext_noop(
    "%(pod)s is not created because another controller manages the pods of the Job (%(message)s; missing "
    "pods: %(count)s)."
)
_SPOKEN_FOR = (State.AS_WANTED, State.STUCK, State.TERMINATING)  # states that their headlines say better
_RUNS = gettext_noop("%(pod)s runs on %(node)s, and is not as it should be: %(message)s.")
_WAITS = gettext_noop("%(pod)s is bound to %(node)s, where the kubelet cannot start its containers yet: %(message)s.")
_INCOMPLETE = gettext_noop("%(pod)s claims all devices of a pool that the scheduler considers incomplete.")
_KEPT = gettext_noop("%(node)s has room for %(pod)s, but it is reserved for a nominated pod.")
_LOST = gettext_noop("%(pod)s is on %(node)s, but its state is unknown: %(message)s.")
_TERMINATING = gettext_noop("%(pod)s is terminating on %(node)s until %(time)s.")
_NOT_AS_WANTED = gettext_noop("%(pod)s is not as it should be.")
_PLAIN = {
    State.NOT_RUNNING: gettext_noop("%(pod)s is bound to %(node)s but does not run: %(message)s."),
    State.TERMINATING: gettext_noop("%(pod)s is terminating on %(node)s, but nothing completes its deletion."),
    State.GONE: gettext_noop("%(pod)s no longer exists."),
    State.STUCK: gettext_noop("%(pod)s makes no progress: %(message)s."),
    State.AS_WANTED: gettext_noop("%(pod)s has no problem."),
}
_BY_OBSTACLE = {
    "NodeLost": _LOST,
    "WaitsForVolume": _WAITS,
    "AttachedElsewhere": _WAITS,
    "InitContainerRuns": _WAITS,
    "SidecarNotStarted": _WAITS,
    "ReadinessGates": _RUNS,
    "ContainersNotReady": _RUNS,
    "ResizeInfeasible": _RUNS,
    "ResizeDeferred": _RUNS,
    "ResizePending": _RUNS,
}
_NOTHING_STARTS = gettext_noop("%(pod)s is not created: %(message)s.")
_WITHHELD = {State.PAUSED: _PAUSED, State.SUSPENDED: _SUSPENDED, State.MANAGED_ELSEWHERE: _ELSEWHERE}


def sentence(explanation: Explanation) -> Message:
    """Return a plain-words summary: the state with its main reasons, then the facts that belong to them."""
    headlines = list(list_headlines(explanation))
    refused = any(each.code == State.NOT_CREATED for each in explanation.reasons)
    speak = explanation.state in _SPOKEN_FOR and explanation.until is None and headlines and not refused
    others = list(_list_refused_nodes(explanation))
    return join(headlines if speak else [_describe_state(explanation), *headlines, *others])


def _list_refused_nodes(explanation: Explanation) -> Iterator[Message]:
    """Yield why a pod that is placed is not on the other nodes of a small cluster."""
    if explanation.state in (State.SCHEDULED, State.BINDING) and explanation.total <= FEW:
        away = [each for each in explanation.reasons if each.nodes and explanation.node not in each.nodes]
        yield from (about(each, short(explanation.pod), explanation.total) for each in away[:2])


def _describe_state(explanation: Explanation) -> Message:
    pod, state = short(explanation.pod), explanation.state
    first = explanation.reasons[0] if explanation.reasons else None
    evidence = first.evidence if first is not None else {}
    if state is State.NO_SUCH_SCHEDULER:
        return message(_NO_SCHEDULER, pod=pod, scheduler=evidence["schedulerName"])
    if state is State.NO_SUCH_NODE:
        return message(_NO_NODE, pod=pod, node=evidence["nodeName"])
    if state is State.QUOTA_EXCEEDED:
        text = _QUOTA_HAS_ROOM if evidence.get("room") else _QUOTA
        return message(text, pod=pod, quota=evidence["quota"], count=evidence["missing"])
    if first is not None and state is State.NOT_CREATED:
        return message(_REFUSED, pod=pod, count=evidence["missing"], message=first.message.rstrip(". "))
    if first is not None and state is State.GATED:
        return _describe_gated_pod(pod, first)
    if first is not None and state in _WITHHELD:
        text = _WITHHELD[state] if evidence["missing"] else _NOTHING_STARTS
        return message(text, pod=pod, count=evidence["missing"], message=first.message)
    if state in _ENDED:
        return _describe_ended_pod(explanation, pod)
    if state is State.NO_NODES:
        return message(_NO_NODES, pod=pod)
    if state in _PLAIN:
        reason = first.message.rstrip(". ") if first is not None else ""
        until = "" if explanation.until is None else clock(explanation.until)
        text = _TERMINATING if state is State.TERMINATING and until else _PLAIN[state]
        if state is State.STUCK and not reason:
            text = _NOT_AS_WANTED
        if first is not None:
            text = _BY_OBSTACLE.get(first.code.partition("/")[2], text)
        return message(text, pod=pod, node=explanation.node, message=reason, time=until)
    if state is State.SCHEDULED:
        return message(_COMPLETED if explanation.phase == "Succeeded" else _SCHEDULED, pod=pod, node=explanation.node)
    if state is State.BINDING:
        return message(_BINDING, pod=pod, node=explanation.node)
    return _waiting(explanation, pod)


def _describe_ended_pod(explanation: Explanation, pod: str) -> Message:
    """Describe a pod that a kubelet refuses, or would refuse, or that failed."""
    if not explanation.reasons:
        return message(_FAILED_SILENTLY, pod=pod)
    once, again = _ENDED.get(explanation.state, (_WOULD_REFUSE, _WOULD_REFUSE_AGAIN))
    first = explanation.reasons[0]
    if explanation.state is State.FAILED and explanation.reason == "Evicted":
        once, again = _EVICTED, _EVICTED_AGAIN
    return message(
        again if explanation.predecessors else once,
        pod=pod,
        node=first.nodes[0] if first.nodes else "",
        message=first.message.rstrip(". "),
        count=explanation.predecessors,
    )


def _describe_gated_pod(pod: str, reason: Given) -> Message:
    if gates := reason.evidence.get("gates"):
        return message(_GATED, pod=pod, list=", ".join(str(gates).split(" ")))
    if reason.code == "DefaultPreemption/InProgress":
        return message(_PREEMPTING, pod=pod)
    return message(_HELD, pod=pod, plugin=reason.plugin, message=reason.message)


def _waiting(explanation: Explanation, pod: str) -> Message:
    """Describe a pod that nodes refuse, or that only waits for its turn."""
    state, preempting = explanation.state, explanation.preemption
    if explanation.fits:
        text = {State.BACKOFF: _FITS_BACKOFF, State.WAITING_FOR_EVENT: _FITS_UNHEARD}.get(state, _FITS)
        return message(text, pod=pod, node=explanation.fits[0])
    if explanation.reasons and explanation.reasons[0].plugin == KUBELET:
        return _describe_ended_pod(explanation, pod)
    if preempting is not None and preempting.nominated:
        return message(_NOMINATED, pod=pod, node=preempting.nominated)
    if not explanation.reasons:
        return message(_ATTEMPTING, pod=pod) if not explanation.message else exactly(explanation.message)
    return join(_list_main_reasons(explanation, pod))


def _list_main_reasons(explanation: Explanation, pod: str) -> Iterator[Message]:
    """Yield what keeps a pod off the nodes that came nearest: one reason for all of them, or the reasons of a few nodes together."""
    reasons, total = explanation.reasons, explanation.total
    near = (reasons[0].evidence.get("near") or {}).get("nodes") or ()
    if near and near[0]["short"] <= 0 and any(fact.code == "IsNominated" for fact in explanation.facts):
        yield message(_KEPT, pod=pod, node=near[0]["node"])
        return
    if any(fact.code in ("PoolIsIncomplete", "PoolOverNodes") for fact in explanation.facts):
        yield message(_INCOMPLETE, pod=pod)
        return
    yield about(reasons[0], pod, total)
    covered = set(reasons[0].nodes)
    if total > FEW:
        return
    for reason in reasons[1:]:
        left = [name for name in reason.nodes if name not in covered]
        if not left or reason.evidence.get("most") == 0:
            continue
        covered |= set(left)
        yield about(replace(reason, nodes=tuple(left), count=len(left)), pod, total)
