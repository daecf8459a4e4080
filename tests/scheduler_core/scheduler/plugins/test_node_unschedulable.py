from scheduler_core.scheduler.framework.status import unresolvable
from scheduler_core.testing.builders import make_node, make_pod, make_table
from tests.support.drive import filter_nodes, make_plugin

NODES = make_table([make_node("a"), make_node("b").cordoned()])
REFUSED = unresolvable("node(s) were unschedulable")


def test_a_cordoned_node_is_refused() -> None:
    assert filter_nodes(make_plugin("NodeUnschedulable"), make_pod("p").pod(), NODES) == {"a": None, "b": REFUSED}


def test_a_pod_that_tolerates_cordoned_nodes_passes() -> None:
    pod = make_pod("p").tolerates("node.kubernetes.io/unschedulable", "NoSchedule").pod()
    assert filter_nodes(make_plugin("NodeUnschedulable"), pod, NODES) == {"a": None, "b": None}


def test_a_toleration_of_another_effect_does_not_help() -> None:
    pod = make_pod("p").tolerates("node.kubernetes.io/unschedulable", "NoExecute").pod()
    assert filter_nodes(make_plugin("NodeUnschedulable"), pod, NODES)["b"] == REFUSED
