"""A snapshot of a live cluster opens in its state, and goes on from there as the cluster would."""

from __future__ import annotations

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.steps import finish
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation, take_in
from tests.scheduler_core.apiserver.imports.live import bring, of, opened, snapshot
from tests.scheduler_core.worlds import node, nodes_of, pod


def test_what_runs_stays_where_it_is_and_its_owners_make_nothing_anew() -> None:
    sim = opened()
    sim.run(steps=50)
    assert sorted(pod.name for pod in sim.store.pods() if pod.name.startswith("web")) == ["web-a", "web-b", "web-c"]
    assert {pod.uid for pod in sim.store.pods()} >= {"uid-web-a", "uid-web-b", "uid-web-c"}


def test_the_clock_of_a_new_world_is_set_to_when_the_snapshot_was_taken() -> None:
    sim = opened()
    assert sim.store.timestamp(sim.now) == "2025-11-20T10:00:00Z"
    assert _get_times(sim) == ("2025-11-20T08:01:00Z", "2025-11-20T10:00:20Z")
    default = sim.store.get("Namespace", "", "default")
    assert default is not None
    assert default["metadata"]["creationTimestamp"] == "2025-11-20T10:00:00Z"
    assert [each.algorithm_state.epoch for each in sim.schedulers] == [sim.store.epoch]


def test_times_are_moved_where_the_world_has_objects_of_its_own() -> None:
    sim = Simulation()
    sim.apply(ApplyObjects((node("mine"),)))
    bring(sim)
    assert sim.store.timestamp(sim.now) == "2026-01-01T00:00:00Z"
    assert _get_times(sim) == ("2025-12-31T22:01:00Z", "2026-01-01T00:00:20Z")  # two hours old, as it was


def test_a_snapshot_that_was_looked_at_before_the_world_had_objects_is_moved_when_it_comes() -> None:
    sim = Simulation()
    intake = take_in(sim.store, sim.now, snapshot())
    sim.apply(ApplyObjects((node("mine"),)))
    sim.apply(ApplyObjects(tuple(intake.objects), taken=intake.taken))
    assert _get_times(sim) == ("2025-12-31T22:01:00Z", "2026-01-01T00:00:20Z")


def test_a_refused_snapshot_leaves_the_clock_as_it_is() -> None:
    sim = Simulation()
    bad = pod("bad", cpu="1")
    bad["spec"]["containers"] = []
    with pytest.raises(Refused):
        sim.apply(ApplyObjects((*snapshot(), bad), taken="2025-11-20T10:00:00Z"))
    assert sim.store.timestamp(sim.now) == "2026-01-01T00:00:00Z"


def test_what_was_rehearsed_is_dated_as_the_snapshot_is() -> None:
    sim, objects, taken = Simulation(), (node("n2"), *snapshot()), "2025-11-20T10:00:00Z"
    trial = finish(sim.rehearse(objects, taken))
    sim.apply(ApplyObjects(objects, taken=taken), trial)
    made = sim.store.get("Node", "", "n2")
    assert made is not None
    assert made["metadata"]["creationTimestamp"] == taken


def _get_times(sim: Simulation) -> tuple[str, str]:
    """Return the start of web-b and the end of the pod that is being deleted."""
    web, ends = sim.store.pod("default", "web-b"), sim.store.pod("default", "ends")
    assert web is not None
    assert ends is not None
    return web.manifest["status"]["startTime"], ends.manifest["metadata"]["deletionTimestamp"]


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
