"""Proposals: for one refusal of one node, the changes that could take it away. Nothing is decided here: every proposal is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.fixes.diagnosis import Diagnosis
from scheduler_core.fixes.draft import Draft, Edit
from scheduler_core.fixes.fix import Change
from scheduler_core.fixes.placement import affinity, spread
from scheduler_core.fixes.room import another_node, ports, resources
from scheduler_core.fixes.selectors import node_affinity
from scheduler_core.framework.status import Status
from scheduler_core.objects.labels import NodeSelector
from scheduler_core.objects.node import NO_EXECUTE, NO_SCHEDULE, Node, Taint
from scheduler_core.objects.pod import Pod

NOT_READY = "node.kubernetes.io/"  # taints under this name are set and taken away by controllers
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True, slots=True)
class Case:
    """A node that refuses the pod, with all that the filters said."""

    found: Diagnosis
    row: int
    status: Status

    @property
    def pod(self) -> Pod:
        return self.found.pod

    @property
    def node(self) -> Node:
        return self.found.nodes.nodes[self.row]


def propose(draft: Draft, case: Case) -> Iterator[Draft]:
    """Drafts with one refusal less, aimed at the case's node."""
    proposer = _PROPOSERS.get(case.status.plugin)
    if proposer is not None:
        for proposal in proposer(draft, case):
            yield proposal.aimed_at(case.node.name)
    if not draft.changes and case.status.plugin in _HELPED_BY_A_NODE:
        yield from another_node(draft, case.found, case.row)


def ungated(draft: Draft, gates: tuple[str, ...]) -> Draft:
    """The pod without its scheduling gates: only then is anything else asked."""

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"].pop("schedulingGates", None)

    return draft.with_pod(Change("gates", {"gates": list(gates)}), edit)


def scheduled_by(draft: Draft, profile: str) -> Draft:
    """The pod with the schedulerName of a profile that exists."""

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"]["schedulerName"] = profile

    return draft.with_pod(Change("scheduler", {"name": profile}), edit)


def _taints(draft: Draft, case: Case) -> Iterator[Draft]:
    hard = [t for t in case.node.taints if t.effect in (NO_SCHEDULE, NO_EXECUTE)]
    refusing = [taint for taint in hard if not case.pod.spec.tolerates(taint)]
    tolerating = draft
    for taint in refusing:
        tolerating = tolerating.with_pod(Change("toleration", {"taint": str(taint)}), _tolerate(taint))
    if refusing:
        yield tolerating
    if refusing and not any(taint.key.startswith(NOT_READY) for taint in refusing):
        untainted = draft
        for taint in refusing:
            change = Change("taint", {"node": case.node.name, "taint": str(taint)})
            untainted = untainted.with_node(change, case.node.manifest, _untaint(taint))
        yield untainted


def _tolerate(taint: Taint) -> Edit:
    toleration = {"key": taint.key, "operator": "Equal" if taint.value else "Exists", "effect": taint.effect}
    if taint.value:
        toleration["value"] = taint.value

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"]["tolerations"] = [*(manifest["spec"].get("tolerations") or ()), toleration]

    return edit


def _untaint(taint: Taint) -> Edit:
    def same(raw: Mapping[str, Any]) -> bool:
        return Taint(raw.get("key") or "", raw.get("value") or "", raw.get("effect") or "") == taint

    def edit(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        spec["taints"] = [raw for raw in spec.get("taints") or () if not same(raw)]

    return edit


def _cordon(draft: Draft, case: Case) -> Iterator[Draft]:
    def edit(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        spec.pop("unschedulable", None)
        spec["taints"] = [raw for raw in spec.get("taints") or () if raw.get("key") != UNSCHEDULABLE]

    yield draft.with_node(Change("uncordon", {"node": case.node.name}), case.node.manifest, edit)


def _node_affinity(draft: Draft, case: Case) -> Iterator[Draft]:
    args = case.found.framework.profile.args.get("NodeAffinity") or {}
    required = (args.get("addedAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    added = None if required is None else NodeSelector.of(required)
    return node_affinity(draft, case.pod, case.node, added)


_PROPOSERS: dict[str, Callable[[Draft, Case], Iterator[Draft]]] = {
    "TaintToleration": _taints,
    "NodeUnschedulable": _cordon,
    "NodeAffinity": _node_affinity,
    "NodeResourcesFit": lambda draft, case: resources(draft, case.found, case.row),
    "NodePorts": lambda draft, case: ports(draft, case.found, case.row),
    "PodTopologySpread": lambda draft, case: spread(draft, case.found, case.row),
    "InterPodAffinity": lambda draft, case: affinity(draft, case.found, case.row, case.status),
}
_HELPED_BY_A_NODE = ("NodeResourcesFit", "NodePorts", "PodTopologySpread", "InterPodAffinity")
