"""The present step in one sentence, from what the plugin did or else from the records of the last transition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.presenters.amounts import duration, thousands
from playground.presenters.scene import present_step, short
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.view import Code, PluginStep, Point, Record, Scores, WorldView

Data = Mapping[str, Any]


def sentence(sim: WorldView) -> dict[str, Any]:
    """`head` names the extension point and plugin, or the kind of thing that happened; `sentence` says what happened."""
    if sim.position == 0:
        return _nothing_yet(sim)
    ran = present_step(sim)
    if ran is None:
        return _of_records(sim)
    step, cycle = ran
    if any(record.kind == "attempt_started" for record in sim.last[:2]):
        head, describe = _OF_KIND["attempt_started"]
        return {"head": head, "sentence": describe({"pod": cycle.pod.key})}
    line = _ending(sim) or of_step(step, short(cycle.pod.key))
    return {"head": f"{step.point} · {step.plugin}", "sentence": line}


def _nothing_yet(sim: WorldView) -> dict[str, Any]:
    line = message(gettext_noop("Nothing has happened yet: add nodes and pods, then step."))
    return {"head": "", "sentence": line}


def of_step(step: PluginStep, pod: str) -> Message:
    """What a plugin answered; `pod` as people read it."""
    if step.skipped:
        return message(
            gettext_noop("%(pod)s gives this plugin nothing to do: skipped for the rest of the cycle"),
            pod=pod,
        )
    if step.point is Point.FILTER:
        return _of_filter(step, pod)
    if step.status.code is Code.WAIT:
        return message(gettext_noop("%(pod)s waits, at most %(time)s"), pod=pod, time=duration(step.timeout))
    if not step.status.ok:
        return message(gettext_noop("refuses %(pod)s: %(reason)s"), pod=pod, reason=step.status.message)
    if step.scores is not None and len(step.scores):
        return _of_scores(step.scores, pod)
    return message(_SUCCESS.get(step.point, gettext_noop("%(pod)s passes")), pod=pod)


_SUCCESS = {
    Point.PRE_FILTER: gettext_noop("prepares for %(pod)s what Filter will ask for each node"),
    Point.PRE_SCORE: gettext_noop("prepares the scores of %(pod)s"),
    Point.RESERVE: gettext_noop("reserves what %(pod)s needs on its node"),
    Point.UNRESERVE: gettext_noop("gives back what was reserved for %(pod)s"),
    Point.PERMIT: gettext_noop("lets %(pod)s go on at once"),
    Point.PRE_BIND: gettext_noop("prepares the binding of %(pod)s"),
    Point.BIND: gettext_noop("asks the API server to bind %(pod)s to its node"),
    Point.POST_BIND: gettext_noop("is told that %(pod)s is bound"),
    Point.POST_FILTER: gettext_noop("looks for a way to make room for %(pod)s"),
}


def _of_filter(step: PluginStep, pod: str) -> Message:
    if not step.refused and step.evaluated == 1:
        return message(gettext_noop("%(pod)s may run on the one node it was asked about"), pod=pod)
    if not step.refused:
        return message(
            gettext_noop("%(pod)s may run on all %(n)s nodes it was asked about"),
            pod=pod,
            n=thousands(step.evaluated),
        )
    reason = _first_reason(step)
    if step.evaluated == step.refused == 1:
        return message(gettext_noop("refuses the last node for %(pod)s: %(reason)s"), pod=pod, reason=reason)
    return message(
        gettext_noop("refuses %(k)s of %(n)s nodes for %(pod)s: %(reason)s"),
        k=thousands(step.refused),
        n=thousands(step.evaluated),
        pod=pod,
        reason=reason,
    )


def _first_reason(step: PluginStep) -> str:
    first = None if step.verdicts is None else step.verdicts.first()
    if step.verdicts is None or first is None:
        return step.status.message
    return first.message + (" …" if len(step.verdicts.counted()) > 1 else "")


def _of_scores(scores: Scores, pod: str) -> Message:
    low, high, n = int(scores.min()), int(scores.max()), len(scores)
    if low == high:
        return message(
            gettext_noop("gives each of the %(n)s nodes %(high)s for %(pod)s"),
            pod=pod,
            n=thousands(n),
            high=high,
        )
    return message(
        gettext_noop("scores %(n)s nodes for %(pod)s: from %(low)s to %(high)s"),
        pod=pod,
        n=thousands(n),
        low=low,
        high=high,
    )


def _ending(sim: WorldView) -> Message | None:
    """The end of something, where the step brought one about: the node was drawn, the pod has no node, the pod is bound."""
    for record in sim.last[-8:]:
        if record.kind in ("attempt_ended", "binding_ended"):
            return _OF_KIND[record.kind][1](record.data)
    return None


def _of_records(sim: WorldView) -> dict[str, Any]:
    """The most important record of the last transition."""
    best: tuple[int, Record] | None = None
    for record in sim.last[:64]:
        rank = _RANK.get(record.kind)
        if rank is not None and (best is None or rank < best[0]):
            best = (rank, record)
    if best is None:
        return {"head": "", "sentence": None}
    return of_record(best[1])


def of_record(record: Record) -> dict[str, Any]:
    """One record, of a kind that has a sentence; "" and None for the others."""
    if record.kind not in _OF_KIND:
        return {"head": "", "sentence": None}
    head, describe = _OF_KIND[record.kind]
    return {"head": head, "sentence": describe(record.data)}


def _attempt_ended(data: Data) -> Message:
    pod = short(str(data.get("pod", "")))
    if data.get("outcome") == "scheduled":
        return message(gettext_noop("%(pod)s goes to %(node)s"), pod=pod, node=data.get("node", ""))
    return message(
        gettext_noop("%(pod)s finds no node: %(message)s"), pod=pod, message=data.get("message", "")
    )


def _selected(data: Data) -> Message:
    tied = data.get("tied") or []
    node, pod = data.get("node", ""), short(str(data.get("pod", "")))
    if len(tied) > 1:
        return message(
            gettext_noop("%(n)s nodes tie for %(pod)s; the draw takes %(node)s"),
            n=len(tied),
            pod=pod,
            node=node,
        )
    return message(gettext_noop("%(node)s has the highest total for %(pod)s"), node=node, pod=pod)


def _moved(data: Data) -> Message:
    return message(
        gettext_noop("%(pod)s moves to %(place)s (%(cause)s)"),
        pod=short(str(data.get("pod", ""))),
        place=data.get("to", ""),
        cause=data.get("cause", ""),
    )


_COMMANDS = {
    "ApplyObjects": gettext_noop("objects created or changed: %(n)s"),
    "DeleteObjects": gettext_noop("objects deleted: %(n)s"),
    "PatchObject": gettext_noop("an object was changed"),
    "SetConfiguration": gettext_noop("the scheduler starts anew with another configuration"),
    "SetSettings": gettext_noop("the world's settings were changed"),
    "DecidePermit": gettext_noop("the wait on Permit was decided from outside"),
    "FailCall": gettext_noop("API calls about a pod were asked to fail or to be slow"),
    "Undo": gettext_noop("the last change was taken back"),
    "Redo": gettext_noop("the change taken back was made again"),
}


def _command(data: Data) -> Message:
    kind = str(data.get("kind", ""))
    n = data.get("objects") if kind == "ApplyObjects" else data.get("count", 0)
    return message(_COMMANDS.get(kind, gettext_noop("a command was applied")), n=n)


def _heard(data: Data) -> Message:
    return message(
        gettext_noop("the scheduler hears of %(kind)s %(name)s: %(change)s"),
        kind=data.get("kind", ""),
        name=data.get("name", ""),
        change=str(data.get("type", "")).lower(),
    )


def _throttled(data: Data) -> Message:
    return message(
        gettext_noop(
            "the API client holds a call about %(pod)s back for %(time)s, to stay within its limits"
        ),
        pod=short(str(data.get("pod", ""))),
        time=duration(int(data.get("wait", 0))),
    )


def _api_call(data: Data) -> Message:
    pod = short(str(data.get("pod", "")))
    if "fault" not in data:
        return message(gettext_noop("%(verb)s %(pod)s: done"), verb=data.get("verb", ""), pod=pod)
    if "again_after" in data:
        return message(
            gettext_noop("%(verb)s %(pod)s fails and is made again after %(time)s: %(message)s"),
            verb=data.get("verb", ""),
            pod=pod,
            time=duration(int(data["again_after"])),
            message=data["fault"],
        )
    return message(
        gettext_noop("%(verb)s %(pod)s fails: %(message)s"),
        verb=data.get("verb", ""),
        pod=pod,
        message=data["fault"],
    )


_TIMERS = {
    "flush_backoff": gettext_noop("once a second: pods whose backoff is over become active"),
    "flush_unschedulable": gettext_noop(
        "every 30 s: pods that have been unschedulable for too long are tried again"
    ),
}


def _timer(data: Data) -> Message:
    """What a flush of the queue does (kube: scheduling_queue.go, Run @ v1.34.1)."""
    name = str(data.get("timer", ""))
    return message(_TIMERS.get(name, name))


def _object(data: Data) -> Message:
    return message(
        gettext_noop("%(kind)s %(name)s: %(change)s"),
        kind=data.get("kind", ""),
        name=data.get("name", ""),
        change=str(data.get("type", "")).lower(),
    )


def _binding_ended(data: Data) -> Message:
    pod, node = short(str(data.get("pod", ""))), data.get("node", "")
    if data.get("outcome") == "bound":
        return message(gettext_noop("%(pod)s is bound to %(node)s"), pod=pod, node=node)
    return message(
        gettext_noop("%(pod)s is not bound to %(node)s: %(message)s"),
        pod=pod,
        node=node,
        message=data.get("message", ""),
    )


def _with_pod(text: str) -> Callable[[Data], Message]:
    def describe(data: Data) -> Message:
        return message(text, pod=short(str(data.get("pod", ""))), node=data.get("node", ""))

    return describe


_OF_KIND: dict[str, tuple[str, Callable[[Data], Message]]] = {
    "attempt_ended": (gettext_noop("The scheduling cycle ends"), _attempt_ended),
    "binding_ended": (gettext_noop("The binding cycle ends"), _binding_ended),
    "node_selected": (gettext_noop("Select"), _selected),
    "attempt_started": (
        gettext_noop("A scheduling cycle begins"),
        _with_pod(gettext_noop("%(pod)s was popped from the queue; the cycle sees the cluster as it is now")),
    ),
    "binding_started": (
        gettext_noop("A binding cycle begins"),
        _with_pod(gettext_noop("%(pod)s on its way to %(node)s")),
    ),
    "wait_ended": (gettext_noop("WaitOnPermit"), _with_pod(gettext_noop("the wait of %(pod)s has ended"))),
    "pod_waits": (gettext_noop("Permit"), _with_pod(gettext_noop("%(pod)s waits"))),
    "pod_assumed": (
        gettext_noop("Assume"),
        _with_pod(gettext_noop("the cache counts %(pod)s on %(node)s before the API server knows")),
    ),
    "pod_forgotten": (
        gettext_noop("Forget"),
        _with_pod(gettext_noop("the cache takes %(pod)s back")),
    ),
    "watch_event": (gettext_noop("Informer"), _heard),
    "timer_fired": (gettext_noop("The queue's timer"), _timer),
    "command": (gettext_noop("A change from outside"), _command),
    "object": (gettext_noop("API server"), _object),
    "queue_moved": (gettext_noop("Queue"), _moved),
    "api_call": (gettext_noop("API call"), _api_call),
    "api_throttled": (gettext_noop("API client"), _throttled),
}
_RANK = {kind: rank for rank, kind in enumerate(_OF_KIND)}
