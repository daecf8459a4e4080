"""Until when a pod may use its devices: taints with the effect NoExecute of what its claims were given, and tolerations of these.

Tolerations are those that the allocation carries; the scheduler of v1.34.1 does not copy a request's tolerations there.

kube: pkg/controller/devicetainteviction/device_taint_eviction.go (evictionTime, pool),
dynamic-resource-allocation/resourceslice/tracker/tracker.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scheduler_core.apimachinery.dra import taints
from scheduler_core.apimachinery.dra.claims import Allocated, DeviceToleration, ResourceClaim
from scheduler_core.apimachinery.dra.classes import KIND as CLASS
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.selectors import CelSelectors
from scheduler_core.apimachinery.dra.slices import Device, DeviceTaint, PoolId, ResourceSlice
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.times import SECOND, parse_time
from scheduler_core.controllers.contract import World

NO_EXECUTE = "NoExecute"


class Limit(NamedTuple):
    """The time when a pod must go (virtual ns; may be past), and the reason."""

    at: int
    why: str


def limit_of(world: World, claim: ResourceClaim) -> Limit | None:
    """The earliest end that a taint sets to the use of a claim's devices; None where none does."""
    limits = [
        limit
        for result in claim.results
        for taint in _taints(world, result)
        if taint.effect == NO_EXECUTE and (limit := _limit(world, result, taint)) is not None
    ]
    return min(limits, default=None, key=lambda limit: limit.at)


def _taints(world: World, result: Allocated) -> Sequence[DeviceTaint]:
    """The taints of an allocated device, those of rules included; of devices that are not there any more none."""
    slices = world.surroundings.devices.pools.of(world.store, PoolId(*result.device[:2]))
    newest = max((each.generation for each in slices), default=0)
    current = (each for each in slices if each.generation == newest)
    publishing = next((each for each in current if _device(each, result) is not None), None)
    if publishing is None:
        return ()
    rules = world.store.list(taints.KIND)
    classes = {each.name: each for each in map(DeviceClass.of, world.store.list(CLASS) if rules else ())}
    [tainted] = taints.track_slices([publishing.manifest], rules, classes, CelSelectors())
    device = _device(tainted, result)
    return device.taints if device is not None else ()


def _device(resource_slice: ResourceSlice, result: Allocated) -> Device | None:
    """The allocated device, if the slice has it."""
    return next((each for each in resource_slice.devices if each.name == result.device.device), None)


def _limit(world: World, result: Allocated, taint: DeviceTaint) -> Limit | None:
    """Return the limit that one taint sets on a device's use; None if tolerated forever."""
    added = parse_time(taint.time_added) - world.store.epoch
    said = f"device {result.device} has the taint {taint.key}={taint.value}:{taint.effect}"
    shortest: int | None = None
    for raw in result.manifest.get("tolerations") or ():
        if raw.get("effect") != NO_EXECUTE or not DeviceToleration.of(raw).tolerates(taint):
            continue
        if raw.get("tolerationSeconds") is None:
            return None
        seconds = max(int(raw["tolerationSeconds"]), 0)
        shortest = seconds if shortest is None else min(shortest, seconds)
    if shortest is None:
        return Limit(added, f"{said}, which the claim does not tolerate")
    return Limit(added + shortest * SECOND, f"{said}, which the claim tolerates for {shortest} s")


def may_evict(manifest: Manifest | None) -> bool:
    """Return whether a slice has a device with a NoExecute taint."""
    return any(
        taint.get("effect") == NO_EXECUTE
        for device in ((manifest or {}).get("spec") or {}).get("devices") or ()
        for taint in device.get("taints") or ()
    )
