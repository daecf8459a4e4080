"""The amounts that objects use of a quota, and the quotas that count them."""

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects import NANO, PREFERRED, REQUIRED, SECOND, Manifest, parse_time
from scheduler_core.apimachinery.objects.demand import BEST_EFFORT, Amount, Amounts, pod_amounts, qos_class
from scheduler_core.apimachinery.objects.resources import CPU, EPHEMERAL_STORAGE, HUGE_PAGES, MEMORY, is_extended_name
from scheduler_core.apiserver.kinds import Kind

# Scopes: the pods and claims that a quota counts.
# kube: pkg/quota/v1/evaluator/core/pods.go (podMatchesScopeFunc), persistent_volume_claims.go (pvcMatchesScopeFunc) @ v1.34.1

Scope = Mapping[str, Any]  # a ScopedResourceSelectorRequirement: scopeName, operator, values


def scopes_of(quota: Manifest) -> list[Scope]:
    """Return all scopes of a quota; spec.scopes are scopes with the operator Exists."""
    spec = quota.get("spec") or {}
    plain = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    return [*plain, *((spec.get("scopeSelector") or {}).get("matchExpressions") or ())]


def in_scope(scope: Scope, kind: Kind, manifest: Manifest) -> bool:
    """Return whether an object is within a scope. Kinds without scopes are in none."""
    if kind.key == "Pod":
        return _pod(scope, manifest)
    if kind.key == "PersistentVolumeClaim" and scope.get("scopeName") == "VolumeAttributesClass":
        spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
        target = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
        names = (spec.get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"), target)
        return _is_scope_match(scope, [name or "" for name in names])
    return False


def format_scopes(scopes: list[Scope]) -> str:
    """Return scopes in kube's format: `[{PriorityClass In [high]}]`."""
    parts = [
        f"{{{each.get('scopeName')} {each.get('operator')} [{' '.join(each.get('values') or ())}]}}" for each in scopes
    ]
    return f"[{' '.join(parts)}]"


def is_terminating(pod: Manifest) -> bool:
    """Return whether a pod has activeDeadlineSeconds, kube's scope Terminating. The pod need not be in deletion."""
    seconds = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


def _pod(scope: Scope, pod: Manifest) -> bool:
    name, spec = scope.get("scopeName"), pod.get("spec") or {}
    if name in ("Terminating", "NotTerminating"):
        return is_terminating(pod) is (name == "Terminating")
    if name in ("BestEffort", "NotBestEffort"):
        known = (pod.get("status") or {}).get("qosClass") or qos_class(spec)
        return (known == BEST_EFFORT) is (name == "BestEffort")
    if name == "PriorityClass":
        return _is_scope_match(scope, [spec.get("priorityClassName") or ""])
    return name == "CrossNamespacePodAffinity" and _crosses_namespaces(spec)


def _is_scope_match(scope: Scope, names: list[str]) -> bool:
    """Return whether the scope selects one of the names; empty names are ignored."""
    given, values = [name for name in names if name], scope.get("values") or ()
    operator = scope.get("operator")
    if operator == "Exists":
        return bool(given)
    if operator == "DoesNotExist":
        return not given
    found = any(name in values for name in given)
    return found if operator == "In" else operator == "NotIn" and not found


def _crosses_namespaces(spec: Manifest) -> bool:
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        preferred = [each.get("podAffinityTerm") or {} for each in terms.get(PREFERRED) or ()]
        for term in (*(terms.get(REQUIRED) or ()), *preferred):
            if term.get("namespaces") or term.get("namespaceSelector") is not None:
                return True
    return False


# An object's usage, by the names of a quota's resources, for each kind.
# kube: pkg/quota/v1/evaluator/core/{pods,services,persistent_volume_claims,resource_claims,registry}.go,
# apiserver/pkg/quota/v1/generic/evaluator.go @ v1.34.1

ONE, NONE = Amount(NANO), Amount(0)
PODS, CLAIMS, STORAGE = "pods", "persistentvolumeclaims", "requests.storage"
SERVICES, NODE_PORTS, LOAD_BALANCERS = "services", "services.nodeports", "services.loadbalancers"
BY_CLASS = ".storageclass.storage.k8s.io/"
DEVICES_BY_CLASS = ".deviceclass.resource.k8s.io/devices"
_MOST_DEVICES = 32  # the count for a request for all devices
COMPUTE = (CPU, MEMORY, EPHEMERAL_STORAGE)
OF_PODS = (PODS, *COMPUTE, *(f"{side}.{name}" for side in ("requests", "limits") for name in COMPUTE))
_ALIASES = {
    "ConfigMap": "configmaps",
    "ResourceQuota": "resourcequotas",
    "ReplicationController": "replicationcontrollers",
    "Secret": "secrets",
}
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def count_name(kind: Kind) -> str:
    """Return the resource that counts objects of a kind: `count/deployments.apps`."""
    return f"count/{kind.resource}"


def matching(kind: Kind, names: Iterable[str]) -> list[str]:
    """Return the resources of a quota that objects of a kind use."""
    return [name for name in names if _matches(kind, name)]


def _matches(kind: Kind, name: str) -> bool:
    if kind.key == "Service" and name in (SERVICES, NODE_PORTS, LOAD_BALANCERS):
        return True
    if name in (count_name(kind), _ALIASES.get(kind.key)):
        return True
    if kind.key == "PersistentVolumeClaim":
        return name in (CLAIMS, STORAGE) or name.endswith((BY_CLASS + CLAIMS, BY_CLASS + STORAGE))
    if kind.key == "ResourceClaim":
        return name.endswith(DEVICES_BY_CLASS)
    if kind.key != "Pod":
        return False
    if name in OF_PODS or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}")):
        return True
    # Extended resources: their names have a prefix that is not one of Kubernetes' own. Their limits have no quota.
    return name.startswith("requests.") and "/" in name and "kubernetes.io/" not in name


