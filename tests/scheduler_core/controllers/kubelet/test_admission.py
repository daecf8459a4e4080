"""Which pods a kubelet takes, and whom it ends for a critical one. Rows as in kube's preemption_test.go TestGetPodsToPreempt."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.controllers.kubelet.admission import NoSuchPods, victims
from tests.scheduler_core.controllers.kubelet.worlds import Cluster, node, pod

SIZES = {
    "best-effort": (0, False, 0),
    "burstable": (100, False, 0),
    "guaranteed": (100, True, 0),
    "high-request-burstable": (300, False, 0),
    "high-request-guaranteed": (300, True, 0),
    "cluster-critical": (100, False, 2_000_000_000),
    "node-critical": (100, False, 2_000_100_000),
}
MI = 2**20


def sized(name: str) -> Pod:
    size, is_guaranteed, priority = SIZES[name]
    amounts = {"cpu": f"{size}m", "memory": f"{size}Mi"} if size else {}
    resources = {"requests": amounts, **({"limits": amounts} if is_guaranteed else {})}
    containers = [{"name": "c", "image": "i", "resources": resources}]
    return Pod.from_manifest(pod(name, containers=containers, priority=priority))


@pytest.mark.parametrize(
    ("preemptor", "others", "missing", "chosen"),
    [
        ("cluster-critical", "", (0, 0, 0), ""),
        ("cluster-critical", "", (0, 0, 1), None),
        ("cluster-critical", "burstable", (100, 100, 1), "burstable"),
        ("cluster-critical", "burstable", (200, 200, 2), None),
        ("cluster-critical", "burstable best-effort", (0, 0, 1), "best-effort"),
        ("cluster-critical", "burstable guaranteed", (0, 0, 1), "burstable"),
        ("cluster-critical", "best-effort high-request-burstable burstable", (100, 100, 0), "burstable"),
        ("cluster-critical", "best-effort burstable high-request-burstable", (150, 150, 0), "high-request-burstable"),
        (
            "cluster-critical",
            "best-effort burstable high-request-burstable guaranteed high-request-guaranteed",
            (350, 350, 0),
            "burstable high-request-burstable",
        ),
        (
            "cluster-critical",
            "best-effort burstable high-request-burstable guaranteed high-request-guaranteed",
            (0, 550, 0),
            "high-request-burstable high-request-guaranteed",
        ),
        ("node-critical", "cluster-critical", (100, 0, 0), "cluster-critical"),
        ("cluster-critical", "node-critical", (100, 0, 0), None),
    ],
)
def test_as_few_and_as_small_pods_as_possible_make_room(
    preemptor: str, others: str, missing: tuple[int, int, int], chosen: str | None
) -> None:
    cpu, memory, pods = missing
    wanted = [(n, a) for n, a in (("cpu", cpu), ("memory", memory * MI), ("pods", pods)) if a]
    if chosen is None:
        with pytest.raises(NoSuchPods):
            victims(sized(preemptor), [sized(name) for name in others.split()], wanted)
        return
    found = victims(sized(preemptor), [sized(name) for name in others.split()], wanted)
    assert sorted(each.name for each in found) == sorted(chosen.split())


def asking(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    return pod(name, containers=[{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}], **spec)


def test_pods_are_refused_for_good() -> None:
    cluster = Cluster(node(), asking("a", "3"), asking("b", "2")).until(5)
    assert cluster.status("b")["reason"] == "OutOfcpu"
    why = "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"
    assert cluster.status("b")["message"] == f"Pod was rejected: {why}"
    assert cluster.events("OutOfcpu") == [why]


def test_a_critical_pod_is_refused_for_what_preemption_does_not_mend() -> None:
    critical = asking("c", "2", priorityClassName="system-node-critical", nodeSelector={"disk": "ssd"})
    cluster = Cluster(node(), asking("a", "3"), critical).until(5)
    assert cluster.status("c")["reason"] == "NodeAffinity"
    assert cluster.status("a")["phase"] == "Running"


def test_a_critical_pod_starts_when_room_was_made() -> None:
    critical = asking("c", "2", priorityClassName="system-node-critical")
    cluster = Cluster(node(), asking("a", "3", terminationGracePeriodSeconds=20))
    cluster.programs({"pods": {"matchLabels": {}}, "onTerm": "ignore"})
    cluster.until(10).apply(critical)
    assert cluster.until(29).status("c")["phase"] == "Pending"
    assert cluster.until(40).status("c")["phase"] == "Running"
    assert cluster.status("a")["reason"] == "Preempting"


@pytest.mark.parametrize(
    ("labels", "spec", "reason"),
    [
        ({"kubernetes.io/os": "windows"}, {}, "PodOSSelectorNodeLabelDoesNotMatch"),
        ({}, {"os": {"name": "windows"}}, "PodOSNotSupported"),
        ({}, {"os": {"name": "linux"}}, None),
    ],
)
def test_another_operating_system_is_refused(labels: dict[str, str], spec: dict[str, Any], reason: str | None) -> None:
    cluster = Cluster(node(), pod("p", labels=labels, **spec)).until(5)
    assert cluster.status("p").get("reason") == reason


def test_a_node_of_the_same_system_takes_the_pod() -> None:
    windows = node()
    windows["metadata"]["labels"]["kubernetes.io/os"] = "windows"
    cluster = Cluster(windows, pod("p", os={"name": "windows"})).until(5)
    assert cluster.status("p").get("reason") is None
