"""The feature gates that plugins and the reading of a configuration ask for; kube's defaults.

kube: plugins/feature/feature.go, pkg/features/kube_features.go @ v1.34.1. Gates that are locked or whose subject is not modelled are not
among them (scheduler_core/scheduler/config/gates.py lists all).
"""

from dataclasses import dataclass

from scheduler_core.base.releases import OLDEST, Behavior, behaviors_of


@dataclass(frozen=True, slots=True)
class Features:
    """Read when a scheduler starts. Each is named as the world's setting of the same gate."""

    pod_level_resources: bool = True  # PodLevelResources
    in_place_scaling: bool = True  # InPlacePodVerticalScaling
    spread_label_keys: bool = True  # MatchLabelKeysInPodTopologySpread
    volume_attributes_class: bool = True  # VolumeAttributesClass
    storage_capacity_scoring: bool = False  # StorageCapacityScoring
    dynamic_resources: bool = True  # DynamicResourceAllocation
    dra_admin_access: bool = True  # DRAAdminAccess
    dra_consumable_capacity: bool = False  # DRAConsumableCapacity
    dra_binding_conditions: bool = False  # DRADeviceBindingConditions
    dra_device_taints: bool = False  # DRADeviceTaints
    dra_extended_resource: bool = False  # DRAExtendedResource
    dra_partitionable_devices: bool = False  # DRAPartitionableDevices
    dra_prioritized_list: bool = True  # DRAPrioritizedList
    dra_device_status: bool = True  # DRAResourceClaimDeviceStatus
    dra_filter_timeout: bool = True  # DRASchedulerFilterTimeout
    node_declared_features: bool = False  # NodeDeclaredFeatures
    toleration_operators: bool = False  # TaintTolerationComparisonOperators
    volume_limit_scaling: bool = False  # VolumeLimitScaling
    pod_level_scaling: bool = False  # InPlacePodLevelResourcesVerticalScaling
    opportunistic_batching: bool = False  # OpportunisticBatching
    generic_workload: bool = False  # GenericWorkload
    topology_aware_scheduling: bool = False  # TopologyAwareWorkloadScheduling
    group_preemption_policy: bool = False  # PodGroupPreemptionPolicy
    behaviors: frozenset[Behavior] = behaviors_of(OLDEST)  # of the release


DEFAULT_FEATURES = Features()
