"""Admission of storage: the default class of claims, finalizers that protect what is in use, and which claims may grow.

kube: plugin/pkg/admission/storage/{storageclass/setdefault,storageobjectinuseprotection,persistentvolume/resize}/admission.go,
pkg/volume/util/storageclass.go (GetDefaultClass) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.api.admission.plugin import AdmissionPlugin, Manifest, Request
from scheduler_core.api.rewriting import with_section
from scheduler_core.objects.quantity import nanos
from scheduler_core.objects.times import parse_time

IS_DEFAULT = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
FINALIZERS = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
    "VolumeAttributesClass": "kubernetes.io/vac-protection",
}
_NOT_EXPANDABLE = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"


class DefaultStorageClass(AdmissionPlugin):
    """A claim that says nothing of a class gets the default one: of several the newest."""

    name = "DefaultStorageClass"

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key != "PersistentVolumeClaim" or request.operation != "CREATE":
            return manifest
        if _class_of(manifest) is not None:
            return manifest
        classes = [each for each in request.store.list("StorageClass") if is_default(each)]
        if not classes:
            return manifest
        chosen = min(classes, key=lambda each: (-_created(each), str(each["metadata"]["name"])))
        return with_section(manifest, "spec", {"storageClassName": chosen["metadata"]["name"]})


class StorageObjectInUseProtection(AdmissionPlugin):
    """Volumes and claims get a finalizer, which a controller takes away once nobody uses them."""

    name = "StorageObjectInUseProtection"

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        finalizer = FINALIZERS.get(request.kind.key)
        given = manifest["metadata"].get("finalizers") or []
        if finalizer is None or request.operation != "CREATE" or finalizer in given:
            return manifest
        return with_section(manifest, "metadata", {"finalizers": [*given, finalizer]})


class PersistentVolumeClaimResize(AdmissionPlugin):
    """A claim may ask for more once it is bound, and if its class says that volumes can grow."""

    name = "PersistentVolumeClaimResize"

    def validate(self, request: Request, manifest: Manifest) -> None:
        if (
            request.kind.key != "PersistentVolumeClaim"
            or request.operation != "UPDATE"
            or request.subresource
        ):
            return
        old = request.old or {}
        if _size(manifest) <= _size(old):
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            raise request.refuse("Only bound persistent volume claims can be expanded")
        name = _class_of(manifest)
        found = request.store.get("StorageClass", "", name) if name and name == _class_of(old) else None
        if found is None or not found.get("allowVolumeExpansion"):
            raise request.refuse(_NOT_EXPANDABLE)


def is_default(storage_class: Manifest) -> bool:
    """Whether a storage class is marked as the default."""
    annotations = storage_class["metadata"].get("annotations") or {}
    return any(annotations.get(name) == "true" for name in IS_DEFAULT)


def _class_of(claim: Manifest) -> str | None:
    beta = (claim["metadata"].get("annotations") or {}).get(_BETA_CLASS)
    name = (claim.get("spec") or {}).get("storageClassName")
    return name if beta is None else beta


def _created(manifest: Manifest) -> int:
    return parse_time(manifest["metadata"]["creationTimestamp"])


def _size(claim: Manifest) -> int:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return nanos(requests.get("storage") or 0)
