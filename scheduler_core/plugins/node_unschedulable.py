"""NodeUnschedulable: refuses cordoned nodes unless the pod tolerates being put on one.

kube: plugins/nodeunschedulable/node_unschedulable.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import Action, On
from scheduler_core.framework.plugin import Plugin, Rows, Verdicts
from scheduler_core.framework.status import unresolvable
from scheduler_core.objects.node import Taint
from scheduler_core.objects.pod import Pod
from scheduler_core.plugins.hints import nodes as hints

NAME = "NodeUnschedulable"

REFUSED = unresolvable("node(s) were unschedulable")

CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


class NodeUnschedulable(Plugin):
    """A node with spec.unschedulable counts as tainted with node.kubernetes.io/unschedulable:NoSchedule."""

    name = NAME
    row_local = True
    events = (
        On("Node", Action.ADD | Action.UPDATE_NODE_TAINT, hints.after_node_schedulable),
        On("Pod", Action.UPDATE_POD_TOLERATION, hints.after_cordon_tolerated),
    )

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        refused = nodes.unschedulable[rows]
        if not np.count_nonzero(refused) or _tolerates(pod):
            return None
        return Verdicts.refuse(refused, REFUSED)

    def why(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> dict[str, Any]:
        return {"unschedulable": bool(nodes.unschedulable[row]), "tolerated": _tolerates(pod)}


def _tolerates(pod: Pod) -> bool:
    return any(toleration.tolerates(CORDON) for toleration in pod.spec.tolerations)
