"""What kubelets do for the pods on their nodes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from scheduler_core.world.commands import DeleteObjects, PatchObject, Ref, Refused, SetKubelet
from tests.scheduler_core.controllers.kubelet.worlds import Cluster, node, pod

CRASH = {"runs": [{"for": "5s", "exit": 1}]}


def delete(cluster: Cluster, name: str, grace: int | None = None) -> None:
    refs = (Ref("Pod", "default", name),)
    cluster.do(DeleteObjects(refs) if grace is None else DeleteObjects(refs, grace))


def test_a_bound_pod_runs_and_is_ready_after_the_latency() -> None:
    cluster = Cluster(node(), pod("p")).until(1)
    assert cluster.status("p")["phase"] == "Pending"
    cluster.until(3)
    assert cluster.status("p")["phase"] == "Running"
    assert cluster.condition("p", "Ready") == "True"
    assert cluster.events("Started") == ["Started container c"]


def test_a_pod_that_runs_for_ever_leaves_nothing_on_the_agenda() -> None:
    cluster = Cluster(node(), pod("p")).until(3)
    assert not cluster.sim.due(1 << 60)


def test_restarts_wait_ever_longer_up_to_five_minutes() -> None:
    cluster = Cluster(node(), pod("p"))
    cluster.programs(CRASH)
    starts, restarts = [], 0
    for second in range(2, 1400):
        cluster.until(second + 0.5)
        if cluster.container("p")["restartCount"] > restarts:
            restarts = cluster.container("p")["restartCount"]
            starts.append(second)
    gaps = [later - earlier - 5 for earlier, later in pairwise(starts)]
    assert gaps[:7] == [10, 20, 40, 80, 160, 300, 300]


def test_a_container_that_ran_for_ten_minutes_is_restarted_at_once_again() -> None:
    cluster = Cluster(node(), pod("p"))
    cluster.programs({"runs": [{"for": "5s", "exit": 1}, {"for": "5s", "exit": 1}, {"for": "700s", "exit": 1}, {}]})
    cluster.until(800)
    assert cluster.container("p")["restartCount"] == 3
    assert cluster.container("p")["lastState"]["terminated"]["finishedAt"] == "2026-01-01T00:12:02Z"


@pytest.mark.parametrize(
    ("policy", "code", "phase"),
    [
        ("Never", 0, "Succeeded"),
        ("Never", 1, "Failed"),
        ("OnFailure", 0, "Succeeded"),
        ("OnFailure", 1, "Running"),
        ("Always", 0, "Running"),
    ],
)
def test_the_restart_policy_decides_on_the_phase(policy: str, code: int, phase: str) -> None:
    cluster = Cluster(node(), pod("p", restartPolicy=policy))
    cluster.programs({"runs": [{"for": "5s", "exit": code}]})
    cluster.until(30)
    assert cluster.status("p")["phase"] == phase


def test_a_sidecar_ends_when_the_work_is_done() -> None:
    sidecar = {"name": "log", "image": "pause", "restartPolicy": "Always"}
    cluster = Cluster(node(), pod("p", restartPolicy="Never", initContainers=[sidecar]))
    cluster.programs({"container": "c", "runs": [{"for": "5s", "exit": 0}]})
    cluster.until(6)
    assert cluster.condition("p", "Ready") == "True"
    cluster.until(10)
    assert cluster.status("p")["phase"] == "Succeeded"
    ended = cluster.status("p")["initContainerStatuses"][0]["state"]["terminated"]
    assert ended["exitCode"] == 143


def test_an_init_container_that_fails_for_good_fails_the_pod() -> None:
    cluster = Cluster(node(), pod("p", restartPolicy="Never", initContainers=[{"name": "i", "image": "x"}]))
    cluster.programs({"container": "i", "runs": [{"for": "1s", "exit": 1}]})
    cluster.until(10)
    assert cluster.status("p")["phase"] == "Failed"


def test_deleting_again_can_only_shorten_the_grace_period() -> None:
    cluster = Cluster(node(), pod("p", terminationGracePeriodSeconds=60))
    cluster.programs({"onTerm": "ignore"})
    cluster.until(10)
    delete(cluster, "p")
    delete(cluster.until(11), "p", 5)
    delete(cluster.until(12), "p", 50)
    assert cluster.until(15.9).sim.store.pod("default", "p") is not None
    assert cluster.until(17).sim.store.pod("default", "p") is None


def test_a_stopped_kubelet_catches_up_when_it_starts() -> None:
    cluster = Cluster(node(), pod("p", restartPolicy="Never"))
    cluster.programs({"runs": [{"for": "20s", "exit": 0}]})
    cluster.until(10).do(SetKubelet("n", False))
    assert cluster.until(100).status("p")["phase"] == "Running"
    cluster.do(SetKubelet("n", True))
    cluster.until(105)
    assert cluster.status("p")["phase"] == "Succeeded"
    assert cluster.container("p")["state"]["terminated"]["finishedAt"] == "2026-01-01T00:00:22Z"


def test_new_programs_count_for_containers_that_run() -> None:
    cluster = Cluster(node(), pod("p", restartPolicy="Never")).until(10)
    cluster.programs({"runs": [{"for": "30s", "exit": 0}]})
    assert cluster.until(31).status("p")["phase"] == "Running"
    assert cluster.until(33).status("p")["phase"] == "Succeeded"


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ({"runs": [{"for": "soon"}]}, "rules[0].runs[0].for"),
        ({"onTerm": "deaf"}, "rules[0].onTerm"),
        ({"ready": [{"at": "5s"}]}, "rules[0].ready[0]"),
        ({"pods": "app"}, "rules[0].pods"),
        ({"podz": "app=web"}, "rules[0].podz"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(rule: dict[str, object], path: str) -> None:
    with pytest.raises(Refused, match=path.replace("[", r"\[").replace("]", r"\]")):
        Cluster().programs(rule)


def test_a_new_image_restarts_the_container_whatever_the_policy() -> None:
    cluster = Cluster(node(), pod("p", restartPolicy="Never")).until(10)
    change = {"spec": {"containers": [{"name": "c", "image": "other"}]}}
    cluster.do(PatchObject(Ref("Pod", "default", "p"), change, "strategic"))
    cluster.until(12)
    assert cluster.container("p")["image"] == "other"
    assert cluster.container("p")["restartCount"] == 1
    assert cluster.status("p")["phase"] == "Running"


MIRROR = {"kubernetes.io/config.mirror": "abc", "kubernetes.io/config.source": "file"}


def test_a_mirror_pod_that_is_deleted_comes_back_and_its_static_pod_runs_on() -> None:
    static = pod("p")
    static["metadata"]["annotations"] = MIRROR
    cluster = Cluster(node(), static).until(10)
    first = cluster.pod("p").uid
    delete(cluster, "p")
    cluster.until(12)
    assert cluster.pod("p").uid != first
    assert cluster.container("p")["state"] == {"running": {"startedAt": "2026-01-01T00:00:02Z"}}
    delete(cluster, "p", 0)
    assert cluster.until(13).pod("p").phase == "Running"


def test_images_that_a_pod_needs_are_reported_when_they_are_there() -> None:
    has, lacks = node("has"), node("lacks")
    has["status"]["images"] = [{"names": ["web:1"], "sizeBytes": 500_000_000}]
    wanted = pod("p", on="lacks", containers=[{"name": "c", "image": "web:1"}])
    cluster = Cluster(has, lacks, wanted, cluster={"image_pull_rate": 50_000_000})
    assert cluster.until(11).status("p")["phase"] == "Pending"
    assert cluster.container("p")["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert cluster.until(13).status("p")["phase"] == "Running"
    found = cluster.until(21).sim.store.node("lacks")
    assert found is not None and found.images == ((("web:1",), 500_000_000),)


def test_an_init_container_that_succeeds_after_a_crash_lets_the_pod_begin() -> None:
    cluster = Cluster(node(), pod("p", initContainers=[{"name": "i", "image": "x"}]))
    cluster.programs({"container": "i", "runs": [{"for": "1s", "exit": 1}, {"for": "1s", "exit": 1}, {"for": "1s"}]})
    cluster.until(8)
    waiting = cluster.status("p")["initContainerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == "CrashLoopBackOff"
    assert cluster.status("p")["phase"] == "Pending"
    cluster.until(16)
    assert cluster.status("p")["phase"] == "Running"
    assert cluster.status("p")["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_sleep_before_the_end_counts_as_grace() -> None:
    sleepy = {"name": "c", "image": "i", "lifecycle": {"preStop": {"sleep": {"seconds": 5}}}}
    cluster = Cluster(node(), pod("p", containers=[sleepy], terminationGracePeriodSeconds=20)).until(10)
    delete(cluster, "p")
    assert cluster.until(15).sim.store.pod("default", "p") is not None
    assert cluster.until(16).sim.store.pod("default", "p") is None


def test_a_kubelet_that_starts_knows_of_no_back_off() -> None:
    cluster = Cluster(node(), pod("p"))
    cluster.programs(CRASH)
    cluster.until(53).do(SetKubelet("n", False))
    assert cluster.container("p")["restartCount"] == 3
    cluster.until(60).do(SetKubelet("n", True))
    assert cluster.until(61).container("p")["restartCount"] == 4


def test_readiness_gates_are_others_business() -> None:
    cluster = Cluster(node(), pod("p", readinessGates=[{"conditionType": "example.com/fed"}])).until(5)
    assert cluster.condition("p", "Ready") == "False"
    fed = {"status": {"conditions": [{"type": "example.com/fed", "status": "True"}]}}
    cluster.do(PatchObject(Ref("Pod", "default", "p"), fed, "strategic", "status"))
    assert cluster.until(6).condition("p", "Ready") == "True"


def test_sidecars_end_after_what_they_serve_the_last_one_first() -> None:
    sidecars = [{"name": n, "image": "i", "restartPolicy": "Always"} for n in ("first", "second")]
    cluster = Cluster(node(), pod("p", initContainers=sidecars)).until(10)
    cluster.programs({"onTerm": {"after": "2s"}})
    delete(cluster, "p")
    for at, running in ((11, {"c", "first", "second"}), (13, {"first", "second"}), (15, {"first"})):
        run = cluster.until(at).sim.surroundings.kubelet.pods["default/p"]
        assert {each.name for each in run.all if each.running} == running
    assert cluster.until(17).sim.store.pod("default", "p") is None


def test_a_pod_of_its_own_node_says_that_it_is_scheduled_and_which_spec_was_seen() -> None:
    cluster = Cluster(node(), pod("p")).until(3)
    assert cluster.condition("p", "PodScheduled") == "True"
    assert cluster.status("p")["observedGeneration"] == 1


def test_a_kubelet_that_starts_again_refuses_pods_that_its_node_does_not_take_any_more() -> None:
    placed = node()
    placed["metadata"]["labels"]["zone"] = "a"
    cluster = Cluster(placed, pod("here", nodeSelector={"zone": "a"}), pod("anywhere")).until(5)
    cluster.do(SetKubelet("n", False))
    cluster.do(PatchObject(Ref("Node", "", "n"), {"metadata": {"labels": {"zone": "b"}}}))
    assert cluster.until(20).status("here")["phase"] == "Running"
    cluster.do(SetKubelet("n", True))
    status = cluster.until(25).status("here")
    assert (status["phase"], status["reason"]) == ("Failed", "NodeAffinity")
    assert cluster.status("anywhere")["phase"] == "Running"


@pytest.mark.parametrize(
    ("kubelet", "gaps"),
    [
        ({"featureGates": {"ReduceDefaultCrashLoopBackOffDecay": True}}, [1, 2, 4, 8, 16, 32, 60, 60]),
        (
            {
                "featureGates": {"KubeletCrashLoopBackOffMax": True},
                "crashLoopBackOff": {"maxContainerRestartPeriod": "5s"},
            },
            [5, 5, 5],
        ),
    ],
)
def test_the_pauses_of_crashing_containers_can_be_set(kubelet: dict[str, object], gaps: list[int]) -> None:
    cluster = Cluster(node(), pod("p"), cluster={"kubelet": kubelet})
    cluster.programs({"runs": [{"for": "5s", "exit": 1}]})
    starts, restarts = [], 0
    for second in range(2, 300):
        cluster.until(second + 0.5)
        if cluster.container("p")["restartCount"] > restarts:
            restarts = cluster.container("p")["restartCount"]
            starts.append(second)
    assert [later - earlier - 5 for earlier, later in pairwise(starts)][: len(gaps)] == gaps
