"""NodeName: rejects all nodes but the one in the pod's spec.nodeName, if set.

kube: plugins/nodename/node_name.go @ v1.34.1
"""

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Action, CycleState, On, Plugin, Reason, Rows, Verdicts, unresolvable
from scheduler_core.scheduler.framework.explanation import Explanation, Row, Source, Table, WrittenValue, gettext_noop

NAME = "NodeName"

OTHER_NODE = Reason("OtherNode", "node(s) didn't match the requested node name")
REFUSED = unresolvable(OTHER_NODE())

_COLUMNS = gettext_noop("the pod names"), gettext_noop("this node")


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

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Return the node that the pod names next to this node."""
        if not pod.node_name:
            return ()
        name = nodes.names[row]
        cells = (
            (WrittenValue(pod.node_name, Source("Pod", pod.key, "spec.nodeName")),),
            (WrittenValue(name, Source("Node", name, "metadata.name")),),
        )
        return (Table(_COLUMNS, (Row(cells, bad=pod.node_name != name),)),)
