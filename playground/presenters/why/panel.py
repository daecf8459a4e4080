"""The data of the panel: the sentence, the events that help, and the evidence of each reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict
from weakref import WeakKeyDictionary

from playground.presenters.scene import short
from playground.presenters.why.facts import describe_fact, format_moment, list_headlines
from playground.presenters.why.reasons import about
from playground.presenters.why.sentence import sentence
from playground.presenters.words import Message, amount, beside, gettext_noop, message
from scheduler_core.analysis.explain import Explanation, GivenReason, Preemption, State, explain
from scheduler_core.world.readonly import QueuedPod, WorldView

# An explanation evaluates every node, so it is cached until its inputs change.


@dataclass(frozen=True, slots=True)
class _CachedExplanation:
    """An explanation and the state it was computed for. `entry` is the pod's queue entry, which every change replaces."""

    stand: tuple[object, ...]
    entry: QueuedPod | None
    explanation: Explanation | None


_LATEST: WeakKeyDictionary[Any, _CachedExplanation] = WeakKeyDictionary()


def get_explanation(sim: WorldView, key: str) -> Explanation | None:
    """Explain the state of a pod "namespace/name". The last explanation in each world is cached."""
    # The pod's cycles and bindings.
    stand = (
        key,
        sim.store.resource_version,
        sim.journal.last_attempt.get(key),
        *(scheduler.cache.generation for scheduler in sim.schedulers),
        *(
            tuple(
                cycle.number
                for scheduler in sim.schedulers
                for cycle in (scheduler.cycle, *scheduler.bindings.values())
                if cycle is not None and cycle.pod.key == key
            )
        ),
    )
    entry = next((found for s in sim.schedulers if (found := s.queue.find(key)) is not None), None)
    known = _LATEST.get(sim.store)
    if known is None or known.stand != stand or known.entry is not entry:
        known = _LATEST[sim.store] = _CachedExplanation(stand, entry, explain(sim, key))
    return known.explanation


_SAID_BY_PREEMPTION = ("NoLowerPriority", "PreemptsNever")
SURPRISING = ("BypassedScheduler", "NotCounted", "RuleNotAsked", "RuleOfNewPods", "TermLooksInNamespace")
NAMED = 5  # nodes
SHOWN = 8  # reasons, domains, volumes
EVENTS = 12

_UNTIL = gettext_noop("The backoff of the pod ends at %(time)s.")
_FLUSHED = gettext_noop("Without an event, the next attempt is at %(time)s.")
_NO_LOWER = gettext_noop("Preemption does not help: no pod has a priority below %(number)s.")
_FIXABLE = (
    State.NO_SUCH_SCHEDULER,
    State.GATED,
    State.WAITING_FOR_CLAIM,
    State.BACKOFF,
    State.WAITING_FOR_EVENT,
    State.NOT_ATTEMPTED,
    State.NO_NODES,
    State.STUCK,
)


def present(sim: WorldView, key: str) -> WhyPanel | None:
    """Return the panel of a pod or an object in an unwanted state, or of a placed pod with a fact in SURPRISING; None for others."""
    explanation = get_explanation(sim, key)
    if explanation is None or explanation.state in (State.ATTEMPTING, State.AS_WANTED):
        return None
    placed = explanation.state in (State.SCHEDULED, State.BINDING)
    if placed and not any(fact.code in SURPRISING for fact in explanation.facts):
        return None
    return present_explanation(explanation)


class WhyPanel(TypedDict):
    key: str
    sentence: Message
    reasons: list[WhyReason]
    more: int
    notes: list[Message]
    events: list[str]
    fixable: bool


def present_explanation(explanation: Explanation) -> WhyPanel:
    pod, total = short(explanation.pod), explanation.total
    return {
        "key": explanation.pod,
        "sentence": sentence(explanation),
        "reasons": [_reason(each, pod, total) for each in explanation.reasons[:SHOWN]],
        "more": max(len(explanation.reasons) - SHOWN, 0),
        "notes": _notes(explanation),
        "events": list(explanation.events[:EVENTS]),
        "fixable": explanation.state in _FIXABLE and not explanation.fits,
    }


def _notes(explanation: Explanation) -> list[Message]:
    said = list(list_headlines(explanation))
    facts = (fact for fact in explanation.facts if fact.code not in _SAID_BY_PREEMPTION)
    notes = [each for each in map(describe_fact, facts) if each not in said]
    asks_nodes = explanation.state is State.NOT_ATTEMPTED and explanation.reasons and not explanation.attempts
    if asks_nodes and not explanation.fits:
        notes.append(message("No attempt has filtered the nodes yet. Filter would return this result now."))
    asked = explanation.reasons and explanation.state is not State.WAITING_FOR_CLAIM
    if explanation.preemption is not None and asked:
        notes += describe_preemption(explanation.preemption)
    if explanation.until is not None:
        text = _UNTIL if explanation.state is State.BACKOFF else _FLUSHED
        notes.append(message(text, time=format_moment(explanation.due or explanation.until)))
    return notes


