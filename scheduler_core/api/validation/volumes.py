"""Volumes, claims and classes: their defaults, and what must not be in them.

kube: pkg/apis/core/v1/defaults.go SetDefaults_PersistentVolume, SetDefaults_PersistentVolumeClaimSpec,
pkg/apis/core/validation/validation.go ValidatePersistentVolumeSpec, ValidatePersistentVolumeClaimSpec,
pkg/apis/storage/validation/validation.go ValidateStorageClass @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.api.validation import checks
from scheduler_core.api.validation.checks import POSITIVE, Errors
from scheduler_core.objects.errors import forbidden, invalid, keyed, not_supported, required
from scheduler_core.objects.names import qualified_name_errors, subdomain_errors
from scheduler_core.objects.quantity import nanos

Manifest = Mapping[str, Any]
ALONE = "ReadWriteOncePod"
_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", ALONE)
_VOLUME_MODES = ("Block", "Filesystem")
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


def defaulted_volume(manifest: Manifest) -> Manifest:
    return _filled(manifest, persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")


def defaulted_claim(manifest: Manifest) -> Manifest:
    return _filled(manifest, volumeMode="Filesystem")


def _filled(manifest: Manifest, **defaults: str) -> Manifest:
    spec = manifest.get("spec") or {}
    missing = {name: value for name, value in defaults.items() if not spec.get(name)}
    return {**manifest, "spec": {**spec, **missing}} if missing else manifest


def volume(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    modes = spec.get("accessModes") or ()
    if not modes:
        errors.append(required("spec.accessModes"))
    _access_modes(modes, errors)
    capacity = spec.get("capacity") or {}
    if not capacity:
        errors.append(required("spec.capacity"))
    if list(capacity) != ["storage"]:
        errors.append(not_supported("spec.capacity", dict(capacity), ("storage",)))
    for name, quantity in capacity.items():
        _positive(quantity, keyed("spec.capacity", name), errors)
    policy = spec.get("persistentVolumeReclaimPolicy")
    checks.one_of(errors, "spec.persistentVolumeReclaimPolicy", policy, ("Delete", "Recycle", "Retain"))
    sources = [name for name in spec if name not in NOT_SOURCES and spec[name] is not None]
    for name in sources[1:]:
        errors.append(forbidden(f"spec.{name}", "may not specify more than 1 volume type"))
    if not sources:
        errors.append(required("spec", "must specify a volume type"))
    _class(spec, errors)


def claim(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    modes = spec.get("accessModes") or ()
    if not modes:
        errors.append(required("spec.accessModes", "at least 1 access mode is required"))
    _access_modes(modes, errors)
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    where = keyed("spec.resources", "storage")
    if size is None:
        errors.append(required(where))
    else:
        _positive(size, where, errors)
    _class(spec, errors)


def storage_class(manifest: Manifest, errors: Errors) -> None:
    provisioner = (manifest.get("provisioner") or "").lower()
    problems = qualified_name_errors(provisioner) if provisioner else ()
    errors += [invalid("provisioner", provisioner, problem) for problem in problems]
    checks.one_of(errors, "reclaimPolicy", manifest.get("reclaimPolicy"), ("Delete", "Retain"))


def _access_modes(modes: Sequence[str], errors: Errors) -> None:
    known = [mode for mode in modes if mode in _MODES]
    errors += [not_supported("spec.accessModes", mode, _MODES) for mode in modes if mode not in _MODES]
    if ALONE in known and any(mode != ALONE for mode in known):
        errors.append(forbidden("spec.accessModes", f"may not use {ALONE} with other access modes"))


def _positive(quantity: Any, where: str, errors: Errors) -> None:
    if nanos(quantity) <= 0:
        errors.append(invalid(where, str(quantity), POSITIVE))


def _class(spec: Manifest, errors: Errors) -> None:
    """Name of the class, and the mode of the volume."""
    name = spec.get("storageClassName") or ""
    problems = subdomain_errors(name) if name else ()
    errors += [invalid("spec.storageClassName", name, problem) for problem in problems]
    checks.one_of(errors, "spec.volumeMode", spec.get("volumeMode"), _VOLUME_MODES)
