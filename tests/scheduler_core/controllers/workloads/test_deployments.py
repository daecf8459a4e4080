import pytest

from tests.scheduler_core.controllers.workloads.hands import Hands, workload

V2 = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}


def deployment(replicas=4, **spec):
    return workload("Deployment", replicas=replicas, **spec)


def sizes(hands):
    """Sizes of the ReplicaSets by revision."""
    return {
        int(one["metadata"]["annotations"]["deployment.kubernetes.io/revision"]): one["spec"]["replicas"]
        for one in hands.list("ReplicaSet")
    }


def condition(hands, type_):
    found = [c for c in hands.get("Deployment")["status"]["conditions"] if c["type"] == type_]
    return (found[0]["status"], found[0]["reason"]) if found else None


def test_the_replica_set_carries_the_hash_and_the_numbers():
    hands = Hands(deployment())
    hands.settle()
    (one,) = hands.list("ReplicaSet")
    code = one["metadata"]["labels"]["pod-template-hash"]
    assert one["metadata"]["name"] == f"a-{code}"
    assert one["spec"]["selector"] == {"matchLabels": {"app": "a", "pod-template-hash": code}}
    assert one["metadata"]["annotations"] == {
        "deployment.kubernetes.io/revision": "1",
        "deployment.kubernetes.io/desired-replicas": "4",
        "deployment.kubernetes.io/max-replicas": "5",
    }
    assert hands.get("Deployment")["status"]["availableReplicas"] == 4
    assert condition(hands, "Progressing") == ("True", "NewReplicaSetAvailable")
    assert condition(hands, "Available") == ("True", "MinimumReplicasAvailable")


def test_a_rolling_update_replaces_all_pods():
    hands = Hands(deployment())
    hands.settle()
    hands.patch("Deployment", V2)
    hands.settle()
    assert sizes(hands) == {1: 0, 2: 4}
    assert all(pod.annotations == {"v": "2"} for pod in hands.pods())


def test_a_rollout_that_gets_stuck_stays_within_its_bounds_and_is_told_of():
    hands = Hands(deployment(10, progressDeadlineSeconds=60))
    hands.settle()
    hands.patch("Deployment", V2)
    hands.run(30)
    assert sizes(hands) == {1: 8, 2: 5}
    assert condition(hands, "Progressing") == ("True", "ReplicaSetUpdated")
    hands.run(40)
    assert condition(hands, "Progressing") == ("False", "ProgressDeadlineExceeded")
    assert condition(hands, "Available") == ("True", "MinimumReplicasAvailable")
    assert not hands.sim.due(hands.sim.now + 10**12)


def test_recreate_waits_for_the_last_old_pod():
    hands = Hands(deployment(2, strategy={"type": "Recreate"}))
    hands.run()
    for pod in hands.pods():
        hands.set_status(pod.name, node="n1")
    hands.run()
    old = [pod.name for pod in hands.pods()]
    hands.patch("Deployment", V2)
    hands.run(5)
    assert hands.pods() == []
    hands.delete("Pod", old[0], grace=0)
    hands.run(5)
    assert hands.pods() == []
    hands.delete("Pod", old[1], grace=0)
    hands.run(5)
    assert len(hands.pods()) == 2


def test_a_template_that_was_there_before_takes_its_replica_set_back():
    hands = Hands(deployment())
    hands.settle()
    hands.patch("Deployment", V2)
    hands.settle()
    hands.patch("Deployment", {"spec": {"template": {"metadata": {"annotations": None}}}})
    hands.settle()
    assert sizes(hands) == {2: 0, 3: 4}
    history = [
        one["metadata"]["annotations"].get("deployment.kubernetes.io/revision-history")
        for one in hands.list("ReplicaSet")
    ]
    assert sorted(history, key=str) == ["1", None]


def test_only_so_many_old_revisions_are_kept():
    hands = Hands(deployment(1, revisionHistoryLimit=1))
    for number in range(4):
        hands.patch("Deployment", {"spec": {"template": {"metadata": {"annotations": {"v": str(number)}}}}})
        hands.settle()
    assert sizes(hands) == {3: 0, 4: 1}


def test_a_paused_deployment_scales_and_does_not_roll():
    hands = Hands(deployment())
    hands.settle()
    hands.patch("Deployment", {"spec": {"paused": True, **V2["spec"]}})
    hands.settle()
    assert condition(hands, "Progressing") == ("Unknown", "DeploymentPaused")
    hands.patch("Deployment", {"spec": {"replicas": 6}})
    hands.settle()
    assert sizes(hands) == {1: 6}
    hands.patch("Deployment", {"spec": {"paused": False}})
    hands.settle()
    assert sizes(hands) == {1: 0, 2: 6}


def test_the_old_rollback_annotation_takes_a_former_template():
    hands = Hands(deployment())
    hands.settle()
    hands.patch("Deployment", V2)
    hands.settle()
    hands.patch("Deployment", {"metadata": {"annotations": {"deprecated.deployment.rollback.to": "0"}}})
    hands.settle()
    assert sizes(hands) == {2: 0, 3: 4}
    assert "annotations" not in hands.get("Deployment")["spec"]["template"]["metadata"]


def test_a_taken_name_makes_another_hash():
    hands = Hands(deployment(1))
    hands.run()
    (first,) = hands.list("ReplicaSet")
    name = first["metadata"]["name"]
    hands = Hands(workload("ReplicaSet", name, replicas=0), deployment(1))
    hands.patch("ReplicaSet", {"metadata": {"labels": {"x": "y"}}}, name)
    hands.settle()
    assert hands.get("Deployment")["status"]["collisionCount"] == 1
    assert len(hands.pods()) == 1


@pytest.mark.parametrize("replicas", [0, 3, 9])
def test_a_rollout_that_is_scaled_ends_at_the_new_size(replicas):
    hands = Hands(deployment(5))
    hands.settle()
    hands.patch("Deployment", V2)
    hands.run(2)
    hands.patch("Deployment", {"spec": {"replicas": replicas}})
    hands.settle()
    assert sizes(hands) == {1: 0, 2: replicas}
