"""Pods wait for their volumes."""

from __future__ import annotations

from typing import Any

from scheduler_core.world.commands import CreateObject
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import cluster, delete, wait
from tests.scheduler_core.worlds import node, pod
from tests.support.storage import make_claim, make_volume

USED = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]


def waiting(*objects: dict[str, Any], controllers: list[str] | None = None) -> Simulation:
    return cluster(node("n"), *objects, pod("p", nodeName="n", volumes=USED), controllers=controllers)


def phase_of(sim: Simulation) -> str:
    found = sim.store.pod("default", "p")
    return "gone" if found is None else found.phase


def test_a_pod_whose_claim_is_not_there_waits_until_it_is_bound() -> None:
    sim = waiting()
    wait(sim, 60)
    assert phase_of(sim) == "Pending"
    assert sim.surroundings.queues["kubelet"].done[-1].text.endswith('persistentvolumeclaim "default/c" not found')
    sim.apply(CreateObject(make_claim("c", "")))
    wait(sim, 70)
    assert phase_of(sim) == "Pending"
    sim.apply(CreateObject(make_volume("v", "", hostPath={"path": "/v"})))
    wait(sim, 90)
    assert phase_of(sim) == "Running"


def test_a_claim_that_is_going_is_not_waited_for_in_vain() -> None:
    sim = waiting(make_claim("c", "", volume="v"), controllers=[])
    wait(sim, 1)
    sim.store.remove("Pod", "default", "p")
    delete(sim, "PersistentVolumeClaim", "c")
    sim.apply(CreateObject(pod("p", nodeName="n", volumes=USED)))
    wait(sim, 20)
    assert phase_of(sim) == "Pending"
    delete(sim, "Pod", "p")
    wait(sim, 21)
    assert phase_of(sim) == "gone"


def test_without_controllers_it_is_noticed_when_somebody_binds_the_claim() -> None:
    sim = waiting(make_claim("c", ""), controllers=[])
    wait(sim, 10)
    assert phase_of(sim) == "Pending"
    sim.change(lambda: (sim.api.patch_status(("PersistentVolumeClaim", "default", "c"), {"phase": "Bound"}), None)[1])
    wait(sim, 20)
    assert phase_of(sim) == "Running"
