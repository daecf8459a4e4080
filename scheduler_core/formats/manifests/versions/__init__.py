"""Objects in versions that v1.34 no longer serves, as it would have stored them: with the defaults of their own version, and converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.loading import Loaded
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.formats.manifests.notes import Note, gettext_noop
from scheduler_core.formats.manifests.places import replace_manifest
from scheduler_core.formats.manifests.versions.networking import endpoint_slice, ingress, network_policy
from scheduler_core.formats.manifests.versions.others import autoscaler, binding, budget, runtime_class
from scheduler_core.formats.manifests.versions.workloads import (
    add_template_labels,
    daemon_set_of_extensions,
    deployment_of_apps,
    deployment_of_extensions,
    stateful_set_of_apps,
)

Convert = Callable[[Manifest], Manifest]

OLDER = gettext_noop(
    "%(kind)s in %(old)s is not served by v1.34 any more; read as %(new)s, with the defaults of its own version (%(count)s)."
)


def _same(manifest: Manifest) -> Manifest:
    return manifest


_APPS, _BATCH, _NETWORKING, _STORAGE = "apps/v1", "batch/v1", "networking.k8s.io/v1", "storage.k8s.io/v1"
_RBAC, _SCHEDULING, _NODE = "rbac.authorization.k8s.io/v1", "scheduling.k8s.io/v1", "node.k8s.io/v1"
_ROLES, _BINDINGS = ("Role", "ClusterRole"), ("RoleBinding", "ClusterRoleBinding")
_OF_STORAGE = ("StorageClass", "CSIDriver", "CSINode", "CSIStorageCapacity", "VolumeAttachment")
_OLDER: dict[tuple[str, str], tuple[str, Convert]] = {
    ("extensions/v1beta1", "Deployment"): (_APPS, deployment_of_extensions),
    ("extensions/v1beta1", "DaemonSet"): (_APPS, daemon_set_of_extensions),
    ("extensions/v1beta1", "ReplicaSet"): (_APPS, add_template_labels),
    ("extensions/v1beta1", "Job"): (_BATCH, _same),
    ("extensions/v1beta1", "Ingress"): (_NETWORKING, ingress),
    ("extensions/v1beta1", "NetworkPolicy"): (_NETWORKING, network_policy),
    ("apps/v1beta1", "Deployment"): (_APPS, deployment_of_apps),
    ("apps/v1beta1", "StatefulSet"): (_APPS, stateful_set_of_apps),
    ("apps/v1beta1", "ControllerRevision"): (_APPS, _same),
    **{
        ("apps/v1beta2", kind): (_APPS, _same)
        for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ControllerRevision")
    },
    ("batch/v1beta1", "CronJob"): (_BATCH, _same),
    ("batch/v2alpha1", "CronJob"): (_BATCH, _same),
    ("policy/v1beta1", "PodDisruptionBudget"): ("policy/v1", budget),
    **{(f"{_STORAGE}beta1", kind): (_STORAGE, _same) for kind in _OF_STORAGE},
    **{(f"{_STORAGE}alpha1", kind): (_STORAGE, _same) for kind in _OF_STORAGE},
    (f"{_SCHEDULING}beta1", "PriorityClass"): (_SCHEDULING, _same),
    (f"{_SCHEDULING}alpha1", "PriorityClass"): (_SCHEDULING, _same),
    **{(f"{_RBAC}{stage}1", kind): (_RBAC, _same) for stage in ("alpha", "beta") for kind in _ROLES},
    **{(f"{_RBAC}{stage}1", kind): (_RBAC, binding) for stage in ("alpha", "beta") for kind in _BINDINGS},
    (f"{_NODE}beta1", "RuntimeClass"): (_NODE, _same),
    (f"{_NODE}alpha1", "RuntimeClass"): (_NODE, runtime_class),
    (f"{_NETWORKING}beta1", "Ingress"): (_NETWORKING, ingress),
    (f"{_NETWORKING}beta1", "IngressClass"): (_NETWORKING, _same),
    ("coordination.k8s.io/v1beta1", "Lease"): ("coordination.k8s.io/v1", _same),
    ("discovery.k8s.io/v1beta1", "EndpointSlice"): ("discovery.k8s.io/v1", endpoint_slice),
    ("autoscaling/v2beta1", "HorizontalPodAutoscaler"): ("autoscaling/v2", autoscaler),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler"): ("autoscaling/v2", _same),
}


def upgrade_objects(objects: Sequence[Loaded]) -> tuple[list[Loaded], list[Note]]:
    """Objects with those of older versions as v1.34 would have stored them, and what is said of these."""
    counts: dict[tuple[str, str], int] = {}
    kept = []
    for each in objects:
        older = _older(each.manifest)
        if older is not None:
            counts[older] = counts.get(older, 0) + 1
            each = replace_manifest(each, _convert_manifest(each.manifest, *_OLDER[older]))
        kept.append(each)
    return kept, [
        Note(OLDER, {"kind": kind, "old": old, "new": _OLDER[old, kind][0], "count": f"{count:,}"})
        for (old, kind), count in counts.items()
    ]


def _older(manifest: Any) -> tuple[str, str] | None:
    if not isinstance(manifest, Mapping):
        return None
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    older = (version, kind) if isinstance(version, str) and isinstance(kind, str) else None
    return older if older in _OLDER else None


def _convert_manifest(manifest: Manifest, version: str, convert: Convert) -> Manifest:
    """Convert a manifest; one of an unexpected shape gets only the version, and the API server refuses it."""
    try:
        return {**convert(manifest), "apiVersion": version}
    except (AttributeError, TypeError, ValueError):
        return {**manifest, "apiVersion": version}
