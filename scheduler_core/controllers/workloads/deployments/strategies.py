"""The two strategies: a rolling update within its bounds, and Recreate.

kube: pkg/controller/deployment/{rolling,recreate}.go @ v1.34.1
"""

from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Manifest, Pod, controller_of, parse_time
from scheduler_core.base.clock.agenda import MILLISECOND
from scheduler_core.controllers.workloads.deployments import bounds, conditions
from scheduler_core.controllers.workloads.deployments.rollout import Rollout

# The status of a Deployment, and the progress of its rollout.
# kube: pkg/controller/deployment/{progress,sync}.go @ v1.34.1

Status = dict[str, Any]


def sync_status(rollout: Rollout) -> None:
    """Write the counts, and whether enough pods are available."""
    rollout.write_status(_fields(_numbers(rollout)))


def sync_rollout_status(rollout: Rollout) -> None:
    """Sync the status with the rollout's progress; enqueue a check for the end of its deadline."""
    status = _numbers(rollout)
    given: list[Manifest] = status["conditions"]
    if not conditions.has_deadline(rollout.spec):
        given = conditions.without(given, conditions.PROGRESSING)
    elif not _was_complete(rollout, status):
        given = _update_progressing(rollout, status, given)
    failure = _failure(rollout)
    if failure is None:
        given = conditions.without(given, conditions.FAILURE)
    else:
        given = conditions.with_condition(given, failure)
    status["conditions"] = given
    before = rollout.owner.status
    rollout.write_status(_fields(status))
    if rollout.owner.status == before:
        _look_again(rollout)


def is_complete(rollout: Rollout, status: Manifest) -> bool:
    """Return True if a status reports only new pods, all of them available."""
    count = bounds.get_desired_replicas(rollout.spec)
    return (
        all(int(status.get(field) or 0) == count for field in ("updatedReplicas", "replicas", "availableReplicas"))
        and int(status.get("observedGeneration") or 0) >= rollout.owner.generation
    )


def _numbers(rollout: Rollout) -> Status:
    """Return the status with current counts. kube: calculateStatus"""
    every, new = rollout.all, rollout.new
    available = bounds.total_of(every, "availableReplicas")
    enough = available >= bounds.get_desired_replicas(rollout.spec) - bounds.max_unavailable(rollout.spec)
    says = (
        ("True", conditions.ENOUGH, "Deployment has minimum availability.")
        if enough
        else ("False", conditions.NOT_ENOUGH, "Deployment does not have minimum availability.")
    )
    given = list(rollout.owner.status.get("conditions") or ())
    condition = conditions.condition(conditions.AVAILABLE, *says, rollout.timestamp)
    return {
        "observedGeneration": rollout.owner.generation,
        "replicas": bounds.total_of(every, "replicas"),
        "updatedReplicas": bounds.get_status_count(new, "replicas"),
        "readyReplicas": bounds.total_of(every, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, bounds.total(every) - available),
        "conditions": conditions.with_condition(given, condition),
    }


def _fields(status: Status) -> Status:
    """Return the fields to write, with None for numbers that are 0."""
    return {name: value or None for name, value in status.items()}


def _was_complete(rollout: Rollout, status: Status) -> bool:
    current = conditions.progressing(rollout.owner.status)
    return (
        status["replicas"] == status["updatedReplicas"]
        and current is not None
        and current.get("reason") == conditions.COMPLETE
    )


def _update_progressing(rollout: Rollout, status: Status, given: list[Manifest]) -> list[Manifest]:
    subject = (
        f'Deployment "{rollout.owner.name}"'
        if rollout.new is None
        else f'ReplicaSet "{rollout.new["metadata"]["name"]}"'
    )

    def progress(state: str, reason: str, words: str) -> Manifest:
        return conditions.condition(conditions.PROGRESSING, state, reason, f"{subject} {words}.", rollout.timestamp)

    current = conditions.find_condition(given, conditions.PROGRESSING)
    if is_complete(rollout, status):
        return conditions.with_condition(given, progress("True", conditions.COMPLETE, "has successfully progressed"))
    if _goes_on(rollout.owner.status, status):
        new = progress("True", conditions.UPDATED, "is progressing")
        if current is not None and current.get("status") == "True":
            new = {**new, "lastTransitionTime": current.get("lastTransitionTime")}
        return conditions.with_condition(conditions.without(given, conditions.PROGRESSING), new)
    if _has_timed_out(rollout, current):
        new = progress("False", conditions.TIMED_OUT, "has timed out progressing")
        return conditions.with_condition(given, new)
    return given


def _goes_on(before: Manifest, after: Manifest) -> bool:
    """Return True if there are more new, ready or available pods, or fewer old ones. kube: DeploymentProgressing"""

    def number(status: Manifest, field: str) -> int:
        return int(status.get(field) or 0)

    def old_pods(status: Manifest) -> int:
        return number(status, "replicas") - number(status, "updatedReplicas")

    return old_pods(after) < old_pods(before) or any(
        number(after, field) > number(before, field)
        for field in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )


def _has_timed_out(rollout: Rollout, current: Manifest | None) -> bool:
    if current is None or current.get("reason") == conditions.COMPLETE:
        return False
    if current.get("reason") == conditions.TIMED_OUT:
        return True
    return _deadline(rollout, current) < rollout.world.now


