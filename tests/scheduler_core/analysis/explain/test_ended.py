"""Pods that a kubelet refuses, and pods that failed: where, why, and after how many others of their owner."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.explain import Explanation, State, explain
from scheduler_core.analysis.whatif import settle
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.analysis.whatif.test_rest import WINDOWS, workload
from tests.scheduler_core.worlds import node, pod


def standing(*objects: dict[str, Any]) -> Simulation:
    sim = Simulation(1)
    sim.apply(ApplyObjects(objects))
    return sim


def asked(sim: Simulation, key: str) -> Explanation:
    found = explain(sim, key)
    assert found is not None
    return found


def test_a_pod_that_would_be_refused_anywhere_fits_nowhere() -> None:
    sim = standing(node("a"), node("b"), pod("p", **WINDOWS))
    found = asked(sim, "default/p")
    assert (found.state, found.fits, found.pending) == (State.NOT_ATTEMPTED, (), True)
    (reason,) = found.reasons
    assert (reason.code, reason.nodes, reason.count) == ("Kubelet/PodOSNotSupported", ("a", "b"), 2)


@pytest.mark.parametrize("looked", [False, True])
def test_a_kubelet_says_the_same_before_and_after_it_has_looked(looked: bool) -> None:
    sim = standing(node("n"), pod("p", nodeName="n", nodeSelector={"disk": "ssd"}))
    if looked:
        settle(sim)
    found = asked(sim, "default/p")
    assert (found.state, found.node, found.phase, found.reason) == (State.REFUSED, "n", "Failed", "NodeAffinity")
    said = "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    assert found.reasons[0].message == said


def test_predecessors_are_counted_also_where_their_controller_has_deleted_them() -> None:
    for kind in ("StatefulSet", "DaemonSet", "ReplicaSet"):
        sim = standing(node("n"), workload(kind, **WINDOWS))
        (loop,) = settle(sim).loops
        assert asked(sim, loop.last.pod).predecessors == loop.count - 1


def test_a_container_that_failed_is_named() -> None:
    ended = pod("p", nodeName="n", restartPolicy="Never")
    state = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    container = {"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": state}
    ended["status"] = {"phase": "Failed", "containerStatuses": [container]}
    found = asked(standing(node("n"), ended), "default/p")
    assert (found.state, found.reason, found.predecessors) == (State.FAILED, "", 0)
    (reason,) = found.reasons
    assert (reason.code, reason.message) == ("Kubelet/OOMKilled", "container c ended with exit code 137 (OOMKilled)")


def test_an_eviction_is_a_failure_and_no_refusal() -> None:
    message = "The node was low on resource: memory."
    evicted = pod("p", nodeName="n")
    status = {"phase": "Failed", "reason": "Evicted", "message": message}
    found = asked(standing(node("n"), evicted | {"status": status}), "default/p")
    assert (found.state, found.reasons[0].code, found.reasons[0].message) == (State.FAILED, "Kubelet/Evicted", message)
