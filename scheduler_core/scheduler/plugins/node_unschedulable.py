"""NodeUnschedulable: rejects cordoned nodes unless the pod tolerates the taint.

kube: plugins/nodeunschedulable/node_unschedulable.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import NO_SCHEDULE, Node, Pod, Taint
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Action, CycleState, On, Plugin, Reason, Rows, Verdicts, unresolvable
from scheduler_core.scheduler.framework.drafts import Change, Draft, Refusal

NAME = "NodeUnschedulable"

CORDONED = Reason("Cordoned", "node(s) were unschedulable")
REFUSED = unresolvable(CORDONED())

CORDON = Taint("node.kubernetes.io/unschedulable", "", NO_SCHEDULE)


def after_node_schedulable(plugin: NodeUnschedulable, pod: Pod, old: Node | None, new: Node) -> bool:
    """Return whether the node is schedulable and was not before. kube: isSchedulableAfterNodeChange"""
    return not new.unschedulable and (old is None or old.unschedulable)


def after_cordon_tolerated(plugin: NodeUnschedulable, pod: Pod, old: Pod, new: Pod) -> bool:
    """Return whether the pod now tolerates a cordon. kube: isSchedulableAfterPodTolerationChange"""
    return new.uid == pod.uid and new.spec.tolerates(CORDON)


class NodeUnschedulable(Plugin):
    """A node with spec.unschedulable counts as tainted with node.kubernetes.io/unschedulable:NoSchedule."""

    name = NAME
    reasons = (CORDONED,)
    row_local = True
    events = (
        On("Node", Action.ADD | Action.UPDATE_NODE_TAINT, after_node_schedulable),
        On("Pod", Action.UPDATE_POD_TOLERATION, after_cordon_tolerated),
    )

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        refused = nodes.unschedulable[rows]
        if not np.count_nonzero(refused) or pod.spec.tolerates(CORDON):
            return None
        return Verdicts.refuse(refused, REFUSED)

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        node = refusal.node
        yield draft.with_node(Change("uncordon", {"node": node.name}), node.manifest, _uncordon)


def _uncordon(manifest: dict[str, Any]) -> None:
    spec = manifest["spec"]
    spec.pop("unschedulable", None)
    spec["taints"] = [raw for raw in spec.get("taints") or () if raw.get("key") != CORDON.key]
