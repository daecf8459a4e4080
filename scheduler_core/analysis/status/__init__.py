"""Status of schedulers and their surroundings: metrics with their catalogue and history, devices, and components."""

from scheduler_core.analysis.status.devices import (
    CounterUse,
    DeviceState,
    Holder,
    NodeDevices,
    PublishedPool,
    Stock,
    pods_of,
    stock_of,
)
from scheduler_core.analysis.status.disruptions import (
    read_covered,
    read_drains,
    read_planned,
    read_troubles,
    read_zones,
)
from scheduler_core.analysis.status.families import read_families
from scheduler_core.analysis.status.replicas import read_replica, read_replicas
from scheduler_core.analysis.status.surroundings import (
    read_budgets,
    read_controllers,
    read_eviction,
    read_node,
    read_nodes,
    read_rollouts,
)
from scheduler_core.apimachinery.dra.amounts import format_nanos as amount_text
from scheduler_core.apimachinery.dra.claims import ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.slices import Device, PoolId, ResourceSlice
from scheduler_core.apimachinery.dra.taints import DeviceTaintRule
from scheduler_core.scheduler.metrics.catalogue import BY_NAME, FORMER, METRICS, Metric, MetricKind
from scheduler_core.world.scrapes import scrape

__all__ = ["BY_NAME", "FORMER", "METRICS", "CounterUse", "Device", "DeviceClass", "DeviceState", "DeviceTaintRule"]
__all__ += ["Holder", "Metric", "MetricKind", "NodeDevices", "PoolId", "PublishedPool", "ResourceClaim"]
__all__ += ["ResourceSlice", "Stock", "amount_text", "pods_of", "read_budgets", "read_controllers", "read_covered"]
__all__ += ["read_drains", "read_eviction", "read_families", "read_node", "read_nodes", "read_planned"]
__all__ += ["read_replica", "read_replicas", "read_rollouts", "read_troubles", "read_zones", "scrape", "stock_of"]
