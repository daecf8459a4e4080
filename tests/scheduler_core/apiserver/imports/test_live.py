"""A snapshot of a live cluster opens in its state, and goes on from there as the cluster would."""

from __future__ import annotations

from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.apiserver.imports.live import of, opened
from tests.scheduler_core.worlds import nodes_of, pod


def test_what_runs_stays_where_it_is_and_its_owners_make_nothing_anew() -> None:
    sim = opened()
    sim.run(steps=50)
    assert sorted(pod.name for pod in sim.store.pods() if pod.name.startswith("web")) == ["web-a", "web-b", "web-c"]
    assert {pod.uid for pod in sim.store.pods()} >= {"uid-web-a", "uid-web-b", "uid-web-c"}


def test_times_are_moved_so_that_the_snapshot_was_taken_now() -> None:
    sim = opened()
    starts = {pod.name: (pod.manifest.get("status") or {}).get("startTime") for pod in sim.store.pods()}
    assert starts["web-b"] == "2025-12-31T22:01:00Z"  # two hours old, as it was
    ends = sim.store.pod("default", "ends")
    assert ends is not None
    assert ends.manifest["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:20Z"


def test_a_pod_that_waits_keeps_its_condition_and_its_nomination() -> None:
    sim = opened()
    waits = sim.store.pod("default", "waits")
    assert waits is not None
    assert waits.nominated_node_name == "n1"
    assert (waits.condition("PodScheduled") or {})["reason"] == "Unschedulable"
    assert [each.key for each in sim.schedulers[0].queue.nominator.on("n1")] == ["default/waits"]


def test_a_pod_that_was_being_deleted_ends_in_time_and_makes_room() -> None:
    sim = opened()
    sim.run(until=lambda world: world.store.pod("default", "ends") is None, steps=500)
    assert 0 < sim.now <= 20 * SECOND
    sim.run(steps=500)
    assert nodes_of(sim)["default/waits"] == "n1"


def test_pods_are_tried_in_the_order_in_which_they_were_made() -> None:
    late, early = (of(pod(name), f"2025-11-20T09:{minute}:00Z") for name, minute in (("a", 50), ("b", 40)))
    sim = opened(late, early)
    queued = sorted(sim.schedulers[0].queue.active_pods.values(), key=lambda entry: entry.sequence)
    assert [entry.pod.name for entry in queued] == ["b", "a", "waits"]


def test_preemption_takes_the_pod_that_started_last() -> None:
    sim = opened(of(pod("urgent", cpu="1", priority=1000), "2025-11-20T09:59:30Z"))
    sim.run(until=lambda world: bool(_nominated(world)), steps=500)
    going = [each.name for each in sim.store.pods() if each.deleting]
    assert "web-b" not in going  # the oldest


def _nominated(sim: Simulation) -> list[str]:
    return [each.name for each in sim.store.pods() if each.name == "urgent" and each.nominated_node_name]
