from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import unresolvable
from scheduler_core.testing.builders import make_node, make_pod, make_table
from tests.support.drive import all_rows, filter_nodes, make_plugin
from tests.support.explained import rows

NODES = make_table([make_node("a"), make_node("b")])
REFUSED = unresolvable("node(s) didn't match the requested node name")


def test_a_pod_without_a_node_name_passes_everywhere() -> None:
    assert filter_nodes(make_plugin("NodeName"), make_pod("p").pod(), NODES) == {"a": None, "b": None}


def test_a_pod_with_a_node_name_fits_that_node_only() -> None:
    assert filter_nodes(make_plugin("NodeName"), make_pod("p").on("b").pod(), NODES) == {"a": REFUSED, "b": None}


def test_a_node_name_that_does_not_exist_refuses_every_node() -> None:
    found = filter_nodes(make_plugin("NodeName"), make_pod("p").on("nope").pod(), NODES)
    assert found == {"a": REFUSED, "b": REFUSED}


def test_only_the_rows_asked_are_answered() -> None:
    found = filter_nodes(make_plugin("NodeName"), make_pod("p").on("a").pod(), NODES, all_rows(NODES)[1:])
    assert found == {"b": REFUSED}


def test_it_explains_which_node_is_named() -> None:
    pod = make_pod("p").on("b").pod()
    assert rows(make_plugin("NodeName").explain(CycleState(), pod, NODES, 0)) == [("b", "a", "bad")]
    assert rows(make_plugin("NodeName").explain(CycleState(), pod, NODES, 1)) == [("b", "b")]
