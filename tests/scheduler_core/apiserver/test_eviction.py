"""What becomes of an eviction."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.world.commands import DeleteObjects, EvictPod, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import set_status, silent
from tests.scheduler_core.worlds import node, pod


def budget(name: str, allowed: int, **more: Any) -> dict[str, Any]:
    spec = {"selector": {}, **more.pop("spec", {})}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
        "status": {"disruptionsAllowed": allowed, "observedGeneration": 1, **more},
    }


def with_pod(*budgets: dict[str, Any], phase: str = "Running", ready: bool = True) -> Simulation:
    sim = silent(node("n"), pod("p", nodeName="n"), *budgets, controllers=[])
    for manifest in budgets:
        set_status(sim, "PodDisruptionBudget", manifest["metadata"]["name"], **manifest["status"])
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    set_status(sim, "Pod", "p", phase=phase, conditions=[condition])
    return sim


def answer(sim: Simulation, **options: Any) -> tuple[int, str, tuple[str, ...]]:
    try:
        sim.apply(EvictPod("default/p", **options))
    except Refused as refused:
        return refused.answer.code, refused.answer.message, refused.answer.causes
    return 201, "", ()


def going(sim: Simulation) -> bool:
    found = sim.store.pod_at("default/p")
    return found is None or found.deleting


VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."


def test_without_a_budget_it_goes_and_is_marked() -> None:
    sim = with_pod()
    assert answer(sim) == (201, "", ())
    found = sim.store.pod_at("default/p")
    assert found is not None and found.deleting
    condition = found.condition("DisruptionTarget")
    assert condition is not None and condition["reason"] == "EvictionByEvictionAPI"
    assert condition["message"] == "Eviction API: evicting"


def test_a_budget_that_allows_none_refuses_with_its_figures() -> None:
    sim = with_pod(budget("b", 0, desiredHealthy=2, currentHealthy=2))
    cause = "The disruption budget b needs 2 healthy pods and has 2 currently"
    assert answer(sim) == (429, VIOLATES, (cause,))
    assert not going(sim)


def test_a_budget_that_is_not_up_to_date_refuses() -> None:
    sim = with_pod(budget("b", 1, observedGeneration=0))
    cause = "The disruption budget b is still being processed by the server."
    assert answer(sim) == (429, VIOLATES, (cause,))


def test_an_eviction_is_booked() -> None:
    sim = with_pod(budget("b", 1))
    assert answer(sim)[0] == 201
    found = sim.store.get("PodDisruptionBudget", "default", "b")
    assert found is not None
    assert found["status"]["disruptionsAllowed"] == 0
    assert list(found["status"]["disruptedPods"]) == ["p"]
    assert found["status"]["conditions"][0]["reason"] == "InsufficientPods"


def test_several_budgets_are_an_error() -> None:
    code, message, _ = answer(with_pod(budget("a", 1), budget("b", 1)))
    assert code == 500
    assert message.startswith("This pod has more than one PodDisruptionBudget")


def test_a_dry_run_changes_nothing() -> None:
    sim = with_pod(budget("b", 1))
    before = sim.store.resource_version
    assert answer(sim, dry_run=True)[0] == 201
    assert sim.store.resource_version == before


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_what_does_not_run_goes_past_the_budget(phase: str) -> None:
    sim = with_pod(budget("b", 0), phase=phase)
    assert answer(sim)[0] == 201
    assert going(sim)


# kube: eviction_test.go TestEvictionIgnorePDB
@pytest.mark.parametrize(
    ("policy", "desired", "current", "goes"),
    [
        (None, 2, 2, True),
        (None, 2, 1, False),
        (None, 0, 0, False),
        ("IfHealthyBudget", 1, 1, True),
        ("AlwaysAllow", 2, 1, True),
    ],
)
def test_an_unready_pod_goes_while_enough_others_are_healthy(
    policy: str | None, desired: int, current: int, goes: bool
) -> None:
    spec = {"unhealthyPodEvictionPolicy": policy} if policy else {}
    sim = with_pod(budget("b", 0, spec=spec, desiredHealthy=desired, currentHealthy=current), ready=False)
    assert answer(sim)[0] == (201 if goes else 429)
    found = sim.store.get("PodDisruptionBudget", "default", "b")
    assert found is not None and "disruptedPods" not in found["status"]


def test_a_precondition_that_fails_is_a_conflict_and_books_nothing() -> None:
    sim = with_pod(budget("b", 1))
    before = sim.store.resource_version
    code, message, _ = answer(sim, uid="another")
    assert code == 409
    assert message == (
        'Operation cannot be fulfilled on Pod "p": the UID in the precondition (another) does not match the UID in record '
        "(default-p-2). The object might have been deleted and then recreated"
    ).replace("default-p-2", getattr(sim.store.pod_at("default/p"), "uid", ""))
    assert answer(sim, resource_version="1")[0] == 409
    assert sim.store.resource_version == before


def test_a_kubelet_evicts_its_own_pods_alone() -> None:
    options = {"enable-admission-plugins": ["NodeRestriction"]}
    sim = silent(node("n"), node("m"), pod("p", nodeName="n"), controllers=[], apiserver=options)
    code, message, _ = answer(sim, user="system:node:m")
    assert (code, message) == (
        403,
        'pods "p" is forbidden: node m can only evict pods with spec.nodeName set to itself',
    )
    assert answer(sim, user="system:node:n")[0] == 201


def test_nobody_is_evicted_from_a_namespace_that_is_going() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old"}}
    there = pod("p", nodeName="n")
    there["metadata"]["namespace"] = "old"
    sim = silent(node("n"), namespace, there, controllers=[])
    sim.apply(DeleteObjects((Ref("Namespace", "", "old"),)))
    with pytest.raises(Refused, match="because it is being terminated"):
        sim.apply(EvictPod("old/p"))