def describe_preemption(preemption: Preemption) -> list[Message]:
    """Return why evicting pods does not help; empty if it helps."""
    if preemption.nominated:
        return []
    if preemption.policy == "Never":
        return [message("The pod preempts no other pods: its preemptionPolicy is Never.")]
    if not preemption.lower:
        return [message(_NO_LOWER, number=preemption.priority)]
    return [message("Preemption does not help: %(message)s", message=preemption.message)] if preemption.message else []


class SpreadDomain(TypedDict):
    domain: str
    pods: int
    nodes: int
    skew: int
    open: bool


class WithPolicies(TypedDict):
    lowest: int
    passing: int


class Spread(TypedDict):
    topologyKey: str
    maxSkew: int
    minDomains: int
    nodeAffinityPolicy: str
    nodeTaintsPolicy: str
    domains: list[SpreadDomain]
    withPolicies: NotRequired[WithPolicies]


class LabelValue(TypedDict):
    value: str
    nodes: int


class LabelRequirement(TypedDict):
    text: str
    field: str
    values: list[LabelValue]


class ReasonEvidence(TypedDict):
    """The details of a reason: near misses, claims with volumes, domains, labels."""

    near: list[NearNode]
    claims: list[ReasonClaim]
    spreads: list[Spread]
    labels: list[LabelRequirement]


class WhyReason(ReasonEvidence):
    code: str
    message: str
    sentence: Message | None
    count: int
    nodes: list[str]
    left: int
    groups: list[NodeGroup]


def _reason(reason: GivenReason, pod: str, total: int) -> WhyReason:
    said = about(reason, pod, total) if reason.count else None
    return {
        "code": reason.code,
        "message": reason.message,
        "sentence": said,
        "count": reason.count,
        "nodes": list(reason.nodes[:NAMED]),
        "left": max(reason.count - NAMED, 0),
        "groups": [{"group": group, "count": count} for group, count in reason.groups],
        "near": _near(reason.evidence),
        "claims": [_claim(each) for each in reason.evidence.get("claims", ())],
        "spreads": list(reason.evidence.get("constraints", ())),
        "labels": [each for each in reason.evidence.get("requirements", ()) if not each["matching"]][:SHOWN],
    }


class NodeGroup(TypedDict):
    group: str
    count: int


class NearNode(TypedDict):
    node: str
    short: str
    free: str
    allocatable: str


def _near(evidence: Mapping[str, Any]) -> list[NearNode]:
    resource = str(evidence.get("resource") or "")
    return [_near_node(resource, each) for each in (evidence.get("near") or {}).get("nodes", ())]


def _near_node(resource: str, given: Mapping[str, Any]) -> NearNode:
    short, free, allocatable = beside(resource, given["short"], given["free"], given["allocatable"], places=3)
    return {"node": given["node"], "short": short, "free": free, "allocatable": allocatable}


class ReasonClaim(TypedDict):
    name: str
    exists: bool
    phase: str
    requested: str
    storage_class: str
    class_exists: bool
    binding_mode: str
    selector: str
    used_by: list[str]
    volume_mode: str
    candidates: list[CandidateVolume]
    left: int


class CandidateVolume(TypedDict):
    volume: str
    capacity: str
    affinity: str
    volume_mode: str
    claimed_by: str
    reached_from: int | None
    nodes: list[str]


def _claim(claim: Mapping[str, Any]) -> ReasonClaim:
    return {
        "name": short(claim["claim"]),
        "exists": claim["exists"],
        "phase": claim.get("phase", ""),
        "requested": amount("memory", claim.get("requested", 0)),
        "storage_class": claim.get("class", ""),
        "class_exists": claim.get("classExists", False),
        "binding_mode": claim.get("bindingMode", ""),
        "selector": claim.get("selector", ""),
        "used_by": list(claim.get("usedBy", ())),
        "volume_mode": claim.get("volumeMode", ""),
        "candidates": [_candidate(each) for each in claim.get("candidates", ())[:SHOWN]],
        "left": max(claim.get("candidateCount", 0) - SHOWN, 0),
    }


def _candidate(volume: Mapping[str, Any]) -> CandidateVolume:
    return {
        "volume": volume["volume"],
        "capacity": amount("memory", volume["capacity"]),
        "affinity": volume["affinity"],
        "volume_mode": volume["volumeMode"],
        "claimed_by": volume["claimedBy"],
        "reached_from": volume.get("reachedFrom"),
        "nodes": list(volume.get("reachedFromNodes", ())),
    }
