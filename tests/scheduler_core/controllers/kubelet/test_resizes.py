"""In-place resizes: what the kubelet decides, what the status says meanwhile, and what follows from it.

Facts of pkg/kubelet/allocation/allocation_manager_test.go, pkg/kubelet/kubelet_pods_test.go and pkg/apis/core/validation @ v1.34.1.
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.commands import CreateObject, DeleteObjects, PatchObject, Ref, Refused, SetKubelet, SetUsage
from tests.scheduler_core.controllers.kubelet.worlds import Cluster, node, pod

PENDING, IN_PROGRESS = "PodResizePending", "PodResizeInProgress"


def sized(name: str, cpu: str | None = None, memory: str | None = None, **spec: Any) -> Manifest:
    return pod(name, containers=[container(requests(cpu, memory))], **spec)


def requests(cpu: str | None, memory: str | None = None) -> Manifest:
    amounts = {"cpu": cpu, "memory": memory}
    return {"requests": {name: amount for name, amount in amounts.items() if amount is not None}}


def container(resources: Manifest, **more: Any) -> Manifest:
    return {"name": "c", "image": "pause", "resources": resources, **more}


def guaranteed(cpu: str, memory: str) -> Manifest:
    amounts = {"cpu": cpu, "memory": memory}
    return {"requests": amounts, "limits": amounts}


def resize(cluster: Cluster, name: str, resources: Manifest) -> None:
    change = {"spec": {"containers": [{"name": "c", "resources": resources}]}}
    cluster.do(PatchObject(Ref("Pod", "default", name), change, type="strategic", subresource="resize"))


def resizing(cluster: Cluster, name: str) -> dict[str, Manifest]:
    conditions = cluster.pod(name).conditions
    return {each["type"]: dict(each) for each in conditions if "Resize" in each["type"]}


def sizes(cluster: Cluster, name: str) -> tuple[Any, Any]:
    """What is allocated to the container, and what it runs with."""
    status = cluster.container(name)
    return status.get("allocatedResources"), status["resources"].get("requests")


def reporting(cpu: str, allocated: str, actual: str, *conditions: Manifest) -> Manifest:
    """A pod as kubectl prints it in the midst of a resize."""
    started = {"startedAt": "2025-12-31T00:00:00Z"}
    status = {
        "name": "c",
        "image": "pause",
        "imageID": "",
        "ready": True,
        "restartCount": 0,
        "state": {"running": started},
        "allocatedResources": {"cpu": allocated},
        "resources": requests(actual),
    }
    return {
        **sized("p", cpu),
        "status": {
            "phase": "Running",
            "startTime": "2025-12-31T00:00:00Z",
            "conditions": [{"type": "Ready", "status": "True"}, *conditions],
            "containerStatuses": [status],
        },
    }


def test_a_container_that_was_started_reports_its_resources() -> None:
    cluster = Cluster(node(), pod("none"), sized("p", "1", "1Gi")).until(1)
    assert "resources" not in cluster.status("p").get("containerStatuses", [{}])[0]
    cluster.until(3)
    assert sizes(cluster, "p") == ({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})
    assert (cluster.container("none")["resources"], "allocatedResources" in cluster.container("none")) == ({}, False)


def test_a_granted_resize_is_in_progress_until_the_runtime_has_done_it() -> None:
    cluster = Cluster(node(), sized("p", "1")).until(10)
    resize(cluster, "p", requests("2"))
    cluster.until(10.5)
    assert sizes(cluster, "p") == ({"cpu": "2"}, {"cpu": "1"})
    assert resizing(cluster, "p") == {
        IN_PROGRESS: {
            "type": IN_PROGRESS,
            "status": "True",
            "observedGeneration": 2,
            "lastProbeTime": "2026-01-01T00:00:10Z",
            "lastTransitionTime": "2026-01-01T00:00:10Z",
        }
    }
    assert cluster.status("p")["observedGeneration"] == 2
    cluster.until(12)
    assert sizes(cluster, "p") == ({"cpu": "2"}, {"cpu": "2"})
    assert (resizing(cluster, "p"), cluster.container("p")["restartCount"]) == ({}, 0)
    assert cluster.events("ResizeCompleted") == [
        'Pod resize completed: {"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}'
    ]


@pytest.mark.parametrize(
    ("cpu", "memory", "message"),
    [
        ("5", "1Gi", "Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000"),
        ("1", "5Gi", "Node didn't have enough capacity: memory, requested: 5368709120, capacity: 4294967296"),
        ("5", "5Gi", "Node didn't have enough capacity: memory, requested: 5368709120, capacity: 4294967296"),
    ],
)
def test_more_than_the_node_has_is_infeasible(cpu: str, memory: str, message: str) -> None:
    cluster = Cluster(node(), sized("p", "1", "1Gi")).until(10)
    resize(cluster, "p", requests(cpu, memory))
    cluster.until(20)
    condition = resizing(cluster, "p")[PENDING]
    assert (condition["status"], condition["reason"], condition["message"]) == ("True", "Infeasible", message)
    assert condition["observedGeneration"] == cluster.status("p")["observedGeneration"] == 2
    assert sizes(cluster, "p")[0] == {"cpu": "1", "memory": "1Gi"}
    assert cluster.pod("p").requests.milli_cpu == 1000
    resize(cluster, "p", requests("1", "1Gi"))
    cluster.until(30)
    assert resizing(cluster, "p") == {}


@pytest.mark.parametrize(
    ("field", "policy", "after", "message"),
    [
        ("cpuManagerPolicy", "static", ("2", "1Gi"), 'CPU Manager policy "static"'),
        ("memoryManagerPolicy", "Static", ("1", "2Gi"), 'Memory Manager policy "Static"'),
        ("cpuManagerPolicy", "static", ("1", "2Gi"), ""),
        ("cpuManagerPolicy", "none", ("2", "1Gi"), ""),
    ],
)
def test_a_static_policy_keeps_guaranteed_pods_as_they_are(
    field: str, policy: str, after: tuple[str, str], message: str
) -> None:
    given = pod("p", containers=[container(guaranteed("1", "1Gi"))])
    cluster = Cluster(node(), given, cluster={"kubelet": {field: policy}}).until(10)
    resize(cluster, "p", guaranteed(*after))
    cluster.until(20)
    condition = resizing(cluster, "p").get(PENDING, {})
    said = f"Resize is infeasible for Guaranteed Pods alongside {message}" if message else None
    assert (condition.get("reason"), condition.get("message")) == ("Infeasible" if message else None, said)


def test_a_static_pod_is_not_resized() -> None:
    """The API server refuses it for its mirror; a pod of another source the kubelet itself does."""
    given = sized("p", "1")
    given["metadata"]["annotations"] = {"kubernetes.io/config.source": "file"}
    cluster = Cluster(node(), given).until(10)
    resize(cluster, "p", requests("2"))
    cluster.until(20)
    condition = resizing(cluster, "p")[PENDING]
    assert (condition["reason"], condition["message"]) == (
        "Infeasible",
        "In-place resize of static-pods is not supported",
    )


def test_memory_that_is_kept_back_for_eviction_defers_a_resize() -> None:
    """kube compares with the node's allocatable before eviction thresholds, and then admits with what is left."""
    whole = node()
    whole["status"] = {"capacity": {"cpu": "4", "memory": "4Gi", "pods": "110"}}
    cluster = Cluster(whole, sized("p", "1", "1Gi")).until(10)
    resize(cluster, "p", requests("1", "4Gi"))
    cluster.until(20)
    assert resizing(cluster, "p")[PENDING]["reason"] == "Deferred"


