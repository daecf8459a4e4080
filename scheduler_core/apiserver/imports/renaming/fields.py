"""What becomes of each field when a cluster is renamed.

Texts that decide nothing go, what Kubernetes itself defines stays, and all else is a name.
"""

from __future__ import annotations

import re

from scheduler_core.apimachinery.objects.names import read_words

KINDS = frozenset(
    read_words("""
    CSIDriver CSINode CSIStorageCapacity ControllerRevision CronJob DaemonSet Deployment DeviceClass DeviceTaintRule
    Job LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodDisruptionBudget PriorityClass
    ReplicaSet ReplicationController ResourceClaim ResourceClaimTemplate ResourceQuota ResourceSlice RuntimeClass
    Service StatefulSet StorageClass VolumeAttachment
""")
)
"""Those that decide something; others are left out of a renamed import."""

DROPPED = frozenset(
    read_words("""
    addresses allocatedResourceStatuses args clusterIP clusterIPs command config configSource containerID
    daemonEndpoints description disruptedPods dnsConfig env envFrom externalIPs externalName hostAliases hostIPs
    hostname imageID imagePullSecrets lastState lifecycle livenessProbe loadBalancer loadBalancerClass
    loadBalancerIP loadBalancerSourceRanges managedFields message mountOptions options nodeInfo parameters podCIDR
    podCIDRs podIP podIPs providerID readinessProbe securityContext selfLink startupProbe subdomain
    terminationMessagePath volumeAttributes volumeDevices volumeMounts
""")
)
"""Texts and addresses that no decision hangs on."""

KEPT = frozenset(
    read_words("""
    attacher attributes completedIndexes distinctAttribute driver expression failedIndexes fieldPath fsType hostIP
    matchAttribute medium provisioner resource resourceVersion schedule schedulerName timeZone
""")
)
"""What stays as it is: what devices are and what is asked of them, software by its name."""

DRIVERS = frozenset(("driver", "attacher", "provisioner", "driverName"))
LABELS = frozenset(("labels", "matchLabels"))
MAYBE_LABELS = frozenset(("selector", "nodeSelector"))
"""Labels in some kinds, and a selector with fields of its own in others."""
QUANTITIES = frozenset(
    read_words("""
    allocatable allocatedResources capacity default defaultRequest hard limits max maxLimitRequestRatio min podFixed
    requests resources used
""")
)
"""Amounts by the name of a resource."""
LABEL_KEYS = frozenset(
    ("conditionType", "finalizers", "key", "matchLabelKeys", "mismatchLabelKeys", "topologyKey", "topologyKeys", "type")
)
AMOUNTS = frozenset(("capacity", "divisor", "maximumVolumeSize", "sizeLimit", "storage", "value"))
"""Fields that are an amount."""
VALUES_KEPT = frozenset(
    (
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
    )
)
"""Labels whose values are anybody's."""
HOSTNAMES = ("kubernetes.io/hostname", "beta.kubernetes.io/hostname")
NODE_ROLES = frozenset(("control-plane", "infra", "ingress", "master", "node", "worker"))

_PLAIN_KEYS = frozenset(
    (
        "controller-revision-hash",
        "controller-uid",
        "foregroundDeletion",
        "job-name",
        "metadata.name",
        "metadata.namespace",
        "orphan",
        "pod-template-generation",
        "pod-template-hash",
    )
)
_PUBLIC = re.compile(
    r"(?:.*\.)?(?:kubernetes\.io|k8s\.io|playground\.dev|nvidia\.com|amd\.com|intel\.com|habana\.ai|google\.com|gke\.io"
    r"|amazonaws\.com|azure\.com|karpenter\.sh)"
)
_FREE_DOMAINS = ("node-restriction.kubernetes.io", "node-role.kubernetes.io")
_TEXTS = re.compile(r".*(?:last-applied-configuration|change-cause|description|limit-ranger)")
_OURS = re.compile(r"(?:.*\.)?(?:kubernetes\.io|k8s\.io|playground\.dev)")
_VOCABULARY = re.compile(r"[A-Z][A-Za-z]*")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_ADDRESS = re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}")
_STORAGE_CLASS = ".storageclass.storage.k8s.io/"


def is_vocabulary(text: str) -> bool:
    """A word of Kubernetes' own, as `NoSchedule`; no name begins with a capital."""
    return bool(_VOCABULARY.fullmatch(text) or _TIME.fullmatch(text))


def is_time(text: str) -> bool:
    return bool(_TIME.fullmatch(text))


def is_address(text: str) -> bool:
    return bool(_ADDRESS.fullmatch(text))


def is_public(key: str) -> bool:
    """Return whether a label key, or another string of that form, is publicly known."""
    if key in _PLAIN_KEYS:
        return True
    domain, slash, name = key.rpartition("/")
    if not slash:
        return False
    if domain in _FREE_DOMAINS:
        return name in NODE_ROLES
    return bool(_PUBLIC.fullmatch(domain)) and _STORAGE_CLASS not in key


def is_own_annotation(key: str) -> bool:
    """Annotations that Kubernetes reads here."""
    domain = key.partition("/")[0]
    return "/" in key and bool(_OURS.fullmatch(domain)) and not _TEXTS.fullmatch(key)


def is_demonstration(key: str) -> bool:
    """Annotations of the playground's own plugin, whose values are its words."""
    return key.startswith("playground.dev/")


def resource_parts(key: str) -> tuple[str, str, str]:
    """Split a resource name into the part before the name, the name, and the part after the name."""
    if _STORAGE_CLASS in key:
        name, _, asked = key.partition(_STORAGE_CLASS)
        return "", name, _STORAGE_CLASS + asked
    if "/" not in key or key.startswith("count/"):
        return key, "", ""
    return ("requests.", key.removeprefix("requests."), "") if key.startswith("requests.") else ("", key, "")
