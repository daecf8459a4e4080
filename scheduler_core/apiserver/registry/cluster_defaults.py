"""Defaults of kinds that only the components of a cluster read.

kube: pkg/apis/core/v1/defaults.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.validation.limit_range import apply_limit_range_defaults
from scheduler_core.apiserver.validation.storage.defaults import apply_claim_defaults, apply_volume_defaults
from scheduler_core.apiserver.workload_defaults import WORKLOADS, apply_workload_defaults


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
