"""Defaulting and admission: what the API server fills in and the scheduler relies on.

An object that has been admitted before passes unchanged. Only what decides placement or the pod's course is
filled in; kube's other defaults (dnsPolicy, imagePullPolicy ...) are left out of pods, so that what a person
wrote stays readable. Pod templates get them all (api/template_defaults.py).

kube: pkg/apis/core/v1/defaults.go, plugin/pkg/admission/{priority,defaulttolerationseconds},
pkg/registry/core/pod/strategy.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.quantity import NANO, format_quantity
from scheduler_core.apimachinery.objects.resources import CPU, HUGE_PAGES, is_pod_level_name, pod_request_nanos
from scheduler_core.apimachinery.objects.spec import DEFAULT_GRACE_SECONDS, DEFAULT_SCHEDULER, canonical
from scheduler_core.apiserver.admission.plugin import merge_label_keys, uses_label_keys
from scheduler_core.apiserver.kinds import Kind, namespace_of

# Priority admission: a pod's priorityClassName becomes its priority and preemption policy.
#
# DEVIATION: a pod that comes with a priority of its own and without a known class keeps it, since a dump of
# pods alone names classes it does not hold.
# kube: plugin/pkg/admission/priority/admission.go @ v1.34.1

SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
PREEMPT = "PreemptLowerPriority"


class PriorityClasses:
    """The classes in force: those of the store and those of the request, by name."""

    def __init__(self, manifests: Iterable[Mapping[str, Any]]) -> None:
        self._values = dict(SYSTEM_CLASSES)
        self._policies: dict[str, str] = {}
        self._default = ""
        for manifest in manifests:
            name = manifest["metadata"]["name"]
            self._values[name] = manifest.get("value") or 0
            self._policies[name] = manifest.get("preemptionPolicy") or PREEMPT
            if manifest.get("globalDefault") and (
                not self._default or self._values[name] < self._values[self._default]
            ):
                self._default = name

    def resolve(self, spec: dict[str, Any]) -> list[FieldError]:
        """Sets priority, class and policy of a spec (a copy); errors where the class is not there or says
        otherwise.
        """
        name, priority = spec.get("priorityClassName") or "", spec.get("priority")
        if not name and priority is None and self._default:
            name = spec["priorityClassName"] = self._default
        if name and name not in self._values:
            if priority is None:
                return [_forbidden("spec.priorityClassName", f"no PriorityClass with name {name} was found")]
        elif name and priority is not None and priority != self._values[name]:
            return [_forbidden("spec.priority", _MISMATCH % (priority, self._values[name]))]
        if priority is None:
            spec["priority"] = self._values.get(name, 0)
        if not spec.get("preemptionPolicy"):
            spec["preemptionPolicy"] = self._policies.get(name, PREEMPT)
        return []


_MISMATCH = (
    "the integer value of priority (%d) must not be provided in pod spec; "
    "priority admission controller computed %d from the given PriorityClass name"
)


def _forbidden(path: str, detail: str) -> FieldError:
    return FieldError(path, "", detail, kind="Forbidden")


# Defaults of a pod's spec. Each function sets fields of a copy at the top and replaces, never changes, what
# lies deeper.
# kube: pkg/apis/core/v1/defaults.go @ v1.34.1

Spec = dict[str, Any]


def apply_pod_spec_defaults(spec: Spec) -> None:
    """Fills in the spec given (a copy)."""
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [_container(raw, bool(spec.get("hostNetwork"))) for raw in spec[field]]
    _pod_level(spec)
    for field, value in (("restartPolicy", "Always"), ("schedulerName", DEFAULT_SCHEDULER)):
        if not spec.get(field):
            spec[field] = value
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = DEFAULT_GRACE_SECONDS


def _container(raw: Mapping[str, Any], host_network: bool) -> Mapping[str, Any]:
    changed: Spec = {}
    resources = raw.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    missing = {name: limit for name, limit in limits.items() if name not in requests}
    if missing:
        changed["resources"] = {**resources, "requests": {**requests, **missing}}
    ports = [_port(port, host_network) for port in raw.get("ports") or ()]
    if ports != (raw.get("ports") or []):
        changed["ports"] = ports
    return {**raw, **changed} if changed else raw


def _port(raw: Mapping[str, Any], host_network: bool) -> Mapping[str, Any]:
    changed: Spec = {}
    if not raw.get("protocol"):
        changed["protocol"] = "TCP"
    if host_network and not raw.get("hostPort") and raw.get("containerPort"):
        changed["hostPort"] = raw["containerPort"]
    return {**raw, **changed} if changed else raw


def _pod_level(spec: Spec) -> None:
    """spec.resources: limits of huge pages and requests that follow from the containers or from the limits."""
    resources = spec.get("resources") or {}
    if not resources.get("limits") and not resources.get("requests"):
        return
    limits = _with_huge_pages(spec, dict(resources.get("limits") or {}), resources.get("requests") or {})
    requests = dict(resources.get("requests") or {})
    if limits:
        containers = pod_request_nanos({**spec, "overhead": None}, pod_level=False, non_missing={})
        for name, amount in containers.items():
            if is_pod_level_name(name) and not name.startswith(HUGE_PAGES):
                requests.setdefault(name, _text(name, amount))
        for name, limit in limits.items():
            if is_pod_level_name(name):
                requests.setdefault(name, limit)
    sides = {"limits": limits, "requests": requests}
    filled = {**resources, **{side: amounts for side, amounts in sides.items() if amounts}}
    if filled != resources:
        spec["resources"] = filled


def _with_huge_pages(spec: Spec, limits: Spec, requests: Mapping[str, Any]) -> Spec:
    """Pod-level limits of huge pages default to the containers' sum."""
    as_requests = {
        field: [
            {**raw, "resources": {"requests": (raw.get("resources") or {}).get("limits") or {}}}
            for raw in spec.get(field) or ()
        ]
        for field in ("containers", "initContainers")
    }
    for name, amount in pod_request_nanos(as_requests, pod_level=False, non_missing={}).items():
        if name.startswith(HUGE_PAGES) and name not in requests:
            limits.setdefault(name, _text(name, amount))
    return limits


