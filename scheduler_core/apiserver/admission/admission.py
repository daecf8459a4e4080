"""Defaults: fields that the API server fills in before admission, and that the scheduler reads.

Only fields that decide placement or a pod's life cycle are filled in. Kube's other defaults (dnsPolicy, imagePullPolicy ...) are left out
of pods, so that a user's manifest stays readable. Pod templates get all defaults (object_defaults.py).

kube: pkg/apis/core/v1/defaults.go, pkg/registry/core/pod/strategy.go @ v1.34.1
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.quantity import NANO, format_quantity
from scheduler_core.apimachinery.objects.resources import CPU, HUGE_PAGES, is_pod_level_name, pod_request_nanos
from scheduler_core.apimachinery.objects.spec import DEFAULT_GRACE_SECONDS, DEFAULT_SCHEDULER
from scheduler_core.apiserver.kinds import Kind
from scheduler_core.apiserver.rewriting import fill

# Defaults of a pod's spec. Each function sets fields of a copy at the top level, and replaces, never changes,
# deeper values.
# kube: pkg/apis/core/v1/defaults.go @ v1.34.1

Spec = dict[str, Any]


def apply_pod_spec_defaults(spec: Spec) -> None:
    """Fill in the defaults of a pod's spec, in place; the caller passes a copy."""
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
    """Fill in spec.resources: limits of huge pages, and requests that follow from the containers or from the limits."""
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
    """Default the pod-level limits of huge pages to the containers' sum."""
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


GATED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}


def apply_object_defaults(manifest: Manifest, kind: Kind) -> Manifest:
    """Return an object with the defaults of its kind, without fields that admission plugins set."""
    if kind.key != "Pod":
        default = _DEFAULTS.get(kind.key)
        return manifest if default is None else default(manifest)
    spec = dict(manifest.get("spec") or {})
    apply_pod_spec_defaults(spec)
    status = manifest.get("status") or {}
    if not status.get("phase"):
        status = {**status, "phase": "Pending"}
    if spec.get("schedulingGates") and not status.get("conditions"):
        status = {**status, "conditions": [GATED]}
    return {**manifest, "spec": spec, "status": status}


def _node(manifest: Manifest) -> Manifest:
    status = manifest.get("status") or {}
    if status.get("allocatable") is not None or status.get("capacity") is None:
        return manifest
    return {**manifest, "status": {**status, "allocatable": status["capacity"]}}


def _namespace(manifest: Manifest) -> Manifest:
    meta = manifest["metadata"]
    labels = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta.get("name") or ""}
    return manifest if labels == meta.get("labels") else {**manifest, "metadata": {**meta, "labels": labels}}


def _in_phase(phase: str) -> Callable[[Manifest], Manifest]:
    """Return a function that sets the phase of objects without one."""

    def default(manifest: Manifest) -> Manifest:
        status = manifest.get("status") or {}
        return manifest if status.get("phase") else {**manifest, "status": {**status, "phase": phase}}

    return default


_DEFAULTS: dict[str, Callable[[Manifest], Manifest]] = {
    "Node": _node,
    "Namespace": _namespace,
    "PriorityClass": partial(fill, unset=(None, ""), preemptionPolicy="PreemptLowerPriority"),
    "StorageClass": partial(fill, reclaimPolicy="Delete", volumeBindingMode="Immediate"),
    # kube's controller makes new volumes available a moment later
    "PersistentVolume": _in_phase("Available"),
    "PersistentVolumeClaim": _in_phase("Pending"),
}
