"""What is said to have no effect on a pod has none: a pod with the fields fares as one without them."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core.formats.unsupported import without_effect
from scheduler_core.formats.unsupported.no_effect import ENTRIES
from tests.scheduler_core.worlds import node, pod, settle, world

SPECS = list(yaml.safe_load_all(Path(__file__).with_name("silent.yaml").read_text()))
# What a pod can't be created with, or has to have a claim for.
ELSEWHERE = {
    "spec.ephemeralContainers",
    "spec.containers[].restartPolicyRules",
    "spec.containers[].lifecycle.stopSignal",
    "spec.containers[].volumeDevices",
    "spec.volumes[].persistentVolumeClaim.readOnly",
    "spec.volumes[].ephemeral.volumeClaimTemplate.spec.dataSource",
    "spec.volumes[].ephemeral.volumeClaimTemplate.spec.dataSourceRef",
}
# Fields without effect that have to be there all the same.
WANTED = ("targetPortal", "azureFile.secretName", "shareName", "volumePath", "diskName")


def told(manifest: dict[str, Any]) -> list[str]:
    return [path for path, _ in without_effect(manifest)]


def bare(manifest: dict[str, Any]) -> dict[str, Any]:
    """The pod without the fields, and without the objects and volumes that they leave empty; with another text where kube wants one."""
    made = copy.deepcopy(manifest)
    for path in told(manifest):
        steps = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", path)]
        _leave_out(made, steps, path.endswith(WANTED))
    volumes = made["spec"].get("volumes", [])
    made["spec"]["volumes"] = [volume for volume in volumes if volume.keys() > {"name"}]
    return made


def _leave_out(value: Any, steps: list[Any], wanted: bool) -> None:
    first, *rest = steps
    if rest:
        _leave_out(value[first], rest, wanted)
    elif wanted:
        value[first] = "other"
    if value[first] == {} or not (rest or wanted):
        del value[first]


def fate(manifest: dict[str, Any]) -> list[Any]:
    """What happens to a pod in a cluster of two nodes until nothing is left to do, when, and how it stands then."""
    sim = world(node("a"), node("b"), manifest)
    records = settle(sim)
    found = sim.store.pod_at("default/p")
    assert found is not None and found.node_name
    return [[(each.t, each.kind) for each in records], found.node_name, found.manifest["status"]]


@pytest.mark.parametrize("spec", SPECS)
def test_fields_without_effect_change_nothing(spec: dict[str, Any]) -> None:
    manifest = pod("p", **spec)
    assert told(manifest)
    assert [path for path in told(bare(manifest)) if not path.endswith(WANTED)] == []
    assert fate(manifest) == fate(bare(manifest))


def test_every_field_of_a_pod_that_is_without_effect_is_tried() -> None:
    tried = {re.sub(r"\d+", "", path) for spec in SPECS for path in told(pod("p", **spec))}
    listed = {entry.path for entry in ENTRIES if entry.kind == "Pod" and "initContainers" not in entry.path}
    assert listed - tried == ELSEWHERE
