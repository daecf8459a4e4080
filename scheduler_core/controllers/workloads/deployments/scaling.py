"""A Deployment that is scaled: in the middle of a rollout its ReplicaSets share what comes or goes.

kube: pkg/controller/deployment/sync.go (scale, isScalingEvent) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.controllers.workloads.deployments import bounds
from scheduler_core.controllers.workloads.deployments.bounds import get_desired_replicas, size
from scheduler_core.controllers.workloads.deployments.rollout import Rollout


def was_scaled(rollout: Rollout) -> bool:
    """Return whether the desired number of pods differs from the one recorded on the ReplicaSets."""
    known = (bounds.parse_annotation(one, bounds.DESIRED) for one in rollout.all if size(one) > 0)
    return any(number is not None and number != get_desired_replicas(rollout.spec) for number in known)


def scale(rollout: Rollout) -> None:
    """Brings the ReplicaSets to the number of pods wanted."""
    count = get_desired_replicas(rollout.spec)
    only = _only_one(rollout)
    if only is not None:
        rollout.resize(only, count, f"{count} pods are wanted")
    elif _is_saturated(rollout):
        for one in rollout.active_old:
            rollout.resize(one, 0, "the new pods are all available")
    elif bounds.is_rolling(rollout.spec):
        _share(rollout)


def _only_one(rollout: Rollout) -> Manifest | None:
    """The one ReplicaSet that has pods; where none has, the newest. None: several have.

    kube: FindActiveOrLatest
    """
    active = [one for one in rollout.all if size(one) > 0]
    if len(active) > 1 or not rollout.all:
        return None
    return active[0] if active else rollout.new or rollout.old[-1]


def _is_saturated(rollout: Rollout) -> bool:
    new, count = rollout.new, get_desired_replicas(rollout.spec)
    return (
        new is not None
        and size(new) == count
        and bounds.parse_annotation(new, bounds.DESIRED) == count
        and bounds.get_status_count(new, "availableReplicas") == count
    )


def _share(rollout: Rollout) -> None:
    active = [one for one in rollout.all if size(one) > 0]
    for one, number in shares(active, rollout.spec, rollout.owner.counted("replicas")):
        rollout.scale(one, number, f"its share of {get_desired_replicas(rollout.spec)} pods")


def shares(active: Sequence[Manifest], spec: Manifest, replicas: int) -> list[tuple[Manifest, int]]:
    """Return the new size of each ReplicaSet, the largest first; `replicas`: the number of pods in the Deployment's status.

    Of equal ones the newest gets the remainder, and the oldest loses it.
    """
    allowed = get_desired_replicas(spec) + bounds.max_surge(spec) if get_desired_replicas(spec) > 0 else 0
    to_add = allowed - bounds.total(active)
    ordered = sorted(active, key=_get_creation_order, reverse=to_add > 0)
    ordered.sort(key=size, reverse=True)
    added = 0
    sizes = []
    for one in ordered:
        share = bounds.proportion(one, spec, replicas, to_add, added)
        added += share
        sizes.append(size(one) + share)
    if sizes:
        sizes[0] = max(0, sizes[0] + to_add - added)
    return list(zip(ordered, sizes, strict=True))


def _get_creation_order(replica_set: Manifest) -> tuple[str, str]:
    meta = replica_set["metadata"]
    return meta.get("creationTimestamp") or "", meta["name"]
