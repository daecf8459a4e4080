"""VolumeRestrictions: rejects nodes where a disk of the pod is in use, and pods whose ReadWriteOncePod claim is in use.

kube: plugins/volumerestrictions/volume_restrictions.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.storage import volumes as storage
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework import Action, CycleState, On, error, unresolvable, unschedulable
from scheduler_core.scheduler.framework.drafts import Draft, Refusal
from scheduler_core.scheduler.framework.explanation import Code, Explanation, Part, gettext_noop, remark
from scheduler_core.scheduler.framework.plugin import (
    GO_ON,
    NOTHING_TO_DO,
    Evidence,
    Plugin,
    Point,
    PreFilterResult,
    Rows,
    Verdicts,
)
from scheduler_core.scheduler.framework.reasons import Reason, RefusalReason
from scheduler_core.scheduler.plugins.helper.claim_evidence import CLAIM_NOT_FOUND, claims_evidence
from scheduler_core.scheduler.plugins.helper.fixes import MOST_DELETED, add_node, delete_pods
from scheduler_core.scheduler.plugins.helper.hints import after_named_claim_change
from scheduler_core.scheduler.plugins.helper.volumes import beside, missing_claims

NAME = "VolumeRestrictions"

NO_STATE = error(f'cannot read "PreFilter{NAME}" from cycleState')
_DISK_CONFLICT = Reason("DiskConflict", "node(s) had no available disk")
_IN_USE = Reason(
    "ClaimInUse",
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
)
DISK_CONFLICT, IN_USE = unschedulable(_DISK_CONFLICT()), unschedulable(_IN_USE())


@dataclass(frozen=True, slots=True)
class ExclusiveClaims:
    """The pod's ReadWriteOncePod claims, the number of their uses by pods, and a what-if's change of that number by row."""

    names: tuple[str, ...] = ()
    used: int = 0
    changed: Mapping[int, int] = field(default_factory=dict)


def after_pod_with_disk_deleted(plugin: VolumeRestrictions, pod: Pod, old: Pod, new: None) -> bool:
    """Return whether the deleted pod used a disk or claim of the pod. kube: isSchedulableAfterPodDeleted"""
    if old.namespace != pod.namespace:
        return False
    if conflicts(storage.volumes_of(pod.spec).disks, (old,)):
        return True
    mine = {use.claim for use in storage.volumes_of(pod.spec).claims if not use.ephemeral}
    return any(use.claim in mine for use in storage.volumes_of(old.spec).claims if not use.ephemeral)


class VolumeRestrictions(Plugin):
    """Looks at pods only for the few that bring such a disk or claim."""

    name = NAME
    skips = {Point.PRE_FILTER: gettext_noop("no volume that only one pod or node can use")}
    reasons = (_DISK_CONFLICT, _IN_USE, CLAIM_NOT_FOUND)
    events = (
        On("Pod", Action.DELETE, after_pod_with_disk_deleted),
        On("Node", Action.ADD),
        On("PersistentVolumeClaim", Action.ADD, after_named_claim_change),
    )
    state_classes = (ExclusiveClaims,)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        volumes = storage.volumes_of(pod.spec)
        if not volumes.claims and not volumes.disks:
            return NOTHING_TO_DO
        names: dict[str, None] = {}
        for use in volumes.claims:
            if use.ephemeral:
                continue
            claim = self.handle.get("PersistentVolumeClaim", pod.namespace, use.claim)
            if claim is None:
                return PreFilterResult(unresolvable(storage.claim_not_found(use.claim)))
            if storage.READ_WRITE_ONCE_POD in storage.access_modes(claim):
                names[use.claim] = None
        used = _used(pod.namespace, names, nodes) if names else 0
        if not volumes.disks and not used:
            return NOTHING_TO_DO
        state.write(NAME, ExclusiveClaims(tuple(names), used))
        return GO_ON

    def adjust(self, state: CycleState, pod: Pod, nodes: NodeTable, changes: Sequence[Change]) -> None:
        """Adjust the counts for pods added or removed. Like kube, match claims by name only, in any namespace."""
        claims: ExclusiveClaims | None = state.get(NAME)
        if claims is None or not claims.names:
            return
        changed = dict(claims.changed)
        for change in changes:
            uses = sum(
                not use.ephemeral and use.claim in claims.names for use in storage.volumes_of(change.pod.spec).claims
            )
            if uses:
                changed[change.row] = changed.get(change.row, 0) + change.sign * uses
        state.write(NAME, ExclusiveClaims(claims.names, claims.used, changed))

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        known: ExclusiveClaims | None = state.get(NAME)
        claims = known or ExclusiveClaims()
        # ReadWriteOncePod allows one pod in the whole cluster: a use on any node rejects all nodes.
        otherwise = 2 if known is None else 1 if claims.used > 0 else -1
        reason = np.full(len(rows), otherwise, np.int32)
        disks = storage.volumes_of(pod.spec).disks
        if claims.changed or disks:
            for i, row in enumerate(rows.tolist()):
                if row in claims.changed:
                    reason[i] = 1 if claims.used + claims.changed[row] > 0 else -1
                if disks and conflicts(disks, nodes.pods[row]):
                    reason[i] = 0
        return Verdicts(reason, (DISK_CONFLICT, IN_USE, NO_STATE)) if (reason >= 0).any() else None

    def evidence(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, said: RefusalReason) -> Evidence:
        """Return each claim with the volume that it is bound to."""
        return {"claims": claims_evidence(self.handle, pod)}

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        claims: ExclusiveClaims = state.read(NAME)
        lists: tuple[tuple[str, list[Part]], ...] = (
            (gettext_noop("Claims that only one pod can use:"), [Code(name) for name in claims.names]),
            (
                gettext_noop("Disks that pods cannot share:"),
                [str(len(disks))] if (disks := storage.volumes_of(pod.spec).disks) else [],
            ),
        )
        return tuple(remark(text, *found) for text, found in lists if found)

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        """Propose to create missing claims, or to delete pods that use an exclusive disk or claim."""
        yield from missing_claims(draft, refusal.pod, self.handle)
        claims: ExclusiveClaims = refusal.state.get(NAME) or ExclusiveClaims()
        holders = _holders(refusal, claims)
        for name in claims.names:
            claim = self.handle.get(storage.CLAIM, refusal.pod.namespace, name)
            if holders and claim is not None:
                yield beside(draft, claim, self.handle)
        if holders and not draft.changes and len(holders) <= MOST_DELETED:
            yield delete_pods(draft, holders[0].node_name, holders)
        if refusal.status.reasons == DISK_CONFLICT.reasons:
            yield from add_node(draft, refusal)


def _holders(refusal: Refusal, claims: ExclusiveClaims) -> list[Pod]:
    """Return the pods that use the disk on the node, or one of the claims on any node."""
    pod, nodes = refusal.pod, refusal.nodes
    if refusal.status.reasons == DISK_CONFLICT.reasons:
        disks = storage.volumes_of(pod.spec).disks
        return [other for other in nodes.pods[refusal.row] if conflicts(disks, (other,))]
    return [
        other
        for pods in nodes.pods
        for other in pods
        if other.spec.volumes
        and other.namespace == pod.namespace
        and any(not use.ephemeral and use.claim in claims.names for use in storage.volumes_of(other.spec).claims)
    ]


def _used(namespace: str, names: Mapping[str, None], nodes: NodeTable) -> int:
    """Return the number of a namespace's claims in `names` that pods in the snapshot use."""
    used: dict[str, None] = {}
    for pods in nodes.pods:
        for other in pods:
            if other.spec.volumes and other.namespace == namespace:
                for use in storage.volumes_of(other.spec).claims:
                    if not use.ephemeral and use.claim in names:
                        used[use.claim] = None
    return len(used)


