"""VolumeZone: rejects nodes whose zone or region differs from the labels of the volumes that the pod's claims are bound to.

kube: plugins/volumezone/volume_zone.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.storage import volumes
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Action, CycleState, On, Status, unresolvable
from scheduler_core.scheduler.framework.drafts import Change, Draft, Refusal
from scheduler_core.scheduler.framework.explanation import (
    Below,
    Code,
    Explanation,
    Parts,
    Row,
    Source,
    Table,
    WrittenValue,
    gettext_noop,
)
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
from scheduler_core.scheduler.plugins.helper.hints import after_named_claim_change
from scheduler_core.scheduler.plugins.helper.node_selection import Mask
from scheduler_core.scheduler.plugins.helper.volumes import recreate_lost_claims

NAME = "VolumeZone"

_OTHER_ZONE = Reason("OtherZone", "node(s) had no available volume zone")
_NO_NAME = Reason("ClaimWithoutName", "PersistentVolumeClaim had no name")
_NO_VOLUME = Reason("VolumeNotFound", volumes.not_found("persistentvolume", "<volume>"))
_NO_CLASS_NAMED = Reason("ClaimWithoutClass", "PersistentVolumeClaim had no pv name and storageClass name", True)
_NO_CLASS = Reason("ClassNotFound", volumes.not_found("storageclass.storage.k8s.io", "<class>"), True)
_NO_MODE = Reason("ClassWithoutMode", 'VolumeBindingMode not set for StorageClass "<class>"')
_UNBOUND = Reason("ClaimNotBound", "PersistentVolume had no name", True)
REFUSED = unresolvable(_OTHER_ZONE())

_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_NEW_NAMES = {"failure-domain.beta.kubernetes.io/zone": _ZONE, "failure-domain.beta.kubernetes.io/region": _REGION}
_LABELS = (*_NEW_NAMES, _ZONE, _REGION)

_COLUMNS = gettext_noop("volume"), gettext_noop("must be in"), gettext_noop("the node has")


@dataclass(frozen=True, slots=True)
class Topology:
    """One zone or region label of a bound volume."""

    volume: str
    key: str
    values: tuple[str, ...]


class _PreFilterRefusal(Exception):
    """Error with PreFilter's status."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.status: Status = unresolvable(text)


def after_waiting_class_added(plugin: VolumeZone, pod: Pod, old: None, new: Manifest) -> bool:
    """Return whether the new class waits for the first consumer. kube: isSchedulableAfterStorageClassAdded"""
    return bool(new.get("volumeBindingMode") == volumes.WAIT_FOR_FIRST_CONSUMER)