def test_a_deferred_resize_is_granted_when_a_pod_goes() -> None:
    cluster = Cluster(node(), sized("p", "1"), sized("q", "2")).until(10)
    resize(cluster, "p", requests("3"))
    cluster.until(20)
    condition = resizing(cluster, "p")[PENDING]
    message = "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000"
    assert (condition["reason"], condition["message"]) == ("Deferred", message)
    assert cluster.pod("p").requests.milli_cpu == 3000
    cluster.do(DeleteObjects((Ref("Pod", "default", "q"),)))
    cluster.until(30)
    assert (sizes(cluster, "p"), resizing(cluster, "p")) == (({"cpu": "3"}, {"cpu": "3"}), {})


def test_a_deferred_resize_is_granted_when_another_pod_has_shrunk() -> None:
    cluster = Cluster(node(), sized("p", "1"), sized("q", "2")).until(10)
    resize(cluster, "p", requests("3"))
    cluster.until(20)
    resize(cluster, "q", requests("1"))
    cluster.until(20.5)
    assert resizing(cluster, "p")[PENDING]["reason"] == "Deferred"  # the status of q still says 2
    cluster.until(25)
    assert sizes(cluster, "p") == ({"cpu": "3"}, {"cpu": "3"})


def test_a_pod_that_ends_is_noticed_in_the_next_round() -> None:
    cluster = Cluster(node(), sized("p", "1"), sized("q", "2", restartPolicy="Never"))
    cluster.programs({"pods": "app=q", "runs": [{}]})
    cluster.until(10)
    resize(cluster, "p", requests("3"))
    cluster.until(20)
    cluster.programs({"runs": [{"for": "30s", "exit": 0}]})
    cluster.until(100)
    assert (cluster.status("q")["phase"], resizing(cluster, "p")[PENDING]["reason"]) == ("Succeeded", "Deferred")
    cluster.until(192)
    assert resizing(cluster, "p") == {}