def _text(name: str, amount: int) -> str:
    return format_quantity(Fraction(amount, NANO), binary=name != CPU)


_GATED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
_NOT_READY, _UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


class Admission:
    """Admits the objects of one request. Identical pod specs are worked on once and shared."""

    def __init__(self, priorities: PriorityClasses) -> None:
        self._priorities = priorities
        self._specs: dict[str, tuple[Manifest, tuple[FieldError, ...]]] = {}

    def admit(self, manifest: Manifest, kind: Kind) -> tuple[Manifest, tuple[FieldError, ...]]:
        """The object with its defaults, and why it is not let in (empty: it is)."""
        placed = _apply_default_namespace(manifest, kind)
        if kind.key == "Pod":
            return self._pod(placed)
        default = _DEFAULTS.get(kind.key)
        return (placed if default is None else default(placed)), ()

    def _pod(self, manifest: Manifest) -> tuple[Manifest, tuple[FieldError, ...]]:
        spec, errors = self._spec(manifest)
        status = manifest.get("status") or {}
        if not status.get("phase"):
            status = {**status, "phase": "Pending"}
        if spec.get("schedulingGates") and not status.get("conditions"):
            status = {**status, "conditions": [_GATED]}
        if spec is manifest.get("spec") and status is manifest.get("status"):
            return manifest, errors
        return {**manifest, "spec": spec, "status": status}, errors

    def _spec(self, manifest: Manifest) -> tuple[Manifest, tuple[FieldError, ...]]:
        spec = manifest.get("spec") or {}
        if uses_label_keys(spec):
            labels = manifest["metadata"].get("labels") or {}
            return self._admitted(merge_label_keys(spec, labels))
        key = canonical(spec)
        admitted = self._specs.get(key)
        if admitted is None:
            admitted = self._specs[key] = self._admitted(spec)
        return admitted

    def _admitted(self, spec: Manifest) -> tuple[Manifest, tuple[FieldError, ...]]:
        full = dict(spec)
        apply_pod_spec_defaults(full)
        _tolerate_short_outages(full)
        errors = self._priorities.resolve(full)
        return (spec if full == spec else full), tuple(errors)


def apply_object_defaults(manifest: Manifest, kind: Kind) -> Manifest:
    """An object with the defaults of its kind, and nothing that an admission plugin sets."""
    if kind.key != "Pod":
        default = _DEFAULTS.get(kind.key)
        return manifest if default is None else default(manifest)
    spec = dict(manifest.get("spec") or {})
    apply_pod_spec_defaults(spec)
    status = manifest.get("status") or {}
    if not status.get("phase"):
        status = {**status, "phase": "Pending"}
    if spec.get("schedulingGates") and not status.get("conditions"):
        status = {**status, "conditions": [_GATED]}
    return {**manifest, "spec": spec, "status": status}


def _apply_default_namespace(manifest: Manifest, kind: Kind) -> Manifest:
    """Return the manifest with the default namespace if the kind is namespaced and no namespace is given."""
    namespace = namespace_of(kind, manifest)
    meta = manifest.get("metadata") or {}
    if (meta.get("namespace") or "") == namespace:
        return manifest
    return {**manifest, "metadata": {**meta, "namespace": namespace}}


def _tolerate_short_outages(spec: dict[str, Any]) -> None:
    """Five minutes on a node that is not ready or unreachable, where the pod says nothing of it
    (DefaultTolerationSeconds).
    """
    tolerations = spec.get("tolerations") or []
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in (_NOT_READY, _UNREACHABLE)
        if not any(_covers(toleration, key) for toleration in tolerations)
    ]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _covers(toleration: Manifest, key: str) -> bool:
    return (toleration.get("key") or key) == key and toleration.get("effect") in (None, "", "NoExecute")


def _node(manifest: Manifest) -> Manifest:
    status = manifest.get("status") or {}
    if status.get("allocatable") is not None or status.get("capacity") is None:
        return manifest
    return {**manifest, "status": {**status, "allocatable": status["capacity"]}}


def _namespace(manifest: Manifest) -> Manifest:
    meta = manifest["metadata"]
    labels = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta.get("name") or ""}
    return manifest if labels == meta.get("labels") else {**manifest, "metadata": {**meta, "labels": labels}}


def _priority_class(manifest: Manifest) -> Manifest:
    return manifest if manifest.get("preemptionPolicy") else {**manifest, "preemptionPolicy": "PreemptLowerPriority"}


def _storage_class(manifest: Manifest) -> Manifest:
    defaults = {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}
    missing = {name: value for name, value in defaults.items() if manifest.get(name) is None}
    return {**manifest, **missing} if missing else manifest


def _in_phase(phase: str) -> Callable[[Manifest], Manifest]:
    """Sets the phase of objects that come without one."""

    def default(manifest: Manifest) -> Manifest:
        status = manifest.get("status") or {}
        return manifest if status.get("phase") else {**manifest, "status": {**status, "phase": phase}}

    return default


_DEFAULTS: dict[str, Callable[[Manifest], Manifest]] = {
    "Node": _node,
    "Namespace": _namespace,
    "PriorityClass": _priority_class,
    "StorageClass": _storage_class,
    # kube's controller makes new volumes available a moment later
    "PersistentVolume": _in_phase("Available"),
    "PersistentVolumeClaim": _in_phase("Pending"),
}