def after_volume_change(plugin: VolumeZone, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Return whether a volume is new or has another zone or region. kube: isSchedulableAfterPersistentVolumeChange"""
    return old is None or _zones(old) != _zones(new)


def _zones(volume: Manifest) -> list[tuple[str, frozenset[str]]]:
    """Return a volume's zones and regions by label."""
    return [(topology.key, frozenset(topology.values)) for topology in topologies(volume)]


class VolumeZone(Plugin):
    """Asks each label once per distinct value; nodes without any zone or region label pass."""

    name = NAME
    skips = {Point.PRE_FILTER: gettext_noop("no bound volume with a zone")}
    reasons = (_OTHER_ZONE, _NO_NAME, CLAIM_NOT_FOUND, _NO_VOLUME, _NO_CLASS_NAMED, _NO_CLASS, _NO_MODE, _UNBOUND)
    events = (
        On("storage.k8s.io/StorageClass", Action.ADD, after_waiting_class_added),
        On("Node", Action.ADD | Action.UPDATE_NODE_LABEL),
        On("PersistentVolumeClaim", Action.ADD | Action.UPDATE, after_named_claim_change),
        On("PersistentVolume", Action.ADD | Action.UPDATE, after_volume_change),
    )
    state_classes = (Topology,)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        uses = volumes.volumes_of(pod.spec).claims
        if not uses:
            return NOTHING_TO_DO
        try:
            pv_topologies = [t for use in uses if not use.ephemeral for t in self._topologies(pod, use.claim)]
        except _PreFilterRefusal as refused:
            return PreFilterResult(refused.status)
        if not pv_topologies:
            return NOTHING_TO_DO
        state.write(NAME, tuple(pv_topologies))
        return GO_ON

    def _topologies(self, pod: Pod, claim_name: str) -> tuple[Topology, ...]:
        """Return the topologies of the claim's volume; none if the claim's class has the mode WaitForFirstConsumer."""
        if not claim_name:
            raise _PreFilterRefusal(_NO_NAME())
        claim = self.handle.get("PersistentVolumeClaim", pod.namespace, claim_name)
        if claim is None:
            raise _PreFilterRefusal(volumes.claim_not_found(claim_name))
        name = volumes.volume_name(claim)
        if not name:
            self._must_wait(claim)
            return ()
        volume = self.handle.get("PersistentVolume", "", name)
        if volume is None:
            raise _PreFilterRefusal(_NO_VOLUME(volume=name))
        return topologies(volume)

    def _must_wait(self, claim: Manifest) -> None:
        name = volumes.class_of(claim)
        if not name:
            raise _PreFilterRefusal(_NO_CLASS_NAMED())
        storage_class = self.handle.get("StorageClass", "", name)
        if storage_class is None:
            raise _PreFilterRefusal(_NO_CLASS(**{"class": name}))
        mode = storage_class.get("volumeBindingMode")
        if mode is None:
            raise _PreFilterRefusal(_NO_MODE(**{"class": name}))
        if mode != volumes.WAIT_FOR_FIRST_CONSUMER:
            raise _PreFilterRefusal(_UNBOUND())

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        constrained = np.zeros(len(nodes), np.bool_)
        for key in _LABELS:
            constrained |= nodes.label(key).codes >= 0
        missed = np.zeros(len(nodes), np.bool_)
        for topology in state.get(NAME) or ():
            missed |= ~_within(nodes, topology)
        refused = (constrained & missed)[rows]
        return Verdicts.refuse(refused, REFUSED) if refused.any() else None

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        """Propose volumes for lost claims, and labels of a volume with the node's zone or region."""
        yield from recreate_lost_claims(draft, refusal, self.handle)
        for topology in refusal.state.get(NAME) or ():
            volume = self.handle.get("PersistentVolume", "", topology.volume)
            labels = refusal.node.labels
            here = labels.get(topology.key, labels.get(_NEW_NAMES.get(topology.key, "")))
            if volume is None or here is None or here in topology.values:
                continue
            meta = volume["metadata"]
            values = {"volume": topology.volume, "key": topology.key, "to": here}
            edited = {**meta, "labels": {**meta["labels"], topology.key: here}}
            yield draft.with_applied(Change("volume-label", values), {**volume, "metadata": edited})

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        topologies: tuple[Topology, ...] = state.read(NAME)
        rows = (Row(((Code(each.volume),), (Code(each.key),), (", ".join(each.values),))) for each in topologies)
        return (Table((gettext_noop("volume"), gettext_noop("label"), gettext_noop("zones")), tuple(rows)),)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Return each zone and region of the volumes next to the node's own."""
        rows = [_explain_topology(topology, nodes, row) for topology in state.get(NAME) or ()]
        return (Table(_COLUMNS, tuple(rows)),) if rows else ()

    def evidence(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, said: RefusalReason) -> Evidence:
        """Return each claim with the volume that it is bound to."""
        return {"claims": claims_evidence(self.handle, pod)}


def _explain_topology(topology: Topology, nodes: NodeTable, row: int) -> Row:
    labels, node = nodes.nodes[row].labels, nodes.names[row]
    key = topology.key if topology.key in labels else _NEW_NAMES.get(topology.key, topology.key)
    here: Parts = ("-",)
    if labels.get(key):
        here = (WrittenValue(labels[key], Source("Node", node, f"metadata.labels[{key}]")),)
    wanted = Source("PersistentVolume", topology.volume, f"metadata.labels[{topology.key}]")
    cells = ((Code(topology.volume), Below((topology.key,))), (WrittenValue(", ".join(topology.values), wanted),), here)
    return Row(cells, bad=not _within(nodes, topology)[row])


def topologies(volume: Manifest) -> tuple[Topology, ...]:
    """Return a volume's zone and region labels; several zones are written zone1__zone2, and a label with an empty part is ignored."""
    labels = volume["metadata"].get("labels") or {}
    pv_topologies = []
    for key in _LABELS:
        if key in labels:
            parts = tuple(part.strip() for part in str(labels[key]).split("__"))
            if all(parts):
                pv_topologies.append(Topology(volumes.name_of(volume), key, parts))
    return tuple(pv_topologies)


def _within(nodes: NodeTable, topology: Topology) -> Mask:
    """Return the rows whose label has one of the values; if the label is missing, the label that replaced it counts."""
    column = nodes.label(topology.key)
    holds = _holds(column.values, topology)[column.codes]
    newer = _NEW_NAMES.get(topology.key)
    if newer is None:
        return holds
    other = nodes.label(newer)
    missing: Mask = column.codes < 0
    out: Mask = np.where(missing, _holds(other.values, topology)[other.codes], holds)
    return out


def _holds(values: tuple[str, ...], topology: Topology) -> Mask:
    """Return a mask by code; the last entry is for code -1, the absent label."""
    return np.array([*(value in topology.values for value in values), False], np.bool_)
