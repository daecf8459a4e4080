"""The rows of a NodeTable that reach a volume: node affinity of volumes, allowed topologies, CSI storage capacities.

Results that depend on Node objects and one selector alone are cached in the table's memo: one computation per volume for all rows.

kube: component-helpers/storage/volume/helpers.go (CheckNodeAffinity), pkg/apis/core/v1/helper/helpers.go
(MatchTopologySelectorTerms) @ v1.34.1
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import Manifest, Pod, labels
from scheduler_core.apimachinery.objects.quantity import value
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.apimachinery.objects.storage import csi_migration
from scheduler_core.apimachinery.objects.storage.volumes import annotation, name_of
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Handle, Rows
from scheduler_core.scheduler.plugins.helper.memo import remember
from scheduler_core.scheduler.plugins.helper.node_selection import Mask, expression_mask

# Queueing hints of VolumeBinding; helper/hints.py has the one for claims.
# kube: plugins/volumebinding/volume_binding.go @ v1.34.1


def after_class_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Return whether a class is new or its allowedTopologies changed. kube: isSchedulableAfterStorageClassChange"""
    return old is None or (old.get("allowedTopologies") or []) != (new.get("allowedTopologies") or [])


def after_csi_node_migration(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Return whether a CSINode is new or its migrated plugins changed. kube: isSchedulableAfterCSINodeChange"""
    if old is None:
        return True
    return (annotation(old, csi_migration.MIGRATED_PLUGINS) or "") != (
        annotation(new, csi_migration.MIGRATED_PLUGINS) or ""
    )


def after_driver_change(plugin: Any, pod: Pod, old: Manifest, new: Manifest) -> bool:
    """Return whether a driver of the pod's inline volumes stopped reporting capacity. kube: isSchedulableAfterCSIDriverChange"""
    inline = [volume["csi"] for volume in pod.spec.volumes if volume.get("csi")]
    if not any(source.get("driver") == name_of(new) for source in inline):
        return False
    return _reports_capacity(old) and not _reports_capacity(new)


def _reports_capacity(driver: Manifest) -> bool:
    return bool((driver.get("spec") or {}).get("storageCapacity"))


def after_capacity_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Return whether a capacity is new or has grown. kube: isSchedulableAfterCSIStorageCapacityChange"""
    return old is None or room(new) > room(old)


def room(entry: Manifest) -> int:
    """Return the size in bytes of the largest volume that a CSIStorageCapacity allows, or -1 if it has no value."""
    limit = entry.get("maximumVolumeSize")
    if limit is None:
        limit = entry.get("capacity")
    return -1 if limit is None else value(limit)


# Cached at a time; by identity, because manifests are immutable and share unchanged parts.
MOST_AFFINITIES = 50_000

_NOWHERE: Rows = np.zeros(0, np.intp)


def volume_rows(nodes: NodeTable, volume: Manifest) -> Rows | None:
    """Return the rows that a volume's node affinity allows, ascending; None means all."""
    required = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required")
    if required is None:
        return None
    known: dict[int, tuple[Manifest, Rows]] = remember(nodes.memo, "volume affinity", dict)
    entry = known.get(id(required))
    if entry is None or entry[0] is not required:
        if len(known) >= MOST_AFFINITIES:
            known.clear()
        entry = known[id(required)] = (required, _selector_rows(nodes, labels.NodeSelector.of(required)))
    return entry[1]


def find_bound_rows(nodes: NodeTable, handle: Handle, volume: Manifest) -> Mask:
    """Return the rows that a bound volume's node affinity allows, translated to its CSI driver's on migrated nodes."""
    mask = as_mask(nodes, volume_rows(nodes, volume))
    plugin = csi_migration.in_tree_plugin(volume.get("spec") or {})
    if plugin is None or not plugin.migrates:
        return mask
    migrated = [
        row
        for csi_node in handle.list("CSINode")
        if csi_migration.is_migrated_on(csi_node, plugin) and (row := nodes.row(name_of(csi_node))) is not None
    ]
    if migrated:
        translated = as_mask(nodes, volume_rows(nodes, csi_migration.translate_affinity(plugin, volume)))
        mask[migrated] = translated[migrated]
    return mask


def as_mask(nodes: NodeTable, rows: Rows | None) -> Mask:
    mask = np.full(len(nodes), rows is None)
    if rows is not None:
        mask[rows] = True
    return mask


def _selector_rows(nodes: NodeTable, selector: labels.NodeSelector) -> Rows:
    by_term = [_term_rows(nodes, term) for term in selector.terms]
    if len(by_term) == 1:
        return by_term[0]
    return np.unique(np.concatenate(by_term)) if by_term else _NOWHERE


def _term_rows(nodes: NodeTable, term: labels.NodeSelectorTerm) -> Rows:
    """Return the rows that match a term. As in kube, only labels are known: a field of the node is ""."""
    if term.empty or term.errors or not all(labels.accepts_field(field, "") for field in term.fields):
        return _NOWHERE
    first = next((e for e in term.expressions if e.op == labels.IN), None)
    if first is None:
        mask = np.ones(len(nodes), np.bool_)
        for expression in term.expressions:
            mask &= expression_mask(nodes, expression)
        return np.flatnonzero(mask)
    rows = _rows_with(nodes, first.key, first.values)
    rest = [e for e in term.expressions if e is not first]
    if not rest:
        return rows
    kept = [row for row in rows.tolist() if all(e.matches(nodes.nodes[row].labels) for e in rest)]
    return np.array(kept, np.intp)


def _rows_with(nodes: NodeTable, key: str, values: Sequence[str]) -> Rows:
    """Return the rows whose label has one of the values, by an index, because many volumes are local to one node."""
    index = remember(nodes.memo, ("volume label", key), lambda: _label_index(nodes, key))
    by_value = [index[value] for value in dict.fromkeys(values) if value in index]
    if len(by_value) == 1:
        return by_value[0]
    return np.sort(np.concatenate(by_value)) if by_value else _NOWHERE


def _label_index(nodes: NodeTable, key: str) -> dict[str, Rows]:
    column = nodes.label(key)
    order = np.argsort(column.codes, kind="stable")
    bounds = np.searchsorted(column.codes[order], np.arange(len(column.values) + 1))
    return {value: order[bounds[i] : bounds[i + 1]] for i, value in enumerate(column.values)}


def get_allowed_mask(nodes: NodeTable, terms: Sequence[Manifest]) -> Mask | None:
    """Return the rows that a class's allowedTopologies allow; None means all. An empty term allows nothing."""
    if not terms:
        return None
    return remember(
        nodes.memo, ("allowed topologies", canonical(list(terms))), lambda: _compute_allowed_mask(nodes, terms)
    )


def _compute_allowed_mask(nodes: NodeTable, terms: Sequence[Manifest]) -> Mask:
    mask = np.zeros(len(nodes), np.bool_)
    for term in terms:
        expressions = term.get("matchLabelExpressions") or ()
        if not expressions or not all(e.get("values") for e in expressions):
            continue
        matched = np.ones(len(nodes), np.bool_)
        for e in expressions:
            matched &= expression_mask(nodes, labels.Requirement(e.get("key") or "", labels.IN, tuple(e["values"])))
        mask |= matched
    return mask


def label_selector_mask(nodes: NodeTable, selector: Manifest | None) -> Mask:
    """Return the rows that a label selector (a CSIStorageCapacity's nodeTopology) selects; none if it is absent or invalid."""
    compiled = labels.LabelSelector.of(selector)
    if compiled.nothing:
        return np.zeros(len(nodes), np.bool_)
    mask = np.ones(len(nodes), np.bool_)
    for requirement in compiled.requirements:
        mask &= expression_mask(nodes, requirement)
    return mask
