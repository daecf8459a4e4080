"""Fixes that displace pods against a PodDisruptionBudget come once more with the budget lowered by just so many."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod


def guarded(name: str, where: str = "a", **rest: Any) -> dict[str, Any]:
    made = pod(name, nodeName=where, **rest)
    made["metadata"]["labels"] = {"app": "db"}
    return made


def budget(status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    meta = {"name": "db", "namespace": "default"}
    spec = {"selector": {"matchLabels": {"app": "db"}}, **spec}
    made = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}
    return made if status is None else {**made, "status": status}


def fixes_of(*objects: dict[str, Any], acting: bool = True) -> dict[str, Fix]:
    sim = Simulation(seed=1)
    if not acting:
        sim.apply(SetSettings({"cluster": {"controllers": []}}))
    sim.apply(ApplyObjects(objects))
    sim.run(steps=5_000)
    return {fix.kind: fix for fix in reversed(find_fixes(sim, "default/p"))}


def test_the_budget_is_lowered_by_the_pod_that_has_to_go() -> None:
    found = fixes_of(node("a", "1"), guarded("db"), budget(minAvailable=1), pod("p"))
    fix = found["budget+free"]
    assert dict(fix.changes[0].values) == {
        "budget": "default/db", "field": "minAvailable", "from": 1, "to": 0,
    }  # fmt: skip
    assert [effect.kind for effect in fix.effects] == ["evicted"]
    assert "violates" in [effect.kind for effect in found["free"].effects]
    assert fix.rank < found["free"].rank
    assert fix.kubectl.index("poddisruptionbudget db") < fix.kubectl.index("kubectl delete pod db")


@pytest.mark.parametrize(
    ("spec", "to"), [({"maxUnavailable": 0}, 1), ({"maxUnavailable": "0%"}, 1), ({"minAvailable": 2}, 1)]
)
def test_either_field_is_lowered_also_where_no_controller_counts(spec: dict[str, Any], to: int) -> None:
    world = (node("a", "1"), guarded("one"), node("b", "1"), guarded("two", "b"), pod("p"))
    found = fixes_of(*world, budget(**spec), acting=False)
    fix = found["budget+free"]
    assert fix.changes[0].values["to"] == to
    assert [effect.kind for effect in fix.effects] == ["evicted"]


def test_a_budget_that_allows_it_is_left_alone() -> None:
    found = fixes_of(node("a", "1"), guarded("db"), budget(minAvailable=0), pod("p"))
    assert "budget+free" not in found
    assert [effect.kind for effect in found["free"].effects] == ["evicted"]


def test_preemption_is_proven_within_the_budget() -> None:
    found = fixes_of(node("a", "1"), guarded("db"), budget(minAvailable=1), pod("p"))
    assert "violates" not in [effect.kind for effect in found["budget+priority"].effects]
