"""VolumeBinding's explanation of a node: the volume of each claim, bound or prospective."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.storage import volumes as storage
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import explanation
from scheduler_core.scheduler.framework.plugin import Evidence, Handle
from scheduler_core.scheduler.plugins.helper.claim_evidence import claims_evidence
from scheduler_core.scheduler.plugins.volumebinding.binder import Plan
from scheduler_core.scheduler.plugins.volumebinding.state import Claims
from scheduler_core.scheduler.plugins.volumebinding.topology import as_mask, find_bound_rows, volume_rows

# VolumeBinding's findings on a pod's claims; for each volume the number of rejected nodes that could use it.

SHOWN_USERS = 3


def volume_evidence(handle: Handle, pod: Pod, nodes: NodeTable) -> Evidence:
    claims = claims_evidence(handle, pod)
    for claim in claims:
        if claim.get("deleting"):
            claim["usedBy"] = _users(nodes, claim["claim"])
        for candidate in claim.get("candidates", ()):
            volume = handle.get(storage.VOLUME, "", candidate["volume"])
            reached = [] if volume is None else find_bound_rows(nodes, handle, volume).nonzero()[0].tolist()
            candidate["reachedFrom"] = len(reached)
            candidate["reachedFromNodes"] = [nodes.names[row] for row in reached[:3]]
    return {"claims": claims}


def _users(nodes: NodeTable, claim: str) -> list[str]:
    """Return the placed pods that use a claim and so block its deletion."""
    namespace = claim.partition("/")[0]
    found = (
        pod.key
        for pods in nodes.pods
        for pod in pods
        if pod.namespace == namespace and pod.spec.volumes
        if any(f"{namespace}/{use.name(pod)}" == claim for use in storage.volumes_of(pod.spec).claims)
    )
    return list(islice(found, SHOWN_USERS))


SHOWN_VOLUMES = 20

_COLUMNS = explanation.gettext_noop("claim"), explanation.gettext_noop("volume")
_BOUND, _WOULD_GET = (explanation.Words("bound to"), explanation.Words("would get"))
_OUT_OF_REACH = explanation.Words("not accessible from this node")
_PROVISIONED = explanation.Words("would be provisioned here")
_NOTHING, _NOT_REACHED = (explanation.Words("no device found"), explanation.Words("not accessible"))


@dataclass(frozen=True, slots=True)
class ClaimReach:
    """A bound claim, and whether the node can reach its volume; None if the volume does not exist."""

    claim: Manifest
    reached: bool | None


@dataclass(frozen=True, slots=True)
class Prospect:
    """An unbound WaitForFirstConsumer claim: its volume on the node, and the volumes of its class with whether the node reaches each."""

    claim: Manifest
    volume: str
    provisioned: bool
    offered: tuple[tuple[str, bool], ...]


def prospect(claim: Manifest, claims: Claims, plan: Plan | None, nodes: NodeTable, row: int) -> Prospect:
    key, plan = storage.key_of(claim), plan or Plan()
    mine = [volume for volume in claims.offered if storage.class_of(volume) == storage.class_of(claim)]
    return Prospect(
        claim,
        next((storage.name_of(volume) for volume, other in plan.static if storage.key_of(other) == key), ""),
        any(storage.key_of(other) == key for other in plan.dynamic),
        tuple(
            (storage.name_of(volume), bool(as_mask(nodes, volume_rows(nodes, volume))[row]))
            for volume in mine[:SHOWN_VOLUMES]
        ),
    )


def explain_claims(bound: Iterable[ClaimReach], delayed: Iterable[Prospect]) -> explanation.Explanation:
    rows = [_build_bound_row(reach) for reach in bound] + [_build_delayed_row(claim) for claim in delayed]
    return (explanation.Table(_COLUMNS, tuple(rows)),) if rows else ()


def _build_bound_row(reach: ClaimReach) -> explanation.Row:
    out = reach.reached is False
    name = storage.volume_name(reach.claim)
    volume = explanation.Code(name) if reach.reached is None else _volume(name)
    parts: explanation.Parts = (_BOUND, " ", volume, *((": ", _OUT_OF_REACH) if out else ()))
    return explanation.Row(((_claim(reach.claim, "spec.volumeName"),), parts), bad=out)


def _build_delayed_row(prospect: Prospect) -> explanation.Row:
    name = storage.class_of(prospect.claim)
    written = _claim(prospect.claim, "spec.storageClassName")
    claim: explanation.Parts = (written, *((explanation.Below((name,)),) if name else ()))
    parts: explanation.Parts = (_PROVISIONED if prospect.provisioned else _NOTHING,)
    if prospect.volume:
        parts = (_WOULD_GET, " ", _volume(prospect.volume))
    return explanation.Row((claim, (*parts, *_format_offered(prospect.offered))))


def _format_offered(volumes: Iterable[tuple[str, bool]]) -> explanation.Parts:
    parts: list[explanation.Part] = []
    for name, reached in volumes:
        parts += [_volume(name), *((" ",) if reached else (" (", _NOT_REACHED, ") "))]
    return (explanation.Below(tuple(parts)),) if parts else ()


def _claim(claim: Manifest, path: str) -> explanation.WrittenValue:
    key = storage.key_of(claim)
    return explanation.WrittenValue(explanation.Key(key), explanation.Source("PersistentVolumeClaim", key, path))


def _volume(name: str) -> explanation.WrittenValue:
    """Return the volume's name, linked to its node affinity."""
    return explanation.WrittenValue(name, explanation.Source("PersistentVolume", name, "spec.nodeAffinity"))
