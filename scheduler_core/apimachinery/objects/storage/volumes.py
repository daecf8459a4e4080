"""Helpers to read pods, claims, volumes, and storage classes.

kube: component-helpers/storage/volume/{helpers,pv_helpers}.go, component-helpers/storage/ephemeral/ephemeral.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.labels import LabelSelector, aggregate
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod, PodSpec
from scheduler_core.apimachinery.objects.quantity import nanos

CLAIM, VOLUME = "PersistentVolumeClaim", "PersistentVolume"

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
READ_WRITE_ONCE_POD = "ReadWriteOncePod"

# Sources in a pod that two pods can't use at will (VolumeRestrictions), and those that a CSI driver has taken over.
_DISKS = ("gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi")
MIGRATABLE_SOURCES = (
    *("gcePersistentDisk", "awsElasticBlockStore", "cinder", "azureDisk", "azureFile", "vsphereVolume"),
    *("portworxVolume",),
)


@dataclass(frozen=True, slots=True)
class ClaimUse:
    """A volume of a pod that is a claim. `claim` is the claim's name, or of a generic ephemeral volume the volume's own."""

    claim: str
    ephemeral: bool = False

    def name(self, pod: Pod) -> str:
        """The claim's name; that of an ephemeral volume starts with the pod's."""
        return f"{pod.name}-{self.claim}" if self.ephemeral else self.claim


@dataclass(frozen=True, slots=True)
class SpecVolumes:
    """A pod's volumes, grouped as the plugins need them. Most pods have none of these."""

    claims: tuple[ClaimUse, ...] = ()
    disks: tuple[Manifest, ...] = ()
    in_tree: tuple[Manifest, ...] = ()


_NONE = SpecVolumes()


def volumes_of(spec: PodSpec) -> SpecVolumes:
    """Worked out once per spec."""
    if not spec.volumes:
        return _NONE
    volumes: SpecVolumes | None = spec.memo.get("volumes")
    if volumes is None:
        volumes = spec.memo["volumes"] = _sort_out(spec.volumes)
    return volumes


def _sort_out(volumes: tuple[Manifest, ...]) -> SpecVolumes:
    claims, disks, in_tree = [], [], []
    for volume in volumes:
        source = volume.get("persistentVolumeClaim")
        if source is not None:
            claims.append(ClaimUse(source.get("claimName") or ""))
        elif volume.get("ephemeral") is not None:
            claims.append(ClaimUse(volume.get("name") or "", ephemeral=True))
        elif any(volume.get(kind) is not None for kind in MIGRATABLE_SOURCES):
            in_tree.append(volume)
        if any(volume.get(kind) is not None for kind in _DISKS):
            disks.append(volume)
    return SpecVolumes(tuple(claims), tuple(disks), tuple(in_tree))


def name_of(manifest: Manifest) -> str:
    return str(manifest["metadata"].get("name") or "")


def key_of(claim: Manifest) -> str:
    """Return the claim's namespace/name."""
    return f"{claim['metadata'].get('namespace') or ''}/{name_of(claim)}"


def annotation(manifest: Manifest, key: str) -> str | None:
    text = (manifest["metadata"].get("annotations") or {}).get(key)
    return None if text is None else str(text)


def class_of(manifest: Manifest) -> str:
    """Return the storage class of a claim or a volume, or "" if it has none."""
    beta = annotation(manifest, BETA_CLASS)
    return str((manifest.get("spec") or {}).get("storageClassName") or "") if beta is None else beta


def volume_name(claim: Manifest) -> str:
    return str((claim.get("spec") or {}).get("volumeName") or "")


def fully_bound(claim: Manifest) -> bool:
    return bool(volume_name(claim)) and annotation(claim, BIND_COMPLETED) is not None


def access_modes(manifest: Manifest) -> tuple[str, ...]:
    return tuple((manifest.get("spec") or {}).get("accessModes") or ())


def volume_mode(manifest: Manifest) -> str:
    return str((manifest.get("spec") or {}).get("volumeMode") or "Filesystem")


def attributes_class(manifest: Manifest) -> str:
    return str((manifest.get("spec") or {}).get("volumeAttributesClassName") or "")


def get_requested_storage(claim: Manifest) -> int:
    """Return the storage that a claim requests, in billionths of a byte; 0 if absent."""
    return _storage(((claim.get("spec") or {}).get("resources") or {}).get("requests"))


