"""Devices as they are now: what drivers publish, and which claims hold what of it. For those who look; the scheduler has its own."""

from __future__ import annotations

from scheduler_core.analysis.status.devices.stock import (
    CounterUse,
    DeviceState,
    Holder,
    NodeDevices,
    PublishedPool,
    Stock,
    pods_of,
    stock_of,
)
from scheduler_core.apimachinery.dra.amounts import format_nanos as amount_text
from scheduler_core.apimachinery.dra.claims import ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.slices import Device, DeviceTaint, PoolId, ResourceSlice
from scheduler_core.apimachinery.dra.taints import DeviceTaintRule

__all__ = ["CounterUse", "Device", "DeviceClass", "DeviceState", "DeviceTaint", "DeviceTaintRule", "Holder"]
__all__ += ["NodeDevices", "PoolId", "PublishedPool", "ResourceClaim", "ResourceSlice", "Stock", "amount_text"]
__all__ += ["pods_of", "stock_of"]
