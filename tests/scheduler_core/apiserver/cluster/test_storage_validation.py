"""What volumes, claims and classes must not say, and what they are given."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduler_core.apiserver.cluster.requests import api_server, make, refusal

STORAGE = {"requests": {"storage": "1Gi"}}


def volume(**spec: Any) -> dict[str, Any]:
    usual = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}
    return make("PersistentVolume", "o", spec={**usual, **spec})


def claim(**spec: Any) -> dict[str, Any]:
    usual = {"accessModes": ["ReadWriteOnce"], "resources": STORAGE}
    return make("PersistentVolumeClaim", "o", "default", spec={**usual, **spec})


def storage_class(**fields: Any) -> dict[str, Any]:
    return make("StorageClass", "o", api="storage.k8s.io/v1", **{"provisioner": "p", **fields})


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        (volume(accessModes=[]), "spec.accessModes: Required value"),
        (volume(accessModes=["Anyhow"]), "spec.accessModes: Unsupported value"),
        (volume(capacity={"storage": "0"}), "spec.capacity[storage]: Invalid value"),
        (volume(capacity={"storage": "1", "cpu": "1"}), "spec.capacity: Unsupported value"),
        (volume(hostPath=None), "spec: Required value: must specify a volume type"),
        (volume(csi={"driver": "d", "volumeHandle": "h"}), "may not specify more than 1 volume type"),
        (volume(persistentVolumeReclaimPolicy="Burn"), "spec.persistentVolumeReclaimPolicy: Unsupported"),
        (claim(accessModes=[]), "at least 1 access mode is required"),
        (
            claim(accessModes=["ReadWriteOncePod", "ReadWriteOnce"]),
            "may not use ReadWriteOncePod with other access modes",
        ),
        (claim(resources={}), "spec.resources[storage]: Required value"),
        (claim(resources={"requests": {"storage": "0"}}), "must be greater than zero"),
        (claim(storageClassName="A_b"), "spec.storageClassName: Invalid value"),
        (claim(volumeMode="Tape"), "spec.volumeMode: Unsupported value"),
        (storage_class(reclaimPolicy="Recycle"), "reclaimPolicy: Unsupported value"),
        (storage_class(provisioner="a b"), "provisioner: Invalid value"),
    ],
)
def test_what_kube_refuses(manifest: dict[str, Any], problem: str) -> None:
    answer = refusal(lambda: api_server().create(manifest))
    assert (answer.code, problem in answer.message) == (422, True)


def test_volumes_and_claims_are_file_systems_unless_they_say_otherwise() -> None:
    api = api_server(volume(), claim())
    spec = api.found(("PersistentVolume", "", "o"))["spec"]
    assert (spec["volumeMode"], spec["persistentVolumeReclaimPolicy"]) == ("Filesystem", "Retain")
    assert api.found(("PersistentVolumeClaim", "default", "o"))["spec"]["volumeMode"] == "Filesystem"


def test_a_claim_that_was_stored_without_a_mode_may_be_written() -> None:
    api = api_server()
    api.store.create(claim(), "PersistentVolumeClaim", 0)
    change = {"metadata": {"labels": {"a": "b"}}}
    assert refusal(lambda: api.patch(("PersistentVolumeClaim", "default", "o"), change)).ok