def capacity(volume: Manifest) -> int:
    """Return the capacity of a volume, in billionths of a byte."""
    return _storage((volume.get("spec") or {}).get("capacity"))


def _storage(amounts: Mapping[str, Any] | None) -> int:
    amount = (amounts or {}).get("storage")
    return 0 if amount is None else nanos(amount)


def deleting(manifest: Manifest) -> bool:
    return bool(manifest["metadata"].get("deletionTimestamp"))


def phase(manifest: Manifest) -> str:
    return str((manifest.get("status") or {}).get("phase") or "")


def claim_ref(volume: Manifest) -> Manifest | None:
    ref: Manifest | None = (volume.get("spec") or {}).get("claimRef")
    return ref


def is_for(volume: Manifest, claim: Manifest) -> bool:
    """Return whether a volume is bound to, or reserved for, this claim."""
    ref, meta = claim_ref(volume), claim["metadata"]
    if ref is None or ref.get("name") != meta.get("name"):
        return False
    if (ref.get("namespace") or "") != (meta.get("namespace") or ""):
        return False
    return not ref.get("uid") or ref["uid"] == meta.get("uid")


def bind_volume_to_claim(volume: Manifest, claim: Manifest) -> Manifest:
    """Return the volume with a claimRef to the claim, or the same volume if it already has one."""
    meta, ref = claim["metadata"], claim_ref(volume)
    wanted = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": meta.get("namespace") or "",
        "name": name_of(claim),
        "uid": meta.get("uid") or "",
    }
    same = ref is not None and all((ref.get(f) or "") == wanted[f] for f in ("name", "namespace", "uid"))
    out = volume if same else {**volume, "spec": {**(volume.get("spec") or {}), "claimRef": wanted}}
    if is_for(volume, claim) or annotation(volume, BOUND_BY_CONTROLLER) is not None:
        return out
    return with_annotation(out, BOUND_BY_CONTROLLER, "yes")


def with_annotation(manifest: Manifest, key: str, text: str) -> Manifest:
    meta = manifest["metadata"]
    return {**manifest, "metadata": {**meta, "annotations": {**(meta.get("annotations") or {}), key: text}}}


def list_drivers(csi_node: Manifest | None) -> list[str]:
    """Return the CSI drivers that a CSINode lists."""
    return [each.get("name") for each in ((csi_node or {}).get("spec") or {}).get("drivers") or ()]


def not_owned(claim: Manifest, pod: Pod) -> str:
    return f"PVC {key_of(claim)} was not created for pod {pod.key} (pod is not owner)"


def not_found(kind: str, name: str) -> str:
    """Return the error text of kube's listers."""
    return f'{kind} "{name}" not found'


def claim_not_found(name: str) -> str:
    return not_found("persistentvolumeclaim", name)


# Which volumes suit a claim, where nodes are left out of account.
# kube: component-helpers/storage/volume/pv_helpers.go (FindMatchingVolume) @ v1.34.1


@dataclass(frozen=True, slots=True)
class VolumeCriteria:
    """A claim, as volumes are measured by it."""

    claim: Manifest
    selector: LabelSelector | None
    size: int

    @classmethod
    def of(cls, claim: Manifest) -> VolumeCriteria:
        """ValueError where the claim's selector can't be read."""
        raw = (claim.get("spec") or {}).get("selector")
        selector = None if raw is None else LabelSelector.of(raw)
        if selector is not None and selector.errors:
            text = aggregate(selector.errors)
            raise ValueError(f"error creating internal label selector for claim: {key_of(claim)}: {text}")
        return cls(claim, selector, get_requested_storage(claim))

    def at_all(self, volume: Manifest) -> bool:
        """Return whether the volume is free or reserved for this claim, large enough, of the same modes, and not being deleted."""
        return (
            (claim_ref(volume) is None or is_for(volume, self.claim))
            and capacity(volume) >= self.size
            and volume_mode(volume) == volume_mode(self.claim)
            and attributes_class(volume) == attributes_class(self.claim)
            and not deleting(volume)
        )

    def unclaimed(self, volume: Manifest) -> bool:
        """Return whether the claim may bind a volume without a claimRef."""
        if phase(volume) != "Available" or class_of(volume) != class_of(self.claim):
            return False
        labels = volume["metadata"].get("labels") or {}
        if self.selector is not None and not self.selector.matches(labels):
            return False
        modes = access_modes(volume)
        return all(mode in modes for mode in access_modes(self.claim))
