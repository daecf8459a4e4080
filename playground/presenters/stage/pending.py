"""Pending: why a pod has no node after its attempt. A row for each reason, one for preemption, and the events that requeue the pod."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from playground.common.catalogs import read_yaml
from playground.presenters.look import Look
from playground.presenters.panel import Stage
from playground.presenters.queues.sleeping import list_waking_events
from playground.presenters.scene import cycle_of, last_attempt, scheduler_of, short
from playground.presenters.stage.filter import WrittenRule, quote_manifests
from playground.presenters.why.panel import describe_preemption, get_explanation
from playground.presenters.why.reasons import about
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.analysis.explain import GivenReason
from scheduler_core.world.readonly import Pod, WorldView

ROWS, NODES, EVENTS = 12, 12, 8
FEW = 2  # reasons; up to this number, there is room for the compared manifests
# The fields of the pod and of the node that a plugin compares.
_COMPARED = {
    "TaintToleration": {"Pod": "spec.tolerations", "Node": "spec.taints"},
    "NodeUnschedulable": {"Pod": "spec.tolerations", "Node": "spec.unschedulable"},
    "NodeAffinity": {"Pod": "spec.nodeSelector", "Node": "metadata.labels"},
    "NodePorts": {"Pod": "spec.containers.0.ports"},
    "NodeResourcesFit": {"Pod": "spec.containers.0.resources", "Node": "status.allocatable"},
    "PodTopologySpread": {"Pod": "spec.topologySpreadConstraints", "Node": "metadata.labels"},
    "InterPodAffinity": {"Pod": "spec.affinity", "Node": "metadata.labels"},
}
_CLAIM = gettext_noop("Create the claim, or use another claim in the pod.")
_FREE = gettext_noop("Free %(resource)s on these nodes, request less, or add a node.")


class PendingReason(TypedDict):
    """A reason that holds for `count` nodes: the first by name, and `left` more; no nodes if it is about the pod itself."""

    count: int
    nodes: list[str]
    left: int
    plugin: str
    text: str
    why: Message
    helps: Message | None


class PendingPreemption(TypedDict):
    text: str
    why: list[Message]


class WakingEvent(TypedDict):
    event: str
    plugins: list[str]
    when: Message


class PendingBody(TypedDict):
    key: str
    pod: str
    known: bool
    rows: list[PendingReason]
    more: int
    preemption: PendingPreemption | None
    wakes: list[WakingEvent]
    left: int
    fits: list[str]
    at: int
    evidence: list[WrittenRule]


def present(sim: WorldView, look: Look, key: str) -> Stage[PendingBody, Any]:
    """Return the reasons, those of the nodes nearest to feasible first."""
    asked = message("Why does %(pod)s stay Pending?", pod=short(key) or "…")
    forms = {"reasons": gettext_noop("Reasons"), "nodes": gettext_noop("Nodes")}
    explanation = get_explanation(sim, key) if key else None
    if explanation is None:
        empty: PendingBody = {
            "key": key, "pod": short(key), "known": False, "rows": [], "more": 0, "preemption": None, "wakes": [],
            "left": 0, "fits": [], "at": sim.position, "evidence": [],
        }  # fmt: skip
        return Stage(asked, empty, forms=forms)
    scheduler, pod = scheduler_of(sim), sim.store.pod_at(explanation.pod)
    profile = scheduler.profiles.get(pod.spec.scheduler_name) if pod is not None else None
    plugins: dict[str, list[str]] = {}
    for plugin in dict.fromkeys(reason.plugin for reason in explanation.reasons if reason.plugin):
        for event in list_waking_events(profile, (plugin,)):
            plugins.setdefault(event, []).append(plugin)
    known = [event for event in plugins if event in explanation.events or not explanation.events]
    wakes: list[WakingEvent] = [
        {"event": event, "plugins": plugins[event], "when": _describe_event(event)} for event in known
    ]
    preemption = explanation.preemption
    body: PendingBody = {
        "key": key,
        "pod": short(key),
        "known": True,
        "rows": [_row(each, short(key), explanation.total) for each in explanation.reasons[:ROWS]],
        "more": max(len(explanation.reasons) - ROWS, 0),
        "preemption": None
        if preemption is None or preemption.nominated
        else {"text": preemption.message, "why": describe_preemption(preemption)},
        "wakes": wakes[:EVENTS],
        "left": max(len(wakes) - EVENTS, 0),
        "fits": list(explanation.fits[:NODES]),
        "at": sim.position,
        "evidence": _quote(sim, pod, explanation.reasons) if pod is not None else [],
    }
    return Stage(asked, body, detail=_count_feasible(sim, key), forms=forms)


def _quote(sim: WorldView, pod: Pod, reasons: Sequence[GivenReason]) -> list[WrittenRule]:
    """Return the manifest parts that the first reason compares, of the pod and of the first node; empty for more than FEW reasons."""
    first = next(iter(reasons), None)
    if first is None or len(reasons) > FEW or not first.nodes:
        return []
    places = dict(_COMPARED.get(first.plugin, {}))
    if first.plugin == "NodeAffinity" and not pod.manifest["spec"].get("nodeSelector"):
        places["Pod"] = "spec.affinity.nodeAffinity"
    node = sim.store.get("Node", "", first.nodes[0])
    return quote_manifests(pod, first.nodes[0], node or {}, places)


def _row(reason: GivenReason, pod: str, total: int) -> PendingReason:
    resource = str(reason.evidence.get("resource") or "")
    known = read_yaml(Path(__file__).with_suffix(".yaml")).get(reason.code)
    text = _FREE if resource else known or (_CLAIM if reason.code.endswith("/ClaimNotFound") else "")
    return {
        "count": reason.count,
        "nodes": list(reason.nodes[:NODES]),
        "left": max(reason.count - NODES, 0),
        "plugin": reason.plugin,
        "text": reason.message,
        "why": about(reason, pod, total),
        "helps": message(text, resource=resource) if text else None,
    }


def _count_feasible(sim: WorldView, key: str) -> Message | None:
    """Return the number of feasible nodes in the shown attempt."""
    attempt, cycle = last_attempt(sim, key), cycle_of(sim)
    if attempt is None or cycle is None:
        return None
    total = len(cycle.nodes) if cycle.pod.key == key else attempt.evaluated
    return message("%(k)s of %(n)s nodes are feasible", k=attempt.feasible, n=total)


def _describe_event(label: str) -> Message:
    """Describe an event. kube's label is a kind and an action, such as NodeAdd or NodeUpdateNodeTaint."""
    texts = read_yaml(Path(__file__).with_suffix(".yaml"))
    for key in (key for key in texts if key.startswith("event/")):
        if label.endswith(action := key.removeprefix("event/")):
            return message(texts[key], kind=label.removesuffix(action))
    return message(label)
