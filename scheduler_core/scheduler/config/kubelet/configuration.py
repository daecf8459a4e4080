"""The modeled part of a KubeletConfiguration, read from its fields."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from scheduler_core.apimachinery.objects import SECOND, BadQuantity, go_duration, nanos, parse_duration
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.apimachinery.objects.typed import FieldProblem
from scheduler_core.scheduler.config.kubelet.thresholds import DEFAULT_HARD, Threshold, read_thresholds

# The fields of kube's KubeletConfiguration without effect here.
# kube: pkg/kubelet/apis/config/types.go, k8s.io/kubelet/config/v1beta1/types.go @ v1.34.1

_NAMES = """
address allowedUnsafeSysctls apiVersion authentication authorization cgroupDriver cgroupRoot cgroupsPerQOS clusterDNS
clusterDomain configMapAndSecretChangeDetectionStrategy containerLogMaxFiles containerLogMaxSize containerLogMaxWorkers
containerLogMonitorInterval containerRuntimeEndpoint contentType cpuCFSQuota cpuCFSQuotaPeriod cpuManagerPolicyOptions
cpuManagerReconcilePeriod enableContentionProfiling enableControllerAttachDetach enableDebugFlagsHandler
enableDebuggingHandlers enableProfilingHandler enableServer enableSystemLogHandler enableSystemLogQuery eventBurst eventRecordQPS
failCgroupV1 failSwapOn fileCheckFrequency hairpinMode healthzBindAddress healthzPort httpCheckFrequency imageMaximumGCAge
imageMinimumGCAge imagePullCredentialsVerificationPolicy imageServiceEndpoint iptablesDropBit iptablesMasqueradeBit
kernelMemcgNotification kind kubeAPIBurst kubeAPIQPS kubeReservedCgroup kubeletCgroups logging makeIPTablesUtilChains maxOpenFiles
maxParallelImagePulls memorySwap memoryThrottlingFactor nodeStatusMaxImages nodeStatusReportFrequency
oomScoreAdj podCIDR podLogsDir podPidsLimit port preloadedImagesVerificationAllowlist protectKernelDefaults providerID qosReserved
readOnlyPort registerNode registerWithTaints registryBurst registryPullQPS reservedMemory reservedSystemCPUs resolvConf
rotateCertificates runOnce runtimeRequestTimeout seccompDefault serializeImagePulls serverTLSBootstrap showHiddenMetricsForVersion
shutdownGracePeriod shutdownGracePeriodByPodPriority shutdownGracePeriodCriticalPods singleProcessOOMKill staticPodPath
staticPodURL staticPodURLHeader streamingConnectionIdleTimeout syncFrequency systemCgroups systemReservedCgroup tlsCertFile
tlsCipherSuites tlsMinVersion tlsPrivateKeyFile topologyManagerPolicy topologyManagerPolicyOptions topologyManagerScope tracing
userNamespaces volumePluginDir volumeStatsAggPeriod
"""
UNMODELLED = frozenset(_NAMES.split())

T = TypeVar("T")
_ENFORCEMENTS = (
    *("pods", "system-reserved", "system-reserved-compressible", "kube-reserved", "kube-reserved-compressible"),
    *("none",),
)
_RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")


@dataclass(frozen=True, slots=True)
class KubeletConfiguration:
    """Durations in ns; reserved amounts in billionths by resource."""

    max_pods: int = 110
    pods_per_core: int = 0
    kube_reserved: Mapping[str, int] | None = None
    system_reserved: Mapping[str, int] | None = None
    thresholds: tuple[Threshold, ...] = ()
    max_pod_grace: int = 0  # seconds
    transition_period: int = 300 * SECOND
    status_interval: int = 10 * SECOND
    lease_duration: int = 40 * SECOND
    first_pause: int = 10 * SECOND  # of crashing containers
    longest_pause: int = 300 * SECOND
    image_high: int = 85  # per cent of the images' disk
    image_low: int = 80
    local_storage: bool = True  # limits of local storage are enforced
    pinned: tuple[str, ...] = ()  # resources that cannot be resized because of a manager's static policy

    def reserved(self, resource: str) -> int:
        """Return the amount reserved for the system and for kube (billionths)."""
        both = (self.kube_reserved or {}, self.system_reserved or {})
        return sum(reserved.get(resource, 0) for reserved in both)


def read_kubelet(*given: Mapping[str, Any]) -> KubeletConfiguration:
    """Read the fields for all nodes, overridden by those for one node. Raise FieldProblem with kube's error text."""
    return _read(canonical({name: value for fields in given for name, value in fields.items()}))


