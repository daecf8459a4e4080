"""Checks of the API server: objects of every kind, and updates.

kube: pkg/apis/*/validation, pkg/registry/*/strategy.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import Kind
from scheduler_core.apiserver.validation import workloads
from scheduler_core.apiserver.validation.autoscaling import autoscaler
from scheduler_core.apiserver.validation.budgets import budget, lease, priority_class, runtime_class
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.cron_jobs import cron_job
from scheduler_core.apiserver.validation.data import config_map, secret
from scheduler_core.apiserver.validation.devices.pods import claim_statuses
from scheduler_core.apiserver.validation.jobs import job
from scheduler_core.apiserver.validation.limit_range import limit_range
from scheduler_core.apiserver.validation.network.endpoint_slices import endpoint_slice
from scheduler_core.apiserver.validation.network.ingresses import ingress
from scheduler_core.apiserver.validation.network.policies import network_policy
from scheduler_core.apiserver.validation.network.services import service
from scheduler_core.apiserver.validation.object_meta import metadata_update, owners_and_finalizers
from scheduler_core.apiserver.validation.objects import contents, metadata, workload
from scheduler_core.apiserver.validation.pod_resize import pod_resize
from scheduler_core.apiserver.validation.pod_update import pod_status_update, pod_update
from scheduler_core.apiserver.validation.pods.annotations import pod_annotations
from scheduler_core.apiserver.validation.pods.spec import pod
from scheduler_core.apiserver.validation.pods.templates import pod_template
from scheduler_core.apiserver.validation.quota import resource_quota
from scheduler_core.apiserver.validation.storage import classes, persistent
from scheduler_core.apiserver.validation.updates import object_update


def validate(manifest: Manifest, kind: Kind, new: bool = False) -> list[FieldError]:
    """All that is wrong with an object of sound structure, after defaulting; objects about devices have more to be looked at.

    `new`: the object is being made, and not known from elsewhere.
    """
    errors: Errors = []
    metadata(manifest, kind, errors)
    errors += owners_and_finalizers(manifest["metadata"], "." in kind.key)
    if kind.key == "Pod":
        annotations = manifest["metadata"].get("annotations") or {}
        errors += pod_annotations(annotations, manifest.get("spec") or {}, "metadata.annotations")
        pod(manifest, errors, new)
    elif kind.key in _WORKLOADS:
        _WORKLOADS[kind.key](manifest, errors)
    elif kind.key in ("StatefulSet", "ReplicationController"):
        _of_pods(manifest, kind.key, errors)
    else:
        if kind.key not in _WHOLE:
            contents(manifest, kind, errors)
        if (check := _CHECKS.get(kind.key)) is not None:
            check(manifest, errors)
    return errors


def _of_pods(manifest: Manifest, kind: str, errors: Errors) -> None:
    """Workloads whose claims are volumes of their pods, or that the rest of the checks does not know as one."""
    template = (manifest.get("spec") or {}).get("template") or {}
    if kind == "StatefulSet":
        workload(manifest, errors)
        workloads.stateful_set(manifest, errors)
        annotations = (template.get("metadata") or {}).get("annotations") or {}
        errors += pod_annotations(annotations, template.get("spec") or {}, "spec.template.annotations")
    else:
        workloads.replication_controller(manifest, errors)
        pod_template(template, "spec.template", errors)


def validate_update(old: Manifest, new: Manifest, kind: Kind, subresource: str) -> list[FieldError]:
    """Return the errors of a change, except for errors in the new object itself."""
    errors = metadata_update(old, new)
    if kind.key == "Pod":
        errors += _POD_UPDATES[subresource](old, new)
        return errors if subresource != "status" else [*errors, *claim_statuses(new)]
    return errors if subresource == "status" else [*errors, *object_update(old, new, kind.key)]


_POD_UPDATES = {"": pod_update, "status": pod_status_update, "resize": pod_resize}
_WORKLOADS: dict[str, Callable[[Manifest, Errors], None]] = {
    "Deployment": workloads.deployment,
    "ReplicaSet": workloads.replica_set,
    "DaemonSet": workloads.daemon_set,
    "Job": job,
    "CronJob": cron_job,
}
_WHOLE = ("PersistentVolume", "PersistentVolumeClaim", "StorageClass")  # these checks are all there are
_CHECKS: dict[str, Callable[[Manifest, Errors], None]] = {
    "LimitRange": limit_range,
    "PriorityClass": priority_class,
    "RuntimeClass": runtime_class,
    "PodDisruptionBudget": budget,
    "Lease": lease,
    "PersistentVolume": persistent.volume,
    "PersistentVolumeClaim": persistent.claim,
    "StorageClass": classes.storage_class,
    "CSINode": classes.csi_node,
    "CSIDriver": classes.csi_driver,
    "CSIStorageCapacity": classes.csi_storage_capacity,
    "VolumeAttachment": classes.volume_attachment,
    "Service": service,
    "Ingress": ingress,
    "NetworkPolicy": network_policy,
    "EndpointSlice": endpoint_slice,
    "HorizontalPodAutoscaler": autoscaler,
    "ConfigMap": config_map,
    "Secret": secret,
    "ResourceQuota": resource_quota,
}
