"""Strategies by kind, besides admission: defaults, and fields that must not change.

kube: pkg/registry/*/strategy.go, apiserver/pkg/registry/rest/{create,update}.go @ v1.34.1
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.demand import qos_class
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.admission import GATED, apply_object_defaults
from scheduler_core.apiserver.admission.plugin import merge_label_keys, uses_label_keys
from scheduler_core.apiserver.kinds import SYSTEM_CLASSES, Kind, namespace_of, reference
from scheduler_core.apiserver.registry.devices.dropping import without_gated
from scheduler_core.apiserver.rewriting import merge_patch, with_condition, with_section
from scheduler_core.apiserver.schema.merging import NO_STRATEGIC, BadPatch, apply_strategic_patch
from scheduler_core.apiserver.schema.table import type_of
from scheduler_core.apiserver.status import Answer, Refused
from scheduler_core.apiserver.status import forbidden as forbidden_answer
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.validation.checks import UpdateRules
from scheduler_core.apiserver.validation.quota import apply_limit_range_defaults
from scheduler_core.apiserver.validation.storage.classes import apply_claim_defaults, apply_volume_defaults
from scheduler_core.apiserver.workload_defaults import WORKLOADS, apply_workload_defaults
from scheduler_core.base.releases import OLDEST, Release

# Rules for namespaces: a finalizer in their spec keeps them until they are empty, and only the subresource finalize changes it.
# kube: pkg/registry/core/namespace/strategy.go @ v1.34.1

FINALIZER = "kubernetes"
FINALIZE = "finalize"


def prepare_new_namespace(manifest: Manifest) -> Manifest:
    """Return a new namespace: active, with the finalizer that keeps it until it is empty."""
    finalizers = list((manifest.get("spec") or {}).get("finalizers") or ())
    if FINALIZER not in finalizers:
        finalizers.append(FINALIZER)
    return {**with_section(manifest, "spec", {"finalizers": finalizers}), "status": {"phase": "Active"}}


def prepare_updated_namespace(old: Manifest, new: Manifest, subresource: str) -> Manifest:
    """Return the namespace to store: an update leaves its end alone, finalize changes nothing else."""
    if subresource == FINALIZE:
        finalizers = list((new.get("spec") or {}).get("finalizers") or ())
        return with_section(old, "spec", {"finalizers": finalizers}) if finalizers else {**old, "spec": {}}
    kept = {"spec": old.get("spec") or {}, "status": old.get("status") or {}}
    return {**new, **{name: value for name, value in kept.items() if value}}


# Names: the namespace of an object, and the names that generateName produces.
# kube: apiserver/pkg/storage/names/generate.go, apimachinery/pkg/util/rand/rand.go @ v1.34.1

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST = 58


def apply_default_namespace(manifest: Manifest, kind: Kind) -> Manifest:
    """Return the manifest with the default namespace if the kind is namespaced and the manifest has none."""
    namespace = namespace_of(kind, manifest)
    meta = manifest.get("metadata") or {}
    if (meta.get("namespace") or "") == namespace:
        return manifest
    return {**manifest, "metadata": {**meta, "namespace": namespace}}


def apply_generated_name(manifest: Manifest, kind: Kind, store: Store) -> Manifest:
    """Return the manifest with a name generated from generateName if it has no name."""
    meta = manifest["metadata"]
    base = meta.get("generateName")
    if meta.get("name") or not base:
        return manifest
    tries = 0
    while True:
        name = base[:_LONGEST] + suffix(f"{kind.key}/{base}/{store.created}/{tries}")
        if store.get(kind.key, meta.get("namespace") or "", name) is None:
            return {**manifest, "metadata": {**meta, "name": name}}
        tries += 1


def suffix(text: str, length: int = 5) -> str:
    """Return letters that depend only on the text. They are from kube's alphabet, which forms no words."""
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)


# Rules for pods: the fields of a new pod that the API server sets, and those that an update of the status may write.
# kube: pkg/registry/core/pod/strategy.go @ v1.34.1


