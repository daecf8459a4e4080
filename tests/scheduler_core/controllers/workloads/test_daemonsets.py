import pytest

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.controllers.workloads.daemonsets.daemons import Placement, pin_to_node, tolerations
from scheduler_core.controllers.workloads.owners import Owner
from tests.scheduler_core.controllers.workloads.hands import Hands, template, workload

V2 = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}
NO_SCHEDULE = {"key": "k", "effect": "NoSchedule"}
NO_EXECUTE = {"key": "k", "effect": "NoExecute"}


def node(name, taints=(), **labels):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": list(taints)},
        "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }


def daemons(pod=None, **spec):
    return workload("DaemonSet", **({"template": template(**pod)} if pod else {}), **spec)


def targets(hands):
    fields = (
        pod.manifest["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        for pod in hands.pods()
    )
    return sorted(one["nodeSelectorTerms"][0]["matchFields"][0]["values"][0] for one in fields)


def status(hands):
    return hands.get("DaemonSet")["status"]


@pytest.mark.parametrize(
    ("pod", "taints", "labels", "result"),
    [
        ({}, [], {}, (True, True)),
        ({"nodeName": "other"}, [], {}, (False, False)),
        ({"nodeSelector": {"disk": "ssd"}}, [], {}, (False, False)),
        ({"nodeSelector": {"disk": "ssd"}}, [], {"disk": "ssd"}, (True, True)),
        ({}, [NO_SCHEDULE], {}, (False, True)),
        ({}, [NO_EXECUTE], {}, (False, False)),
        ({"tolerations": [{"operator": "Exists"}]}, [NO_SCHEDULE, NO_EXECUTE], {}, (True, True)),
        ({}, [{"key": "k", "effect": "PreferNoSchedule"}], {}, (True, True)),
        ({}, [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}], {}, (True, True)),
        ({}, [{"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}], {}, (False, True)),
        (
            {"hostNetwork": True},
            [{"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}],
            {},
            (True, True),
        ),
    ],
)
def test_a_node_is_to_have_a_pod_or_may_keep_it(pod, taints, labels, result):
    """kube: daemon_controller_test.go (TestNodeShouldRunDaemonPod)"""
    placement = Placement.of(Owner.of(daemons(pod or {"hostIPC": False})))
    assert placement.on(Node.from_manifest(node("n", taints, **labels))) == result


def test_a_toleration_of_the_template_loses_its_time_limit():
    own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
    found = tolerations({"tolerations": [{**own, "tolerationSeconds": 5}]})
    assert found[0] == own
    assert len(found) == 6


def test_the_required_node_affinity_is_replaced_and_the_preferred_one_kept():
    preferred = [{"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}]
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "b", "operator": "Exists"}]}]}
    given = {
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        "requiredDuringSchedulingIgnoredDuringExecution": required,
    }
    affinity = pin_to_node({"affinity": {"nodeAffinity": given}}, "n1")["affinity"]["nodeAffinity"]
    assert affinity["preferredDuringSchedulingIgnoredDuringExecution"] == preferred
    field = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms == [{"matchFields": [field]}]


def test_each_node_that_comes_has_a_pod():
    hands = Hands(node("n1"), daemons())
    hands.settle()
    hands.create(node("n2"))
    hands.settle()
    assert targets(hands) == ["n1", "n2"]
    assert (status(hands)["desiredNumberScheduled"], status(hands)["numberReady"]) == (2, 2)


def test_a_pending_pod_of_a_node_that_has_gone_is_deleted():
    hands = Hands(node("n1"), node("n2"), daemons())
    hands.run()
    hands.sim.change(lambda: hands.store.remove("Node", "", "n2"))
    hands.run()
    assert targets(hands) == ["n1"]


def test_a_pod_that_ended_is_replaced_with_a_back_off():
    hands = Hands(node("n1"), daemons())
    hands.settle()
    hands.set_status(hands.pods()[0].name, "Failed", ready=False)
    hands.run(0.1)
    assert [pod.phase for pod in hands.pods()] == ["Pending"]
    hands.set_status(hands.pods()[0].name, "Failed", ready=False)
    hands.run(0.5)
    assert [pod.phase for pod in hands.pods()] == ["Failed"]
    hands.run(1)
    assert [pod.phase for pod in hands.pods()] == ["Pending"]


def test_a_rolling_update_takes_one_node_at_a_time():
    hands = Hands(node("n1"), node("n2"), node("n3"), daemons())
    hands.settle()
    hands.patch("DaemonSet", V2)
    hands.run()
    assert sorted(pod.annotations.get("v", "1") for pod in hands.pods()) == ["1", "1", "2"]
    hands.settle()
    assert {pod.annotations.get("v") for pod in hands.pods()} == {"2"}
    assert status(hands)["updatedNumberScheduled"] == 3


def test_a_surging_update_has_the_new_pod_first():
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    hands = Hands(node("n1"), node("n2"), daemons(updateStrategy=strategy))
    hands.settle()
    hands.patch("DaemonSet", V2)
    hands.run()
    assert len(hands.pods()) == 3
    hands.settle()
    assert [pod.annotations.get("v") for pod in hands.pods()] == ["2", "2"]


def test_on_delete_waits_for_somebody_to_delete():
    hands = Hands(node("n1"), daemons(updateStrategy={"type": "OnDelete"}))
    hands.settle()
    hands.patch("DaemonSet", V2)
    hands.settle()
    (pod,) = hands.pods()
    assert pod.annotations == {}
    hands.delete("Pod", pod.name)
    hands.settle()
    assert hands.pods()[0].annotations == {"v": "2"}


def test_pods_that_came_without_their_revision_stay():
    hands = Hands(node("n1"))
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "a-old",
            "namespace": "default",
            "labels": {"app": "a", "controller-revision-hash": "abc"},
        },
        "spec": pin_to_node({"containers": [{"name": "c", "image": "i"}]}, "n1"),
    }
    hands.create(pod)
    hands.create(daemons())
    hands.settle()
    assert [pod.name for pod in hands.pods()] == ["a-old"]
    assert status(hands)["updatedNumberScheduled"] == 1