def conflicts(disks: Sequence[Manifest], pods: Sequence[Pod]) -> bool:
    """Return whether a pod already uses one of the disks in a conflicting way."""
    return any(_conflict(disk, other) for pod in pods for other in storage.volumes_of(pod.spec).disks for disk in disks)


# Kind of disk -> the field that tells one disk from another.
_DISKS = {"gcePersistentDisk": "pdName", "awsElasticBlockStore": "volumeID", "iscsi": "iqn", "rbd": "image"}


def _conflict(a: Manifest, b: Manifest) -> bool:
    for kind, name in _DISKS.items():
        mine, other = a.get(kind), b.get(kind)
        if mine and other and _same(mine, other, name) and (kind != "rbd" or _in_one_pool(mine, other)):
            # readOnly does not matter: kube forbids any two pods to mount the same EBS volume, unlike the other kinds.
            if kind == "awsElasticBlockStore" or not _both_read_only(mine, other):
                return True
    return False


def _in_one_pool(a: Manifest, b: Manifest) -> bool:
    shared = any(monitor in (b.get("monitors") or ()) for monitor in a.get("monitors") or ())
    return shared and (a.get("pool") or "rbd") == (b.get("pool") or "rbd")


def _same(a: Manifest, b: Manifest, name: str) -> bool:
    return (a.get(name) or "") == (b.get(name) or "")


def _both_read_only(a: Manifest, b: Manifest) -> bool:
    return bool(a.get("readOnly") and b.get("readOnly"))
