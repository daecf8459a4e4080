"""A snapshot of workloads with their pods, applied to another world: what is there stays, and nothing comes twice."""

import json

import pytest

from scheduler_core.world import commands
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.controllers.workloads.hands import SECOND, Hands, workload
from tests.scheduler_core.controllers.workloads.test_daemonsets import node
from tests.scheduler_core.controllers.workloads.test_jobs import job

MANIFESTS = {
    "Deployment": workload("Deployment", replicas=3),
    "StatefulSet": workload("StatefulSet", replicas=2, serviceName="s"),
    "DaemonSet": workload("DaemonSet"),
    "Job": job(completions=2, parallelism=2),
}


@pytest.mark.parametrize("kind", sorted(MANIFESTS))
def test_pods_of_a_snapshot_are_kept(kind):
    hands = Hands(node("n1"), MANIFESTS[kind])
    hands.settle()
    kinds = ("Node", kind, "ReplicaSet", "Pod")  # ControllerRevisions are left out, as most snapshots do
    snapshot = json.loads(json.dumps([manifest for one in kinds for manifest in hands.list(one)]))
    sim = Simulation()
    sim.apply(commands.SetSettings({"cluster": {"controllers": list(hands.sim.cluster.controllers)}}))
    sim.apply(commands.ApplyObjects(tuple(snapshot)))
    while sim.due(20 * SECOND):
        sim.advance()
    before = {pod.key: pod.uid for pod in hands.store.pods()}
    assert {pod.key: pod.uid for pod in sim.store.pods()} == before
