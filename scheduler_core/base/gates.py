"""kube's feature gates that the world has as settings, each declared once: by its setting's name, with kube's default in v1.34.

Gates that are locked or whose subject is not modeled are not among them (scheduler_core/scheduler/config/gates.py lists all, and what
their defaults are in other releases).

kube: pkg/features/kube_features.go @ v1.34.1
"""

import msgspec


class ApiGates(msgspec.Struct, frozen=True):
    """The feature gates that decide which fields of an object the API server keeps. The scheduler reads most of them too."""

    dynamic_resources: bool = True  # DynamicResourceAllocation
    dra_admin_access: bool = True  # DRAAdminAccess
    dra_consumable_capacity: bool = False  # DRAConsumableCapacity
    dra_binding_conditions: bool = False  # DRADeviceBindingConditions
    dra_device_taints: bool = False  # DRADeviceTaints
    dra_extended_resource: bool = False  # DRAExtendedResource
    dra_partitionable_devices: bool = False  # DRAPartitionableDevices
    dra_prioritized_list: bool = True  # DRAPrioritizedList
    dra_device_status: bool = True  # DRAResourceClaimDeviceStatus
    toleration_operators: bool = False  # TaintTolerationComparisonOperators, since 1.35
    volume_limit_scaling: bool = False  # VolumeLimitScaling, since 1.35
    pod_level_scaling: bool = False  # InPlacePodLevelResourcesVerticalScaling, since 1.35
    generic_workload: bool = False  # GenericWorkload, since 1.37; without it no PodGroup is served
    topology_aware_scheduling: bool = False  # TopologyAwareWorkloadScheduling, since 1.37
    group_preemption_policy: bool = False  # PodGroupPreemptionPolicy, since 1.37


class FeatureGates(ApiGates, frozen=True):
    """All modeled feature gates."""

    pop_from_backoff: bool = True  # SchedulerPopFromBackoffQ
    async_preemption: bool = True  # SchedulerAsyncPreemption
    async_api_calls: bool = True  # SchedulerAsyncAPICalls
    expect_nominated_node: bool = False  # NominatedNodeNameForExpectation
    observed_generation: bool = True  # PodObservedGenerationTracking
    pod_level_resources: bool = True  # PodLevelResources
    in_place_scaling: bool = True  # InPlacePodVerticalScaling
    spread_label_keys: bool = True  # MatchLabelKeysInPodTopologySpread
    volume_attributes_class: bool = True  # VolumeAttributesClass
    storage_capacity_scoring: bool = False  # StorageCapacityScoring
    dra_filter_timeout: bool = True  # DRASchedulerFilterTimeout
    node_declared_features: bool = False  # NodeDeclaredFeatures, since 1.35
    opportunistic_batching: bool = False  # OpportunisticBatching, since 1.35
