"""StatefulSets: pods created and deleted in the order of their ordinals, with revisions of the template.

The gate MaxUnavailableStatefulSet is off, as it is by default.

kube: pkg/controller/statefulset/{stateful_set,stateful_set_control}.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apiserver.status import Refused
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads import history
from scheduler_core.controllers.workloads.owners import Owner, claim_pods
from scheduler_core.controllers.workloads.pods import is_available
from scheduler_core.controllers.workloads.statefulsets import claims, identity
from scheduler_core.controllers.workloads.statefulsets.identity import revision_of
from scheduler_core.controllers.workloads.statefulsets.replicas import Pods
from scheduler_core.controllers.workloads.watching import WorkloadController

# The status of a StatefulSet.
# kube: pkg/controller/statefulset/stateful_set_control.go (computeReplicaStatus) @ v1.34.1


def stateful_status(
    world: World, owner: Owner, pods: Sequence[Pod], current: Mapping[str, Any], revisions: history.Revisions
) -> dict[str, Any]:
    """Build the status fields, counted from the existing pods."""
    now, update = history.name_of(current), history.name_of(revisions.update)
    running = [pod for pod in pods if pod.phase == "Running" and pod.ready]
    staying = [revision_of(pod) for pod in pods if not pod.deleting]
    return {
        "observedGeneration": owner.generation or None,
        "replicas": len(pods),
        "readyReplicas": len(running) or None,
        "currentReplicas": staying.count(now) or None,
        "updatedReplicas": staying.count(update) or None,
        "currentRevision": now,
        "updateRevision": update,
        "collisionCount": revisions.collisions,
        "availableReplicas": sum(is_available(world, pod, owner.number("minReadySeconds")) for pod in running),
    }


class StatefulSetController(WorkloadController):
    """Keeps a StatefulSet's pods."""

    name = "statefulset-controller"
    kind = "StatefulSet"
    watches = ("StatefulSet", "Pod")

    def alike(self, old: Pod, new: Pod) -> bool:
        return old.phase == new.phase and super().alike(old, new)

    def sync(self, world: World, key: str) -> str:
        owner = Owner.found(world, self.kind, key)
        if owner is None or owner.selector.errors:
            return ""
        given = str(owner.status.get("updateRevision") or "").removeprefix(f"{owner.name}-")
        revisions = history.sync_revisions(world, owner, history.HASH, given)

        def named(pod: Pod) -> bool:
            return identity.parent_and_ordinal(pod.name)[0] == owner.name

        pods = claim_pods(world, owner, lambda pod: True, named)
        work = Pods(self, world, owner)
        current = _current(owner, revisions)
        fields = stateful_status(world, owner, pods, current, revisions)
        refused = None
        if not owner.deleting:
            try:
                deleted = _update(work, pods, current, revisions.update)
                fields["currentReplicas"] = (fields["currentReplicas"] or 0) - deleted or None
            except Refused as problem:
                refused = problem
        _write(world, owner, fields)
        if fields["currentRevision"] != owner.status.get("currentRevision"):
            self.enqueue(world, key)  # the former one is history from now on
        if refused is not None:
            raise refused
        self._truncate(world, owner, pods, current, revisions)
        self.look_when_available(world, owner, pods)
        return ", ".join(work.said)

    def _truncate(
        self, world: World, owner: Owner, pods: Sequence[Pod], current: Manifest, revisions: history.Revisions
    ) -> None:
        live = {history.name_of(current), history.name_of(revisions.update)}
        live |= {identity.revision_of(pod) for pod in pods}
        history.truncate(world, revisions.all, live, owner.number("revisionHistoryLimit"))


def _current(owner: Owner, revisions: history.Revisions) -> Manifest:
    """Return the revision that the status names as current; else the newest."""
    name = owner.status.get("currentRevision")
    return next((one for one in revisions.all if history.name_of(one) == name), revisions.update)


def _update(work: Pods, pods: Sequence[Pod], current: Manifest, update: Manifest) -> int:
    """Sync desired pods, then surplus pods, then those of old revisions. Return how many of the latter were deleted. Raise Refused."""
    wanted = identity.ordinals(work.owner)
    by_ordinal = {identity.ordinal_of(pod): pod for pod in pods}
    condemned = [pod for pod in pods if identity.ordinal_of(pod) >= 0 and identity.ordinal_of(pod) not in wanted]
    condemned.sort(key=identity.ordinal_of, reverse=True)
    lacking = [by_ordinal.get(ordinal) for ordinal in wanted] + condemned[::-1]
    first_unavailable = next((pod for pod in lacking if work.is_unavailable(pod)), None)

    def settle(ordinal: int) -> bool:
        pod = by_ordinal.get(ordinal)
        if pod is not None:
            return work.settle(pod)
        revision = _revision_for(work.owner, ordinal, current, update)
        name = history.name_of(revision)
        manifest = identity.new_pod(work.owner, history.template_of(revision), name, ordinal)
        return work.create(manifest, ordinal) and not work.in_order

    def retain(pod: Pod) -> bool:
        claims.retain(work, pod)
        return True

    if not work.for_all(wanted, settle) or not work.for_all(condemned, retain):
        return 0
    if not work.for_all(condemned, lambda pod: work.condemn(pod, first_unavailable)):
        return 0
    return _roll(work, [by_ordinal.get(ordinal) for ordinal in wanted], history.name_of(update))


def _revision_for(owner: Owner, ordinal: int, current: Manifest, update: Manifest) -> Manifest:
    """Return the revision for a missing pod: the current one below the partition.

    kube: newVersionedStatefulSetPod
    """
    strategy = owner.spec["updateStrategy"]
    rolling = strategy.get("rollingUpdate")
    start = identity.ordinals(owner).start
    if rolling is not None:
        keeps = ordinal < start + int(rolling.get("partition") or 0)
    else:
        keeps = strategy["type"] == "RollingUpdate" and ordinal < start + owner.counted("currentReplicas")
    return current if keeps else update


def _roll(work: Pods, replicas: Sequence[Pod | None], update: str) -> int:
    """Delete the highest pod of another revision if all above it are available. Return the number of deleted pods. Raise Refused."""
    strategy = work.owner.spec["updateStrategy"]
    if strategy["type"] == "OnDelete":
        return 0
    partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    for pod in reversed(replicas[partition:]):
        if pod is not None and identity.revision_of(pod) != update and not pod.deleting:
            work.delete(pod, f"its revision is not {update}")
            return 1
        if work.is_unavailable(pod):
            return 0
    return 0


def _write(world: World, owner: Owner, fields: dict[str, Any]) -> None:
    """Write the status. After a complete rolling update the new revision becomes the current one.

    kube: completeRollingUpdate
    """
    wanted = owner.number("replicas")
    complete = all((fields[name] or 0) == wanted for name in ("updatedReplicas", "readyReplicas", "replicas"))
    if complete and owner.spec["updateStrategy"]["type"] == "RollingUpdate":
        fields["currentReplicas"] = fields["updatedReplicas"]
        fields["currentRevision"] = fields["updateRevision"]
    world.api.patch_status(owner.target, fields)
