import pytest

from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Answer, Refused
from tests.scheduler_core.controllers.workloads.hands import Hands, template, workload


def replica_set(replicas=2, **spec):
    return workload("ReplicaSet", replicas=replicas, **spec)


def pod(name, labels=None, **meta):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {"app": "a"}, **meta},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }


def test_pods_are_made_from_the_template_and_owned():
    hands = Hands(replica_set())
    hands.run()
    owner = hands.get("ReplicaSet")["metadata"]
    for one in hands.pods():
        assert one.name.startswith("a-")
        assert one.labels == {"app": "a"}
        assert one.manifest["metadata"]["ownerReferences"] == [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "a",
                "uid": owner["uid"],
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
    assert len(hands.pods()) == 2


def test_a_replication_controller_takes_its_selector_from_its_template():
    manifest = {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"replicas": 3, "template": template()},
    }
    hands = Hands(manifest)
    hands.settle()
    assert hands.get("ReplicationController")["spec"]["selector"] == {"app": "a"}
    assert hands.get("ReplicationController")["status"]["readyReplicas"] == 3


def test_a_pod_that_matches_and_has_no_owner_is_adopted():
    hands = Hands(pod("lonely"), replica_set())
    hands.run()
    assert len(hands.pods()) == 2
    assert hands.get("Pod", "lonely")["metadata"]["ownerReferences"][0]["name"] == "a"


@pytest.mark.parametrize(
    ("name", "container", "second"),
    [("a-x1", "proxy", ["c", "proxy"]), ("lonely", "proxy", ["c"]), ("a-x1", "", ["c"])],
    ids=["a pod with one container more", "a pod of somebody else's", "a pod as the template is"],
)
def test_what_was_added_to_a_pod_of_the_owner_is_added_to_the_next_one(name, container, second):
    there = pod(name)
    more = {"name": container, "image": "i", "volumeMounts": [{"name": "certs", "mountPath": "/certs"}]}
    there["spec"]["volumes"] = [{"name": "certs", "emptyDir": {}}]
    there["spec"]["containers"] += [more] if container else []
    hands = Hands(there, replica_set())
    hands.run()
    (made,) = (each for each in hands.pods() if each.name != name)
    assert [each["name"] for each in made.manifest["spec"]["containers"]] == second


def test_a_pod_whose_labels_match_no_more_is_released_and_replaced():
    hands = Hands(replica_set(1))
    hands.run()
    (first,) = hands.pods()
    hands.patch("Pod", {"metadata": {"labels": {"app": "other"}}}, first.name)
    hands.run()
    assert "ownerReferences" not in hands.get("Pod", first.name)["metadata"]
    assert len(hands.pods()) == 2


def test_pods_of_another_owner_are_left_alone():
    other = [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "x", "controller": True}]
    hands = Hands(pod("taken", ownerReferences=other), replica_set())
    hands.run()
    assert len(hands.pods()) == 3


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_pod_that_has_ended_is_replaced_and_stays(phase):
    hands = Hands(replica_set(1))
    hands.run()
    hands.set_status(hands.pods()[0].name, phase, ready=False)
    hands.run()
    assert sorted(one.phase for one in hands.pods()) == sorted(["Pending", phase])
    assert hands.get("ReplicaSet")["status"]["replicas"] == 1


def test_a_pod_is_available_once_it_was_ready_for_long_enough():
    hands = Hands(replica_set(1, minReadySeconds=30))
    hands.run()
    hands.ready_all()
    hands.run(28)
    assert "availableReplicas" not in hands.get("ReplicaSet")["status"]
    hands.run(3)
    assert hands.get("ReplicaSet")["status"]["availableReplicas"] == 1


def test_nothing_is_made_while_the_owner_is_being_deleted():
    hands = Hands(replica_set(1))
    hands.patch("ReplicaSet", {"metadata": {"finalizers": ["x/y"]}})
    hands.delete("ReplicaSet")
    hands.run()
    assert hands.pods() == []


def test_a_refused_pod_is_told_in_a_condition_and_an_event(monkeypatch):
    hands = Hands(replica_set(1))
    hands.run()

    def refuse(server, manifest):
        raise Refused.because(Answer("Forbidden", 'pods "a-" is forbidden: enough'))

    with monkeypatch.context() as patched:
        patched.setattr(APIServer, "create", refuse)
        hands.delete("Pod", hands.pods()[0].name)
        hands.run(0.012)
    (condition,) = hands.get("ReplicaSet")["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("ReplicaFailure", "FailedCreate")
    assert condition["message"] == 'pods "a-" is forbidden: enough'
    assert hands.store.events[-1].message == 'Error creating: pods "a-" is forbidden: enough'
    hands.run()
    assert "conditions" not in hands.get("ReplicaSet")["status"]
    assert len(hands.pods()) == 1


def test_a_thousand_pods_come_in_bursts_of_500():
    hands = Hands(replica_set(1200))
    hands.run(0.011)
    assert len(hands.pods()) == 500
    hands.run(3)
    assert len(hands.pods()) == 1200


def test_under_a_deployment_the_doubled_up_pod_goes_first():
    hands = Hands(workload("Deployment", replicas=3))
    hands.run()
    names = [one.name for one in hands.pods()]
    for name, node in zip(names, ("n1", "n2", "n2"), strict=True):
        hands.set_status(name, node=node)
    hands.run()
    hands.patch("Deployment", {"spec": {"replicas": 2}})
    hands.run()
    assert sorted(one.node_name for one in hands.pods()) == ["n1", "n2"]
