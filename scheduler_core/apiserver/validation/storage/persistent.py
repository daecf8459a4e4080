"""Validation of PersistentVolumes, their claims, and templates of claims.

kube: pkg/apis/core/validation/validation.go (ValidatePersistentVolumeSpec, ValidatePersistentVolumeClaimSpec), pkg/volume/validation,
pkg/api/persistentvolumeclaim/util.go @ v1.34.1
"""

import posixpath
from typing import Any

from scheduler_core.apimachinery.objects.errors import Errors, format_key_path, not_supported
from scheduler_core.apimachinery.objects.names import label_errors, subdomain_errors
from scheduler_core.apimachinery.objects.quantity import nanos, value
from scheduler_core.apiserver.validation import checks, rules
from scheduler_core.apiserver.validation.checks import POSITIVE
from scheduler_core.apiserver.validation.storage import sources

_ALONE = "ReadWriteOncePod"
_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", _ALONE)
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_MOUNTED = (
    *("gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder"),
    *("cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk"),
)
_INLINE = "in the context of inline volumes"
_CLASS = rules.validate_name("storageClassName", subdomain_errors)
_MODE = rules.one("volumeMode", "Block", "Filesystem", empty=True)
_REFERENCE: rules.Rules = (
    rules.validate_name("name", subdomain_errors, needed=True),
    rules.validate_name("namespace", label_errors, needed=True),
)


def _gluster_namespace(given: rules.Object, path: str, errors: Errors) -> None:
    namespace, where = given.get("endpointsNamespace"), f"{path}.endpointsNamespace"
    if namespace == "":
        errors.invalid(where, namespace, "if the endpointnamespace is set, it must be a valid namespace name")
    rules.validate_name("endpointsNamespace", label_errors)(given, path, errors)


def _secret_namespace(given: rules.Object, path: str, errors: Errors) -> None:
    errors.required(f"{path}.secretNamespace", when=given.get("secretNamespace") == "")


def _driver(given: rules.Object, path: str, errors: Errors) -> None:
    if not sources.is_provisioner(given.get("driver") or ""):
        sources.driver(given, path, errors)


_SOURCES: dict[str, rules.Rules] = {
    "hostPath": sources.SHARED["hostPath"],
    "gcePersistentDisk": sources.at("persistentDisk", sources.SHARED["gcePersistentDisk"]),
    "awsElasticBlockStore": sources.SHARED["awsElasticBlockStore"],
    "glusterfs": (sources.GLUSTER, _gluster_namespace),
    **{name: sources.SHARED[name] for name in ("flocker", "nfs", "rbd", "quobyte", "cephfs")},
    "iscsi": (rules.need("targetPortal"), *sources.iscsi(persistent=True)),
    "cinder": sources.cinder(namespaced=True),
    "fc": sources.SHARED["fc"],
    "flexVolume": sources.SHARED["flexVolume"],
    "azureFile": (sources.AZURE_FILE, _secret_namespace),
    **{
        name: sources.SHARED[name]
        for name in ("vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO")
    },
    "local": (sources.path_on_node(),),
    "storageos": sources.storageos(namespaced=True),
    "csi": (
        _driver,
        rules.need("volumeHandle"),
        rules.inner("controllerPublishSecretRef", *_REFERENCE),
        rules.inner("controllerExpandSecretRef", *_REFERENCE),
        rules.inner("nodePublishSecretRef", *_REFERENCE),
        rules.inner("nodeExpandSecretRef", *_REFERENCE),
    ),
}
_ONE_SOURCE = rules.only_one(_SOURCES, sources.ONE_TYPE, {"cephfs": "cephFS"}, also=("flexVolume",))


