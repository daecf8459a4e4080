"""A world comes to rest, and what goes in circles is found, named, and left aside."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.whatif import RestResult, loops, scale, settle, what_if
from scheduler_core.analysis.whatif.loops import ENDS
from scheduler_core.world.commands import ApplyObjects, SetConfiguration
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, pod

JSON = dict[str, Any]
WINDOWS: JSON = {"os": {"name": "windows"}}
TAINT = {"key": "k", "effect": "NoExecute"}
IGNORED = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]


def tolerating(seconds: int) -> JSON:
    return {"tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]}


def tainted(name: str) -> JSON:
    return {**node(name), "spec": {"taints": [TAINT]}}


def workload(
    kind: str, name: str = "w", replicas: int = 1, cpu: str = "1", job: JSON | None = None, **spec: Any
) -> JSON:
    """A workload whose pods have this spec."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {**pod("p", cpu)["spec"], **spec}}
    version, of_kind = {
        "Job": ("batch/v1", job or {}),
        "DaemonSet": ("apps/v1", {"selector": {"matchLabels": labels}}),
        "ReplicationController": ("v1", {"selector": labels, "replicas": replicas}),
    }.get(kind, ("apps/v1", {"selector": {"matchLabels": labels}, "replicas": replicas, "serviceName": "s"}))
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
    if kind in ("Deployment", "ReplicaSet"):
        of_kind = {name: value for name, value in of_kind.items() if name != "serviceName"}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {**of_kind, "template": template},
    }


