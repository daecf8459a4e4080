"""Devices as they are now: what drivers publish, and which claims hold what of it. For those who look; the scheduler has its own."""

from __future__ import annotations

from scheduler_core.devices.amounts import format_nanos as amount_text
from scheduler_core.devices.claims import ResourceClaim
from scheduler_core.devices.classes import DeviceClass
from scheduler_core.devices.slices import Device, DeviceTaint, PoolId, ResourceSlice
from scheduler_core.devices.taints import DeviceTaintRule
from scheduler_core.readings.devices.holdings import Holder, pods_of
from scheduler_core.readings.devices.published import PublishedPool
from scheduler_core.readings.devices.stock import CounterUse, DeviceState, NodeDevices, Stock, stock_of

__all__ = [
    "CounterUse",
    "Device",
    "DeviceClass",
    "DeviceState",
    "DeviceTaint",
    "DeviceTaintRule",
    "Holder",
    "NodeDevices",
    "PoolId",
    "PublishedPool",
    "ResourceClaim",
    "ResourceSlice",
    "Stock",
    "amount_text",
    "pods_of",
    "stock_of",
]
