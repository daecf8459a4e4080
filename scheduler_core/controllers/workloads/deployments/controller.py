"""Deployments: the ReplicaSet of the present template, the scaling of it and of the old ones, and the status.

kube: pkg/controller/deployment/{deployment_controller,sync,rollback}.go @ v1.34.1
"""

from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, controller_of
from scheduler_core.apiserver import DELETED, NORMAL, WARNING, WatchEvent
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.workloads.deployments import bounds, conditions, revisions
from scheduler_core.controllers.workloads.deployments.bounds import get_desired_replicas, size
from scheduler_core.controllers.workloads.deployments.rollout import Rollout
from scheduler_core.controllers.workloads.deployments.strategies import recreate, roll, sync_status
from scheduler_core.controllers.workloads.owners import Owner, claim_objects, note_selectors, resolve, selecting
from scheduler_core.controllers.workloads.pods import list_pods

# Proportional scaling: if a Deployment is scaled in the middle of a rollout, its ReplicaSets share the difference.
# kube: pkg/controller/deployment/sync.go (scale, isScalingEvent) @ v1.34.1


def was_scaled(rollout: Rollout) -> bool:
    """Return whether the desired number of pods differs from the one recorded on the ReplicaSets."""
    known = (bounds.parse_annotation(one, bounds.DESIRED) for one in rollout.all if size(one) > 0)
    return any(number is not None and number != get_desired_replicas(rollout.spec) for number in known)


def scale(rollout: Rollout) -> None:
    """Scale the ReplicaSets to the number of pods that the Deployment wants."""
    count = get_desired_replicas(rollout.spec)
    only = _only_one(rollout)
    if only is not None:
        rollout.resize(only, count, f"{count} pods are desired")
    elif _is_saturated(rollout):
        for one in rollout.active_old:
            rollout.resize(one, 0, "the new pods are all available")
    elif bounds.is_rolling(rollout.spec):
        _share(rollout)


def _only_one(rollout: Rollout) -> Manifest | None:
    """Return the only ReplicaSet with pods, or the newest if no ReplicaSet has pods. Return None if several have.

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

    Among equal ones the newest gets the remainder, and the oldest loses it.
    """
    allowed = get_desired_replicas(spec) + bounds.max_surge(spec) if get_desired_replicas(spec) > 0 else 0
    to_add = allowed - bounds.total(active)
    # kube: ReplicaSetsBySizeNewer when pods come, ReplicaSetsBySizeOlder when they go. The second sort keeps the order of equals.
    ordered = sorted(active, key=revisions.get_creation_order, reverse=to_add > 0)
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


_SELECTS_ALL = "SelectingAll"
_NO_REVISION, _UNCHANGED, _ROLLED_BACK = (
    "DeploymentRollbackRevisionNotFound",
    "DeploymentRollbackTemplateUnchanged",
    "DeploymentRollback",
)


