"""Node-pressure eviction: what housekeeping sees and does."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.commands import Refused, SetUsage
from scheduler_core.controllers.kubelet.eviction.curves import Mark, curves
from scheduler_core.controllers.kubelet.eviction.observations import PodStats, observe
from scheduler_core.controllers.kubelet.eviction.ranking import ranked
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.times import SECOND
from tests.scheduler_core.controllers.kubelet.worlds import Cluster, node, pod

GI = 2**30
HARD = {"kubelet": {"evictionHard": {"memory.available": "1Gi"}}}


def using(*entries: dict[str, Any], pods: tuple[dict[str, Any], ...], **kubelet: Any) -> Cluster:
    cluster = Cluster(
        node(**{"ephemeral-storage": "50Gi"}), *pods, cluster={"kubelet": {**HARD["kubelet"], **kubelet}}
    )
    cluster.do(SetUsage(entries))
    return cluster


def pressure(cluster: Cluster, kind: str = "MemoryPressure") -> str:
    found = cluster.sim.store.node("n")
    assert found is not None
    conditions = found.manifest["status"]["conditions"]
    return next(str(each["status"]) for each in conditions if each["type"] == kind)


def test_nothing_happens_while_nothing_is_said_of_usage() -> None:
    cluster = Cluster(node(), pod("p"), cluster=HARD).until(5)
    assert not cluster.sim.due(1 << 60)


def test_after_the_last_change_nothing_is_looked_at_any_more() -> None:
    cluster = using({"at": "20s", "pod": "default/a", "memory": "3500Mi"}, pods=(pod("a"), pod("b")))
    cluster.until(400)
    assert cluster.status("a")["reason"] == "Evicted"
    assert pressure(cluster) == "False"
    assert not cluster.sim.due(1 << 60)


def test_the_condition_stays_for_the_transition_period() -> None:
    cluster = using(
        {"at": "20s", "pod": "default/a", "memory": "3500Mi"},
        pods=(pod("a"), pod("b")),
        evictionPressureTransitionPeriod="60s",
    )
    assert pressure(cluster.until(35)) == "True"
    assert pressure(cluster.until(75)) == "True"
    assert pressure(cluster.until(95)) == "False"


def test_usage_that_goes_back_in_time_evicts_nobody() -> None:
    cluster = using(
        {"at": "21s", "pod": "default/a", "memory": "3500Mi"},
        {"at": "28s", "pod": "default/a", "memory": "100Mi"},
        pods=(pod("a"),),
    )
    assert cluster.until(100).status("a")["phase"] == "Running"
    assert pressure(cluster) == "False"


def test_the_last_ranking_is_kept() -> None:
    cluster = using(
        {"podLabel": "app=x", "memory": "1600Mi"},
        pods=(pod("a", labels={"app": "x"}), pod("b", labels={"app": "x"}, priority=0)),
    )
    cluster.until(30)
    (kept,) = cluster.sim.surroundings.kubelet.evictions["n"]
    assert (kept.signal, kept.threshold, kept.available) == ("memory.available", "1Gi", "896Mi")
    assert [(row.pod, row.usage, row.exceeds) for row in kept.ranking] == [
        ("default/a", 1600 * 2**20, True),
        ("default/b", 1600 * 2**20, True),
    ]
    assert kept.chosen == "default/a"


def test_memory_that_is_gone_before_the_kubelet_looks_kills_a_container() -> None:
    cluster = using(
        {"at": "21s", "pod": "default/a", "memory": "5Gi"},
        {"at": "23s", "pod": "default/a", "memory": "10Mi"},
        pods=(pod("a"), pod("b")),
    )
    cluster.until(22)
    assert cluster.container("a")["lastState"]["terminated"]["reason"] == "OOMKilled"
    cluster.until(60)
    assert cluster.container("a")["state"].get("running")
    assert cluster.container("b")["restartCount"] == 0


def test_a_container_over_its_limit_is_killed_again_and_again() -> None:
    limited = pod("a", containers=[{"name": "c", "image": "i", "resources": {"limits": {"memory": "1Gi"}}}])
    cluster = using({"at": "21s", "pod": "default/a", "memory": "1100Mi"}, pods=(limited,))
    cluster.until(60)
    assert cluster.container("a")["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert cluster.container("a")["lastState"]["terminated"]["exitCode"] == 137


def test_images_are_freed_once() -> None:
    disk = {"capacity": "100Gi", "used": "10Gi"}
    cluster = using(
        {"node": "n", "nodefs": disk, "unusedImages": "30Gi"},
        {"at": "20s", "pod": "default/a", "rootfs": "55Gi"},
        {"at": "60s", "pod": "default/a", "rootfs": "85Gi"},
        pods=(pod("a"),),
        evictionHard={"nodefs.available": "10Gi"},
    )
    assert cluster.until(50).status("a")["phase"] == "Running"
    assert cluster.until(90).status("a")["reason"] == "Evicted"


@pytest.mark.parametrize(
    ("limits", "usage", "message"),
    [
        (
            {"ephemeral-storage": "1Gi"},
            {"rootfs": "600Mi", "logs": "600Mi"},
            "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
        ),
        ({"ephemeral-storage": "2Gi"}, {"rootfs": "600Mi", "logs": "600Mi"}, None),
    ],
)
def test_limits_of_local_storage(limits: dict[str, str], usage: dict[str, str], message: str | None) -> None:
    limited = pod("a", containers=[{"name": "c", "image": "i", "resources": {"limits": limits}}])
    cluster = using({"at": "20s", "pod": "default/a", **usage}, pods=(limited,))
    assert cluster.until(60).status("a").get("message") == message


def stats(name: str, priority: int, request: int, usage: int) -> PodStats:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"memory": str(request)}}}]
    found = Pod.from_manifest(pod(name, containers=containers, priority=priority))
    return PodStats(found, True, ("c",), {"memory": usage, "pids": usage})


ROWS = [stats("above", 0, 100, 300), stats("far-above", 0, 100, 900), stats("within", -5, 1000, 950)]
ROWS += [stats("important", 10, 0, 5000), stats("best-effort", 0, 0, 250)]


@pytest.mark.parametrize(
    ("signal", "order"),
    [
        ("memory.available", ["far-above", "best-effort", "above", "important", "within"]),
        ("pid.available", ["within", "far-above", "above", "best-effort", "important"]),
    ],
)
def test_pods_are_ranked_as_kube_ranks_them(signal: str, order: list[str]) -> None:
    assert [each.pod.name for each, _ in ranked(ROWS, signal, False)] == order


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ({"memory": "1Gi"}, "entries[0].pod"),
        ({"pod": "a", "memory": "much"}, "entries[0].memory"),
        ({"pod": "a", "pidMax": 5}, "entries[0].node"),
        ({"node": "n", "rootfs": "1Gi"}, "entries[0].pod"),
        ({"node": "n", "at": "-5s"}, "entries[0].at"),
        ({"node": "n", "mem": 5}, "entries[0].mem"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused(entry: dict[str, Any], path: str) -> None:
    with pytest.raises(Refused) as refused:
        Cluster().do(SetUsage((entry,)))
    assert [error.path for error in refused.value.errors] == [path]


def test_images_are_collected_from_the_high_to_the_low_mark_every_five_minutes() -> None:
    disk = {"capacity": "100Gi", "used": "60Gi"}
    cluster = using({"at": "20s", "node": "n", "nodefs": disk, "unusedImages": "28Gi"}, pods=(pod("a"),))
    cluster.until(299)
    assert left(cluster, "imagefs.available") == 12 * 2**30
    cluster.until(301)
    assert left(cluster, "imagefs.available") == 20 * 2**30
    assert cluster.status("a")["phase"] == "Running"


def left(cluster: Cluster, signal: str) -> int:
    found = cluster.sim.store.node("n")
    assert found is not None
    configuration = cluster.sim.cluster.kubelet_of("n")
    return observe(cluster.sim, found, configuration).signals[signal].available


def test_a_node_s_curves_show_usage_against_thresholds() -> None:
    cluster = using(
        {"at": "20s", "pod": "default/a", "memory": "1Gi"},
        {"at": "40s", "pod": "default/a", "memory": "2Gi"},
        pods=(pod("a"),),
    )
    found = cluster.until(10).sim.store.node("n")
    assert found is not None
    memory = curves(cluster.sim, found, 0, 60 * SECOND)[0]
    assert (memory.signal, memory.capacity, memory.marks) == ("memory.available", 4 * GI, (Mark(GI, 0, 0),))
    assert memory.points == tuple(
        (at * SECOND, available * GI) for at, available in ((0, 4), (10, 4), (20, 3), (40, 2), (60, 2))
    )
