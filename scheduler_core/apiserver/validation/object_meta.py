"""What must not be in the metadata of objects of whatever kind, and what of it may not be changed.

kube: apimachinery/pkg/api/validation/objectmeta.go, apis/meta/v1/validation @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, forbidden, invalid
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors
from scheduler_core.apiserver.validation.checks import Errors

IMMUTABLE = "field is immutable"
_OWNERS, _FINALIZERS = "metadata.ownerReferences", "metadata.finalizers"

_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def owners_and_finalizers(meta: Mapping[str, Any], custom: bool = False) -> list[FieldError]:
    """Return the errors in owner references and finalizers.

    `custom`: the object is a custom resource, whose finalizers may have any qualified name.
    """
    errors: Errors = []
    if meta.get("ownerReferences"):
        _owners(meta["ownerReferences"], errors)
    finalizers = meta.get("finalizers") or ()
    for name in finalizers:
        errors += [invalid(_FINALIZERS, name, problem) for problem in list_qualified_name_errors(name)]
    for i, name in enumerate(finalizers):
        if not custom and "/" not in name and name not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid(f"{_FINALIZERS}[{i}]", name, detail))
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(invalid(_FINALIZERS, list(finalizers), detail))
    return errors


def _owners(owners: Sequence[Mapping[str, Any]], errors: Errors) -> None:
    controller = ""
    for owner in owners:
        if not owner.get("apiVersion"):
            errors.append(invalid(f"{_OWNERS}.apiVersion", "", "version must not be empty"))
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                errors.append(invalid(f"{_OWNERS}.{field}", "", "must not be empty"))
        if owner.get("apiVersion") == "v1" and owner.get("kind") == "Event":
            errors.append(invalid(_OWNERS, dict(owner), "/v1, Kind=Event is disallowed from being an owner"))
        if not owner.get("controller"):
            continue
        name = f"{owner.get('kind')}/{owner.get('name')}"
        if controller:
            found = f'Found "true" in references for {controller} and {name}'
            detail = f"Only one reference can have Controller set to true. {found}"
            errors.append(invalid(_OWNERS, [dict(each) for each in owners], detail))
        controller = controller or name


def metadata_update(old: Manifest, new: Manifest) -> list[FieldError]:
    """Return the errors of a metadata change, for any kind."""
    before, after = old["metadata"], new["metadata"]
    errors: Errors = []
    if after.get("uid") and after["uid"] != before.get("uid"):
        errors.append(invalid("metadata.uid", after["uid"], IMMUTABLE))
    if before.get("deletionTimestamp") is not None:
        known = before.get("finalizers") or ()
        added = [each for each in after.get("finalizers") or () if each not in known]
        if added:
            listed = ", ".join(f'"{each}"' for each in added)
            detail = (
                "no new finalizers can be added if the object is being deleted, found new finalizers "
                f"[]string{{{listed}}}"
            )
            errors.append(forbidden("metadata.finalizers", detail))
    return errors
