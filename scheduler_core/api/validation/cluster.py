"""What the API server checks besides, in worlds whose cluster is modelled: kinds that only their components read, and updates.

Worlds without the cluster do without, so that the sessions made in them are computed again as they were.

kube: pkg/apis/*/validation, pkg/registry/*/strategy.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.api.kinds import Kind
from scheduler_core.api.validation import volumes, workloads
from scheduler_core.api.validation.budgets import budget, lease, priority_class, runtime_class
from scheduler_core.api.validation.checks import Errors
from scheduler_core.api.validation.containers import containers
from scheduler_core.api.validation.cron_jobs import cron_job
from scheduler_core.api.validation.devices.pods import claim_statuses
from scheduler_core.api.validation.jobs import job
from scheduler_core.api.validation.limit_range import limit_range
from scheduler_core.api.validation.object_meta import metadata_update, owners_and_finalizers, pod_annotations
from scheduler_core.api.validation.objects import semantics
from scheduler_core.api.validation.pod_resize import pod_resize
from scheduler_core.api.validation.pod_update import pod_status_update, pod_update
from scheduler_core.api.validation.quota import resource_quota
from scheduler_core.api.validation.updates import object_update
from scheduler_core.objects.errors import FieldError

Manifest = Mapping[str, Any]


def validate(manifest: Manifest, kind: Kind, devices: bool = False) -> list[FieldError]:
    """All that is wrong with an object of sound structure, after defaulting; objects about devices have more to be looked at.

    `devices`: whether the world has them.
    """
    errors = [
        *semantics(manifest, kind, devices),
        *owners_and_finalizers(manifest["metadata"], "." in kind.key),
    ]
    check = _CHECKS.get(kind.key)
    if check is not None:
        check(manifest, errors)
    if kind.key in _POD_SPECS:
        _containers(manifest, kind.key, errors)
    return errors


def _containers(manifest: Manifest, kind: str, errors: Errors) -> None:
    """Of the pod that an object is, or is to make."""
    where = _POD_SPECS[kind].rpartition("spec")[0]
    pod: Any = manifest
    for name in where.split(".")[:-1]:
        pod = pod.get(name) or {}
    spec = pod.get("spec") or {}
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    errors += pod_annotations(annotations, spec, f"{where}metadata.annotations")
    claims = (manifest.get("spec") or {}).get("volumeClaimTemplates") if kind == "StatefulSet" else ()
    made = [str((claim.get("metadata") or {}).get("name")) for claim in claims or ()]
    containers(spec, _POD_SPECS[kind], errors, made)


def validate_update(old: Manifest, new: Manifest, kind: Kind, subresource: str) -> list[FieldError]:
    """What may not be changed so, besides what is wrong with the object itself."""
    errors = metadata_update(old, new)
    if kind.key == "Pod":
        errors += _POD_UPDATES[subresource](old, new)
        return errors if subresource != "status" else [*errors, *claim_statuses(new)]
    return errors if subresource == "status" else [*errors, *object_update(old, new, kind.key)]


_POD_SPECS = {
    "Pod": "spec",
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"),
        "spec.template.spec",
    ),
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
_POD_UPDATES = {"": pod_update, "status": pod_status_update, "resize": pod_resize}
_CHECKS: dict[str, Callable[[Manifest, Errors], None]] = {
    "LimitRange": limit_range,
    "PriorityClass": priority_class,
    "RuntimeClass": runtime_class,
    "PodDisruptionBudget": budget,
    "Lease": lease,
    "PersistentVolume": volumes.volume,
    "PersistentVolumeClaim": volumes.claim,
    "StorageClass": volumes.storage_class,
    "ResourceQuota": resource_quota,
    "Deployment": workloads.deployment,
    "ReplicaSet": workloads.replica_set,
    "ReplicationController": workloads.replication_controller,
    "StatefulSet": workloads.stateful_set,
    "DaemonSet": workloads.daemon_set,
    "Job": job,
    "CronJob": cron_job,
}