def without(*plugins: str) -> JSON:
    disabled = [{"name": name} for name in plugins]
    profile = {"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"disabled": disabled}}}
    return configuration(profiles=[profile])


def rested(*objects: JSON, config: JSON | None = None) -> tuple[Simulation, RestResult]:
    sim = Simulation(1)
    if config is not None:
        sim.apply(SetConfiguration(config))
    sim.apply(ApplyObjects(objects))
    return sim, settle(sim, 100_000)


@pytest.mark.parametrize(
    ("objects", "config", "reason", "nodes"),
    [
        *(
            ([node("n"), workload(kind, **WINDOWS)], None, "PodOSNotSupported", ("n",))
            for kind in ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet")
        ),
        ([node("n"), node("m"), workload("Deployment", replicas=6, nodeName="n")], None, "OutOfcpu", ("n",)),
        ([node("n"), workload("ReplicaSet", nodeName="n", nodeSelector={"disk": "ssd"})], None, "NodeAffinity", ("n",)),
        ([node("n"), workload("Deployment", nodeName="gone")], None, "DeletionByPodGC", ("gone",)),
        ([tainted("n"), workload("StatefulSet", nodeName="n")], None, "TaintToleration", ("n",)),
        ([tainted("n"), workload("Deployment", **tolerating(5))], None, "DeletionByTaintManager", ("n",)),
        (
            [tainted("n"), workload("Deployment", replicas=3, **tolerating(3600))],
            None,
            "DeletionByTaintManager",
            ("n",),
        ),
        (
            [node("n", "1"), node("m", "1"), workload("Deployment", replicas=4, cpu="3")],
            without("NodeResourcesFit"),
            "OutOfcpu",
            ("m", "n"),
        ),
        (
            [tainted("n"), workload("Job", job={"podFailurePolicy": {"rules": IGNORED}}, **tolerating(5))],
            None,
            "DeletionByTaintManager",
            ("n",),
        ),
        ([node("n"), workload("Job", job={"backoffLimit": 2**31 - 1}, **WINDOWS)], None, "PodOSNotSupported", ("n",)),
    ],
)
def test_a_workload_whose_pods_end_alike_for_ever_is_found(
    objects: list[JSON], config: JSON | None, reason: str, nodes: tuple[str, ...]
) -> None:
    sim, rest = rested(*objects, config=config)
    (loop,) = rest.loops
    assert (rest.at_rest, bool(rest), sim.idle) == (True, False, True)
    assert (loop.workload, loop.last.reason, loop.nodes) == ((objects[-1]["kind"], "default", "w"), reason, nodes)
    assert ENDS <= loop.count <= 5 * ENDS


@pytest.mark.parametrize(
    "objects",
    [
        [node("n"), workload("Job", **WINDOWS)],
        [node("n"), workload("Job", job={"backoffLimit": 60}, **WINDOWS)],
        [
            node("n"),
            workload("Job", job={"completions": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 30}, **WINDOWS),
        ],
        [node("n"), workload("Job", job={"backoffLimit": 10**9, "activeDeadlineSeconds": 90_000}, **WINDOWS)],
        [node("n", "64"), node("m", "64"), workload("Deployment", replicas=80), workload("StatefulSet", "s", 30)],
        [node("n"), workload("Deployment", replicas=50)],
        [node("n"), pod("p", **WINDOWS)],
    ],
)
def test_what_ends_by_itself_is_left_alone(objects: list[JSON]) -> None:
    sim, rest = rested(*objects)
    assert (rest.loops, rest.at_rest, sim.idle) == ((), True, True)


def test_the_others_come_to_rest_beside_it() -> None:
    bad = [workload(kind, kind.lower(), **WINDOWS) for kind in ("Deployment", "StatefulSet", "DaemonSet")]
    sim, rest = rested(node("n", "64"), *bad, workload("StatefulSet", "good", 12))
    assert sorted(loop.workload[0] for loop in rest.loops) == ["DaemonSet", "Deployment", "StatefulSet"]
    assert sum(pod.phase == "Running" for pod in sim.store.pods()) == 12


def test_a_node_that_is_full_for_a_while_only_delays() -> None:
    """The kubelet refuses the Deployment's pods hundreds of times, until the first pod's deadline is over."""
    first = pod("first", "4", nodeName="n", activeDeadlineSeconds=600, terminationGracePeriodSeconds=1)
    sim, rest = rested(node("n"), first, workload("Deployment", cpu="4", nodeName="n"))
    assert rest.loops == ()
    assert [pod.phase for pod in sim.store.pods() if pod.name.startswith("w-")].count("Running") == 1


def test_what_is_asked_lets_it_try_again_and_may_be_what_it_needs_or_makes_it() -> None:
    sim, rest = rested(node("n"), workload("Deployment", replicas=5, nodeName="n"))
    fewer = what_if(sim, [scale(sim, "Deployment", "default", "w", 4)], loops=rest.loops)
    assert (fewer.rest.loops, fewer.at_rest) == ((), True)
    more = what_if(sim, [scale(sim, "Deployment", "default", "w", 6)], loops=rest.loops)
    assert [loop.last.reason for loop in more.rest.loops] == ["OutOfcpu"]
    assert {end.reason for end in more.failed} == {"OutOfcpu"}
    assert more.created == ()


def test_many_replicas_are_found_before_each_has_ended_and_fewer_of_them_are_no_loop() -> None:
    sim, rest = rested(node("n"), workload("ReplicaSet", replicas=70, **WINDOWS))
    assert [loop.count for loop in rest.loops] == [sum(pod.phase == "Failed" for pod in sim.store.pods())]
    assert rest.loops[0].count <= 2 * 70
    waiting, _ = rested(node("n", "1"), workload("ReplicaSet", replicas=70))
    fewer = what_if(waiting, [scale(waiting, "ReplicaSet", "default", "w", 0)])
    assert (fewer.rest.loops, fewer.pending) == ((), ())


def test_moves_that_lead_nowhere_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MOVES", -1)
    monkeypatch.setattr(loops, "MOVES_PER_POD", 0)
    _, rest = rested(node("n", "200"), workload("ReplicaSet", replicas=100))
    assert (rest.at_rest, rest.circles > 0, bool(rest)) == (False, True, False)
