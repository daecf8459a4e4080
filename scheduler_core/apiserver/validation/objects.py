"""Validation: all errors in an object, with their fields, in kube's words.

Validation is the second stage, as in kube: objects that cannot be decoded (schema/reading.py) do not get here, and defaults are filled
in.

kube: pkg/apis/{core,apps,batch,scheduling}/validation @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, names
from scheduler_core.apimachinery.objects.errors import Errors, FieldError, format_key_path
from scheduler_core.apiserver.kinds import Kind
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.network.services import ip_range, two_families
from scheduler_core.apiserver.validation.placement import taints

# Validation of metadata, for objects of all kinds, and of its updates.
# kube: apimachinery/pkg/api/validation/objectmeta.go, apis/meta/v1/validation @ v1.34.1

_OWNERS, _FINALIZERS = "metadata.ownerReferences", "metadata.finalizers"

_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def owners_and_finalizers(meta: Mapping[str, Any], custom: bool = False) -> list[FieldError]:
    """Return the errors in owner references and finalizers.

    `custom`: the object is a custom resource, whose finalizers may have any qualified name.
    """
    errors = Errors()
    if meta.get("ownerReferences"):
        _owners(meta["ownerReferences"], errors)
    finalizers = meta.get("finalizers") or ()
    for name in finalizers:
        errors.problems(_FINALIZERS, name, names.list_qualified_name_errors(name))
    for i, name in enumerate(finalizers):
        if not custom and "/" not in name and name not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            errors.invalid(f"{_FINALIZERS}[{i}]", name, detail)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        errors.invalid(_FINALIZERS, list(finalizers), "finalizer orphan and foregroundDeletion cannot be both set")
    return errors


def _owners(owners: Sequence[Mapping[str, Any]], errors: Errors) -> None:
    controller = ""
    for owner in owners:
        errors.invalid(f"{_OWNERS}.apiVersion", "", "version must not be empty", when=not owner.get("apiVersion"))
        for field in ("kind", "name", "uid"):
            errors.invalid(f"{_OWNERS}.{field}", "", "must not be empty", when=not owner.get(field))
        if owner.get("apiVersion") == "v1" and owner.get("kind") == "Event":
            errors.invalid(_OWNERS, dict(owner), "/v1, Kind=Event is disallowed from being an owner")
        if not owner.get("controller"):
            continue
        name = f"{owner.get('kind')}/{owner.get('name')}"
        if controller:
            found = f'Found "true" in references for {controller} and {name}'
            detail = f"Only one reference can have Controller set to true. {found}"
            errors.invalid(_OWNERS, [dict(each) for each in owners], detail)
        controller = controller or name


def metadata_update(old: Manifest, new: Manifest) -> list[FieldError]:
    """Return the errors of a metadata change, for any kind."""
    before, after = old["metadata"], new["metadata"]
    errors = Errors()
    if after.get("uid") and after["uid"] != before.get("uid"):
        errors.invalid("metadata.uid", after["uid"], checks.IMMUTABLE)
    if before.get("deletionTimestamp") is not None:
        known = before.get("finalizers") or ()
        added = [each for each in after.get("finalizers") or () if each not in known]
        if added:
            listed = ", ".join(f'"{each}"' for each in added)
            errors.forbidden(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new finalizers "
                f"[]string{{{listed}}}",
            )
    return errors


def metadata(manifest: Manifest, kind: Kind, errors: Errors) -> None:
    checks.metadata(manifest, kind.namespaced, _NAME_CHECKS.get(kind.key, names.subdomain_errors), errors)


def node(manifest: Manifest, errors: Errors) -> None:
    # These two paths are kube's own mistake.
    taints((manifest.get("spec") or {}).get("taints") or (), "metadata.taints", errors)
    swap = (((manifest.get("status") or {}).get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    errors.invalid("metadata.nodeSwapStatus.capacity", swap, checks.POSITIVE, when=swap is not None and swap <= 0)
    for side in ("capacity", "allocatable"):
        for name, quantity in ((manifest.get("status") or {}).get(side) or {}).items():
            checks.amount(name, quantity, format_key_path(f"status.{side}", name), errors)
    spec = manifest.get("spec") or {}
    ranges = list(spec.get("podCIDRs") or ())
    if spec.get("podCIDR") and ranges[:1] != [spec["podCIDR"]]:
        ranges = [spec["podCIDR"]]
    for i, text in enumerate(ranges):
        ip_range(text, f"spec.podCIDRs[{i}]", errors)
    if len(ranges) > 2 or (len(ranges) == 2 and not two_families(ranges)):
        errors.invalid("spec.podCIDRs", ranges, "may specify no more than one CIDR for each IP family")


_PATH_SEGMENTS = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "IPAddress")
_NAME_CHECKS = {
    "Namespace": names.label_errors,
    "Service": names.label1035_errors,
    **dict.fromkeys(_PATH_SEGMENTS, names.path_segment_errors),
}
