import pytest

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import SKIP, unschedulable
from scheduler_core.scheduler.plugins.node_ports import list_taken_ports
from scheduler_core.testing.builders import make_cache, make_node, make_pod, make_table
from tests.support.drive import filter_nodes, make_plugin
from tests.support.explained import rows

REFUSED = unschedulable("node(s) didn't have free ports for the requested pod ports")


def test_a_pod_without_host_ports_is_skipped() -> None:
    result = make_plugin("NodePorts").pre_filter(CycleState(), make_pod("p").pod(), make_table([make_node("a")]))
    assert result.status == SKIP


@pytest.mark.parametrize(
    ("held", "wanted", "clash"),
    [
        ((80, "TCP", None), (80, "TCP", None), True),
        ((80, "TCP", None), (81, "TCP", None), False),
        ((80, "TCP", None), (80, "UDP", None), False),
        ((80, "TCP", "10.0.0.1"), (80, "TCP", "10.0.0.2"), False),
        ((80, "TCP", "10.0.0.1"), (80, "TCP", "10.0.0.1"), True),
        ((80, "TCP", "10.0.0.1"), (80, "TCP", None), True),
        ((80, "TCP", None), (80, "TCP", "10.0.0.1"), True),
    ],
)
def test_ports_clash_by_number_protocol_and_address(
    held: tuple[int, str, str | None], wanted: tuple[int, str, str | None], clash: bool
) -> None:
    nodes = make_table([make_node("a"), make_node("b")], [make_pod("old").host_port(*held).on("a")])
    found = filter_nodes(make_plugin("NodePorts"), make_pod("p").host_port(*wanted).pod(), nodes)
    assert found == {"a": REFUSED if clash else None, "b": None}


def test_it_lists_the_ports_that_are_taken() -> None:
    nodes = make_table([make_node("a")], [make_pod("old").host_port(80).host_port(90).on("a")])
    pod = make_pod("p").host_port(80).host_port(81).pod()
    assert list_taken_ports(pod, nodes.ports[0]) == ["0.0.0.0:80/TCP"]


def test_a_port_held_twice_is_free_as_soon_as_one_holder_goes() -> None:
    holders = [make_pod(name).host_port(80).on("a") for name in ("one", "two")]
    cache = make_cache([make_node("a")], holders)
    cache.remove_pod(holders[0].pod())
    found = filter_nodes(make_plugin("NodePorts"), make_pod("p").host_port(80).pod(), cache.table())
    assert found == {"a": None}


def test_it_explains_who_holds_the_ports() -> None:
    nodes = make_table([make_node("a")], [make_pod("old").host_port(80, ip="10.0.0.1").on("a")])
    pod = make_pod("p").host_port(80).host_port(81).pod()
    assert rows(make_plugin("NodePorts").explain(CycleState(), pod, nodes, 0)) == [
        ("0.0.0.0:80/TCP", "default/old [10.0.0.1:80/TCP]", "bad"),
        ("0.0.0.0:81/TCP", "free"),
    ]
