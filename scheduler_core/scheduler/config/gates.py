"""kube's feature gates: those that kube-scheduler asks for, and how `--feature-gates=A=true,B=false` is read.

A gate that can be set is a setting of the world (docs/world.md). Others are locked to their default; an attempt to set one of these is
refused in kube's words.

kube: pkg/features/kube_features.go, plugins/feature/feature.go, component-base/featuregate/feature_gate.go @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

# Names of the feature gates that kube-scheduler knows and does not ask for: they change nothing that happens here.
#
# kube: pkg/features/kube_features.go, apiserver/pkg/features/kube_features.go and what they import @ v1.34.1

_LOCKED_ON = """
APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors AuthorizeWithSelectors
BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting ConsistentListFromCache CronJobsScheduledAnnotation
CustomResourceFieldSelectors HonorPVReclaimPolicy JobBackoffLimitPerIndex JobPodReplacementPolicy JobSuccessPolicy
KubeletCgroupDriverFromCRI KubeletTracing LoadBalancerIPMode LogarithmicScaleDown MatchLabelKeysInPodAffinity MemoryManager
MultiCIDRServiceAllocator NFTablesProxyMode NodeSwap OrderedNamespaceDeletion PodIndexLabel PodLifecycleSleepAction
PodLifecycleSleepActionAllowZero PodSchedulingReadiness ProbeHostPodSecurityStandards RecoverVolumeExpansionFailure
RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization
RetryGenerateName SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SizeMemoryBackedVolumes
StatefulSetAutoDeletePVC StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StrictCostEnforcementForVAP
StrictCostEnforcementForWebhooks StructuredAuthenticationConfiguration StructuredAuthorizationConfiguration TopologyAwareHints
WinDSR WinOverlay
"""
_LOCKED_OFF = """
AllowServiceLBStatusOnNonLB WatchFromStorageWithoutResourceVersion
"""
_FREE = """
APIResponseCompression APIServerIdentity APIServingWithRoutine AggregatedDiscoveryRemoveBetaType AllowDNSOnlyNodeCSR
AllowInsecureKubeletCertificateSigningRequests AllowOverwriteTerminationGracePeriodSeconds AllowParsingUserUIDFromCertAuth
AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CSIVolumeHealth
ClearingNominatedNodeNameAfterBinding ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWebhook ClusterTrustBundle
ClusterTrustBundleProjection ComponentFlagz ComponentStatusz ConcurrentWatchObjectDecode ContainerCheckpoint ContainerRestartRules
ContainerStopSignals CoordinatedLeaderElection CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod DeclarativeValidation
DeclarativeValidationTakeover DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency DisableAllocatorDualWrite
DisableCPUQuotaWithExclusiveCPUs DisableNodeKubeProxyVersion EnvFiles EventedPLEG ExecProbeTimeout
ExternalServiceAccountTokenSigner GitRepoVolumeDriver GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority
HPAConfigurableTolerance HPAScaleToZero HostnameOverride ImageMaximumGCAge ImageVolume InOrderInformers
InPlacePodVerticalScalingAllocatedStatus InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
InTreePluginPortworxUnregister InformerResourceVersion JobManagedBy KMSv1 KubeletCrashLoopBackOffMax
KubeletEnsureSecretPulledImages KubeletFineGrainedAuthz KubeletInUserNamespace KubeletPSI KubeletPodResourcesDynamicResources
KubeletPodResourcesGet KubeletPodResourcesListUseActivePods KubeletRegistrationGetOnExistsOnly KubeletSeparateDiskGC
KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LocalStorageCapacityIsolationFSQuotaMonitoring
MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet MemoryQoS MutableCSINodeAllocatableCount
MutatingAdmissionPolicy NodeLogQuery OpenAPIEnums PodAndContainerStatsFromCRI PodCertificateRequest PodDeletionCost
PodLogsQuerySplitStreams PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
PreferSameTrafficDistribution PreventStaticPodAPIReferences ProcMountType QOSReserved ReduceDefaultCrashLoopBackOffDecay
RelaxedServiceNameValidation ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus
RotateKubeletServerCertificate RuntimeClassInImageCriApi SELinuxChangePolicy SELinuxMount SELinuxMountReadWriteOncePod
SeparateCacheWatchRPC ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate StorageNamespaceIndex StorageVersionAPI
StorageVersionHash StorageVersionMigrator StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
SupplementalGroupsPolicy SystemdWatchdog TokenRequestServiceAccountUIDValidation TopologyManagerPolicyAlphaOptions
TopologyManagerPolicyBetaOptions TopologyManagerPolicyOptions TranslateStreamCloseWebsocketRequests
UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UserNamespacesPodSecurityStandards UserNamespacesSupport
WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown
WindowsHostNetwork
"""

LOCKED_ON, LOCKED_OFF = frozenset(_LOCKED_ON.split()), frozenset(_LOCKED_OFF.split())
OTHERS = LOCKED_ON | LOCKED_OFF | frozenset(_FREE.split())

GA, BETA, ALPHA = "GA", "Beta", "Alpha"
ALL_ALPHA, ALL_BETA = "AllAlpha", "AllBeta"
_WHOLE_STAGES = {ALL_ALPHA: ALPHA, ALL_BETA: BETA}
MAX_GATES_TEXT = 10_000


class GateError(ValueError):
    """A gate that can't be so; `problems` say why, one text for each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate. `setting` is the world's setting that it is; "" where it is locked."""

    name: str
    stage: str
    default: bool
    setting: str = ""
    locked: bool = False


GATES: tuple[Gate, ...] = (
    Gate("SchedulerAsyncAPICalls", BETA, True, "async_api_calls"),
    Gate("SchedulerAsyncPreemption", BETA, True, "async_preemption"),
    Gate("SchedulerPopFromBackoffQ", BETA, True, "pop_from_backoff"),
    Gate("NominatedNodeNameForExpectation", ALPHA, False, "expect_nominated_node"),
    Gate("PodObservedGenerationTracking", BETA, True, "observed_generation"),
    Gate("SchedulerQueueingHints", GA, True, locked=True),
    Gate("PodLevelResources", BETA, True, "pod_level_resources"),
    Gate("InPlacePodVerticalScaling", BETA, True, "in_place_scaling"),
    Gate("SidecarContainers", GA, True, locked=True),
    Gate("MatchLabelKeysInPodTopologySpread", BETA, True, "spread_label_keys"),
    Gate("NodeInclusionPolicyInPodTopologySpread", GA, True, locked=True),
    Gate("StorageCapacityScoring", ALPHA, False, "storage_capacity_scoring"),
    Gate("VolumeAttributesClass", GA, True, "volume_attributes_class"),
    Gate("CSIMigrationPortworx", GA, True, locked=True),
    Gate("DynamicResourceAllocation", GA, True, "dynamic_resources"),
    Gate("DRAAdminAccess", BETA, True, "dra_admin_access"),
    Gate("DRAConsumableCapacity", ALPHA, False, "dra_consumable_capacity"),
    Gate("DRADeviceBindingConditions", ALPHA, False, "dra_binding_conditions"),
    Gate("DRADeviceTaints", ALPHA, False, "dra_device_taints"),
    Gate("DRAExtendedResource", ALPHA, False, "dra_extended_resource"),
    Gate("DRAPartitionableDevices", ALPHA, False, "dra_partitionable_devices"),
    Gate("DRAPrioritizedList", BETA, True, "dra_prioritized_list"),
    Gate("DRAResourceClaimDeviceStatus", BETA, True, "dra_device_status"),
    Gate("DRASchedulerFilterTimeout", BETA, True, "dra_filter_timeout"),
)
BY_NAME = {gate.name: gate for gate in GATES}
SETTINGS = {gate.setting: gate for gate in GATES if gate.setting}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The outcome of feature gates: all settings that are gates, and the names of gates without effect here."""

    settings: Mapping[str, bool]
    idle: tuple[str, ...] = ()


