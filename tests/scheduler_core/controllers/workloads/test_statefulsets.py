import pytest

from tests.scheduler_core.controllers.workloads.hands import Hands, workload

V2 = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def stateful(replicas=3, **spec):
    return workload("StatefulSet", replicas=replicas, serviceName="svc", **spec)


def names(hands):
    return [pod.name for pod in hands.pods()]


def versions(hands):
    return {pod.name: pod.annotations.get("v", "1") for pod in hands.pods()}


def test_each_pod_waits_for_the_one_before():
    hands = Hands(stateful())
    for expected in (["a-0"], ["a-0", "a-1"], ["a-0", "a-1", "a-2"]):
        hands.run()
        assert names(hands) == expected
        hands.ready_all()
    hands.run()
    status = hands.get("StatefulSet")["status"]
    assert (status["replicas"], status["readyReplicas"], status["availableReplicas"]) == (3, 3, 3)


def test_a_pod_knows_its_name_and_its_ordinal():
    hands = Hands(stateful(1, ordinals={"start": 5}))
    hands.run()
    pod = hands.get("Pod", "a-5")
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("a-5", "svc")
    labels = pod["metadata"]["labels"]
    assert labels["statefulset.kubernetes.io/pod-name"] == "a-5"
    assert labels["apps.kubernetes.io/pod-index"] == "5"
    assert labels["controller-revision-hash"] == hands.get("StatefulSet")["status"]["updateRevision"]


def test_parallel_pods_come_at_once():
    hands = Hands(stateful(podManagementPolicy="Parallel"))
    hands.run()
    assert names(hands) == ["a-0", "a-1", "a-2"]


def test_scaling_down_takes_the_highest_first_and_waits_for_its_end():
    hands = Hands(stateful())
    hands.settle()
    for name in names(hands):
        hands.set_status(name, node="n1")
    hands.patch("StatefulSet", {"spec": {"replicas": 1}})
    hands.run(5)
    assert names(hands) == ["a-0", "a-1"]
    hands.delete("Pod", "a-2", grace=0)
    hands.run()
    assert names(hands) == ["a-0"]


def test_a_pod_that_has_ended_is_deleted_and_made_anew():
    hands = Hands(stateful(1))
    hands.settle()
    before = hands.pods()[0].uid
    hands.set_status("a-0", "Failed", ready=False)
    hands.settle()
    (after,) = hands.pods()
    assert after.phase == "Running"
    assert after.uid != before


def test_a_rolling_update_goes_from_the_highest_down_and_ends_with_one_revision():
    hands = Hands(stateful())
    hands.settle()
    first = hands.get("StatefulSet")["status"]["currentRevision"]
    hands.patch("StatefulSet", V2)
    hands.run()
    assert versions(hands) == {"a-0": "1", "a-1": "1", "a-2": "2"}
    hands.settle()
    assert set(versions(hands).values()) == {"2"}
    status = hands.get("StatefulSet")["status"]
    assert status["currentRevision"] == status["updateRevision"] != first
    assert status["updatedReplicas"] == status["currentReplicas"] == 3


def test_a_partition_keeps_the_old_revision_below_it():
    hands = Hands(stateful(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}))
    hands.settle()
    hands.patch("StatefulSet", V2)
    hands.settle()
    hands.delete("Pod", "a-0")
    hands.settle()
    assert versions(hands) == {"a-0": "1", "a-1": "1", "a-2": "2"}


def test_on_delete_leaves_the_pods_until_somebody_deletes_them():
    hands = Hands(stateful(2, updateStrategy={"type": "OnDelete"}))
    hands.settle()
    hands.patch("StatefulSet", V2)
    hands.settle()
    assert set(versions(hands).values()) == {"1"}
    hands.delete("Pod", "a-1")
    hands.settle()
    assert versions(hands) == {"a-0": "1", "a-1": "2"}


def test_a_template_that_comes_back_takes_its_revision_back():
    hands = Hands(stateful(1))
    hands.settle()
    hands.patch("StatefulSet", V2)
    hands.settle()
    hands.patch("StatefulSet", {"spec": {"template": {"metadata": {"annotations": None}}}})
    hands.settle()
    assert sorted(one["revision"] for one in hands.list("ControllerRevision")) == [2, 3]


def test_claims_are_made_of_templates_and_stay():
    hands = Hands(stateful(2, volumeClaimTemplates=[CLAIM]))
    hands.settle()
    hands.patch("StatefulSet", {"spec": {"replicas": 1}})
    hands.settle()
    claims = hands.list("PersistentVolumeClaim")
    assert [claim["metadata"]["name"] for claim in claims] == ["data-a-0", "data-a-1"]
    assert claims[0]["metadata"]["labels"] == {"app": "a"}
    assert not any("ownerReferences" in claim["metadata"] for claim in claims)
    volumes = hands.get("Pod", "a-0")["spec"]["volumes"]
    assert volumes == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-a-0"}}]


@pytest.mark.parametrize(
    ("deleted", "scaled", "kept", "beyond"),
    [
        ("Retain", "Retain", None, None),
        ("Delete", "Retain", "StatefulSet", "StatefulSet"),
        ("Retain", "Delete", None, "Pod"),
        ("Delete", "Delete", "StatefulSet", "Pod"),
    ],
)
def test_the_retention_policy_says_who_owns_the_claims(deleted, scaled, kept, beyond):
    policy = {"whenDeleted": deleted, "whenScaled": scaled}
    spec = {"volumeClaimTemplates": [CLAIM], "persistentVolumeClaimRetentionPolicy": policy}
    hands = Hands(stateful(2, **spec))
    hands.settle()
    for name in names(hands):
        hands.set_status(name, node="n1")
    hands.patch("StatefulSet", {"spec": {"replicas": 1}})
    hands.run()

    def owner(name):
        refs = hands.get("PersistentVolumeClaim", name)["metadata"].get("ownerReferences") or [{}]
        return refs[0].get("kind")

    assert (owner("data-a-0"), owner("data-a-1")) == (kept, beyond)


def test_min_ready_seconds_hold_up_the_next_pod():
    hands = Hands(stateful(2, minReadySeconds=10))
    hands.run()
    hands.ready_all()
    hands.run(5)
    assert names(hands) == ["a-0"]
    hands.run(6)
    assert names(hands) == ["a-0", "a-1"]


def test_the_revision_that_a_rolling_update_leaves_behind_counts_as_history():
    hands = Hands(stateful(1, revisionHistoryLimit=1))
    for version in ("2", "3"):
        hands.settle()
        hands.patch("StatefulSet", {"spec": {"template": {"metadata": {"annotations": {"v": version}}}}})
    hands.settle()
    assert sorted(one["revision"] for one in hands.list("ControllerRevision")) == [2, 3]
