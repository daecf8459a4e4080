"""The device taint eviction controller: deletes pods whose devices have a NoExecute taint, at once or when the toleration expires.

It runs with the gate DRADeviceTaints. A pod is deleted at the earliest of its limits; each sync of the pod replaces the plan. Unbound
pods and pods without reserved claims are ignored.

DEVIATION: a refused deletion is not retried four times.

kube: pkg/controller/devicetainteviction/device_taint_eviction.go @ v1.34.1
"""

from collections.abc import Sequence
from typing import NamedTuple

from scheduler_core.apimachinery.dra import taints
from scheduler_core.apimachinery.dra.claims import KIND as CLAIM
from scheduler_core.apimachinery.dra.claims import Allocated, ClaimError, DeviceToleration, ResourceClaim, claim_name
from scheduler_core.apimachinery.dra.classes import KIND as CLASS
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.selectors import CelSelectors
from scheduler_core.apimachinery.dra.slices import KIND as SLICE
from scheduler_core.apimachinery.dra.slices import Device, DeviceTaint, PoolId, ResourceSlice
from scheduler_core.apimachinery.dra.taints import KIND as RULE
from scheduler_core.apimachinery.objects import SECOND, Manifest, Pod, is_owned_by, parse_time
from scheduler_core.apiserver import NORMAL, Refused, WatchEvent
from scheduler_core.apiserver.eviction import DELETION_BY_DEVICE_TAINT_MANAGER, disrupt
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.devices.claims import list_consumers
from scheduler_core.controllers.memory.nodes import PlannedEviction

# The time limit of a pod's devices: NoExecute taints of the allocated devices, and their tolerations.
#
# Only the tolerations in the allocation count; the scheduler of v1.34.1 does not copy a request's tolerations there.
# kube: pkg/controller/devicetainteviction/device_taint_eviction.go (evictionTime, pool),
# dynamic-resource-allocation/resourceslice/tracker/tracker.go @ v1.34.1

NO_EXECUTE = "NoExecute"


class Limit(NamedTuple):
    """The time when a pod must go (virtual ns; may be past), and the reason."""

    at: int
    why: str


def limit_of(world: World, claim: ResourceClaim) -> Limit | None:
    """Return the earliest limit that a taint sets to the use of a claim's devices, or None."""
    limits = [
        limit
        for result in claim.results
        for taint in _taints(world, result)
        if taint.effect == NO_EXECUTE and (limit := _limit(world, result, taint)) is not None
    ]
    return min(limits, default=None, key=lambda limit: limit.at)


def _taints(world: World, result: Allocated) -> Sequence[DeviceTaint]:
    """Return the taints of an allocated device, including those of rules. A device that no longer exists has none."""
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
    """Return the allocated device, or None if the slice does not have it."""
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


MESSAGE = "Device Taint manager: deleting due to NoExecute taint"
EVICTION = "DeviceTaintManagerEviction"
_ALL, _POOL, _POD = "devices", "pool:", "pod:"


