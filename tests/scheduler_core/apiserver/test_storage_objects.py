"""What the API server says of claims, volumes, classes and what drivers report."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from tests.scheduler_core.apiserver.cluster.requests import api_server
from tests.scheduler_core.worlds import pod
from tests.support.storage import make_claim, make_class, make_csi_node, make_volume


def problems(manifest: dict[str, Any]) -> list[str]:
    """The fields that are wrong; none where the object is accepted."""
    try:
        api_server().create(manifest)
    except Refused as refused:
        return [error.path for error in refused.errors]
    return []


def capacity(**fields: Any) -> dict[str, Any]:
    meta = {"name": "x", "namespace": "default"}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": meta, **fields}


def csi_node(count: Any) -> dict[str, Any]:
    return make_csi_node("a", {"csi.x": count})


@pytest.mark.parametrize(
    "manifest",
    [
        make_claim("c"),
        make_volume("v", hosts=["a"], gcePersistentDisk={"pdName": "d"}),
        make_class(allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["z"]}]}]),
        capacity(storageClassName="local", capacity="1Gi", nodeTopology={}),
        csi_node(3),
        pod("p", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": make_claim("c")["spec"]}}}]),
    ],
    ids=lambda manifest: manifest["kind"],
)
def test_a_sound_object_is_accepted(manifest: dict[str, Any]) -> None:
    assert problems(manifest) == []


@pytest.mark.parametrize(
    ("manifest", "paths"),
    [
        (make_claim("c", size="much"), ["spec.resources.requests[storage]"]),
        (make_claim("c", size="-1Gi"), ["spec.resources[storage]"]),
        (
            make_claim("c", selector={"matchExpressions": [{"key": "a", "operator": "Near"}]}),
            ["spec.selector.matchExpressions[0].operator"],
        ),
        (make_volume("v", size="much"), ["spec.capacity[storage]"]),
        (make_volume("v", csi="x"), ["spec.csi"]),
        (make_class(provisioner=""), ["provisioner"]),
        (make_class(mode="Sometimes"), ["volumeBindingMode"]),
        (
            make_class(allowedTopologies=[{"matchLabelExpressions": "zone"}]),
            ["allowedTopologies[0].matchLabelExpressions"],
        ),
        (capacity(capacity="much"), ["capacity"]),
        (capacity(maximumVolumeSize=[]), ["maximumVolumeSize"]),
        (csi_node("three"), ["spec.drivers[0].allocatable.count"]),
        (pod("p", volumes=[{"name": "v", "iscsi": {"iqn": 3}}]), ["spec.volumes[0].iscsi.iqn"]),
    ],
)
def test_an_unsound_object_is_refused_at_its_field(manifest: dict[str, Any], paths: list[str]) -> None:
    assert problems(manifest) == paths
