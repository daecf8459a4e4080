"""The state of a Deployment in one sync: its ReplicaSets, and the writes that all strategies share.

kube: pkg/controller/deployment/sync.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver import NORMAL, WARNING, Refused
from scheduler_core.apiserver.door import hash_template
from scheduler_core.apiserver.object_defaults import without_template_defaults
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.workloads.deployments import bounds, conditions, revisions
from scheduler_core.controllers.workloads.deployments.bounds import get_desired_replicas, size
from scheduler_core.controllers.workloads.owners import Owner, template_hash
from scheduler_core.controllers.workloads.pods import Work, namespace_ends

SCALED = "ScalingReplicaSet"
_LONGEST_NAME = 253


class Rollout(Work):
    """The state of one sync. `new` is None while the current template has no ReplicaSet; `said` lists the actions."""

    def __init__(self, controller: Controller, world: World, owner: Owner, replica_sets: Sequence[Manifest]) -> None:
        super().__init__(controller, world, owner)
        self.new, self.old = revisions.new_and_old(owner.template, replica_sets)

    @property
    def all(self) -> list[Manifest]:
        """The old ReplicaSets and the new one."""
        return [*self.old, *([] if self.new is None else [self.new])]

    @property
    def active_old(self) -> list[Manifest]:
        return [one for one in self.old if size(one) > 0]

    def read_again(self) -> None:
        """Read the Deployment again from the store."""
        found = Owner.found(self.world, self.owner.kind, self.owner.key)
        assert found is not None
        self.owner = found

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Patch fields of the Deployment's status."""
        self.world.api.patch_status(self.owner.target, status)
        self.read_again()

    def note_progress(self, status: str, reason: str, message: str) -> None:
        """Set only the condition Progressing."""
        given = list(self.owner.status.get("conditions") or ())
        condition = conditions.condition(conditions.PROGRESSING, status, reason, message, self.timestamp)
        self.write_status({"conditions": conditions.with_condition(given, condition)})

    # revisions

    def find_new(self, create: bool) -> None:
        """Set the revision of the new ReplicaSet and of the Deployment. If there is none and `create` is True, create it. Raise Refused."""
        revision = max((revisions.revision_of(one) for one in self.old), default=0) + 1
        if self.new is not None:
            new = self.new
            notes = revisions.set_revision_annotations(self.owner.manifest, new, revision)
            ready = self.owner.number("minReadySeconds")
            patch: dict[str, Any] = {}
            if notes != revisions.annotations_of(new):
                patch["metadata"] = {"annotations": notes}
            if int(new["spec"].get("minReadySeconds") or 0) != ready:
                patch["spec"] = {"minReadySeconds": ready or None}
            if patch:
                self.new = self.world.api.patch(_target(new), patch)
            self._number_deployment(notes.get(revisions.REVISION, ""))
            if conditions.has_deadline(self.spec) and conditions.progressing(self.owner.status) is None:
                self.note_progress("True", conditions.FOUND, f'Found new replica set "{new["metadata"]["name"]}"')
        elif create:
            self._create(revision)

    def _number_deployment(self, revision: str) -> None:
        if revision and self.owner.annotations.get(revisions.REVISION) != revision:
            patch = {"metadata": {"annotations": {revisions.REVISION: revision}}}
            self.world.api.patch(self.owner.target, patch)
            self.read_again()

    def _create(self, revision: int) -> None:
        manifest = self._fresh(revision)
        try:
            self.new = self.world.api.create(manifest)
        except Refused as refused:
            if refused.answer.reason != "AlreadyExists":
                self._fail(manifest["metadata"]["name"], refused)
                raise
            count = int(self.owner.status.get("collisionCount") or 0) + 1
            self.write_status({"collisionCount": count})  # yields another hash on the next try
            raise
        name = manifest["metadata"]["name"]
        if size(self.new) > 0:
            self.event(NORMAL, SCALED, f"Scaled up replica set {name} from 0 to {size(self.new)}")
        self.said.append(
            f"created {name} with {size(self.new)} of {get_desired_replicas(self.spec)} pods for revision {revision}"
        )
        self._number_deployment(str(revision))
        if conditions.has_deadline(self.spec):
            self.note_progress("True", conditions.CREATED, f'Created new replica set "{name}"')

    def _fresh(self, revision: int) -> Manifest:
        """Build the ReplicaSet of the present template with its largest allowed initial size."""
        owner, template = self.owner, self.owner.template
        as_written = without_template_defaults({"template": template})
        collisions = owner.status.get("collisionCount")
        if self.world.store.calendar:  # for real clients, names are kube's
            code = hash_template(template, collisions, self.world.api.devices.release)
        else:
            code = template_hash(as_written["template"], collisions)
        meta = template.get("metadata") or {}
        labels = {**(meta.get("labels") or {}), revisions.HASH: code}
        selector = self.spec.get("selector") or {}
        notes = revisions.set_revision_annotations(owner.manifest, None, revision)
        spec: dict[str, Any] = {
            "replicas": bounds.new_size(self.spec, self.old, 0),
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), revisions.HASH: code}},
            "template": {**template, "metadata": {**meta, "labels": labels}},
        }
        if owner.number("minReadySeconds"):
            spec["minReadySeconds"] = owner.number("minReadySeconds")
        return {
            "apiVersion": owner.manifest["apiVersion"],
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"{owner.name[: _LONGEST_NAME - 1 - len(code)]}-{code}",
                "namespace": owner.namespace,
                "labels": labels,
                "annotations": {**notes, **self._sizes()},
                "ownerReferences": [owner.reference()],
            },
            "spec": spec,
        }

    def _fail(self, name: str, refused: Refused) -> None:
        if namespace_ends(self.world, self.owner.namespace):
            return
        message = f'Failed to create new replica set "{name}": {refused.answer.message}'
        if conditions.has_deadline(self.spec):
            self.note_progress("False", conditions.NOT_CREATED, message)
        self.event(WARNING, conditions.NOT_CREATED, message)

    # sizes

    def _sizes(self) -> dict[str, str]:
        """Return the annotations from which a later scaling reads the desired size."""
        most = get_desired_replicas(self.spec) + bounds.max_surge(self.spec)
        return {bounds.DESIRED: str(get_desired_replicas(self.spec)), bounds.MOST: str(most)}

    def scale(self, replica_set: Manifest, count: int, why: str) -> bool:
        """Set the size of a ReplicaSet, and its annotations with the desired size. Return whether the size changed."""
        before, notes = size(replica_set), self._sizes()
        known = revisions.annotations_of(replica_set)
        if before == count and all(known.get(name) == value for name, value in notes.items()):
            return False
        patch = {"spec": {"replicas": count}, "metadata": {"annotations": notes}}
        self._replace(replica_set, self.world.api.patch(_target(replica_set), patch))
        if before == count:
            return False
        name, way = replica_set["metadata"]["name"], "up" if before < count else "down"
        self.event(NORMAL, SCALED, f"Scaled {way} replica set {name} from {before} to {count}")
        self.said.append(f"scaled {way} {name} from {before} to {count}: {why}")
        return True

    def resize(self, replica_set: Manifest, count: int, why: str) -> bool:
        """Scale a ReplicaSet, unless it already has the size."""
        return size(replica_set) != count and self.scale(replica_set, count, why)

    def _replace(self, before: Manifest, after: Manifest) -> None:
        if before is self.new:
            self.new = after
        self.old = [after if one is before else one for one in self.old]

    def clean_up(self) -> None:
        """Delete the oldest ReplicaSets without pods beyond the history limit."""
        limit = self.spec.get("revisionHistoryLimit")
        if limit is None or limit == bounds.MAX_INT32:
            return
        alive = [one for one in self.old if not one["metadata"].get("deletionTimestamp")]
        alive.sort(key=revisions.revision_of)
        # Sliced before the filter, as in kube: if one cannot be deleted yet, no younger one is deleted instead.
        for one in alive[: max(0, len(alive) - int(limit))]:
            observed = bounds.get_status_count(one, "observedGeneration")
            if (
                bounds.get_status_count(one, "replicas")
                or size(one)
                or int(one["metadata"].get("generation") or 0) > observed
            ):
                continue
            self.world.api.delete(_target(one))
            self.said.append(f"deleted {one['metadata']['name']}: only {limit} old revisions are kept")


def _target(replica_set: Manifest) -> tuple[str, str, str]:
    meta = replica_set["metadata"]
    return "ReplicaSet", meta.get("namespace") or "default", meta["name"]
