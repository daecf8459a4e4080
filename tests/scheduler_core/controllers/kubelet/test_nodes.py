"""How nodes are registered and reported."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.times import SECOND
from scheduler_core.controllers.kubelet.heartbeats import last_renewal
from scheduler_core.world.commands import CreateObject, Redo, ReportCondition, SetKubelet, Undo
from tests.scheduler_core.controllers.kubelet.worlds import Cluster, node, pod


def conditions(cluster: Cluster) -> dict[str, str]:
    found = cluster.sim.store.node("n")
    assert found is not None
    return {each["type"]: each["status"] for each in found.manifest["status"].get("conditions") or ()}


HEALTHY = {"MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False", "Ready": "True"}


def test_a_node_that_is_applied_was_registered_before() -> None:
    assert conditions(Cluster(node())) == HEALTHY


def test_a_node_that_is_created_becomes_ready() -> None:
    cluster = Cluster()
    cluster.do(CreateObject(node()))
    assert conditions(cluster.until(0.5))["Ready"] == "False"
    assert conditions(cluster.until(2)) == HEALTHY
    assert cluster.events("NodeReady") == ["Node n status is now: NodeReady"]


def test_what_is_reported_is_written_at_the_next_update() -> None:
    cluster = Cluster(node()).until(12)
    cluster.do(ReportCondition("n", "Ready", "False", "KubeletNotReady", "broken"))
    assert conditions(cluster.until(19))["Ready"] == "True"
    assert conditions(cluster.until(21))["Ready"] == "False"


def test_heartbeats_are_computed() -> None:
    cluster = Cluster(node()).until(57)
    assert last_renewal(cluster.sim, "n") == 50 * SECOND
    cluster.do(SetKubelet("n", False))
    assert last_renewal(cluster.until(300).sim, "n") == 50 * SECOND
    cluster.do(SetKubelet("n", True))
    assert last_renewal(cluster.until(315).sim, "n") == 310 * SECOND
    assert last_renewal(cluster.sim, "gone") == -1


@pytest.mark.parametrize(
    ("kubelet", "allocatable"),
    [
        ({}, {"cpu": "4", "memory": "3996Mi", "pods": "110"}),
        (
            {"kubeReserved": {"cpu": "500m", "memory": "1Gi"}, "systemReserved": {"cpu": "500m"}, "maxPods": 20},
            {"cpu": "3", "memory": "2972Mi", "pods": "20"},
        ),
        ({"evictionHard": {"memory.available": "25%"}}, {"cpu": "4", "memory": "3Gi", "pods": "110"}),
    ],
)
def test_what_pods_may_use_is_the_capacity_without_what_is_kept_back(
    kubelet: dict[str, Any], allocatable: dict[str, str]
) -> None:
    bare = node()
    bare["status"] = {"capacity": {"cpu": "4", "memory": "4Gi"}}
    cluster = Cluster(bare, cluster={"kubelet": kubelet})
    found = cluster.sim.store.node("n")
    assert found is not None
    assert found.manifest["status"]["allocatable"] == allocatable


def test_a_cluster_that_is_undone_and_redone_begins_anew() -> None:
    cluster = Cluster(node(), pod("p")).until(1)
    cluster.do(Undo())
    cluster.until(20).do(Redo())
    cluster.apply(pod("q"))
    assert cluster.until(25).status("q")["phase"] == "Running"
