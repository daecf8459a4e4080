"""The two ways of a rollout: step by step within its bounds, or all old pods first.

kube: pkg/controller/deployment/{rolling,recreate}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.ownership import controller_of
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.controllers.workloads.deployments import bounds
from scheduler_core.controllers.workloads.deployments.bounds import (
    get_desired_replicas,
    get_status_count,
    size,
    total,
    total_of,
)
from scheduler_core.controllers.workloads.deployments.progress import is_complete, sync_rollout_status
from scheduler_core.controllers.workloads.deployments.rollout import Rollout


def roll(rollout: Rollout) -> None:
    """One step of a rolling update: up as far as the surge allows, else down as far as enough pods stay available."""
    rollout.find_new(create=True)
    if not _grow(rollout) and not _shrink(rollout) and is_complete(rollout, rollout.owner.status):
        rollout.clean_up()
    sync_rollout_status(rollout)


def recreate(rollout: Rollout, pods: Sequence[Pod]) -> None:
    """One step of a rollout that begins when no old pod is left; `pods` are all that the Deployment's ReplicaSets have."""
    rollout.find_new(create=False)
    down = [rollout.resize(one, 0, "all old pods go before new ones come") for one in rollout.active_old]
    if not any(down) and not _old_pods(rollout, pods):
        if rollout.new is None:
            rollout.find_new(create=True)
        assert rollout.new is not None
        rollout.resize(rollout.new, get_desired_replicas(rollout.spec), "no old pod is left")
        if is_complete(rollout, rollout.owner.status):
            rollout.clean_up()
    sync_rollout_status(rollout)


def _old_pods(rollout: Rollout, pods: Sequence[Pod]) -> bool:
    """Return whether an old pod has not ended yet; pods being deleted count."""
    if total_of(rollout.old, "replicas") > 0:
        return True
    newest = rollout.new["metadata"].get("uid") if rollout.new is not None else None
    owners = (controller_of(pod.manifest) or {} for pod in pods if not pod.terminal)
    return any(owner.get("uid") != newest for owner in owners)


def _grow(rollout: Rollout) -> bool:
    new = rollout.new
    assert new is not None
    count = get_desired_replicas(rollout.spec)
    if size(new) > count:
        return rollout.resize(new, count, f"{count} pods are wanted")
    if size(new) == count:
        return False
    room = bounds.max_surge(rollout.spec)
    larger = bounds.new_size(rollout.spec, rollout.all, size(new))
    return rollout.resize(new, larger, f"the rollout may have at most {room} too many")


def _shrink(rollout: Rollout) -> bool:
    """Unhealthy pods of old ReplicaSets first, then as many as the new ones that are available make up for."""
    new, old = rollout.new, rollout.active_old
    assert new is not None
    if not old:
        return False
    least = get_desired_replicas(rollout.spec) - bounds.max_unavailable(rollout.spec)
    lacking = size(new) - get_status_count(new, "availableReplicas")
    most = total(rollout.all) - least - lacking
    if most <= 0 or any(size(one) < get_status_count(one, "availableReplicas") for one in old):
        return False  # or a ReplicaSet has still to shrink
    return _drop_unhealthy(rollout, most) + _drop_healthy(rollout, least) > 0


def _drop_unhealthy(rollout: Rollout, most: int) -> int:
    gone = 0
    for one in rollout.active_old:
        sick = size(one) - get_status_count(one, "availableReplicas")
        count = min(most - gone, sick)
        if count > 0:
            rollout.resize(one, size(one) - count, f"{sick} of its pods are not available")
            gone += count
    return gone


def _drop_healthy(rollout: Rollout, least: int) -> int:
    allowed = total_of([*rollout.active_old, rollout.new or {}], "availableReplicas") - least
    lack = bounds.max_unavailable(rollout.spec)
    gone = 0
    for one in rollout.active_old:
        count = min(size(one), allowed - gone)
        if count > 0:
            rollout.resize(one, size(one) - count, f"the rollout may lack at most {lack}")
            gone += count
    return gone