class DeviceTaintEviction(Controller):
    """Evicts from tainted devices."""

    name = "device-taint-eviction-controller"
    watches = ("Pod", CLAIM, SLICE, RULE, CLASS)
    of_devices = True

    def on_start(self, world: World) -> None:
        if _runs(world):
            self.enqueue(world, _ALL)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == SLICE:
            world.surroundings.devices.pools.follow(event.name, event.old, event.new)
        if not _runs(world):
            return
        if event.kind == "Pod":
            self._on_pod(world, event)
        elif event.kind == CLAIM:
            self._on_claim(world, event)
        elif event.kind == SLICE:
            if may_evict(event.old) or may_evict(event.new) or world.store.count(RULE):
                spec = (event.new or event.old or {}).get("spec") or {}
                name = (spec.get("pool") or {}).get("name") or ""
                self.enqueue(world, f"{_POOL}{spec.get('driver') or ''}/{name}")
        elif event.kind == RULE or world.store.count(RULE):
            self.enqueue(world, _ALL)

    def _on_pod(self, world: World, event: WatchEvent) -> None:
        old, pod = event.old_pod, event.new_pod
        if pod is None:
            if old is not None and world.surroundings.devices.evictions.pop(old.key, None) is not None:
                self.forget(world, _POD + old.key)
        elif pod.spec.resource_claims and pod.node_name and (old is None or _concerns(old, pod)):
            self.enqueue(world, _POD + pod.key)

    def _on_claim(self, world: World, event: WatchEvent) -> None:
        for manifest in (event.old, event.new):
            if manifest is not None:
                for pod in _users(world, manifest):
                    self.enqueue(world, _POD + pod.key)

    def sync(self, world: World, key: str) -> str:
        if not _runs(world):
            return ""
        if key.startswith(_POD):
            return self._sync_pod(world, key.removeprefix(_POD))
        driver, _, pool = key.removeprefix(_POOL).partition("/")
        texts = []
        for manifest in world.store.list(CLAIM):
            claim = ResourceClaim.of(manifest)
            if key == _ALL or any(result.device[:2] == (driver, pool) for result in claim.results):
                texts += [self._look(world, pod) for pod in _users(world, manifest)]
        return "; ".join(text for text in texts if text)

    def _sync_pod(self, world: World, key: str) -> str:
        pod, plans = world.store.pod_at(key), world.surroundings.devices.evictions
        plan = plans.get(key)
        if pod is None:
            plans.pop(key, None)
            return ""
        if plan is not None and plan.at <= world.now:
            del plans[key]
            return self._evict(world, pod, f"{plan.why}, which has passed")
        return self._look(world, pod)

    def _look(self, world: World, pod: Pod) -> str:
        """Plan a pod's eviction, or cancel it."""
        if not pod.node_name or pod.deleting:
            return ""
        limits = [limit for claim in _claims(world, pod) if (limit := limit_of(world, claim)) is not None]
        return self._plan(world, pod, min(limits, default=None, key=lambda limit: limit.at))

    def _plan(self, world: World, pod: Pod, limit: Limit | None) -> str:
        plans, key = world.surroundings.devices.evictions, _POD + pod.key
        before = plans.get(pod.key)
        if limit is None:
            if before is None:
                return ""
            del plans[pod.key]
            self.forget(world, key)
            self.event(world, NORMAL, EVICTION, "Pod", pod.key, "Cancelling deletion")
            return f"canceled the eviction of {pod.key}: its devices have no such taint any longer"
        if limit.at <= world.now:
            plans.pop(pod.key, None)
            self.forget(world, key)
            return self._evict(world, pod, limit.why)
        if before is not None and before.at == limit.at:
            self.enqueue_at(world, key, limit.at)
            return ""
        plans[pod.key] = PlannedEviction(world.now, limit.at, limit.why)
        self.forget(world, key)
        self.enqueue_at(world, key, limit.at)
        return f"planned the eviction of {pod.key}: {limit.why}"

    def _evict(self, world: World, pod: Pod, why: str) -> str:
        self.event(world, NORMAL, EVICTION, "Pod", pod.key, "Marking for deletion")
        try:
            disrupt(world.api, pod.key, DELETION_BY_DEVICE_TAINT_MANAGER, MESSAGE)
        except Refused as refused:
            return f"could not evict {pod.key}: {refused}"
        return f"evicted {pod.key}: {why}"


def _runs(world: World) -> bool:
    settings = world.settings
    return settings.dynamic_resources and settings.dra_device_taints


def _concerns(old: Pod, new: Pod) -> bool:
    field = "resourceClaimStatuses"
    before, after = ((pod.manifest.get("status") or {}).get(field) for pod in (old, new))
    return old.node_name != new.node_name or before != after


def _users(world: World, claim: Manifest) -> list[Pod]:
    """Return the pods for which a claim is reserved, up to the first that does not exist. kube stops there, too."""
    pods = []
    for ref in list_consumers(claim):
        if ref.get("apiGroup") or ref.get("resource") != "pods":
            continue
        pod = world.store.pod(claim["metadata"].get("namespace") or "", str(ref.get("name") or ""))
        if pod is None or pod.uid != ref.get("uid"):
            break
        pods.append(pod)
    return pods


def _claims(world: World, pod: Pod) -> list[ResourceClaim]:
    """Return the allocated claims of a pod that are reserved for it."""
    found = []
    for entry in pod.spec.resource_claims:
        try:
            name, own = claim_name(pod, entry)
        except ClaimError:
            continue
        manifest = None if name is None else world.store.get(CLAIM, pod.namespace, name)
        if manifest is None or (own and not is_owned_by(manifest, pod)):
            continue
        claim = ResourceClaim.of(manifest)
        if claim.is_allocated and claim.is_reserved_for(pod):
            found.append(claim)
    return found
