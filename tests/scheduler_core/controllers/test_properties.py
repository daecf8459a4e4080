"""Whatever happens to the nodes of a small cluster and to its pods: the controllers come to rest, and no pod is owned twice."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apiserver.status import Refused
from scheduler_core.controllers.troubles import troubles_of
from scheduler_core.world.commands import Command, DrainNode, EvictPod, PatchObject, Ref, ScaleObject, SetKubelet
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import SECOND, cluster, make, wait
from tests.scheduler_core.world.checkpoint.rich import again
from tests.scheduler_core.worlds import node

NODES = ("n1", "n2", "n3", "n4")
REST = 2000  # seconds, after which nothing is under way any more
NO_EXECUTE = {"key": "bad", "effect": "NoExecute"}
MOST = 20_000


def web(replicas: int = 4) -> dict[str, Any]:
    bad = {"key": "bad", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "tolerations": [bad],
            "terminationGracePeriodSeconds": 5,
        },
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return make("Deployment", "web", spec=spec)


def budget() -> dict[str, Any]:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    return {**make("PodDisruptionBudget", "b", spec=spec), "apiVersion": "policy/v1"}


def _kubelet(sim: Simulation, name: str, number: int) -> Command:
    return SetKubelet(name, name in sim.surroundings.inputs.stopped)


def _taint(sim: Simulation, name: str, number: int) -> Command:
    found = sim.store.node(name)
    assert found is not None
    taints = [] if any(taint.key == "bad" for taint in found.taints) else [NO_EXECUTE]
    return PatchObject(Ref("Node", "", name), {"spec": {"taints": taints}})


def _cordon(sim: Simulation, name: str, number: int) -> Command:
    found = sim.store.node(name)
    assert found is not None
    return PatchObject(Ref("Node", "", name), {"spec": {"unschedulable": None if found.unschedulable else True}})


def _drain(sim: Simulation, name: str, number: int) -> Command:
    return DrainNode(name)


def _evict(sim: Simulation, name: str, number: int) -> Command:
    pods = sim.store.pods()
    return EvictPod(pods[number % len(pods)].key if pods else "default/none")


def _scale(sim: Simulation, name: str, number: int) -> Command:
    return ScaleObject(Ref("Deployment", "default", "web"), number % 7)


DEEDS: list[Callable[[Simulation, str, int], Command]] = [_kubelet, _taint, _cordon, _drain, _evict, _scale]
deeds = st.tuples(st.sampled_from(DEEDS), st.sampled_from(NODES), st.integers(0, 9), st.sampled_from((0.2, 3, 40, 400)))


@settings(max_examples=15)
@given(st.lists(deeds, max_size=6))
def test_controllers_come_to_rest_and_no_pod_is_owned_twice(
    happenings: list[tuple[Callable[[Simulation, str, int], Command], str, int, float]],
) -> None:
    sim = cluster(*(node(name) for name in NODES), budget(), web())
    now = 10.0
    wait(sim, now)
    for deed, name, number, pause in happenings:
        with contextlib.suppress(Refused):
            sim.apply(deed(sim, name, number))
        now += pause
        wait(sim, now)
    for name in sim.surroundings.inputs.stopped:
        sim.apply(SetKubelet(name, True))
    for name in NODES:
        sim.apply(PatchObject(Ref("Node", "", name), {"spec": {"taints": None, "unschedulable": None}}))
    before = sim.position
    wait(sim, now + REST)
    assert sim.position - before < MOST
    assert not sim.due(round((now + 10 * REST) * SECOND)), "something is under way for ever"
    assert_settled(sim)


def assert_settled(sim: Simulation) -> None:
    deployment = sim.store.get("Deployment", "default", "web")
    assert deployment is not None
    wanted = deployment["spec"]["replicas"]
    pods = [pod for pod in sim.store.pods() if not pod.terminal]
    assert len(pods) == wanted
    assert all(pod.phase == "Running" and not pod.deleting for pod in pods)
    for pod in pods:
        owners = pod.manifest["metadata"].get("ownerReferences") or ()
        assert sum(bool(owner.get("controller")) for owner in owners) == 1
    found = sim.store.get("PodDisruptionBudget", "default", "b")
    assert found is not None
    assert (found["status"]["expectedPods"], found["status"]["currentHealthy"]) == (wanted, wanted)
    assert found["status"]["disruptionsAllowed"] == min(wanted, 1)
    assert not any(found.taints for found in sim.store.nodes())
    assert sim.surroundings.nodes.evictions == {}
    assert troubles_of(sim.surroundings, sim.now) == ()


def test_a_checkpoint_in_the_midst_of_failures_goes_the_same_way() -> None:
    sim = cluster(*(node(name) for name in NODES), budget(), web())
    wait(sim, 30)
    sim.apply(DrainNode("n3"))
    sim.apply(SetKubelet("n1", False))
    sim.apply(SetKubelet("n2", False))
    sim.apply(PatchObject(Ref("Node", "", "n4"), {"spec": {"taints": [NO_EXECUTE]}}))
    for until in (31.5, 45, 82, 90, 200, 390, 420):
        wait(sim, until)
        read, copied = again(sim), sim.fork()
        for other in (read, copied):
            wait(other, until + 100)
        assert everything(read) == everything(copied)


def everything(sim: Simulation) -> object:
    store = sim.store
    objects = {kind: store.list(kind) for kind in store.kinds()}
    return objects, store.events, sim.position, sim.surroundings
