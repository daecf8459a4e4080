"""The match of a pod's claims with volumes, over all rows at once.

kube: plugins/volumebinding/binder.go (FindPodVolumes), component-helpers/storage/volume/pv_helpers.go (FindMatchingVolume) @ v1.34.1
DEVIATION: of several smallest volumes the first by name is taken; kube lists them in the random order of a Go map.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.quantity import value
from scheduler_core.apimachinery.objects.storage import volumes as storage
from scheduler_core.base.state import SharedState
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import DEFAULT_FEATURES, Features, Handle
from scheduler_core.scheduler.plugins.helper.node_selection import Mask
from scheduler_core.scheduler.plugins.volumebinding.topology import (
    get_allowed_mask,
    label_selector_mask,
    room,
    volume_rows,
)

NONE = -1
NO_ROOM = -1
NO_ATTRIBUTES = (
    "unsupported volumeAttributesClassName is set on claim %s when the feature-gate VolumeAttributesClass is disabled"
)


@dataclass(slots=True, eq=False)
class Matches(SharedState):
    """The volumes found for the unbound claims, by row.

    `volumes[i][row]` indexes the volumes offered, or is NONE, for the i-th of `claims` (smallest first); `provisioned[j]` are the rows
    where the j-th of `to_provision` needs a new volume. `no_match` and `no_space` are the rejected rows, `errors` (row mask, text) the
    rows with an error. `rooms[j]`, present with StorageCapacityScoring: per row the capacity (bytes) for the j-th of `to_provision`, or
    NO_ROOM.
    """

    no_match: Mask
    no_space: Mask
    claims: list[Manifest] = field(default_factory=list)
    volumes: list[NDArray[np.int32]] = field(default_factory=list)
    to_provision: list[Manifest] = field(default_factory=list)
    provisioned: list[Mask] = field(default_factory=list)
    errors: list[tuple[Mask, str]] = field(default_factory=list)
    rooms: list[NDArray[np.int64] | None] = field(default_factory=list)


def match(nodes: NodeTable, handle: Handle, claims: Sequence[Manifest], offered: Sequence[Manifest]) -> Matches:
    """Match WaitForFirstConsumer claims with the offered volumes of their classes (ordered by name)."""
    n, features = len(nodes), handle.features
    matches = Matches(np.zeros(n, np.bool_), np.zeros(n, np.bool_))
    candidates = np.ones(n, np.bool_)
    unselected = []
    for claim in claims:
        selected = storage.annotation(claim, storage.SELECTED_NODE)
        if selected is None:
            unselected.append(claim)
            continue
        here = np.zeros(n, np.bool_)
        row = nodes.row(selected)
        if row is not None:
            here[row] = True
        candidates &= here
        matches.to_provision.append(claim)
        matches.provisioned.append(candidates)
    matches.no_match |= ~candidates
    # Smallest first, as in kube: with the smallest volumes first too, each claim gets the smallest fit.
    matches.claims = sorted(unselected, key=storage.get_requested_storage)
    for claim in matches.claims:
        try:
            taken = find_matching(nodes, claim, offered, matches.volumes, features)
        except ValueError as wrong:
            matches.errors.append((candidates, str(wrong)))
            return matches
        matches.volumes.append(taken)
        matches.to_provision.append(claim)
        matches.provisioned.append(taken == NONE)
    matches.provisioned = [mask & candidates for mask in matches.provisioned]
    _check_provisions(nodes, handle, matches)
    return matches


def find_matching(
    nodes: NodeTable,
    claim: Manifest,
    offered: Sequence[Manifest],
    taken: Sequence[NDArray[np.int32]],
    features: Features = DEFAULT_FEATURES,
) -> NDArray[np.int32]:
    """Return the claim's volume per row, as an index of `offered`, or NONE. `taken`: volumes of earlier claims.

    Only volumes of the claim's class count. A volume that is reserved for this claim precedes all others, and if its node affinity does
    not match, no other volume is taken. Raise ValueError if the claim's selector is invalid, or the claim has a VolumeAttributesClass and
    that gate is off.
    """
    got = np.full(len(nodes), NONE, np.int32)
    undecided = np.ones(len(nodes), np.bool_)
    free: list[int] = []
    if not features.volume_attributes_class and storage.attributes_class(claim):
        raise ValueError(NO_ATTRIBUTES % storage.key_of(claim))
    usable = storage.VolumeCriteria.of(claim)
    for i, volume in enumerate(offered):
        if storage.class_of(volume) != storage.class_of(claim) or not usable.at_all(volume):
            continue
        if storage.claim_ref(volume) is None:
            if usable.unclaimed(volume):
                free.append(i)
            continue
        mine = undecided.copy()
        for others in taken:
            mine &= others != i
        # Before the affinity check: if the volume reserved for the claim is out of reach, kube takes no other.
        undecided &= ~mine
        rows = volume_rows(nodes, volume)
        reached = np.flatnonzero(mine) if rows is None else rows[mine[rows]]
        got[reached] = i
    left = int(np.count_nonzero(undecided))
    # Ascending and stable: the first volume that reaches a row is the
    # smallest there, and the first by name among equals.
    for i in sorted(free, key=lambda i: storage.capacity(offered[i])):
        if not left:
            break
        rows = volume_rows(nodes, offered[i])
        rows = np.flatnonzero(undecided) if rows is None else rows[undecided[rows]]
        for others in taken:
            rows = rows[others[rows] != i]
        got[rows] = i
        undecided[rows] = False
        left -= len(rows)
    return got


def _check_provisions(nodes: NodeTable, handle: Handle, matches: Matches) -> None:
    """Check per row, claim by claim, whether a new volume can be provisioned; the first claim that fails decides."""
    undecided, keep = ~matches.no_match, handle.features.storage_capacity_scoring
    for claim, needed in zip(matches.to_provision, matches.provisioned, strict=True):
        rows = needed & undecided
        if keep:
            matches.rooms.append(None)
        if not rows.any():
            continue
        name = storage.class_of(claim)
        storage_class = handle.get("StorageClass", "", name) if name else None
        if storage_class is None:
            text = f'failed to find storage class "{name}"' if name else f'no class for claim "{storage.key_of(claim)}"'
            matches.errors.append((rows, text))
            undecided &= ~rows
            continue
        allowed = _can_provision(nodes, storage_class)
        matches.no_match |= rows & ~allowed
        rooms = _rooms(nodes, handle, claim, storage_class)
        if rooms is not None:
            matches.no_space |= rows & allowed & (rooms == NO_ROOM)
        if keep:
            matches.rooms[-1] = rooms
        undecided &= ~(matches.no_match | matches.no_space)


def _can_provision(nodes: NodeTable, storage_class: Manifest) -> Mask:
    if storage_class.get("provisioner") in (None, "", storage.NO_PROVISIONER):
        return np.zeros(len(nodes), np.bool_)
    allowed = get_allowed_mask(nodes, storage_class.get("allowedTopologies") or ())
    return np.ones(len(nodes), np.bool_) if allowed is None else allowed


def _rooms(nodes: NodeTable, handle: Handle, claim: Manifest, storage_class: Manifest) -> NDArray[np.int64] | None:
    """Return per row the capacity of the first CSIStorageCapacity that is large enough, or NO_ROOM; None if capacity is not tracked.

    DEVIATION: the first by namespace and name; kube lists them in the random order of a Go map.
    """
    size = (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage")
    driver = handle.get("CSIDriver", "", str(storage_class.get("provisioner")))
    if size is None or driver is None or not (driver.get("spec") or {}).get("storageCapacity"):
        return None
    wanted = value(size)
    rooms = np.full(len(nodes), NO_ROOM, np.int64)
    for entry in handle.list("CSIStorageCapacity"):
        if entry.get("storageClassName") == storage.name_of(storage_class) and room(entry) >= wanted:
            if entry.get("nodeTopology") is not None:
                here = label_selector_mask(nodes, entry["nodeTopology"]) & (rooms == NO_ROOM)
                rooms[here] = value(entry.get("capacity") or "0")
    return rooms