def test_resizes_wait_in_the_order_of_priority_class_and_time() -> None:
    small = requests("100m", "100Mi")["requests"]
    pods = [
        sized("old", "100m"),
        sized("new", "100m"),
        pod("sure", containers=[container({"requests": small, "limits": small})]),
        sized("first", "100m", priority=10),
        sized("full", "3600m"),
    ]
    cluster = Cluster(node(), *pods).until(10)
    for second, name in enumerate(("old", "new", "sure", "first")):
        cluster.until(20 + 2 * second)
        resize(cluster, name, guaranteed("1500m", "100Mi") if name == "sure" else requests("1500m"))
    cluster.until(40)
    for left, granted in (("2200m", ["first"]), ("800m", ["sure", "first"])):
        resize(cluster, "full", requests(left))
        cluster.until(cluster.sim.now / 10**9 + 10)
        assert [p for p in ("old", "new", "sure", "first") if not resizing(cluster, p)] == granted
    cluster.do(DeleteObjects((Ref("Pod", "default", "full"),)))
    cluster.until(cluster.sim.now / 10**9 + 10)
    assert [p for p in ("old", "new") if not resizing(cluster, p)] == []
    cluster.do(DeleteObjects((Ref("Pod", "default", "first"),)))
    cluster.until(cluster.sim.now / 10**9 + 10)
    assert [p for p in ("old", "new") if not resizing(cluster, p)] == ["old"]


def test_a_shrink_frees_room_for_a_waiting_pod_once_it_is_done() -> None:
    cluster = Cluster(node(), sized("p", "3")).until(10)
    cluster.do(CreateObject(sized("w", "2", on="")))
    cluster.until(15)
    assert cluster.pod("w").node_name == ""
    resize(cluster, "p", requests("1"))
    cluster.until(15.5)
    assert cluster.pod("w").node_name == ""
    cluster.until(30)
    assert cluster.pod("w").node_name == "n"
    assert sizes(cluster, "p") == ({"cpu": "1"}, {"cpu": "1"})


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        (sized("p", "1"), True),  # of 2 cpu the scheduler goes on counting 1
        (reporting("5", "1", "1", {"type": PENDING, "status": "True", "reason": "Infeasible"}), True),
        (sized("p", "1500m"), False),
    ],
)
def test_an_infeasible_resize_leaves_the_room_to_others(given: Manifest, fits: bool) -> None:
    cluster = Cluster(node(cpu="2"), given).until(10)
    if cluster.pod("p").manifest["spec"]["containers"][0]["resources"] != requests("5"):
        resize(cluster, "p", requests("5"))
    cluster.until(15)
    cluster.do(CreateObject(sized("w", "600m", on="")))
    cluster.until(20)
    assert (cluster.pod("w").node_name == "n") is fits


