"""Strict decoding finds nothing wrong with a sound object, and each value that is not of its field's type."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.schema.strict import list_errors
from scheduler_core.base.releases import NEWEST
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


@pytest.mark.parametrize("manifest", [POD, node("n"), pod("p"), changed(None, "spec", "priority")])
def test_nothing_is_wrong_with_a_sound_object(manifest: dict[str, Any]) -> None:
    assert list_errors(manifest, str(manifest["kind"])) == []


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
def test_a_value_that_is_not_of_its_fields_type_is_an_error(manifest: dict[str, Any]) -> None:
    assert list_errors(manifest, "Pod")


def test_a_field_that_a_newer_release_brought_is_of_its_type_in_a_status_too() -> None:
    claim = {"status": {"healthStatus": {"lastTransitionTime": "yesterday"}}}
    assert list_errors(claim, "PersistentVolumeClaim") == []
    (error,) = list_errors(claim, "PersistentVolumeClaim", release=NEWEST)
    assert error.path == "status.healthStatus.lastTransitionTime"
