from typing import Any

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import SKIP, error, unschedulable
from scheduler_core.testing.builders import make_node, make_pod, make_table
from tests.scheduler_core.worlds import node, nodes_of, of_kind, pod, world
from tests.support.drive import make_plugin

NODES = make_table([make_node("a")])
POD = make_pod("p").pod()
NOBODY: Any = None  # PostFilter looks at nothing else


def test_a_pod_without_claims_is_skipped() -> None:
    assert make_plugin("DynamicResources").pre_filter(CycleState(), POD, NODES).status == SKIP


def test_there_is_nothing_to_deallocate_for_a_pod_without_claims() -> None:
    plugin, state = make_plugin("DynamicResources"), CycleState()
    plugin.pre_filter(state, POD, NODES)
    answer = plugin.post_filter(state, POD, NODES, NOBODY)
    assert answer.status == unschedulable("no new claims to deallocate")
    assert answer.nominated_node is None


def test_post_filter_fails_where_pre_filter_did_not_come_so_far() -> None:
    answer = make_plugin("DynamicResources").post_filter(CycleState(), POD, NODES, NOBODY)
    assert answer.status == error("not found")


def test_its_words_come_before_those_of_preemption() -> None:
    sim = world(node("a"), pod("big", cpu="99"))
    records = sim.run(steps=60).records
    (message,) = [e["message"] for e in of_kind(records, "event") if e["reason"] == "FailedScheduling"]
    assert "Insufficient cpu. no new claims to deallocate, preemption: " in message
    assert nodes_of(sim) == {"default/big": ""}
