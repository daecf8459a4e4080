"""Which pods a budget covers, as pods, labels and budgets change."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.store import Store
from scheduler_core.controllers.memory.workloads import DisruptionMemory
from tests.scheduler_core.worlds import pod

WEB = {"matchLabels": {"app": "web"}}


def labelled(name: str, namespace: str = "default", **labels: str) -> dict[str, Any]:
    manifest = pod(name)
    manifest["metadata"] |= {"namespace": namespace, "labels": labels}
    return manifest


def budget(name: str, selector: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": selector},
    }


def world(*budgets: dict[str, Any]) -> tuple[Store, DisruptionMemory]:
    store, memory = Store(), DisruptionMemory()
    store.subscribe(lambda event: memory.hear(store, event))
    for manifest in budgets:
        store.create(manifest, "PodDisruptionBudget", 0)
    return store, memory


@pytest.mark.parametrize(
    ("selector", "covers"),
    [
        (WEB, ["default/a"]),
        ({}, ["default/a", "default/b"]),
        (None, []),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}, ["default/a", "default/b"]),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, ["default/b"]),
        ({"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "app", "operator": "Exists"}]}, ["default/a"]),
        ({"matchExpressions": [{"key": "app", "operator": "In"}]}, []),
    ],
)
def test_a_selector_covers_pods_of_its_namespace(selector: Any, covers: list[str]) -> None:
    store, memory = world(budget("x", selector))
    for manifest in (labelled("a", app="web"), labelled("b", app="db"), labelled("c", "other", app="web")):
        store.create(manifest, "Pod", 0)
    assert [found.key for found in memory.pods_of(store, "default/x")] == covers


def test_it_follows_labels_pods_and_selectors() -> None:
    store, memory = world(budget("x", WEB))
    store.create(labelled("a", app="web"), "Pod", 0)
    store.create(labelled("b", app="db"), "Pod", 0)
    store.replace(labelled("b", app="web"), "Pod")
    assert [found.name for found in memory.pods_of(store, "default/x")] == ["a", "b"]
    store.replace(labelled("a", app="db"), "Pod")
    assert [found.name for found in memory.pods_of(store, "default/x")] == ["b"]
    store.remove("Pod", "default", "b")
    assert memory.pods_of(store, "default/x") == []
    store.replace(budget("x", {"matchLabels": {"app": "db"}}), "PodDisruptionBudget")
    assert [found.name for found in memory.pods_of(store, "default/x")] == ["a"]
    store.remove("PodDisruptionBudget", "default", "x")
    assert memory.pods_of(store, "default/x") == []


def test_a_copy_reads_the_store_anew() -> None:
    store, memory = world(budget("x", WEB))
    store.create(labelled("a", app="web"), "Pod", 0)
    assert [found.name for found in memory.copy().pods_of(store, "default/x")] == ["a"]