def prepare_new_pod(manifest: Manifest, timestamp: str, imported: bool) -> Manifest:
    """Return a new pod with its initial status. An imported pod keeps its own."""
    spec = manifest["spec"]
    given = dict(manifest.get("status") or {}) if imported else {}
    status: dict[str, Any] = {**given, "phase": given.get("phase") or "Pending"}
    if not status.get("qosClass"):
        status["qosClass"] = qos_class(spec)
    conditions = status.get("conditions") or ()
    if spec.get("schedulingGates") and not any(each.get("type") == "PodScheduled" for each in conditions):
        status = with_condition(status, GATED, timestamp) or status
    return {**manifest, "status": status}


_OF_DEVICES = ("resourceClaimStatuses", "extendedResourceClaimStatus")


def with_status(old: Manifest, new: Manifest, kept: Sequence[str] = ()) -> Manifest:
    """Return the pod that the status subresource writes: with the new metadata, except for the owners. `kept`: fields that stay if the
    client omits them.
    """
    status = dict(new.get("status") or {})
    before = old.get("status") or {}
    status |= {name: before[name] for name in kept if status.get(name) is None and before.get(name) is not None}
    if not status.get("qosClass") and before.get("qosClass"):
        status["qosClass"] = before["qosClass"]
    owners = old["metadata"].get("ownerReferences")
    metadata = {name: value for name, value in new["metadata"].items() if name != "ownerReferences"}
    if owners:
        metadata["ownerReferences"] = owners
    return {**old, "metadata": metadata, "status": status}


def apply_resize(old: Manifest, new: Manifest, rules: UpdateRules) -> Manifest:
    """Return the pod that the resize subresource writes: with new resources. Validation refuses a pod with other containers."""
    spec, given = dict(old["spec"]), new.get("spec") or {}
    fields = ("containers", "initContainers")
    if any(len(spec.get(field) or ()) != len(given.get(field) or ()) for field in fields):
        return new
    if "pod-level-resize" in rules:
        kept = old["spec"].get("resources") if "levels-kept" in rules else None
        spec["resources"] = given.get("resources", kept)
    for field in fields:
        pairs = list(zip(spec.get(field) or (), given.get(field) or (), strict=True))
        if any(ours.get("name") != theirs.get("name") for ours, theirs in pairs):
            spec[field] = given[field]
        elif pairs:
            spec[field] = [_copy_resources(ours, theirs) for ours, theirs in pairs]
    return {**old, "spec": {name: value for name, value in spec.items() if value is not None}}


def _copy_resources(container: Manifest, like: Manifest) -> Manifest:
    taken = {name: like.get(name) for name in ("resources", "resizePolicy")}
    return {name: value for name, value in {**container, **taken}.items() if value is not None}


# Defaults of kinds that only the components of a cluster read.
# kube: pkg/apis/core/v1/defaults.go @ v1.34.1


def apply_kind_defaults(manifest: Manifest, kind: str) -> Manifest:
    """Return the object with its defaults; an object that has all of them is returned unchanged."""
    default = _DEFAULTS.get(kind)
    return manifest if default is None else default(manifest)


_DEFAULTS: dict[str, Callable[[Manifest], Manifest]] = {
    "LimitRange": apply_limit_range_defaults,
    "PersistentVolume": apply_volume_defaults,
    "PersistentVolumeClaim": apply_claim_defaults,
    **dict.fromkeys(WORKLOADS, apply_workload_defaults),
}

_STATUS_OF_CONTROLLERS = (
    *("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob"),
    *("PodDisruptionBudget", "ResourceQuota"),
)
_PENDING_FIRST = ("PersistentVolume", "PersistentVolumeClaim")


def prepare_for_create(kind: Kind, manifest: Manifest, restored: bool = False, release: Release = OLDEST) -> Manifest:
    """Return an object with the defaults of its kind, before admission. `restored`: the object was admitted at its source."""
    if kind.key == "Pod" and uses_label_keys(manifest.get("spec") or {}):
        labels, spec = manifest["metadata"].get("labels") or {}, manifest["spec"]
        known = restored or bool(spec.get("nodeName"))
        manifest = {**manifest, "spec": merge_label_keys(spec, labels, known)}
    return with_defaults(kind, manifest, release)


def with_defaults(kind: Kind, manifest: Manifest, release: Release = OLDEST) -> Manifest:
    """Return an object with the defaults of its kind."""
    return apply_kind_defaults(apply_object_defaults(without_gated(kind.key, manifest, release), kind), kind.key)


