from scheduler_core.controllers.workloads.deployments.standstill import standstill
from tests.scheduler_core.controllers.workloads.hands import Hands, workload

V2 = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}


def why(hands):
    return standstill(hands.store, hands.get("Deployment"), hands.list("ReplicaSet"))


def test_a_complete_rollout_waits_for_nothing():
    hands = Hands(workload("Deployment", replicas=2))
    hands.settle()
    assert why(hands) == ""


def test_pods_that_do_not_get_ready_hold_the_old_ones():
    hands = Hands(workload("Deployment", replicas=4))
    hands.settle()
    hands.patch("Deployment", V2)
    hands.run(5)
    assert why(hands) == (
        "2 new pods are not available: 2 unscheduled; 3 old pods stay: at least 3 of 4 must be available "
        "and 3 are; no more pods are created, because 5 is the maximum"
    )


def test_a_paused_one_says_so():
    hands = Hands(workload("Deployment", replicas=1, paused=True))
    hands.run()
    assert why(hands) == "the Deployment is paused: changes of the template wait until it is resumed"


def test_recreate_waits_for_old_pods_to_end():
    hands = Hands(workload("Deployment", replicas=2, strategy={"type": "Recreate"}))
    hands.run()
    for pod in hands.pods():
        hands.set_status(pod.name, node="n1")
    hands.patch("Deployment", V2)
    hands.run()
    assert why(hands) == "2 old pods have not terminated yet, 2 of them are being deleted"
