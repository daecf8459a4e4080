"""Binding conditions: what a device's driver has to report before a pod may be bound.

kube: plugins/dynamicresources/dynamicresources.go (isClaimReadyForBinding, isClaimTimeout) @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.times import SECOND, parse_time
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of

TIMEOUT = 600 * SECOND


class BindingFailed(Exception):
    """A device can't be bound; the text is kube's."""


def results_of(claim: Manifest) -> list[Manifest]:
    devices = (allocation_of(claim) or {}).get("devices") or {}
    return list(devices.get("results") or ())


def has_conditions(claim: Manifest) -> bool:
    return any(result.get("bindingConditions") for result in results_of(claim))


def ready(claim: Manifest) -> bool:
    """Return whether all binding conditions of all devices are true. Raise BindingFailed if a failure condition is true."""
    if allocation_of(claim) is None:
        return False
    for result in results_of(claim):
        if not result.get("bindingConditions"):
            continue
        reported = _conditions(claim, result)
        if reported is None:
            return False
        for name in result.get("bindingFailureConditions") or ():
            failed = reported.get(name)
            if failed is not None and failed.get("status") == "True":
                said = json.dumps(failed.get("message") or "", ensure_ascii=False)
                why = f"reason={failed.get('reason') or ''}, message={said}"
                raise BindingFailed(f"claim {claim['metadata']['name']} binding failed: {why}")
        if any((reported.get(name) or {}).get("status") != "True" for name in result["bindingConditions"]):
            return False
    return True


def has_timed_out(claim: Manifest, now: int) -> bool:
    """Return whether the allocation exceeds the binding timeout at `now` (ns since 1970)."""
    since = (allocation_of(claim) or {}).get("allocationTimestamp")
    if since is None or not any("bindingConditions" in result for result in results_of(claim)):
        return False
    return parse_time(since) + TIMEOUT < now


def unusable(claim: Manifest, now: int) -> bool:
    """Return whether an allocated claim's binding has failed or timed out."""
    try:
        return not ready(claim) and has_timed_out(claim, now)
    except BindingFailed:
        return True


def _conditions(claim: Manifest, result: Manifest) -> Mapping[str, Any] | None:
    """Return the conditions that the driver reports for a device, by type; None if there are none."""
    for device in (claim.get("status") or {}).get("devices") or ():
        if all(device.get(name) == result.get(name) for name in ("driver", "pool", "device")):
            conditions: dict[str, Any] = {}
            for condition in device.get("conditions") or ():
                conditions.setdefault(condition.get("type") or "", condition)
            return conditions
    return None
