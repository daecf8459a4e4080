"""Manifests of claims, volumes and classes, and an API server that has them: for tests of what deals with volumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.manifest import MutableManifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.rewriting import merge_patch
from scheduler_core.scheduler.framework.status import SUCCESS, Status
from tests.support.drive import NoObjects


class Objects(NoObjects):
    """A handle to an API server with these objects; patches are carried out, each with a new resourceVersion."""

    def __init__(self, manifests: Iterable[Mapping[str, Any]] = ()) -> None:
        super().__init__()
        self._version = 100
        self._objects: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        for manifest in manifests:
            self.put(manifest)

    def put(self, manifest: Mapping[str, Any]) -> None:
        meta = manifest["metadata"]
        self._objects[(manifest["kind"], meta.get("namespace", ""), meta["name"])] = manifest

    def drop(self, kind: str, namespace: str, name: str) -> None:
        del self._objects[(kind, namespace, name)]

    def get(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return self._objects.get((kind, namespace, name))

    def list(self, kind: str) -> list[Mapping[str, Any]]:
        return [self._objects[key] for key in sorted(self._objects) if key[0] == kind]

    def patch(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any], pod: Pod) -> Status:
        self._version += 1
        stamp = {"metadata": {"resourceVersion": str(self._version)}}
        self.put(merge_patch(merge_patch(self._objects[(kind, namespace, name)], patch), stamp))
        return SUCCESS


def make_claim(
    name: str, storage_class: str | None = "local", size: str = "1Gi", volume: str = "", **spec: Any
) -> MutableManifest:
    """A claim in namespace default; with `volume` it is bound to that one."""
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    fields = {"storageClassName": storage_class, "volumeName": volume or None}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": bound},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            **{field: text for field, text in fields.items() if text is not None},
            **spec,
        },
        "status": {"phase": "Bound" if volume else "Pending"},
    }


_SOURCES = {
    "csi",
    "local",
    "hostPath",
    "nfs",
    "iscsi",
    "rbd",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "azureDisk",
    "cinder",
}


def make_volume(
    name: str,
    storage_class: str = "local",
    size: str = "10Gi",
    hosts: Sequence[str] = (),
    claim: str = "",
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> MutableManifest:
    """A volume, on nodes of these hostnames only where any are given, for a claim of namespace default where one is given.

    A volume whose source `spec` does not name is a hostPath.
    """
    fields: MutableManifest = {}
    if hosts:
        here = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(hosts)}
        fields["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}
    if claim:
        fields["claimRef"] = {
            "kind": "PersistentVolumeClaim",
            "namespace": "default",
            "name": claim,
            "uid": f"uid-{claim}",
        }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": dict(labels or {})},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "storageClassName": storage_class,
            **({} if spec.keys() & _SOURCES else {"hostPath": {"path": "/data"}}),
            **fields,
            **spec,
        },
        "status": {"phase": "Bound" if claim else "Available"},
    }


def make_class(
    name: str = "local",
    provisioner: str = "kubernetes.io/no-provisioner",
    mode: str = "WaitForFirstConsumer",
    **fields: Any,
) -> MutableManifest:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        **fields,
    }


def make_csi_node(node: str, limits: Mapping[str, int | None], migrated: str = "") -> MutableManifest:
    """Build the CSINode of a node: driver -> number of volumes it attaches (None: not given); `migrated`: in-tree plugins."""
    drivers = [
        {"name": driver, "nodeID": node, **({} if count is None else {"allocatable": {"count": count}})}
        for driver, count in limits.items()
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": node, "annotations": annotations},
        "spec": {"drivers": drivers},
    }
