"""The plugins: the names of all in-tree plugins, kube's default order with weights, and the plugins' packages.

kube: plugins/names/names.go, apis/config/v1/default_plugins.go, plugins/registry.go @ v1.34.1
"""

from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.framework import Features, Plugin
from scheduler_core.scheduler.plugins.default_binder import DefaultBinder
from scheduler_core.scheduler.plugins.defaultpreemption import DefaultPreemption
from scheduler_core.scheduler.plugins.demonstration import Demonstration
from scheduler_core.scheduler.plugins.dynamicresources.plugin import DynamicResources
from scheduler_core.scheduler.plugins.gangscheduling import GangScheduling
from scheduler_core.scheduler.plugins.image_locality import ImageLocality
from scheduler_core.scheduler.plugins.interpodaffinity.plugin import InterPodAffinity
from scheduler_core.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_core.scheduler.plugins.node_name import NodeName
from scheduler_core.scheduler.plugins.node_ports import NodePorts
from scheduler_core.scheduler.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.scheduler.plugins.nodeaffinity.plugin import NodeAffinity
from scheduler_core.scheduler.plugins.noderesources.balanced_allocation import NodeResourcesBalancedAllocation
from scheduler_core.scheduler.plugins.noderesources.fit import NodeResourcesFit
from scheduler_core.scheduler.plugins.nodevolumelimits import NodeVolumeLimits
from scheduler_core.scheduler.plugins.outoftree.coscheduling import Coscheduling, CoschedulingSort
from scheduler_core.scheduler.plugins.outoftree.node_resources_allocatable import NodeResourcesAllocatable
from scheduler_core.scheduler.plugins.outoftree.target_load_packing import TargetLoadPacking
from scheduler_core.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from scheduler_core.scheduler.plugins.priority_sort import PrioritySort
from scheduler_core.scheduler.plugins.queue_sort_examples import CreationTimeSort, SmallestFirstSort
from scheduler_core.scheduler.plugins.scheduling_gates import SchedulingGates
from scheduler_core.scheduler.plugins.taint_toleration import TaintToleration
from scheduler_core.scheduler.plugins.volume_restrictions import VolumeRestrictions
from scheduler_core.scheduler.plugins.volume_zone import VolumeZone
from scheduler_core.scheduler.plugins.volumebinding.plugin import VolumeBinding

# A plugin of the simulator, for teaching; in no default set.
DEMONSTRATION = "Demonstration"

# Examples of another order of the queue; in no default set.
EXAMPLES = ("CreationTimeSort", "SmallestFirstSort")

# Reimplementations of widely used plugins from other repositories; in no default set.
OUT_OF_TREE = ("Coscheduling", "CoschedulingSort", "TargetLoadPacking", "NodeResourcesAllocatable")

# The plugins in the order of display: kube's, in the order of its default set and newer ones last, then ours.
# plugins/registry.py adds those of installed packages.
ROOMS: tuple[type[Plugin], ...] = (
    SchedulingGates,
    PrioritySort,
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DynamicResources,
    DefaultPreemption,
    NodeResourcesBalancedAllocation,
    ImageLocality,
    DefaultBinder,
    NodeDeclaredFeatures,
    GangScheduling,
    Demonstration,
    CreationTimeSort,
    SmallestFirstSort,
    Coscheduling,
    CoschedulingSort,
    TargetLoadPacking,
    NodeResourcesAllocatable,
)

# Every in-tree plugin; a release may lack the last ones.
_OURS = (DEMONSTRATION, *EXAMPLES, *OUT_OF_TREE)
NAMES: tuple[str, ...] = tuple(plugin.name for plugin in ROOMS if plugin.name not in _OURS)

# kube's default multiPoint set in its order; 0 where no weight is given.
_SINCE_135 = ("NodeDeclaredFeatures", "GangScheduling")
_WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "NodeResourcesFit": 1,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}
DEFAULT_ORDER = tuple((name, _WEIGHTS.get(name, 0)) for name in NAMES if name not in _SINCE_135)


def default_order(features: Features) -> tuple[tuple[str, int], ...]:
    """Return the default multiPoint set of a release as (plugin, weight), including plugins whose feature gate is off."""
    order = dict(DEFAULT_ORDER)
    if Behavior.NODE_NAME_FIRST in features.behaviors:
        order = {name: order[name] for name in ("SchedulingGates", "PrioritySort", "NodeName")} | order
    if Behavior.DEVICES_SCORE in features.behaviors:
        order["DynamicResources"] = 2
    if Behavior.DECLARED_FEATURES in features.behaviors:
        order["NodeDeclaredFeatures"] = 0
    if Behavior.POD_GROUPS in features.behaviors:
        order["GangScheduling"] = 0
    return tuple(order.items())