@pytest.mark.parametrize(("changed", "restarts"), [("cpu", 0), ("memory", 1)])
def test_a_container_is_restarted_where_its_policy_says_so(changed: str, restarts: int) -> None:
    policy = [
        {"resourceName": "cpu", "restartPolicy": "NotRequired"},
        {"resourceName": "memory", "restartPolicy": "RestartContainer"},
    ]
    cluster = Cluster(node(), pod("p", containers=[container(requests("1", "1Gi"), resizePolicy=policy)])).until(10)
    resize(cluster, "p", requests("2", "1Gi") if changed == "cpu" else requests("1", "2Gi"))
    cluster.until(30)
    assert cluster.container("p")["restartCount"] == restarts
    assert cluster.events("Killing") == ["Container c resize requires restart"] * restarts
    assert (
        sizes(cluster, "p")[0]
        == sizes(cluster, "p")[1]
        == cluster.pod("p").manifest["spec"]["containers"][0]["resources"]["requests"]
    )
    assert resizing(cluster, "p") == {}


def test_a_sidecar_is_resized_too() -> None:
    sidecar = {"name": "s", "image": "pause", "restartPolicy": "Always", "resources": requests("1")}
    cluster = Cluster(node(), sized("p", "1", initContainers=[sidecar])).until(10)
    change = {"spec": {"initContainers": [{"name": "s", "resources": requests("2")}]}}
    cluster.do(PatchObject(Ref("Pod", "default", "p"), change, type="strategic", subresource="resize"))
    cluster.until(20)
    assert cluster.status("p")["initContainerStatuses"][0]["allocatedResources"] == {"cpu": "2"}
    assert cluster.pod("p").requests.milli_cpu == 3000


def test_a_pod_that_has_not_started_is_resized_before_it_does() -> None:
    cluster = Cluster(node(), sized("p", "1")).until(1)
    resize(cluster, "p", requests("2"))
    cluster.until(10)
    assert (sizes(cluster, "p"), resizing(cluster, "p")) == (({"cpu": "2"}, {"cpu": "2"}), {})


def test_a_kubelet_that_does_not_run_decides_when_it_starts() -> None:
    cluster = Cluster(node(), sized("p", "1")).until(10)
    cluster.do(SetKubelet("n", False))
    resize(cluster, "p", requests("2"))
    cluster.until(20)
    assert (sizes(cluster, "p"), resizing(cluster, "p")) == (({"cpu": "1"}, {"cpu": "1"}), {})
    cluster.do(SetKubelet("n", True))
    cluster.until(30)
    assert sizes(cluster, "p") == ({"cpu": "2"}, {"cpu": "2"})


def test_the_resize_of_a_critical_pod_has_others_end() -> None:
    critical = sized("p", "1", priorityClassName="system-node-critical")
    critical["metadata"]["namespace"] = "kube-system"
    cluster = Cluster(node(), critical, sized("q", "2")).until(10)
    change = {"spec": {"containers": [{"name": "c", "resources": requests("3")}]}}
    cluster.do(PatchObject(Ref("Pod", "kube-system", "p"), change, type="strategic", subresource="resize"))
    cluster.until(60)
    assert cluster.status("q")["reason"] == "Preempting"
    found = cluster.sim.store.pod("kube-system", "p")
    assert found is not None
    assert found.manifest["status"]["containerStatuses"][0]["allocatedResources"] == {"cpu": "3"}


