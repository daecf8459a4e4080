"""The one sentence: why a pod does not run, by its state and then by the reason of the nodes nearest to feasible."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from playground.common.catalogs import read_yaml
from playground.presenters.scene import short
from playground.presenters.why.facts import format_moment, join, list_headlines
from playground.presenters.why.reasons import about
from playground.presenters.words import Message, exactly, gettext_noop, message
from scheduler_core.analysis.explain import KUBELET, Explanation, GivenReason, State

WORDS = read_yaml(Path(__file__).with_name("sentences.yaml"))["states"]

FEW = 8  # nodes of a cluster small enough to describe each


_ENDED = {
    State.FAILED: (WORDS["failed"], WORDS["failed-again"]),
    State.REFUSED: (WORDS["refuses"], WORDS["refuses-again"]),
}
_SPOKEN_FOR = (State.AS_WANTED, State.STUCK, State.TERMINATING)  # states with better headlines
_PLAIN = {
    State.NOT_RUNNING: gettext_noop("%(pod)s is bound to %(node)s but does not run: %(message)s."),
    State.TERMINATING: gettext_noop("%(pod)s is terminating on %(node)s, but nothing completes its deletion."),
    State.GONE: gettext_noop("%(pod)s no longer exists."),
    State.STUCK: gettext_noop("%(pod)s makes no progress: %(message)s."),
    State.AS_WANTED: gettext_noop("%(pod)s has no problem."),
}
_BY_OBSTACLE = read_yaml(Path(__file__).with_name("sentences.yaml"))["obstacles"]
_WITHHELD = {
    State.PAUSED: WORDS["paused"],
    State.SUSPENDED: WORDS["suspended"],
    State.MANAGED_ELSEWHERE: WORDS["elsewhere"],
}


def sentence(explanation: Explanation) -> Message:
    """Return a summary in plain words: the state with its main reasons, then the related facts."""
    headlines = list(list_headlines(explanation))
    refused = any(each.code == State.NOT_CREATED for each in explanation.reasons)
    speak = explanation.state in _SPOKEN_FOR and explanation.until is None and headlines and not refused
    others = list(_list_refused_nodes(explanation))
    return join(headlines if speak else [_describe_state(explanation), *headlines, *others])


def _list_refused_nodes(explanation: Explanation) -> Iterator[Message]:
    """Yield why a placed pod is not on the other nodes of a small cluster."""
    if explanation.state in (State.SCHEDULED, State.BINDING) and explanation.total <= FEW:
        away = [each for each in explanation.reasons if each.nodes and explanation.node not in each.nodes]
        yield from (about(each, short(explanation.pod), explanation.total) for each in away[:2])


def _describe_state(explanation: Explanation) -> Message:
    pod, state = short(explanation.pod), explanation.state
    first = explanation.reasons[0] if explanation.reasons else None
    evidence = first.evidence if first is not None else {}
    if state is State.NO_SUCH_SCHEDULER:
        text = WORDS["other-scheduler" if evidence.get("said") else evidence.get("runs") or "no-scheduler"]
        return message(text, pod=pod, scheduler=evidence["schedulerName"], message=evidence.get("said"))
    if state is State.NO_SUCH_NODE:
        return message(WORDS["no-node"], pod=pod, node=evidence["nodeName"])
    if state is State.QUOTA_EXCEEDED:
        text = WORDS["quota-has-room"] if evidence.get("room") else WORDS["quota"]
        return message(text, pod=pod, quota=evidence["quota"], count=evidence["missing"])
    if first is not None and state is State.NOT_CREATED:
        return message(WORDS["refused"], pod=pod, count=evidence["missing"], message=first.message.rstrip(". "))
    if first is not None and state is State.GATED:
        return _describe_gated_pod(pod, first)
    if first is not None and state in _WITHHELD:
        text = _WITHHELD[state] if evidence["missing"] else WORDS["nothing-starts"]
        return message(text, pod=pod, count=evidence["missing"], message=first.message)
    if state in _ENDED:
        return _describe_ended_pod(explanation, pod)
    if state is State.NO_NODES:
        return message(WORDS["no-nodes"], pod=pod)
    if state in _PLAIN:
        reason = first.message.rstrip(". ") if first is not None else ""
        until = "" if explanation.until is None else format_moment(explanation.due or explanation.until)
        text = WORDS["terminating"] if state is State.TERMINATING and until else _PLAIN[state]
        if state is State.STUCK and not reason:
            text = WORDS["not-as-wanted"]
        if first is not None:
            text = _BY_OBSTACLE.get(first.code.partition("/")[2], text)
        return message(text, pod=pod, node=explanation.node, message=reason, time=until)
    if state is State.SCHEDULED:
        done = explanation.phase == "Succeeded"
        return message(WORDS["completed" if done else "scheduled"], pod=pod, node=explanation.node)
    if state is State.BINDING:
        here = any(fact.code in ("CycleFailed", "ClusterSaysOtherwise") for fact in explanation.facts)
        return message(WORDS["fits-here" if here else "binding"], pod=pod, node=explanation.node)
    return _waiting(explanation, pod)


def _describe_ended_pod(explanation: Explanation, pod: str) -> Message:
    """Describe a pod that a kubelet refuses, or would refuse, or that failed."""
    if not explanation.reasons:
        return message(WORDS["failed-silently"], pod=pod)
    once, again = _ENDED.get(explanation.state, (WORDS["would-refuse"], WORDS["would-refuse-again"]))
    first = explanation.reasons[0]
    if explanation.state is State.FAILED and explanation.reason == "Evicted":
        once, again = WORDS["evicted"], WORDS["evicted-again"]
    text, count = first.message.rstrip(". "), explanation.predecessors
    node = first.nodes[0] if first.nodes else ""
    return message(again if count else once, pod=pod, node=node, message=text, count=count)


def _describe_gated_pod(pod: str, reason: GivenReason) -> Message:
    if gates := reason.evidence.get("gates"):
        return message(WORDS["gated"], pod=pod, list=", ".join(str(gates).split(" ")))
    if reason.code == "DefaultPreemption/InProgress":
        return message(WORDS["preempting"], pod=pod)
    return message(WORDS["held"], pod=pod, plugin=reason.plugin, message=reason.message)


def _waiting(explanation: Explanation, pod: str) -> Message:
    """Describe a pod that nodes refuse, or that only waits in the queue."""
    state, preempting = explanation.state, explanation.preemption
    if explanation.fits:
        text = {State.BACKOFF: WORDS["fits-backoff"], State.WAITING_FOR_EVENT: WORDS["fits-unheard"]}.get(
            state, WORDS["fits"]
        )
        return message(text, pod=pod, node=explanation.fits[0])
    if explanation.reasons and explanation.reasons[0].plugin == KUBELET:
        return _describe_ended_pod(explanation, pod)
    if preempting is not None and preempting.nominated:
        return message(WORDS["nominated"], pod=pod, node=preempting.nominated)
    if not explanation.reasons:
        return message(WORDS["attempting"], pod=pod) if not explanation.message else exactly(explanation.message)
    return join(_list_main_reasons(explanation, pod))


def _list_main_reasons(explanation: Explanation, pod: str) -> Iterator[Message]:
    """Yield the reasons on the nodes nearest to feasible: one reason for all, or the reasons of a few nodes together."""
    reasons, total = explanation.reasons, explanation.total
    near = (reasons[0].evidence.get("near") or {}).get("nodes") or ()
    if near and near[0]["short"] <= 0 and any(fact.code == "IsNominated" for fact in explanation.facts):
        yield message(WORDS["kept"], pod=pod, node=near[0]["node"])
        return
    if any(fact.code in ("PoolIsIncomplete", "PoolOverNodes") for fact in explanation.facts):
        yield message(WORDS["incomplete"], pod=pod)
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
