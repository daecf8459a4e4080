"""Devices switched on in a world that was made without them: what lies there already is read anew, or the change refused."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import CLUSTER_EDITION
from scheduler_core.api.status import Refused
from scheduler_core.commands import CreateObject, SetSettings, Undo
from scheduler_core.simulation import Simulation
from tests.scheduler_core.worlds import node, pod

ON = SetSettings({"devices": True})


def older(*objects: Any) -> Simulation:
    """A world of before, with these objects."""
    sim = Simulation(edition=CLUSTER_EDITION)
    for manifest in objects:
        sim.apply(CreateObject(manifest))
    return sim


def about(kind: str, version: str, spec: Any, **meta: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": kind,
        "metadata": {"name": "x", **meta},
        "spec": spec,
    }


SLICE = about(
    "ResourceSlice",
    "v1beta1",
    {
        "driver": "gpu.example.com",
        "nodeName": "n",
        "pool": {"name": "n", "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0", "basic": {"attributes": {"model": {"string": "a"}}}}],
    },
)


def test_objects_are_read_anew() -> None:
    sim = older(SLICE)
    sim.apply(ON)
    kept = sim.store.get("ResourceSlice", "", "x")
    assert kept is not None
    assert kept["apiVersion"] == "resource.k8s.io/v1"
    assert kept["spec"]["devices"] == [{"name": "gpu-0", "attributes": {"model": {"string": "a"}}}]
    sim.apply(Undo())
    assert not sim.settings.devices
    assert sim.store.get("ResourceSlice", "", "x")["spec"] == SLICE["spec"]  # type: ignore[index]


def test_an_object_that_would_not_be_taken_keeps_devices_off() -> None:
    sim = older(about("DeviceClass", "v1", {"selectors": [{"cel": {"expression": "no ("}}]}))
    with pytest.raises(Refused, match="compilation failed"):
        sim.apply(ON)
    assert not sim.settings.devices


def test_pods_are_refused_their_claims_until_devices_are_on() -> None:
    claiming = pod("p", resourceClaims=[{"name": "a", "resourceClaimName": "c"}])
    sim = older(node("n"))
    with pytest.raises(Refused, match="not modelled yet"):
        sim.apply(CreateObject(claiming))
    sim.apply(ON)
    sim.apply(CreateObject(claiming))
