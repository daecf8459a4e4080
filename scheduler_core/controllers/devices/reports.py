"""What a driver reports of an allocated device: a condition in the claim's status. There are no drivers here: a user speaks for them.

kube: api/resource/v1/types.go (AllocatedDeviceStatus) @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.validation.devices.status import device_key


def results_named(claim: Manifest, device: str) -> list[Manifest]:
    """The allocated devices that are meant: `device` is driver/pool/device, "" for all of them."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or ()
    return [each for each in results if device in ("", "/".join(device_key(each)[:3]))]


def set_device_conditions(
    claim: Manifest, results: list[Manifest], condition: Manifest, timestamp: str
) -> dict[str, Any]:
    """The claim, whose status says so of these devices. The transition time moves only with the condition's status."""
    status = dict(claim.get("status") or {})
    devices = [dict(each) for each in status.get("devices") or ()]
    for result in results:
        entry = next((each for each in devices if device_key(each) == device_key(result)), None)
        if entry is None:
            entry = {name: result[name] for name in ("driver", "pool", "device", "shareID") if name in result}
            devices.append(entry)
        entry["conditions"] = _with(entry.get("conditions") or (), condition, timestamp)
    return {**claim, "status": {**status, "devices": devices}}


def _with(conditions: Any, condition: Manifest, timestamp: str) -> list[Manifest]:
    kept: list[Manifest] = list(conditions)
    fresh = {**condition, "lastTransitionTime": timestamp}
    for index, old in enumerate(kept):
        if old.get("type") == condition["type"]:
            if old.get("status") == condition["status"]:
                fresh["lastTransitionTime"] = old.get("lastTransitionTime") or timestamp
            kept[index] = fresh
            return kept
    return [*kept, fresh]
