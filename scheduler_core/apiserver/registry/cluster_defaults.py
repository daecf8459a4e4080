"""Defaults of kinds that only the components of a cluster read.

kube: pkg/apis/core/v1/defaults.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.apiserver.validation.limit_range import defaulted_limit_range
from scheduler_core.apiserver.validation.storage.defaults import defaulted_claim, defaulted_volume
from scheduler_core.apiserver.workload_defaults import WORKLOADS, defaulted_workload

Manifest = Mapping[str, Any]


def filled_in(manifest: Manifest, kind: str) -> Manifest:
    """Return the object with its defaults; an object that has all of them is returned unchanged."""
    default = _DEFAULTS.get(kind)
    return manifest if default is None else default(manifest)


_DEFAULTS: dict[str, Callable[[Manifest], Manifest]] = {
    "LimitRange": defaulted_limit_range,
    "PersistentVolume": defaulted_volume,
    "PersistentVolumeClaim": defaulted_claim,
    **dict.fromkeys(WORKLOADS, defaulted_workload),
}
