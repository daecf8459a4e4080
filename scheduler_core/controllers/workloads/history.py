"""ControllerRevisions: the present and former templates of a StatefulSet or a DaemonSet.

kube: pkg/controller/history/controller_history.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.object_defaults import without_template_defaults
from scheduler_core.apiserver.status import Refused
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads.owners import Owner, claim_objects, template_hash

HASH = "controller.kubernetes.io/hash"
POD_HASH = "controller-revision-hash"
_KIND = "ControllerRevision"
_LONGEST_PREFIX = 223  # with a dash and a hash, a name stays within 253 bytes (kube: ControllerRevisionName)


@dataclass(frozen=True, slots=True)
class Revisions:
    """All revisions of an owner, oldest first, the one of its present template, and the number of hash collisions."""

    all: tuple[Manifest, ...]
    update: Manifest
    collisions: int


def name_of(revision: Manifest) -> str:
    return str(revision["metadata"]["name"])


def hash_of(revision: Manifest) -> str:
    labels = revision["metadata"].get("labels") or {}
    return str(labels.get(HASH) or labels.get(POD_HASH) or name_of(revision))


def number_of(revision: Manifest) -> int:
    return int(revision.get("revision") or 0)


def template_of(revision: Manifest) -> Manifest:
    """Return the template that a revision keeps."""
    template = ((revision.get("data") or {}).get("spec") or {}).get("template") or {}
    return {name: value for name, value in template.items() if name != "$patch"}


def sync_revisions(world: World, owner: Owner, label: str, given: str = "") -> Revisions:
    """Return the revisions of an owner, and find, renumber, or create the one of its present template. Raise Refused.

    `label` names the label that has the hash. `given` is the hash of the first revision if an owner without revisions was imported whose
    pods have one: the pods are kept then, unless the template has changed since their controller last observed it.
    """
    known = in_order(claim_objects(world, owner, _KIND))
    number = number_of(known[-1]) + 1 if known else 1
    collisions = int(owner.status.get("collisionCount") or 0)
    data = _data(owner)
    equal = [one for one in known if _same(one, data)]
    if equal and _same(known[-1], data):
        return Revisions(tuple(known), known[-1], collisions)
    if equal:
        update = world.api.patch(_target(equal[-1]), {"revision": number})
    else:
        seen = int(owner.status.get("observedGeneration") or owner.generation or 0) >= (owner.generation or 0)
        name = given if seen and not known else ""
        update, collisions = _create_revision(world, owner, data, number, collisions, label, name)
    rest = [one for one in known if name_of(one) != name_of(update)]
    return Revisions(tuple(in_order([*rest, update])), update, collisions)


def in_order(revisions: Sequence[Manifest]) -> list[Manifest]:
    """Sort revisions by number, age, and name."""
    return sorted(
        revisions, key=lambda one: (number_of(one), one["metadata"].get("creationTimestamp") or "", name_of(one))
    )


def truncate(world: World, revisions: Sequence[Manifest], live: set[str], limit: int) -> list[str]:
    """Delete the oldest revisions beyond a limit, of those not in `live` (names), and return their names."""
    idle = [one for one in revisions if name_of(one) not in live]
    gone = idle[: max(0, len(idle) - limit)]
    for one in gone:
        world.api.delete(_target(one))
    return [name_of(one) for one in gone]


def _data(owner: Owner) -> Manifest:
    # kube stores a revision as a strategic merge patch; without the directive a rollback would keep fields added since.
    return {"spec": {"template": {**owner.template, "$patch": "replace"}}}


def _same(revision: Manifest, data: Manifest) -> bool:
    return bool(_drop_nulls(revision.get("data")) == _drop_nulls(data))


def _drop_nulls(value: Any) -> Any:
    """Return a value without null fields: kube writes `creationTimestamp: null` into templates."""
    if not isinstance(value, Mapping):
        return value
    return {name: _drop_nulls(inner) for name, inner in value.items() if inner is not None}


def _create_revision(
    world: World, owner: Owner, data: Manifest, number: int, collisions: int, label: str, given: str
) -> tuple[Manifest, int]:
    labels = (owner.template.get("metadata") or {}).get("labels") or {}
    as_written = {"spec": without_template_defaults(data["spec"])}
    while True:
        code = given or template_hash(as_written, collisions)
        name = f"{owner.name[:_LONGEST_PREFIX]}-{code}"
        metadata: dict[str, Any] = {
            "name": name,
            "namespace": owner.namespace,
            "labels": {**labels, label: code},
            "ownerReferences": [owner.reference()],
        }
        if owner.annotations:
            metadata["annotations"] = dict(owner.annotations)
        manifest = {"apiVersion": "apps/v1", "kind": _KIND, "metadata": metadata, "data": data, "revision": number}
        try:
            return world.api.create(manifest), collisions
        except Refused as refused:
            if refused.answer.reason != "AlreadyExists":
                raise
        there = world.store.get(_KIND, owner.namespace, name)
        if there is not None and _same(there, data):
            return there, collisions
        collisions, given = collisions + 1, ""


def _target(revision: Manifest) -> tuple[str, str, str]:
    return _KIND, revision["metadata"].get("namespace") or "default", name_of(revision)
