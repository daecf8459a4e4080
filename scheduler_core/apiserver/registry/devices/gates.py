"""The feature gates that decide what the API server keeps of objects about devices.

kube: pkg/features/kube_features.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass

GROUP = "resource.k8s.io"


@dataclass(frozen=True, slots=True)
class DeviceGates:
    """Each is named as the world's setting of the same gate; kube's defaults."""

    dynamic_resources: bool = True  # DynamicResourceAllocation
    dra_admin_access: bool = True
    dra_prioritized_list: bool = True
    dra_device_status: bool = True  # DRAResourceClaimDeviceStatus
    dra_partitionable_devices: bool = False
    dra_device_taints: bool = False
    dra_consumable_capacity: bool = False
    dra_extended_resource: bool = False
    dra_binding_conditions: bool = False  # DRADeviceBindingConditions


DEFAULT_GATES = DeviceGates()