def without_effect(*given: Mapping[str, Any]) -> list[str]:
    """Return the fields of kube that have no effect here."""
    return sorted({name for fields in given for name in fields if name in UNMODELLED})


@lru_cache(maxsize=256)
def _read(text: str) -> KubeletConfiguration:
    fields = _Fields(json.loads(text))
    hard = fields.texts("evictionHard", None)
    merged = fields.flag("mergeDefaultEvictionSettings")
    if hard is None:
        hard = DEFAULT_HARD
    elif merged:
        hard = {**hard, **{name: value for name, value in DEFAULT_HARD.items() if name not in hard}}
    thresholds = read_thresholds(
        hard,
        fields.texts("evictionSoft", {}) or {},
        fields.texts("evictionSoftGracePeriod", {}) or {},
        fields.texts("evictionMinimumReclaim", {}) or {},
        fields.enforced(),
    )
    first_pause, longest_pause = fields.pauses()
    configuration = KubeletConfiguration(
        max_pods=fields.number("maxPods", 110, "--max-pods") or 110,
        pods_per_core=fields.number("podsPerCore", 0, "--pods-per-core"),
        kube_reserved=fields.reserved("kubeReserved"),
        system_reserved=fields.reserved("systemReserved"),
        thresholds=thresholds,
        max_pod_grace=fields.number("evictionMaxPodGracePeriod", 0, ""),
        transition_period=fields.duration("evictionPressureTransitionPeriod", 300 * SECOND),
        status_interval=fields.duration("nodeStatusUpdateFrequency", 10 * SECOND),
        lease_duration=fields.lease_duration(),
        first_pause=first_pause,
        longest_pause=longest_pause,
        image_high=fields.percentage("imageGCHighThresholdPercent", 85, "--image-gc-high-threshold"),
        image_low=fields.percentage("imageGCLowThresholdPercent", 80, "--image-gc-low-threshold"),
        local_storage=fields.flag("localStorageCapacityIsolation", True),
        pinned=fields.read_pinned(),
    )
    if configuration.image_low >= configuration.image_high:
        why = (
            f"invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) {configuration.image_low} must be less than "
            f"imageGCHighThresholdPercent (--image-gc-high-threshold) {configuration.image_high}"
        )
        raise FieldProblem("imageGCLowThresholdPercent", configuration.image_low, why)
    fields.demand_nothing_else()
    return configuration


