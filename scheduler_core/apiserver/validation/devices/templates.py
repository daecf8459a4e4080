"""Templates of claims; and that what claims and templates ask for never changes.

kube: pkg/apis/resource/validation/validation.go, pkg/apis/core/validation/validation.go (ValidateTemplateObjectMeta) @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, forbidden, invalid
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import alike
from scheduler_core.apiserver.validation.devices.claims import claim_spec
from scheduler_core.apiserver.validation.devices.names import Errors
from scheduler_core.apiserver.validation.devices.selectors import Compiling
from scheduler_core.apiserver.validation.devices.slices import as_go_writes

_ALLOWED = ("annotations", "labels")
_UNSET: tuple[Any, ...] = (None, "", 0, [], {})
IMMUTABLE = "field is immutable"


def template(spec: Manifest, compiling: Compiling, errors: Errors) -> None:
    """The spec of a template: labels and annotations of its claims, and what they ask for."""
    meta, where = spec.get("metadata") or {}, "spec.metadata"
    for key in meta.get("annotations") or ():
        problems = list_qualified_name_errors(key.lower())
        errors += [invalid(f"{where}.annotations", key, problem) for problem in problems]
    checks.labels(meta.get("labels"), f"{where}.labels", errors)
    for field, value in meta.items():
        if field not in _ALLOWED and value not in _UNSET:
            errors.append(forbidden(f"{where}.{field}", "cannot be set"))
    claim_spec(spec.get("spec") or {}, "spec.spec", compiling, errors)


def immutable_spec(kind: str, old: Manifest, new: Manifest, errors: Errors) -> None:
    """Says so where the spec of a claim or a template is another."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    if not alike(before, after):
        shown = as_go_writes(after, f"{kind}Spec")
        errors.append(FieldError("spec", shown, IMMUTABLE, kind="Invalid value"))