@pytest.mark.parametrize("later", [({"at": "60s", "pod": "p", "memory": "500Mi"},), ()])
def test_a_memory_limit_below_what_is_used_is_an_error_until_less_is_used(later: tuple[Manifest, ...]) -> None:
    limits = {"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}
    cluster = Cluster(node(), pod("p", containers=[container(limits)]))
    cluster.do(SetUsage(({"pod": "p", "memory": "1536Mi"}, *later)))
    cluster.until(10)
    resize(cluster, "p", {"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}})
    with pytest.raises(Refused, match="QOS Class"):
        resize(cluster, "p", {"requests": {"memory": "1Gi", "cpu": "1"}, "limits": {"memory": "1Gi", "cpu": "1"}})
    cluster.until(30)
    condition = resizing(cluster, "p")[IN_PROGRESS]
    parts = [
        f"attempting to set {what} memory limit (1073741824) below current usage (1610612736)"
        for what in ("pod", 'container "c"')
    ]
    assert (condition["reason"], condition["message"]) == (
        "Error",
        f"cannot decrease memory limits: [{', '.join(parts)}]",
    )
    assert cluster.container("p")["resources"]["limits"] == {"memory": "2Gi"}
    cluster.until(65)
    if not later:
        assert resizing(cluster, "p")[IN_PROGRESS]["reason"] == "Error"
        cluster.do(SetUsage(({"pod": "p", "memory": "500Mi"},)))
        cluster.until(70)
    assert cluster.container("p")["resources"]["limits"] == {"memory": "1Gi"}
    assert resizing(cluster, "p") == {}


@pytest.mark.parametrize(
    ("given", "left", "reason"),
    [
        (reporting("500m", "1500m", "1500m"), ({"cpu": "500m"}, {"cpu": "500m"}), None),
        (reporting("2", "2", "1", {"type": IN_PROGRESS, "status": "True"}), ({"cpu": "2"}, {"cpu": "2"}), None),
        (reporting("5", "1", "1"), ({"cpu": "1"}, {"cpu": "1"}), "Infeasible"),
        (
            reporting("5", "1", "1", {"type": PENDING, "status": "True", "reason": "Deferred"}),
            ({"cpu": "1"}, {"cpu": "1"}),
            "Infeasible",
        ),
        (
            reporting("2", "1", "1", {"type": PENDING, "status": "True", "reason": "Infeasible"}),
            ({"cpu": "2"}, {"cpu": "2"}),
            None,
        ),
    ],
)
def test_a_resize_of_an_imported_pod_goes_on(given: Manifest, left: Any, reason: str | None) -> None:
    cluster = Cluster(node(), given).until(10)
    assert sizes(cluster, "p") == left
    assert resizing(cluster, "p").get(PENDING, {}).get("reason") == reason
    assert IN_PROGRESS not in resizing(cluster, "p")


def test_an_imported_pod_that_is_not_being_resized_is_left_alone() -> None:
    cluster = Cluster(node(), reporting("1", "1000m", "1")).until(10)
    assert sizes(cluster, "p") == ({"cpu": "1000m"}, {"cpu": "1"})


def test_a_quota_counts_the_most_of_what_is_asked_allocated_and_actual() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"requests.cpu": "3", "limits.cpu": "6"}},
    }

    def used() -> Any:
        found = cluster.sim.store.get("ResourceQuota", "default", "q")
        assert found is not None
        return found["status"]["used"]

    def both(cpu: str, limit: str) -> Manifest:
        return {"requests": {"cpu": cpu}, "limits": {"cpu": limit}}

    cluster = Cluster(node(), quota, pod("p", containers=[container(both("2", "4"))])).until(10)
    assert used() == {"requests.cpu": "2", "limits.cpu": "4"}
    with pytest.raises(Refused, match="exceeded quota"):
        resize(cluster, "p", both("3500m", "4"))
    resize(cluster, "p", both("1", "2"))
    cluster.until(10.5)
    assert used() == {"requests.cpu": "2", "limits.cpu": "4"}  # it still runs with that
    cluster.until(20)
    assert used() == {"requests.cpu": "1", "limits.cpu": "2"}


def test_a_limit_range_bounds_a_resize() -> None:
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "default"},
        "spec": {
            "limits": [
                {"type": "Container", "max": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}, "default": {"cpu": "2"}}
            ]
        },
    }
    cluster = Cluster(node(), limits, sized("p", "1")).until(10)
    with pytest.raises(Refused, match="maximum cpu usage per Container is 2, but limit is 3"):
        resize(cluster, "p", {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}})