def _deadline(rollout: Rollout, current: Manifest) -> int:
    """Return the virtual time (ns) after which a rollout without progress has failed."""
    since = current.get("lastUpdateTime") or rollout.timestamp
    return parse_time(since) - rollout.world.store.epoch + rollout.owner.number("progressDeadlineSeconds") * SECOND


def _look_again(rollout: Rollout) -> None:
    """Enqueue a timeout check. kube: requeueStuckDeployment. DEVIATION: kube also requeues one that was complete once; it can't time out"""
    current = conditions.progressing(rollout.owner.status)
    if current is None or not conditions.has_deadline(rollout.spec):
        return
    settled = current.get("reason") in (conditions.TIMED_OUT, conditions.COMPLETE)
    if settled or is_complete(rollout, rollout.owner.status):
        return
    at = _deadline(rollout, current)
    soon = at - rollout.world.now < SECOND
    rollout.controller.enqueue_at(rollout.world, rollout.owner.key, at + (MILLISECOND if soon else SECOND))


def _failure(rollout: Rollout) -> Manifest | None:
    """Return the condition of a failure to create or delete pods, the new ReplicaSet's first, or None."""
    for one in (*([] if rollout.new is None else [rollout.new]), *rollout.old):
        failure = conditions.find_condition((one.get("status") or {}).get("conditions") or (), conditions.FAILURE)
        if failure is not None:
            return {**failure, "lastUpdateTime": failure.get("lastTransitionTime")}
    return None


def roll(rollout: Rollout) -> None:
    """Make one step of a rolling update: scale up within the surge, or else down while enough pods stay available."""
    rollout.find_new(create=True)
    if not _grow(rollout) and not _shrink(rollout) and is_complete(rollout, rollout.owner.status):
        rollout.clean_up()
    sync_rollout_status(rollout)


def recreate(rollout: Rollout, pods: Sequence[Pod]) -> None:
    """Make one step of a Recreate: new pods start when no old pod is left. `pods` are all of the Deployment's ReplicaSets."""
    rollout.find_new(create=False)
    down = [rollout.resize(one, 0, "old pods are deleted before new ones are created") for one in rollout.active_old]
    if not any(down) and not _old_pods(rollout, pods):
        if rollout.new is None:
            rollout.find_new(create=True)
        assert rollout.new is not None
        rollout.resize(rollout.new, bounds.get_desired_replicas(rollout.spec), "no old pod is left")
        if is_complete(rollout, rollout.owner.status):
            rollout.clean_up()
    sync_rollout_status(rollout)


def _old_pods(rollout: Rollout, pods: Sequence[Pod]) -> bool:
    """Return whether an old pod has not ended yet; pods being deleted count."""
    if bounds.total_of(rollout.old, "replicas") > 0:
        return True
    newest = rollout.new["metadata"].get("uid") if rollout.new is not None else None
    owners = (controller_of(pod.manifest) or {} for pod in pods if not pod.terminal)
    return any(owner.get("uid") != newest for owner in owners)


def _grow(rollout: Rollout) -> bool:
    new = rollout.new
    assert new is not None
    count = bounds.get_desired_replicas(rollout.spec)
    if bounds.size(new) > count:
        return rollout.resize(new, count, f"{count} pods are desired")
    if bounds.size(new) == count:
        return False
    room = bounds.max_surge(rollout.spec)
    larger = bounds.new_size(rollout.spec, rollout.all, bounds.size(new))
    return rollout.resize(new, larger, f"the rollout may exceed the replicas by at most {room}")


def _shrink(rollout: Rollout) -> bool:
    """Scale down unhealthy old pods first, then as many as available new pods replace. Return whether anything changed."""
    new, old = rollout.new, rollout.active_old
    assert new is not None
    if not old:
        return False
    least = bounds.get_desired_replicas(rollout.spec) - bounds.max_unavailable(rollout.spec)
    lacking = bounds.size(new) - bounds.get_status_count(new, "availableReplicas")
    most = bounds.total(rollout.all) - least - lacking
    if most <= 0 or any(bounds.size(one) < bounds.get_status_count(one, "availableReplicas") for one in old):
        return False  # or a ReplicaSet is still scaling down
    return _drop_unhealthy(rollout, most) + _drop_healthy(rollout, least) > 0


def _drop_unhealthy(rollout: Rollout, most: int) -> int:
    gone = 0
    for one in rollout.active_old:
        sick = bounds.size(one) - bounds.get_status_count(one, "availableReplicas")
        count = min(most - gone, sick)
        if count > 0:
            rollout.resize(one, bounds.size(one) - count, f"{sick} of its pods are not available")
            gone += count
    return gone


def _drop_healthy(rollout: Rollout, least: int) -> int:
    allowed = bounds.total_of([*rollout.active_old, rollout.new or {}], "availableReplicas") - least
    lack = bounds.max_unavailable(rollout.spec)
    gone = 0
    for one in rollout.active_old:
        count = min(bounds.size(one), allowed - gone)
        if count > 0:
            rollout.resize(one, bounds.size(one) - count, f"the rollout may have at most {lack} unavailable")
            gone += count
    return gone
