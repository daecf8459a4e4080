"""NodeVolumeLimits: rejects nodes to which a CSI driver can attach no more volumes.

kube: plugins/nodevolumelimits/csi.go @ v1.34.1
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import Manifest, Pod, is_owned_by
from scheduler_core.apimachinery.objects.storage import csi_migration
from scheduler_core.apimachinery.objects.storage import volumes as storage
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Action, Change, CycleState, Draft, On, Reason, Refusal
from scheduler_core.scheduler.framework.explanation import (
    Explanation,
    Row,
    Source,
    Table,
    WrittenValue,
    gettext_noop,
    remark,
)
from scheduler_core.scheduler.framework.plugin import (
    GO_ON,
    NOTHING_TO_DO,
    Handle,
    Plugin,
    Point,
    PreFilterResult,
    Rows,
    Verdicts,
)
from scheduler_core.scheduler.framework.status import Status, error, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.helper.fixes import MOST_DELETED, add_node, delete_pods
from scheduler_core.scheduler.plugins.helper.hints import after_claim_change, was_placed

# Queueing hints of NodeVolumeLimits; helper/hints.py has the hint for claims.
# kube: plugins/nodevolumelimits/csi.go @ v1.34.1


def after_limits_change(plugin: Any, pod: Pod, old: Manifest, new: Manifest) -> bool:
    """Return whether a limit of the CSINode is higher than before. kube: isSchedulableAfterCSINodeUpdated"""
    before = limits_of(old)
    return any(limit > before.get(name, 0) for name, limit in limits_of(new).items())


def after_pod_with_volumes_deleted(plugin: Any, pod: Pod, old: Pod, new: None) -> bool:
    """Return whether a placed pod with volumes was deleted. kube: isSchedulableAfterPodDeleted"""
    volumes = storage.volumes_of(old.spec)
    return was_placed(old) and bool(volumes.claims or volumes.in_tree)


def after_attachment_deleted(plugin: Any, pod: Pod, old: Manifest, new: None) -> bool:
    """Return whether the deleted attachment may be of the pod's drivers. kube: isSchedulableAfterVolumeAttachmentDeleted"""
    attacher = (old.get("spec") or {}).get("attacher")
    for volume in pod.spec.volumes:
        if volume.get("persistentVolumeClaim") is not None:
            return True
        in_tree = csi_migration.in_tree_plugin(volume)
        if in_tree is None:
            continue
        try:
            csi_migration.handle_of(in_tree, volume[in_tree.source], {})
        except ValueError:
            return True
        if in_tree.driver == attacher:
            return True
    return False


# Numbers of volumes that CSI drivers attach to a node: those of its pods, and those of an incoming pod.
# kube: plugins/nodevolumelimits/csi.go @ v1.34.1

NO_CLAIM = Reason("ClaimNotFound", f"looking up PVC <key>: {storage.claim_not_found('<claim>')}", waits_for_claim=True)

Attached = dict[str, str]  # "driver/handle" -> driver


def limits_of(csi_node: Manifest | None) -> dict[str, int]:
    """Return the number of volumes that each driver can attach to a node, without drivers that set no limit."""
    if csi_node is None:
        return {}
    drivers = (csi_node.get("spec") or {}).get("drivers") or ()
    counts = ((driver.get("name") or "", (driver.get("allocatable") or {}).get("count")) for driver in drivers)
    return {name: int(count) for name, count in counts if count is not None}


