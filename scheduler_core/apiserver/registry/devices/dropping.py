"""Fields whose feature gate is off: they are dropped, unless the object had such a field already.

kube: pkg/registry/resource/*/strategy.go (dropDisabledFields), pkg/api/pod/util.go (dropDisabledDynamicResourceAllocationFields)
@ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates
from scheduler_core.apiserver.rewriting import rewrite, without

_CLAIM_FIELDS = {
    "dra_prioritized_list": "spec.devices.requests.*.firstAvailable",
    "dra_admin_access": "spec.devices.requests.*.exactly.adminAccess status.allocation.devices.results.*.adminAccess",
    "dra_device_status": "status.devices",
    "dra_binding_conditions dra_device_status": """
        status.allocation.devices.results.*.bindingConditions status.allocation.devices.results.*.bindingFailureConditions
        status.allocation.allocationTimestamp""",
    "dra_consumable_capacity": """
        spec.devices.requests.*.exactly.capacity spec.devices.requests.*.firstAvailable.*.capacity
        spec.devices.constraints.*.distinctAttribute status.allocation.devices.results.*.shareID
        status.allocation.devices.results.*.consumedCapacity status.devices.*.shareID""",
}
_KEPT = "distinctAttribute"  # kube drops it from a copy
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "Pod": {
        "dynamic_resources": """
            spec.resourceClaims spec.containers.*.resources.claims spec.initContainers.*.resources.claims
            spec.ephemeralContainers.*.resources.claims""",
        "dra_extended_resource": "status.extendedResourceClaimStatus",
    },
    "ResourceClaim": _CLAIM_FIELDS,
    "ResourceClaimTemplate": {
        gates: fields.replace("spec.devices", "spec.spec.devices") for gates, fields in _CLAIM_FIELDS.items()
    },
    "DeviceClass": {"dra_extended_resource": "spec.extendedResourceName"},
    "ResourceSlice": {
        "dra_device_taints": "spec.devices.*.taints",
        "dra_partitionable_devices": """
            spec.devices.*.consumesCounters spec.devices.*.nodeName spec.devices.*.nodeSelector spec.devices.*.allNodes
            spec.sharedCounters spec.perDeviceNodeSelection""",
        "dra_binding_conditions dra_device_status": """
            spec.devices.*.bindingConditions spec.devices.*.bindingFailureConditions spec.devices.*.bindsToNode""",
        "dra_consumable_capacity": "spec.devices.*.allowMultipleAllocations spec.devices.*.capacity.*.requestPolicy",
    },
}
"""The fields of each kind by their gates, all of which have to be on; "*" stands for every entry of a list or a map."""


def without_disabled(kind: str, new: Manifest, old: Manifest | None, gates: DeviceGates) -> Manifest:
    """The new object without the fields of gates that are off. Nothing is changed in place."""
    for names, listed in _FIELDS.get(kind, {}).items():
        if all(getattr(gates, name) for name in names.split()):
            continue
        paths = [path.split(".") for path in listed.split()]
        if any(_uses(new, path) for path in paths) and not any(_uses(old, path) for path in paths):
            for *owner, field in paths:
                if field != _KEPT:
                    new = _drop(new, owner, field)
    return new


def _uses(value: Any, path: Sequence[str]) -> bool:
    if not path or value is None:
        return value not in (None, [])
    if path[0] == "*":
        return any(_uses(each, path[1:]) for each in (value.values() if isinstance(value, Mapping) else value))
    return _uses(value.get(path[0]), path[1:])


def _drop(manifest: Manifest, owner: Sequence[str], field: str) -> Manifest:
    dropped: Manifest = rewrite(manifest, owner, lambda value: without(value, field) if field in value else value)
    return dropped
