"""Admission of storage: the default class of claims, finalizers that protect objects in use, and the expansion of claims.

kube: plugin/pkg/admission/storage/{storageclass/setdefault,storageobjectinuseprotection,persistentvolume/resize}/admission.go @ v1.34.1
"""

from scheduler_core.apimachinery.objects import Manifest, nanos
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.storage_classes import default_class

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
FINALIZERS = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
    "VolumeAttributesClass": "kubernetes.io/vac-protection",
}
_NOT_EXPANDABLE = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


class DefaultStorageClass(AdmissionPlugin):
    """The default class for claims without one: the newest of several."""

    name = "DefaultStorageClass"

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key != "PersistentVolumeClaim" or request.operation != "CREATE":
            return manifest
        if _class_of(manifest) is not None:
            return manifest
        chosen = default_class(request.store)
        return with_section(manifest, "spec", {"storageClassName": chosen}) if chosen else manifest


class StorageObjectInUseProtection(AdmissionPlugin):
    """A finalizer on volumes and claims, which a controller removes once they are unused."""

    name = "StorageObjectInUseProtection"

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        finalizer = FINALIZERS.get(request.kind.key)
        given = manifest["metadata"].get("finalizers") or []
        if finalizer is None or request.operation != "CREATE" or finalizer in given:
            return manifest
        return with_section(manifest, "metadata", {"finalizers": [*given, finalizer]})


class PersistentVolumeClaimResize(AdmissionPlugin):
    """A check that a claim grows only if the claim is bound and its class allows expansion."""

    name = "PersistentVolumeClaimResize"

    def validate(self, request: Request, manifest: Manifest) -> None:
        if request.kind.key != "PersistentVolumeClaim" or request.operation != "UPDATE" or request.subresource:
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


def _class_of(claim: Manifest) -> str | None:
    beta = (claim["metadata"].get("annotations") or {}).get(_BETA_CLASS)
    name = (claim.get("spec") or {}).get("storageClassName")
    return name if beta is None else beta


def _size(claim: Manifest) -> int:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return nanos(requests.get("storage") or 0)