class DeploymentController(Controller):
    """Rolls Deployments out."""

    name = "deployment-controller"
    watches = ("Deployment", "ReplicaSet", "Pod")

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Deployment":
            note_selectors(world, event)
            if event.new is not None:
                self.enqueue(world, f"{event.namespace or 'default'}/{event.name}")
        elif event.kind == "ReplicaSet":
            for manifest in (event.old, event.new):
                if key := resolve(world, "Deployment", manifest):
                    self.enqueue(world, key)
            if event.new is not None and controller_of(event.new) is None:
                labels = event.new["metadata"].get("labels") or {}
                for key in selecting(world, "Deployment", event.namespace or "default", labels):
                    self.enqueue(world, key)
        elif event.type == DELETED:
            self._hear_of_lost_pod(world, event)

    def on_start(self, world: World) -> None:
        for manifest in world.store.list("Deployment"):
            self.enqueue(world, Owner.of(manifest).key)

    def _hear_of_lost_pod(self, world: World, event: WatchEvent) -> None:
        """Enqueue a Deployment with strategy Recreate when its last pod is gone."""
        replica_set = resolve(world, "ReplicaSet", event.old)
        if not replica_set:
            return
        namespace, _, name = replica_set.partition("/")
        owner = Owner.found(
            world, "Deployment", resolve(world, "Deployment", world.store.get("ReplicaSet", namespace, name))
        )
        if owner is None or (owner.spec.get("strategy") or {}).get("type") != "Recreate":
            return
        if not list_pods(world.store, claim_objects(world, owner, "ReplicaSet")):
            self.enqueue(world, owner.key)

    def sync(self, world: World, key: str) -> str:
        owner = Owner.found(world, "Deployment", key)
        if owner is None or owner.selector.errors:
            return ""
        if owner.selector.empty:
            text = "This deployment is selecting all pods. A non-empty selector is required."
            self.event(world, WARNING, _SELECTS_ALL, "Deployment", key, text)
            world.api.patch_status(owner.target, {"observedGeneration": owner.generation})
            return ""
        rollout = Rollout(self, world, owner, claim_objects(world, owner, "ReplicaSet"))
        self._sync(rollout)
        return "; ".join(rollout.said)

    def _sync(self, rollout: Rollout) -> None:
        spec = rollout.spec
        if rollout.owner.deleting:
            rollout.find_new(create=False)
            sync_status(rollout)
            return
        _note_pause(rollout)
        if spec.get("paused"):
            self._scale(rollout)
        elif revisions.ROLLBACK in rollout.owner.annotations:
            _roll_back(rollout)
        elif was_scaled(rollout):
            self._scale(rollout)
        elif spec["strategy"]["type"] == "Recreate":
            recreate(rollout, list_pods(rollout.world.store, rollout.all))
        else:
            roll(rollout)

    def _scale(self, rollout: Rollout) -> None:
        rollout.find_new(create=False)
        scale(rollout)
        if rollout.spec.get("paused"):
            rollout.clean_up()
        sync_status(rollout)


def _note_pause(rollout: Rollout) -> None:
    """Update the condition Progressing for a paused or resumed Deployment. kube: checkPausedConditions"""
    if not conditions.has_deadline(rollout.spec):
        return
    current = conditions.progressing(rollout.owner.status) or {}
    if current.get("reason") == conditions.TIMED_OUT:
        return
    paused, known = bool(rollout.spec.get("paused")), current.get("reason") == conditions.PAUSED
    if paused and not known:
        rollout.note_progress("Unknown", conditions.PAUSED, "Deployment is paused")
    elif known and not paused:
        rollout.note_progress("Unknown", conditions.RESUMED, "Deployment is resumed")


def _roll_back(rollout: Rollout) -> None:
    """Restore the template of the revision in an annotation of old clients; 0 means the previous revision."""
    rollout.find_new(create=True)
    asked = rollout.owner.annotations[revisions.ROLLBACK]
    wanted = int(asked) if asked.isdecimal() else 0
    if wanted == 0:
        numbers = sorted((revisions.revision_of(one) for one in rollout.all), reverse=True)
        wanted = numbers[1] if len(numbers) > 1 else 0
    found = next((one for one in rollout.all if wanted and revisions.revision_of(one) == wanted), None)
    patch: dict[str, Any] = {"metadata": {"annotations": {revisions.ROLLBACK: None}}}
    owner = rollout.owner
    if found is None:
        text = "Unable to find the revision to rollback to." if wanted else "Unable to find last revision."
        rollout.event(WARNING, _NO_REVISION, text)
    elif revisions.same_template(owner.template, found["spec"]["template"]):
        text = f'The rollback revision contains the same template as current deployment "{owner.name}"'
        rollout.event(WARNING, _UNCHANGED, text)
    else:
        text = f'Rolled back deployment "{owner.name}" to revision {wanted}'
        rollout.event(NORMAL, _ROLLED_BACK, text)
        rollout.said.append(f"rolled back to revision {wanted}")
        manifest = rollout.owner.manifest
        notes = revisions.select_own_annotations(revisions.annotations_of(manifest))
        notes.pop(revisions.ROLLBACK, None)
        notes.update(revisions.select_shared_annotations(revisions.annotations_of(found)))
        rollout.world.api.update(
            {
                **manifest,
                "metadata": {**manifest["metadata"], "annotations": notes},
                "spec": {**manifest["spec"], "template": revisions.without_hash(found["spec"]["template"])},
            }
        )
        return
    rollout.world.api.patch(owner.target, patch)