class _Fields:
    """The given fields; each is read once."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given
        self._taken: set[str] = set()

    def _take(self, name: str) -> Any:
        self._taken.add(name)
        return self._given.get(name)

    def _check(self, name: str, read: Callable[[Any], T], expected: str) -> T | None:
        """Return the converted value, or None if the field is absent. Raise FieldProblem if `read` fails."""
        given = self._take(name)
        if given is None:
            return None
        try:
            return read(given)
        except (TypeError, ValueError, AttributeError):
            raise FieldProblem(name, given, expected) from None

    def number(self, name: str, default: int, flag: str) -> int:
        found = self._check(name, _whole, "a whole number")
        if found is not None and found < 0:
            named = f"{name} ({flag})" if flag else name
            raise FieldProblem(name, found, f"invalid configuration: {named} {found} must not be a negative number")
        return default if found is None else found

    def percentage(self, name: str, default: int, flag: str) -> int:
        found = self._check(name, _whole, "a whole number")
        if found is not None and not 0 <= found <= 100:
            why = f"invalid configuration: {name} ({flag}) {found} must be between 0 and 100, inclusive"
            raise FieldProblem(name, found, why)
        return default if found is None else found

    def flag(self, name: str, default: bool = False) -> bool:
        found = self._check(name, _truth, "true or false")
        return default if found is None else found

    def texts(self, name: str, default: Mapping[str, str] | None) -> Mapping[str, str] | None:
        found = self._check(name, _texts, "an object whose values are strings")
        return default if found is None else found

    def duration(self, name: str, default: int) -> int:
        """Return a duration in ns. 0 counts as the default, as in kube."""
        found = self._check(name, parse_duration, "a duration such as 10s or 5m")
        if found is not None and found < 0:
            raise FieldProblem(name, self._given[name], "a duration of 0 or more")
        return found or default

    def read_pinned(self) -> tuple[str, ...]:
        """Return the resources whose manager has the policy static."""
        found = []
        for resource, name, policies in (
            ("cpu", "cpuManagerPolicy", ("none", "static")),
            ("memory", "memoryManagerPolicy", ("None", "Static")),
        ):
            given = self._take(name) or policies[0]
            if given not in policies:
                raise FieldProblem(name, given, f'{" or ".join(policies)}: unknown policy: "{given}"')
            found += [resource] if given == policies[1] else []
        return tuple(found)

    def reserved(self, name: str) -> Mapping[str, int] | None:
        texts = self.texts(name, None)
        if texts is None:
            return None
        amounts = {}
        for resource, text in texts.items():
            if resource not in _RESERVABLE:
                raise FieldProblem(name, resource, f'cannot reserve "{resource}" resource')
            try:
                amounts[resource] = nanos(text)
            except BadQuantity:
                why = f'failed to parse quantity "{text}" for "{resource}" resource: quantities must match the regular expression'
                raise FieldProblem(name, text, why) from None
            if amounts[resource] < 0:
                why = f'resource quantity for "{resource}" cannot be negative: {text}'
                raise FieldProblem(name, text, why)
        return amounts

    def enforced(self) -> tuple[str, ...]:
        name = "enforceNodeAllocatable"
        found = self._check(name, _names, "a list of strings")
        for value in found or ():
            if value not in _ENFORCEMENTS:
                why = (
                    f'invalid configuration: option "{value}" specified for enforceNodeAllocatable (--enforce-node-allocatable). '
                    'Valid options are "pods", "system-reserved", "system-reserved-compressible", "kube-reserved", '
                    '"kube-reserved-compressible" or "none"'
                )
                raise FieldProblem(name, value, why)
        return ("pods",) if found is None else found

    def lease_duration(self) -> int:
        found = self._check("nodeLeaseDurationSeconds", _whole, "a whole number")
        if found is not None and found < 0:
            why = "invalid configuration: nodeLeaseDurationSeconds must be greater than 0"
            raise FieldProblem("nodeLeaseDurationSeconds", found, why)
        return (found or 40) * SECOND

    def pauses(self) -> tuple[int, int]:
        """Return the first and the longest backoff (ns) of crashing containers."""
        gates = self._take("featureGates")
        gates = gates if isinstance(gates, dict) else {}
        reduced = gates.get("ReduceDefaultCrashLoopBackOffDecay")
        first, longest = (SECOND, 60 * SECOND) if reduced else (10 * SECOND, 300 * SECOND)
        longest = self._longest_pause(bool(gates.get("KubeletCrashLoopBackOffMax")), longest)
        return min(first, longest), longest

    def _longest_pause(self, enabled: bool, default: int) -> int:
        name = "crashLoopBackOff"
        given = self._take(name)
        text = given.get("maxContainerRestartPeriod") if isinstance(given, dict) else None
        if text is None:
            return default
        try:
            pause = parse_duration(text)
        except (TypeError, ValueError, AttributeError):
            raise FieldProblem(name, given, "a duration such as 60s") from None
        if not enabled:
            why = (
                "invalid configuration: FeatureGate KubeletCrashLoopBackOffMax not enabled, "
                "CrashLoopBackOff.MaxContainerRestartPeriod must not be set"
            )
            raise FieldProblem(name, given, why)
        if not SECOND <= pause <= 300 * SECOND:
            why = (
                f"invalid configuration: CrashLoopBackOff.MaxContainerRestartPeriod (got: {go_duration(pause)}) "
                "must be set between 1s and 300s"
            )
            raise FieldProblem(name, given, why)
        return pause

    def demand_nothing_else(self) -> None:
        """Raise FieldProblem for an unknown field, because kubelets read their configuration strictly."""
        for name, value in self._given.items():
            if name not in self._taken and name not in UNMODELLED:
                raise FieldProblem(name, value, f'strict decoding error: unknown field "{name}"')


def _whole(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError
    return int(given)


def _truth(given: Any) -> bool:
    if not isinstance(given, bool):
        raise TypeError
    return given


def _texts(given: Any) -> dict[str, str]:
    if not all(isinstance(text, str) for text in given.values()):
        raise TypeError
    return dict(given)


def _names(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise TypeError
    return tuple(given)
