"""Validation of priority classes, in worlds whose cluster is modelled.

kube: pkg/apis/scheduling/validation/validation.go, pkg/apis/scheduling/v1/helpers.go (IsKnownSystemPriorityClass) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.api.admission.priority import SYSTEM_CLASSES
from scheduler_core.api.validation.checks import Errors
from scheduler_core.objects.errors import forbidden

Manifest = Mapping[str, Any]
_RESERVED = "priority class names with 'system-' prefix are reserved for system use only. error: "


def priority_class(manifest: Manifest, errors: Errors) -> None:
    """A name of the system's is for its own classes, as they are."""
    name = str(manifest["metadata"].get("name") or "")
    if not name.startswith("system-"):
        return
    if name not in SYSTEM_CLASSES:
        problem = f"{name} is not a known system priority class"
    elif int(manifest.get("value") or 0) != SYSTEM_CLASSES[name]:
        problem = f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    elif manifest.get("globalDefault"):
        problem = f"globalDefault of {name} PriorityClass must be false"
    else:
        return
    errors.append(forbidden("metadata.name", _RESERVED + problem))
