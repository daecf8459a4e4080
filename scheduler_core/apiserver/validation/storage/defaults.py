"""Defaults of volumes and claims.

kube: pkg/apis/core/v1/defaults.go SetDefaults_PersistentVolume, SetDefaults_PersistentVolumeClaimSpec @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest

NOT_SOURCES = (
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
)


def apply_volume_defaults(manifest: Manifest) -> Manifest:
    spec = manifest.get("spec") or {}
    if not spec.get("persistentVolumeReclaimPolicy"):
        manifest = {**manifest, "spec": {**spec, "persistentVolumeReclaimPolicy": "Retain"}}
    return _with_mode(manifest)


def apply_claim_defaults(manifest: Manifest) -> Manifest:
    return _with_mode(manifest)


def _with_mode(manifest: Manifest) -> Manifest:
    spec = manifest.get("spec") or {}
    if spec.get("volumeMode") is not None:
        return manifest
    return {**manifest, "spec": {**spec, "volumeMode": "Filesystem"}}
