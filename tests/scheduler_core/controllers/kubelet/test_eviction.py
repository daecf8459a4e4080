"""Node-pressure eviction: what housekeeping sees and does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.times import SECOND
from scheduler_core.controllers.kubelet.eviction.judgement import judge, met, rank_pods
from scheduler_core.controllers.kubelet.eviction.observations import Observation, PodStats, observe
from scheduler_core.controllers.memory.kubelet import EvictionState
from scheduler_core.scheduler.config.kubelet import Amount, Threshold, read_kubelet
from scheduler_core.world.commands import Refused, SetUsage
from tests.scheduler_core.controllers.kubelet.worlds import Cluster, node, pod

GI = 2**30
HARD = {"kubelet": {"evictionHard": {"memory.available": "1Gi"}}}


def using(*entries: dict[str, Any], pods: tuple[dict[str, Any], ...], **kubelet: Any) -> Cluster:
    cluster = Cluster(node(**{"ephemeral-storage": "50Gi"}), *pods, cluster={"kubelet": {**HARD["kubelet"], **kubelet}})
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
    assert [each.pod.name for each, _ in rank_pods(ROWS, signal, False)] == order


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


NODE_DISK = {"capacity": "100Gi", "used": "10Gi"}


@pytest.mark.parametrize(
    ("image_disk", "usage", "reason"),
    [
        (None, {"rootfs": "85Gi"}, "Evicted"),
        ({"capacity": "200Gi", "used": "10Gi"}, {"rootfs": "85Gi"}, None),
        ({"capacity": "100Gi", "used": "10Gi"}, {"rootfs": "85Gi"}, "Evicted"),
        ({"capacity": "200Gi", "used": "10Gi"}, {"logs": "85Gi"}, "Evicted"),
    ],
)
def test_a_disk_of_its_own_for_images_holds_what_containers_write(
    image_disk: dict[str, str] | None, usage: dict[str, str], reason: str | None
) -> None:
    disks = {"nodefs": NODE_DISK, **({"imagefs": image_disk} if image_disk else {})}
    cluster = using(
        {"node": "n", **disks},
        {"at": "20s", "pod": "default/a", **usage},
        pods=(pod("a"), pod("b")),
        evictionHard={"nodefs.available": "10Gi", "imagefs.available": "15%"},
    )
    cluster.until(60)
    assert cluster.status("a").get("reason") == reason
    assert cluster.status("b")["phase"] == "Running"


@pytest.mark.parametrize(("most", "ends"), [(0, 51), (5, 55), (60, 70)])
def test_a_soft_threshold_gives_the_lesser_grace(most: int, ends: int) -> None:
    cluster = using(
        {"at": "20s", "pod": "default/a", "memory": "2Gi"},
        pods=(pod("a", terminationGracePeriodSeconds=20),),
        evictionSoft={"memory.available": "3Gi"},
        evictionSoftGracePeriod={"memory.available": "30s"},
        evictionMaxPodGracePeriod=most,
    )
    cluster.programs({"onTerm": "ignore"})
    assert cluster.until(ends - 0.5).status("a")["phase"] == "Running"
    assert cluster.until(ends + 0.5).status("a")["reason"] == "Evicted"


def test_under_pressure_of_the_disk_only_critical_pods_come_in() -> None:
    cluster = using(
        {"at": "20s", "node": "n", "nodefs": {"capacity": "100Gi", "used": "95Gi"}},
        pods=(),
        evictionHard={"nodefs.available": "10Gi"},
    ).until(31)
    critical = pod("critical", priorityClassName="system-cluster-critical")
    cluster.apply(pod("other"), critical)
    cluster.until(35)
    assert cluster.status("other")["message"] == "Pod was rejected: The node had condition: [DiskPressure]. "
    assert cluster.status("critical")["phase"] == "Running"


def thresholds(*rows: tuple[str, int, int]) -> list[Threshold]:
    return [Threshold(signal, Amount(left), grace * SECOND) for signal, left, grace in rows]


def test_what_is_to_be_freed_beyond_a_threshold_counts_until_it_is() -> None:
    """As kube's TestThresholdsMet."""
    (hard,) = thresholds(("memory.available", GI, 0))
    demanding = replace(hard, least=Amount(GI // 2))
    for available, is_met, is_met_with_least in ((500 * 2**20, True, True), (GI, False, True), (2 * GI, False, False)):
        seen = {"memory.available": Observation(available, 4 * GI)}
        assert bool(met([demanding], seen, False)) is is_met
        assert bool(met([demanding], seen, True)) is is_met_with_least
    assert met([hard], {}, False) == []


def test_conditions_come_at_once_and_thresholds_after_their_grace() -> None:
    """As kube's TestThresholdsMetGracePeriod and TestNodeConditionsObservedSince."""
    hard, soft = thresholds(("memory.available", GI, 0), ("pid.available", 100, 60))
    configuration = read_kubelet({"evictionPressureTransitionPeriod": "2m"})
    state = EvictionState(0)
    low = {"memory.available": Observation(0, 4 * GI), "pid.available": Observation(5, 1000)}
    fine = {"memory.available": Observation(4 * GI, 4 * GI), "pid.available": Observation(900, 1000)}
    for at, seen, acting, conditions in (
        (10, low, [hard], ("MemoryPressure", "PIDPressure")),
        (70, low, [hard, soft], ("MemoryPressure", "PIDPressure")),
        (100, fine, [], ("MemoryPressure", "PIDPressure")),
        (210, fine, [], ()),
    ):
        judged = judge(state, [hard, soft], seen, configuration, at * SECOND)
        assert (list(judged.thresholds), judged.conditions) == (acting, conditions), at
        state = judged.state


def of_kube(name: str, priority: int, requests: dict[str, str], **usage: int) -> PodStats:
    containers = [{"name": "c", "resources": {"requests": requests}}]
    found = Pod.from_manifest(pod(name, containers=containers, priority=priority))
    return PodStats(found, True, ("c",), {field: amount * 2**20 for field, amount in usage.items()})


MEMORY_1GI, MEMORY_100MI = {"cpu": "100m", "memory": "1Gi"}, {"cpu": "100m", "memory": "100Mi"}


@pytest.mark.parametrize(
    ("signal", "pods", "first"),
    [
        (
            "memory.available",  # TestMemoryPressure
            [
                of_kube("guaranteed-low-priority-high-usage", -1, MEMORY_1GI, memory=900),
                of_kube("burstable-below-requests", 0, MEMORY_100MI, memory=50),
                of_kube("burstable-above-requests", 0, MEMORY_100MI, memory=400),
                of_kube("best-effort-high-priority-high-usage", 1, {}, memory=400),
                of_kube("best-effort-low-priority-low-usage", -1, {}, memory=100),
            ],
            "best-effort-low-priority-low-usage",
        ),
        (
            "pid.available",  # TestPIDPressure
            [
                of_kube("high-priority-high-usage", 1, {}, pids=900),
                of_kube("default-priority-low-usage", 0, {}, pids=100),
                of_kube("default-priority-medium-usage", 0, {}, pids=400),
                of_kube("low-priority-high-usage", -1, {}, pids=600),
                of_kube("low-priority-low-usage", -1, {}, pids=50),
            ],
            "low-priority-high-usage",
        ),
        (
            "nodefs.available",  # TestDiskPressureNodeFs
            [
                of_kube("low-priority-high-usage", -1, {"ephemeral-storage": "1Gi"}, rootfs=900),
                of_kube("below-requests", 0, {"ephemeral-storage": "100Mi"}, logs=50),
                of_kube("above-requests", 0, {"ephemeral-storage": "100Mi"}, rootfs=400),
                of_kube("high-priority-high-usage", 1, {}, rootfs=400),
                of_kube("low-priority-low-usage", -1, {}, rootfs=100),
            ],
            "low-priority-low-usage",
        ),
    ],
)
def test_the_first_pod_is_the_one_of_kubes_own_tests(signal: str, pods: list[PodStats], first: str) -> None:
    assert rank_pods(pods, signal, False)[0][0].pod.name == first