def usage(kind: Kind, manifest: Manifest, wall: int) -> Amounts:
    """Return the usage of an object; `wall` is the time in ns since 1970, as overdue pods count only as objects."""
    if kind.key == "Pod":
        return {count_name(kind): ONE, **(_of_pod(manifest) if counts(manifest, wall) else {})}
    if kind.key == "PersistentVolumeClaim":
        return {count_name(kind): ONE, **_of_claim(manifest)}
    if kind.key == "Service":
        return {count_name(kind): ONE, **_of_service(manifest)}
    if kind.key == "ResourceClaim":
        return {count_name(kind): ONE, **_of_device_claim(manifest)}
    alias = _ALIASES.get(kind.key)
    return {count_name(kind): ONE, **({alias: ONE} if alias else {})}


def counts(pod: Manifest, wall: int) -> bool:
    """Return whether a pod uses more than its object count: the pod has not ended and is not overdue."""
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return False
    overdue = overdue_at(pod)
    return overdue is None or wall <= overdue


def overdue_at(pod: Manifest) -> int | None:
    """Return the time after which a terminating pod stops counting, in ns since 1970; None if not terminating."""
    meta = pod["metadata"]
    if meta.get("deletionTimestamp") is None or meta.get("deletionGracePeriodSeconds") is None:
        return None
    # deletionTimestamp includes the grace period already; kube's QuotaV1Pod adds it a second time.
    return int(parse_time(meta["deletionTimestamp"])) + int(meta["deletionGracePeriodSeconds"]) * SECOND


def _of_pod(pod: Manifest) -> Amounts:
    spec, status = pod["spec"], pod.get("status") or {}
    requests = pod_amounts(spec, "requests", overhead=True, status=status)
    limits = pod_amounts(spec, "limits", overhead=True, status=status)
    return {PODS: ONE, **by_quota_names(requests, limits)}


def by_quota_names(requests: Amounts, limits: Amounts) -> Amounts:
    """Return requests and limits by the names that quotas use."""
    used: Amounts = {}
    for name in COMPUTE:
        if name in requests:
            used[name] = used[f"requests.{name}"] = requests[name]
        if name in limits:
            used[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith(HUGE_PAGES):
            used[name] = used[f"requests.{name}"] = amount
        elif is_extended_name(name):
            used[f"requests.{name}"] = amount
    return used


def _of_claim(claim: Manifest) -> Amounts:
    spec = claim.get("spec") or {}
    annotations = claim["metadata"].get("annotations") or {}
    # The annotation takes precedence, even if it is empty (kube: GetPersistentVolumeClaimClass).
    storage_class = annotations.get(_BETA_CLASS, spec.get("storageClassName") or "")
    used = {CLAIMS: ONE}
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is not None:
        used[STORAGE] = _whole(Amount.of(size))
        allocated = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
        if allocated is not None and Amount.of(allocated).nanos > used[STORAGE].nanos:
            used[STORAGE] = _whole(Amount.of(allocated))
    by_class = {f"{storage_class}{BY_CLASS}{name}": amount for name, amount in used.items()}
    return {**used, **(by_class if storage_class else {})}


def _whole(amount: Amount) -> Amount:
    """Round up to whole bytes."""
    return Amount(-(-amount.nanos // NANO) * NANO, amount.binary)


def _of_device_claim(claim: Manifest) -> Amounts:
    """Return devices by class. A request with alternatives counts for each class the most that it may need."""
    used: Amounts = {}
    for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
        alternatives, exactly = request.get("firstAvailable") or (), request.get("exactly")
        most: dict[str, int] = {}
        for part in alternatives or ((exactly,) if exactly is not None else ()):
            name = f"{part.get('deviceClassName') or ''}{DEVICES_BY_CLASS}"
            most[name] = max(most.get(name, 0), _devices(part))
        for name, count in most.items():
            if count or not alternatives:
                used[name] = used.get(name, NONE) + Amount(count * NANO)
    return used


def _devices(request: Manifest) -> int:
    mode = request.get("allocationMode") or "ExactCount"
    # The number is known only after allocation, so kube counts the most that a claim can get.
    if mode == "All":
        return _MOST_DEVICES
    return int(request.get("count") or 1) if mode == "ExactCount" else 0


def _of_service(service: Manifest) -> Amounts:
    spec = service.get("spec") or {}
    ports = spec.get("ports") or ()
    balanced = spec.get("type") == "LoadBalancer"
    counted = len(ports) if balanced or spec.get("type") == "NodePort" else 0
    if balanced and spec.get("allocateLoadBalancerNodePorts") is False:
        counted = sum(bool(port.get("nodePort")) for port in ports)
    return {SERVICES: ONE, NODE_PORTS: Amount(counted * NANO), LOAD_BALANCERS: ONE if balanced else NONE}
