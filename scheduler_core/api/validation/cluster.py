"""What the API server checks besides, in worlds whose cluster is modelled: kinds that only their components read, and updates.

Worlds without the cluster do without, so that the sessions made in them are computed again as they were.

kube: pkg/apis/*/validation, pkg/registry/*/strategy.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.api.kinds import Kind
from scheduler_core.api.validation.checks import Errors
from scheduler_core.api.validation.limit_range import limit_range
from scheduler_core.api.validation.objects import semantics
from scheduler_core.api.validation.scheduling import priority_class, priority_class_update
from scheduler_core.objects.errors import FieldError

Manifest = Mapping[str, Any]


def validate(manifest: Manifest, kind: Kind) -> list[FieldError]:
    """All that is wrong with an object of sound structure, after defaulting."""
    errors = semantics(manifest, kind)
    check = _CHECKS.get(kind.key)
    if check is not None:
        check(manifest, errors)
    return errors


def validate_update(old: Manifest, new: Manifest, kind: Kind) -> list[FieldError]:
    """What may not be changed so, besides what is wrong with the object itself."""
    check = _UPDATES.get(kind.key)
    return [] if check is None else check(old, new)


_CHECKS: dict[str, Callable[[Manifest, Errors], None]] = {
    "LimitRange": limit_range,
    "PriorityClass": priority_class,
}
_UPDATES: dict[str, Callable[[Manifest, Manifest], list[FieldError]]] = {
    "PriorityClass": priority_class_update,
}
