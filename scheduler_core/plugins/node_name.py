"""NodeName: a pod that names its node fits that node only.

kube: plugins/nodename/node_name.go @ v1.34.1
"""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import Action, On
from scheduler_core.framework.plugin import Plugin, Rows, Verdicts
from scheduler_core.framework.reasons import Reason
from scheduler_core.framework.status import unresolvable
from scheduler_core.objects.pod import Pod

NAME = "NodeName"

OTHER_NODE = Reason("OtherNode", "node(s) didn't match the requested node name")
REFUSED = unresolvable(OTHER_NODE())


class NodeName(Plugin):
    """Refuses every node but the one in the pod's spec.nodeName."""

    name = NAME
    reasons = (OTHER_NODE,)
    row_local = True
    events = (On("Node", Action.ADD),)

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        if not pod.node_name:
            return None
        wanted = nodes.row(pod.node_name)
        refused = np.ones(len(rows), np.bool_) if wanted is None else rows != wanted
        return Verdicts.refuse(refused, REFUSED)
