"""A world with kubelets that was written and read goes on as the one that was not."""

from __future__ import annotations

import json

import pytest

from scheduler_core.world.commands import SetUsage
from tests.scheduler_core.controllers.kubelet.worlds import Cluster, node, pod
from tests.scheduler_core.world.checkpoint.rich import again

USAGE = (
    {"podLabel": "app=hog", "at": "21s", "memory": "1700Mi"},
    {"node": "n", "at": "45s", "memory": "100Mi"},
    {"pod": "default/c", "at": "33s", "memory": "5Gi"},
    {"pod": "default/c", "at": "55s", "memory": "100Mi", "volumes": {"v": "1Gi"}},
)


def busy() -> Cluster:
    """Crashes, deaf programs, a critical pod that preempts, pressure, memory that is gone, a mirror pod."""
    static = pod("m")
    static["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "abc"}
    hogs = [pod(name, labels={"app": "hog"}) for name in "ab"]
    settings = {
        "evictionHard": {"memory.available": "500Mi"},
        "evictionSoft": {"memory.available": "1Gi"},
        "evictionSoftGracePeriod": {"memory.available": "20s"},
        "evictionPressureTransitionPeriod": "30s",
    }
    cluster = Cluster(node(), *hogs, pod("c"), static, cluster={"kubelet": settings})
    cluster.programs(
        {"pods": "app=hog", "onTerm": "ignore", "runs": [{"for": "9s", "exit": 1}, {"for": "50s"}]},
        {"ready": [{"at": "5s", "is": True}, {"at": "30s", "is": False}]},
    )
    cluster.do(SetUsage(USAGE))
    return cluster


def seen(cluster: Cluster) -> str:
    store = cluster.sim.store
    return json.dumps([store.list("Pod"), store.list("Node"), [event.message for event in store.events]])


@pytest.mark.parametrize("at", [1, 5, 13, 22, 30, 34, 46, 52, 61, 80])
def test_what_kubelets_remember_is_in_a_checkpoint(at: int) -> None:
    plain = busy().until(at)
    copy, read = busy(), busy()
    copy.sim, read.sim = plain.sim.fork(), again(plain.sim)
    ends = [seen(cluster.until(200)) for cluster in (plain, copy, read)]
    assert ends[0] == ends[1] == ends[2]
    assert plain.events("Evicted") and plain.events("SystemOOM")