def read_gates(text: str) -> Wanted:
    """Parse `A=true,B=false`, with or without `--feature-gates=` before it. Other gates have their defaults. GateError."""
    if len(text) > MAX_GATES_TEXT:
        raise GateError([f"received {len(text)} characters; expected at most {MAX_GATES_TEXT}"])
    gates: dict[str, bool] = {}
    for part in _without_flag(text.strip()).split(","):
        if part:
            name, value = _pair(part)
            gates[name] = value
    return resolve(gates)


def resolve(gates: Mapping[str, bool]) -> Wanted:
    """Resolve gates by name. AllAlpha and AllBeta apply to gates that are not named themselves. GateError."""
    for name in gates:
        if name not in BY_NAME and name not in OTHERS and name not in _WHOLE_STAGES:
            raise GateError([f"unrecognized feature gate: {name}"])
    if problems := [problem for name, on in gates.items() if (problem := _problem(name, on))]:
        raise GateError(problems)
    whole = {_WHOLE_STAGES[name]: on for name, on in gates.items() if name in _WHOLE_STAGES}
    settings = {gate.setting: gates.get(gate.name, whole.get(gate.stage, gate.default)) for gate in SETTINGS.values()}
    return Wanted(settings, tuple(name for name in gates if name in OTHERS))


def format_gates(settings: Mapping[str, object]) -> str:
    """The gates that differ from kube's default, as `--feature-gates` takes them; "" where none does."""
    pairs = {gate.name: settings[gate.setting] for gate in SETTINGS.values()}
    differing = sorted(name for name, on in pairs.items() if on != BY_NAME[name].default)
    return ",".join(f"{name}={str(pairs[name]).lower()}" for name in differing)


def _problem(name: str, on: bool) -> str:
    """Return the reason that a gate can't have this value; "" if it can."""
    gate = BY_NAME.get(name)
    locked = gate.default if gate is not None and gate.locked else _LOCKED.get(name)
    if locked is None or locked == on:
        return ""
    to = str(locked).lower()
    return f"cannot set feature gate {name} to {str(on).lower()}, feature is locked to {to}"


_LOCKED = dict.fromkeys(LOCKED_ON, True) | dict.fromkeys(LOCKED_OFF, False)
_TRUE, _FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


def _without_flag(text: str) -> str:
    for flag in ("--feature-gates=", "--feature-gates "):
        if text.startswith(flag):
            text = text.removeprefix(flag).strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _pair(part: str) -> tuple[str, bool]:
    name, equals, value = (each.strip() for each in part.partition("="))
    if not equals:
        raise GateError([f"missing bool value for {name}"])
    if value not in (*_TRUE, *_FALSE):
        said = f"strconv.ParseBool: parsing {json.dumps(value, ensure_ascii=False)}: invalid syntax"
        raise GateError([f"invalid value of {name}={value}, err: {said}"])
    return name, value in _TRUE