class Counter:
    """A counter of volumes as (driver, handle) for one Filter call; each claim is looked up once."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._claims: dict[str, Manifest | None] = {}
        self._attachments: dict[str, Attached] | None = None
        self._everywhere: dict[str, Attached] = {}  # by UID: pods with the same volumes on all nodes
        self._varies = False

    def problem_of_new(self, pod: Pod) -> Status | None:
        """Return the reason why the pod's volumes can't be counted. Unlike running pods' claims, new pods' claims must exist."""
        for use in storage.volumes_of(pod.spec).claims:
            name = use.name(pod)
            if not name:
                return error("PersistentVolumeClaim had no name")
            claim = self._claim(pod, name)
            if claim is None:
                return unresolvable(NO_CLAIM(key=f"{pod.namespace}/{name}", claim=name))
            if use.ephemeral and not is_owned_by(claim, pod):
                return error(storage.not_owned(claim, pod))
        return None

    def exceeds(self, pod: Pod, others: Sequence[Pod], csi_node: Manifest | None, limits: Mapping[str, int]) -> bool:
        """Return whether the pod would exceed a limit of the node. Raise ValueError if a volume can't be identified."""
        wanted = self.volumes(pod, csi_node)
        if not any(driver in limits for driver in wanted.values()):
            return False
        assert csi_node is not None
        attached, new = self.count(pod, others, csi_node, str(csi_node["metadata"].get("name") or ""))
        return any(
            driver in limits and attached.get(driver, 0) + count > limits[driver] for driver, count in new.items()
        )

    def missing_driver(self, pod: Pod, csi_node: Manifest | None) -> str:
        """Return the first driver of the pod's volumes that must be on the node and is not, or "". Raise ValueError as in `volumes`."""
        all_ask = Behavior.DRIVERS_ASK not in self._handle.features.behaviors
        present = storage.list_drivers(csi_node)
        for driver in dict.fromkeys(self.volumes(pod, csi_node).values()):
            known = self._handle.get("CSIDriver", "", driver)
            spec = (known or {}).get("spec") or {}
            asks = known is not None and (all_ask or spec.get("preventPodSchedulingIfMissing"))
            if asks and driver not in present:
                return driver
        return ""

    def count(
        self, pod: Pod, others: Sequence[Pod], csi_node: Manifest | None, node_name: str
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Return the attached and the new volumes by driver. A volume of several pods counts once."""
        in_use: Attached = {}
        for other in others:
            if other.spec.volumes:
                in_use.update(self.volumes(other, csi_node))
        if self._attachments is None:
            self._attachments = self._all_attachments()
        everything = {**self._attachments.get(node_name, {}), **in_use}
        attached: dict[str, int] = {}
        for driver in everything.values():
            attached[driver] = attached.get(driver, 0) + 1
        new: dict[str, int] = {}
        for volume, driver in self.volumes(pod, csi_node).items():
            if volume not in in_use:
                new[driver] = new.get(driver, 0) + 1
        return attached, new

    def volumes(self, pod: Pod, csi_node: Manifest | None) -> Attached:
        """Return the pod's volumes that CSI drivers attach. Raise ValueError if one can't be identified."""
        known = self._everywhere.get(pod.identity)
        if known is not None:
            return known
        self._varies = False
        volumes: Attached = {}
        mine = storage.volumes_of(pod.spec)
        for use in mine.claims:
            claim = self._claim(pod, use.name(pod))
            if claim is None:
                continue
            if use.ephemeral and not is_owned_by(claim, pod):
                raise ValueError(storage.not_owned(claim, pod))
            driver, handle = self._driver_of(claim, csi_node)
            if driver and handle:
                volumes[f"{driver}/{handle}"] = driver
        for volume in mine.in_tree:
            plugin = csi_migration.in_tree_plugin(volume)
            self._varies = True
            if plugin is not None and csi_migration.is_counted_on(csi_node, plugin):
                try:
                    handle = csi_migration.handle_of(plugin, volume[plugin.source], {})
                except ValueError as wrong:
                    text = f"converting volume({volume.get('name', '')}) from inline to csi: {wrong}"
                    raise ValueError(text) from wrong
                volumes[f"{plugin.driver}/{handle}"] = plugin.driver
        if not self._varies:
            self._everywhere[pod.identity] = volumes
        return volumes

    def _claim(self, pod: Pod, name: str) -> Manifest | None:
        key = f"{pod.namespace}/{name}"
        if key not in self._claims:
            self._claims[key] = self._handle.get("PersistentVolumeClaim", pod.namespace, name)
        return self._claims[key]

    def _driver_of(self, claim: Manifest, csi_node: Manifest | None) -> tuple[str, str]:
        """Return the driver and handle of the claim's volume or of the one to provision; "" if no driver attaches the volume."""
        name = storage.volume_name(claim)
        volume = self._handle.get("PersistentVolume", "", name) if name else None
        if volume is None:
            return self._driver_of_class(claim, csi_node)
        spec = volume.get("spec") or {}
        source = spec.get("csi")
        if source is not None:
            return str(source.get("driver") or ""), str(source.get("volumeHandle") or "")
        plugin = csi_migration.in_tree_plugin(spec)
        self._varies = self._varies or plugin is not None
        if plugin is None or not csi_migration.is_counted_on(csi_node, plugin):
            return "", ""
        try:
            labels = volume["metadata"].get("labels") or {}
            return plugin.driver, csi_migration.handle_of(plugin, spec[plugin.source], labels)
        except ValueError:
            return "", ""

    def _driver_of_class(self, claim: Manifest, csi_node: Manifest | None) -> tuple[str, str]:
        name = storage.class_of(claim)
        storage_class = self._handle.get("StorageClass", "", name) if name else None
        if storage_class is None:
            return "", ""
        provisioner = str(storage_class.get("provisioner") or "")
        handle = f"not yet made for {storage.key_of(claim)}"
        plugin = csi_migration.plugin_of_provisioner(provisioner)
        if plugin is None:
            return provisioner, handle
        self._varies = True
        return (plugin.driver, handle) if csi_migration.is_counted_on(csi_node, plugin) else ("", "")

    def _all_attachments(self) -> dict[str, Attached]:
        """Return the attached volumes by node, from VolumeAttachments."""
        by_node: dict[str, Attached] = {}
        for attachment in self._handle.list("VolumeAttachment"):
            spec = attachment.get("spec") or {}
            name = (spec.get("source") or {}).get("persistentVolumeName")
            driver = str(spec.get("attacher") or "")
            volume = self._handle.get("PersistentVolume", "", str(name)) if name and driver else None
            source = None if volume is None else (volume.get("spec") or {}).get("csi")
            if source is not None:
                key = f"{driver}/{source.get('volumeHandle') or ''}"
                by_node.setdefault(str(spec.get("nodeName") or ""), {})[key] = driver
        return by_node


NAME = "NodeVolumeLimits"

TOO_MANY_VOLUMES = Reason("TooManyVolumes", "node(s) exceed max volume count")
NO_DRIVER = Reason("DriverMissing", "<driver> CSI driver is not installed on the node")
REFUSED = unschedulable(TOO_MANY_VOLUMES())


_COLUMNS = gettext_noop("driver"), gettext_noop("attached"), gettext_noop("new"), gettext_noop("limit")


class NodeVolumeLimits(Plugin):
    """Counts only on nodes whose CSINode sets a limit for a driver of the pod's volumes."""

    name = NAME
    skips = {Point.PRE_FILTER: gettext_noop("no volumes that count against a limit")}
    reasons = (TOO_MANY_VOLUMES, NO_DRIVER, NO_CLAIM)
    events = (
        On("storage.k8s.io/CSINode", Action.ADD),
        On("storage.k8s.io/CSINode", Action.UPDATE, after_limits_change),
        On("Pod", Action.DELETE, after_pod_with_volumes_deleted),
        On("PersistentVolumeClaim", Action.ADD, after_claim_change),
        On("storage.k8s.io/VolumeAttachment", Action.DELETE, after_attachment_deleted),
    )

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._drivers_count = handle.features.volume_limit_scaling

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        volumes = storage.volumes_of(pod.spec)
        return GO_ON if volumes.claims or volumes.in_tree else NOTHING_TO_DO

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        counter = Counter(self.handle)
        problem = counter.problem_of_new(pod)
        if problem is not None:
            return Verdicts.refuse(np.ones(len(rows), np.bool_), problem)
        reason = np.full(len(rows), -1, np.int32)
        statuses: list[Status] = [REFUSED]
        for i, row in enumerate(rows.tolist()):
            csi_node = self.handle.get("CSINode", "", nodes.names[row])
            limits = limits_of(csi_node)
            if not limits and not self._drivers_count:
                continue
            try:
                if self._drivers_count and (driver := counter.missing_driver(pod, csi_node)):
                    statuses.append(unschedulable(NO_DRIVER(driver=driver)))
                    reason[i] = len(statuses) - 1
                elif counter.exceeds(pod, nodes.pods[row], csi_node, limits):
                    reason[i] = 0
            except ValueError as wrong:
                statuses.append(error(str(wrong)))
                reason[i] = len(statuses) - 1
        return Verdicts(reason, tuple(statuses)) if (reason >= 0).any() else None

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        """Propose a higher limit of the driver, to delete pods with attached volumes, or to add a node."""
        nodes, row = refusal.nodes, refusal.row
        csi_node = self.handle.get("CSINode", "", nodes.names[row])
        counter, limits = Counter(self.handle), limits_of(csi_node)
        try:
            attached, new = counter.count(refusal.pod, nodes.pods[row], csi_node, nodes.names[row])
            over = {
                d: attached.get(d, 0) + n for d, n in new.items() if attached.get(d, 0) + n > limits.get(d, 1 << 31)
            }
            holders = _holders(counter, refusal, csi_node, limits)
        except ValueError:
            return
        if csi_node is None or not over:
            return
        # CSINode with limits that are just high enough.
        node = nodes.names[row]
        edited: dict[str, Any] = copy.deepcopy(dict(csi_node))
        for driver in edited["spec"]["drivers"]:
            if driver["name"] in over:
                driver["allocatable"]["count"] = over[driver["name"]]
        driver = next(iter(over))
        values = {"node": node, "driver": driver, "from": limits[driver], "to": over[driver]}
        yield draft.with_applied(Change("attach-limit", values), edited)
        if holders and not draft.changes:
            yield delete_pods(draft, nodes.names[row], holders)
        yield from add_node(draft, refusal)

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        volumes = storage.volumes_of(pod.spec)
        return (remark("Volumes that count on each node:", str(len(volumes.claims) + len(volumes.in_tree))),)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Return for each driver with a limit the attached volumes, those the pod adds, and the limit."""
        counter = Counter(self.handle)
        csi_node = self.handle.get("CSINode", "", nodes.names[row])
        try:
            attached, new = counter.count(pod, nodes.pods[row], csi_node, nodes.names[row])
        except ValueError:
            return ()
        if csi_node is None:
            return ()
        rows = [
            _explain_limit(driver, attached.get(driver, 0), new.get(driver, 0), limit, _source(csi_node, driver))
            for driver, limit in limits_of(csi_node).items()
        ]
        return (Table(_COLUMNS, tuple(rows)),) if rows else ()


def _holders(counter: Counter, refusal: Refusal, csi_node: Manifest | None, limits: Mapping[str, int]) -> list[Pod]:
    """Return the fewest pods of the lowest priority whose deletion makes room; empty if too many are needed."""
    left = [pod for pod in refusal.nodes.pods[refusal.row] if not pod.deleting]
    gone: list[Pod] = []
    for pod in sorted(left, key=lambda pod: (pod.priority, pod.key)):
        if not counter.volumes(pod, csi_node):
            continue
        gone.append(pod)
        left.remove(pod)
        if not counter.exceeds(refusal.pod, left, csi_node, limits):
            return gone
        if len(gone) == MOST_DELETED:
            break
    return []


def _explain_limit(driver: str, attached: int, new: int, limit: int, source: Source) -> Row:
    allowed = (WrittenValue(str(limit), source),)
    return Row(((driver,), (str(attached),), (str(new),), allowed), bad=attached + new > limit)


def _source(csi_node: Manifest, driver: str) -> Source:
    """Return the location of a driver's volume limit in a CSINode."""
    at = [each.get("name") or "" for each in csi_node["spec"]["drivers"]].index(driver)
    return Source("CSINode", csi_node["metadata"]["name"], f"spec.drivers[{at}].allocatable.count")
