"""What is told quickly of a sound object is what the strict walk finds of it: nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler_core.apiserver.kinds import find_kind
from scheduler_core.apiserver.schema import strict
from scheduler_core.apiserver.schema.strict import is_sound
from tests.scheduler_core.worlds import node, pod

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"app": "web"}, "creationTimestamp": "2026-01-31T12:00:00Z"},
    "spec": {
        "priority": 7,
        "hostNetwork": True,
        "nodeName": None,
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m", "memory": 5}}}],
    },
    "status": {"startTime": "2026-01-31T12:00:00Z", "ofANewerCluster": {"a": 1}},
}

Walk = Callable[[dict[str, Any]], list[Any]]


def changed(value: Any, *path: Any) -> dict[str, Any]:
    """The pod with another value at a path."""

    def put(into: Any, steps: tuple[Any, ...]) -> Any:
        if not steps:
            return value
        if isinstance(into, list):
            return [put(each, steps[1:]) if i == steps[0] else each for i, each in enumerate(into)]
        return {**into, steps[0]: put(into.get(steps[0], {}), steps[1:])}

    new: dict[str, Any] = put(POD, path)
    return new


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> Walk:
    """What the strict walk finds of an object, sound or not."""
    monkeypatch.setattr(strict, "is_sound", lambda manifest, root: False)

    def walk(manifest: dict[str, Any]) -> list[Any]:
        kind = find_kind("v1", str(manifest["kind"]))
        assert kind is not None
        return strict.strict_errors(manifest, kind)

    return walk


@pytest.mark.parametrize("manifest", [POD, node("n"), pod("p"), changed(None, "spec", "priority")])
def test_a_sound_object_is_told_quickly(manifest: dict[str, Any], walked: Walk) -> None:
    assert is_sound(manifest, str(manifest["kind"]))
    assert walked(manifest) == []


@pytest.mark.parametrize(
    "manifest",
    [
        changed(1, "unknown"),
        changed(1, "spec", "unknown"),
        changed(1, "spec", "containers", 0, "unknown"),
        changed("7", "spec", "priority"),
        changed(1 << 31, "spec", "priority"),
        changed("yes", "spec", "hostNetwork"),
        changed(1, "metadata", "labels", "app"),
        changed(None, "metadata", "labels", "app"),
        changed([], "metadata", "labels"),
        changed("10x", "spec", "containers", 0, "resources", "requests", "cpu"),
        changed("yesterday", "metadata", "creationTimestamp"),
        changed("yesterday", "status", "startTime"),
        changed([None], "spec", "containers"),
        changed({}, "spec", "containers"),
        changed("x", "spec"),
        changed(1, "spec", "nodeName"),
    ],
)
def test_what_the_walk_finds_is_not_sound(manifest: dict[str, Any], walked: Walk) -> None:
    assert walked(manifest)
    assert not is_sound(manifest, "Pod")