def complete(kind: Kind, manifest: Manifest, timestamp: str, imported: bool) -> Manifest:
    """Return the admitted object as it is stored. `imported`: the object exists already, with its status."""
    if kind.key == "Pod":
        return prepare_new_pod(manifest, timestamp, imported)
    if kind.key in _PENDING_FIRST and not imported:
        return {**manifest, "status": {"phase": "Pending"}}
    if kind.key == "Namespace":
        made = prepare_new_namespace(manifest)
        return {**made, "status": {**(manifest.get("status") or {}), **made["status"]}} if imported else made
    if kind.key in _STATUS_OF_CONTROLLERS and not imported and "status" in manifest:
        return {name: value for name, value in manifest.items() if name != "status"}
    return manifest


def refuse_deletion(kind: Kind, name: str) -> None:
    """Raise Refused if the API server does not allow the deletion of an object."""
    if kind.key == "PriorityClass" and name in SYSTEM_CLASSES:
        why = "this is a system priority class and cannot be deleted"
        raise Refused.because(forbidden_answer(kind.resource, name, why), reference(kind.key, "", name))


def prepare_for_update(
    kind: Kind, old: Manifest, new: Manifest, subresource: str, imported: bool, rules: UpdateRules
) -> Manifest:
    """Return the object to store: only the part that the (sub)resource may write changes.

    DEVIATION: an update of a node may write its status too, so that both can be edited at once; so may updates of kinds whose status no
    component writes here.
    """
    if subresource == "status":
        return _with_status(kind, old, new, rules)
    if subresource in ("resize", "ephemeralcontainers") and "managedFields" in new["metadata"]:
        old = with_section(old, "metadata", {"managedFields": new["metadata"]["managedFields"]})
    if subresource == "resize":
        return apply_resize(old, new, rules)
    if subresource == "ephemeralcontainers":
        kept = {name: value for name, value in old["spec"].items() if name != "ephemeralContainers"}
        added = new["spec"].get("ephemeralContainers")
        return {**old, "spec": {**kept, "ephemeralContainers": added} if added else kept}
    if kind.key == "Namespace":
        new = prepare_updated_namespace(old, new, subresource)
    if (kind.key == "Pod" or kind.key in _STATUS_OF_CONTROLLERS) and not imported:
        new = {name: value for name, value in new.items() if name != "status"}
        new |= {"status": old["status"]} if "status" in old else {}
    if kind.key == "Pod" and "levels-kept" in rules and (levels := old["spec"].get("resources")) is not None:
        new = {**new, "spec": {"resources": levels, **new["spec"]}}
    return new


_KEEP_METADATA = ("ResourceClaim", "VolumeAttachment", "ServiceCIDR")


def _with_status(kind: Kind, old: Manifest, new: Manifest, rules: UpdateRules) -> Manifest:
    """Return the object that the status subresource writes, with the metadata that its kind accepts."""
    if kind.key == "Pod":
        return with_status(old, new, _OF_DEVICES if "levels-kept" in rules else ())
    meta, status = dict(new["metadata"]), new.get("status")
    if kind.key in _KEEP_METADATA:
        meta = dict(old["metadata"])
    elif kind.key == "Deployment":
        meta.pop("labels", None)
        meta |= {"labels": old["metadata"]["labels"]} if "labels" in old["metadata"] else {}
    kept = {**old, "metadata": meta}
    return {**kept, "status": status or {}} if status or "status" in old else kept


def apply_patch(kind: Kind, old: Manifest, patch: Any, type_: str) -> Any:
    """Return an object with a patch applied: strategic, or merge (RFC 7396). Raise Refused."""
    if type_ != "strategic":
        return merge_patch(old, patch)
    schema = type_of(kind, str(old.get("apiVersion")))
    what = reference(kind.key, old["metadata"].get("namespace") or "", old["metadata"]["name"])
    if not schema:
        raise Refused.because(Answer("UnsupportedMediaType", NO_STRATEGIC), what)
    if not isinstance(patch, Mapping):
        raise Refused.because(Answer("BadRequest", "the patch is not an object"), what)
    try:
        return apply_strategic_patch(old, patch, schema)
    except BadPatch as bad:
        raise Refused.because(Answer("BadRequest", str(bad)), what) from bad
