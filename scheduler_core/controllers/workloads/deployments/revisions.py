"""Revisions: the new ReplicaSet, and the revision numbers in the annotations of ReplicaSets.

kube: pkg/controller/deployment/util/deployment_util.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence

from scheduler_core.apimachinery.objects.manifest import Manifest

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
HASH = "pod-template-hash"
ROLLBACK = "deprecated.deployment.rollback.to"
_NOT_COPIED = (
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    ROLLBACK,
)
_LONGEST_HISTORY = 2000


def annotations_of(manifest: Manifest) -> Mapping[str, str]:
    return manifest["metadata"].get("annotations") or {}


def revision_of(manifest: Manifest) -> int:
    """Return the revision number; 0 if it is missing or invalid."""
    text = annotations_of(manifest).get(REVISION) or "0"
    return int(text) if text.lstrip("-").isdecimal() else 0


def get_creation_order(replica_set: Manifest) -> tuple[str, str]:
    return replica_set["metadata"].get("creationTimestamp") or "", replica_set["metadata"]["name"]


def without_hash(template: Manifest) -> Manifest:
    """Return a template without the label that its Deployment added."""
    meta = template.get("metadata") or {}
    labels = {name: value for name, value in (meta.get("labels") or {}).items() if name != HASH}
    kept = {name: value for name, value in meta.items() if name != "labels" and value}
    return {**template, "metadata": {**kept, **({"labels": labels} if labels else {})}}


def same_template(one: Manifest, other: Manifest) -> bool:
    return without_hash(one) == without_hash(other)


def new_and_old(template: Manifest, replica_sets: Sequence[Manifest]) -> tuple[Manifest | None, list[Manifest]]:
    """Return the (oldest) ReplicaSet of the present template, or None, and all others, oldest first."""
    ordered = sorted(replica_sets, key=get_creation_order)
    for one in ordered:
        if same_template(one["spec"].get("template") or {}, template):
            return one, [other for other in ordered if other is not one]
    return None, ordered


def set_revision_annotations(deployment: Manifest, replica_set: Manifest | None, revision: int) -> dict[str, str]:
    """Return the new ReplicaSet's annotations for a revision: the Deployment's, the revision number, and the former numbers.

    kube: SetNewReplicaSetAnnotations
    """
    notes = dict(annotations_of(replica_set)) if replica_set is not None else {}
    notes.update(select_shared_annotations(annotations_of(deployment)))
    former = notes.get(REVISION)
    if former and not former.lstrip("-").isdecimal():
        return notes
    if int(former or 0) >= revision:
        return notes
    notes[REVISION] = str(revision)
    if former is not None:
        _remember(notes, former)
    return notes


def select_shared_annotations(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations that a Deployment and its ReplicaSets share."""
    return {name: value for name, value in annotations.items() if name not in _NOT_COPIED}


def select_own_annotations(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations that are not copied."""
    return {name: value for name, value in annotations.items() if name in _NOT_COPIED}


def _remember(notes: dict[str, str], former: str) -> None:
    """Add a number to the history, and drop the oldest ones if it becomes too long."""
    history = notes.get(HISTORY, "")
    if not history:
        notes[HISTORY] = former
        return
    numbers = history.split(",")
    while numbers and len(",".join((*numbers, former))) > _LONGEST_HISTORY:
        numbers.pop(0)
    notes[HISTORY] = ",".join((*numbers, former))