def volume(manifest: rules.Object, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    name = manifest["metadata"].get("name") or ""
    _access_modes(spec, "spec", "", errors)
    _capacity(spec.get("capacity"), errors)
    rules.one("persistentVolumeReclaimPolicy", "Delete", "Recycle", "Retain")(spec, "spec", errors)
    _affinity(spec.get("nodeAffinity"), "spec.nodeAffinity", errors)
    _source(spec, name, "spec", errors, spec.get("nodeAffinity") is not None)
    _CLASS(spec, "spec", errors)
    _MODE(spec, "spec", errors)
    _attributes(spec, "spec", errors)
    annotations = manifest["metadata"].get("annotations") or {}
    if _MOUNT_OPTIONS in annotations and not any(spec.get(each) is not None for each in _MOUNTED):
        errors.forbidden(f"metadata.annotations.{_MOUNT_OPTIONS}", "may not specify mount options for this volume type")


def inline_volume(spec: rules.Object, path: str, errors: Errors) -> None:
    """Validate the inline volume of a VolumeAttachment."""
    for field in ("claimRef", "capacity"):
        errors.forbidden(f"{path}.{field}", f"may not be specified {_INLINE}", when=spec.get(field))
    errors.required(f"{path}.csi", f"has to be specified {_INLINE}", when=spec.get("csi") is None)
    _access_modes(spec, path, "", errors)
    where = f"{path}.persistentVolumeReclaimPolicy"
    if spec.get("persistentVolumeReclaimPolicy") not in (None, "", "Retain"):
        errors.forbidden(where, f"may only be Retain {_INLINE}")
    if spec.get("nodeAffinity") is not None:
        errors.forbidden(f"{path}.nodeAffinity", f"may not be specified {_INLINE}")
    _source(spec, "", path, errors, False)
    errors.forbidden(f"{path}.storageClassName", f"may not be specified {_INLINE}", when=spec.get("storageClassName"))
    if spec.get("volumeMode") not in (None, "Filesystem"):
        errors.forbidden(f"{path}.volumeMode", f"may not specify volumeMode other than Filesystem {_INLINE}")


def _affinity(affinity: rules.Object | None, path: str, errors: Errors) -> None:
    if affinity is None:
        return
    if affinity.get("required") is None:
        errors.required(f"{path}.required", "must specify required node constraints")
    else:
        checks.node_selector(affinity["required"], f"{path}.required", errors)


def _source(spec: rules.Object, name: str, path: str, errors: Errors, placed: bool) -> None:
    """Validate the volume's source; `placed`: the volume has node affinity."""
    found = [source for source in _SOURCES if spec.get(source) is not None]
    _ONE_SOURCE(spec, path, errors)
    if found[:1] == ["iscsi"]:
        portal = spec["iscsi"].get("targetPortal") or ""
        sources.initiator_length(name, spec["iscsi"], f"{path}.iscsi.targetportal", portal, errors)
    if found[:1] == ["local"] and not placed:
        errors.required(f"{path}.nodeAffinity", "Local volume requires node affinity")
    errors.required(path, "must specify a volume type", when=not found)
    root = posixpath.normpath((spec.get("hostPath") or {}).get("path") or ".") in ("/", "//")
    if root and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        errors.forbidden(f"{path}.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")


def _attributes(spec: rules.Object, path: str, errors: Errors) -> None:
    name, where = spec.get("volumeAttributesClassName"), f"{path}.volumeAttributesClassName"
    if name is None:
        return
    errors.required(where, "an empty string is disallowed", when=not name)
    rules.validate_name("volumeAttributesClassName", subdomain_errors)(spec, path, errors)
    if spec.get("csi") is None:
        errors.required(f"{path}.csi", "has to be specified when using volumeAttributesClassName")


def _access_modes(spec: rules.Object, path: str, detail: str, errors: Errors, *between: rules.Rule) -> None:
    """Validate access modes. `between`: rules that kube checks after their presence and before each mode."""
    modes, where = spec.get("accessModes") or (), f"{path}.accessModes"
    errors.required(where, detail, when=not modes)
    rules.obey(between, spec, path, errors)
    errors += [not_supported(where, mode, _MODES) for mode in modes if mode not in _MODES]
    known = [mode for mode in modes if mode in _MODES]
    if _ALONE in known and any(mode != _ALONE for mode in known):
        errors.forbidden(where, f"may not use {_ALONE} with other access modes")


def _capacity(given: rules.Object | None, errors: Errors) -> None:
    capacity = given or {}
    errors.required("spec.capacity", when=not capacity)
    if list(capacity) != ["storage"]:
        shown = {name: checks.quantity_text(capacity[name]) for name in sorted(capacity)}
        errors.not_supported("spec.capacity", None if given is None else shown, ("storage",))
    for name, quantity in capacity.items():
        where = format_key_path("spec.capacity", name)
        if nanos(quantity) < 0:
            errors.invalid(where, value(quantity), "must be a valid resource quantity")
        _positive(quantity, where, errors)


def _positive(quantity: Any, where: str, errors: Errors) -> None:
    errors.invalid(where, checks.quantity_text(quantity), POSITIVE, when=nanos(quantity) <= 0)


def claim(manifest: rules.Object, errors: Errors) -> None:
    spec = dict(manifest.get("spec") or {})
    source, other = spec.get("dataSource"), spec.get("dataSourceRef")
    kinds = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
    if source is not None and other is None and (source.get("apiGroup") or "", source.get("kind")) not in kinds:
        source = None
    spec |= {"dataSource": other if source is None else source, "dataSourceRef": source if other is None else other}
    claim_spec(spec, "spec", errors)


def claim_spec(spec: rules.Object, path: str, errors: Errors) -> None:
    """Validate the spec of a claim or a claim template."""
    _access_modes(spec, path, "at least 1 access mode is required", errors, _selector)
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    where = format_key_path(f"{path}.resources", "storage")
    if not errors.required(where, when=size is None):
        _positive(size, where, errors)
    _CLASS(spec, path, errors)
    _MODE(spec, path, errors)
    source, other = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, given in (("dataSource", source), ("dataSourceRef", other)):
        if given is not None:
            _data_source(given, f"{path}.{field}", errors)
    if other is not None and other.get("namespace"):
        rules.validate_name("namespace", label_errors)(other, f"{path}.dataSourceRef", errors)
        if source is not None:
            errors.invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif source is not None and other is not None and _identity(source) != _identity(other):
        errors.invalid(path, {}, "must match dataSourceRef")
    rules.validate_name("volumeAttributesClassName", subdomain_errors)(spec, path, errors)


def _selector(spec: rules.Object, path: str, errors: Errors) -> None:
    checks.label_selector(spec.get("selector"), f"{path}.selector", errors)


def _data_source(source: rules.Object, path: str, errors: Errors) -> None:
    rules.need("name", "kind")(source, path, errors)
    kind = source.get("kind") or ""
    if not source.get("apiGroup") and kind != "PersistentVolumeClaim":
        errors.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    rules.validate_name("apiGroup", subdomain_errors)(source, path, errors)


def _identity(source: rules.Object) -> tuple[Any, str, str]:
    return source.get("apiGroup"), source.get("kind") or "", source.get("name") or ""


def template_metadata(meta: rules.Object, path: str, errors: Errors) -> None:
    """Validate the metadata of a claim template: labels and annotations, and nothing else."""
    checks.annotation_keys(meta.get("annotations"), f"{path}.annotations", errors)
    checks.labels(meta.get("labels"), f"{path}.labels", errors)
    for name in _META_FIELDS:
        if meta.get(name) not in (None, "", 0):
            errors.forbidden(f"{path}.{'uID' if name == 'uid' else name}", "cannot be set")


_META_FIELDS = (  # in the order of kube's type
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences"),
    *("finalizers", "managedFields"),
)
