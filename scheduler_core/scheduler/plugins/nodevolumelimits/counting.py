"""Counting the volumes that CSI drivers attach to a node: those of its pods, and those of a pod to come.

kube: plugins/nodevolumelimits/csi.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.ownership import is_owned_by
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.csi_migration import (
    handle_of,
    in_tree_plugin,
    is_counted_on,
    plugin_of_provisioner,
)
from scheduler_core.apimachinery.objects.storage.volumes import (
    claim_not_found,
    class_of,
    key_of,
    not_owned,
    volume_name,
    volumes_of,
)
from scheduler_core.scheduler.framework.plugin import Handle
from scheduler_core.scheduler.framework.reasons import Reason
from scheduler_core.scheduler.framework.status import Status, error, unresolvable

NO_CLAIM = Reason("ClaimNotFound", f"looking up PVC <key>: {claim_not_found('<claim>')}", waits_for_claim=True)

Attached = dict[str, str]  # "driver/handle" -> driver


def limits_of(csi_node: Manifest | None) -> dict[str, int]:
    """Driver -> how many volumes it can attach to a node; drivers that don't say are left out."""
    if csi_node is None:
        return {}
    drivers = (csi_node.get("spec") or {}).get("drivers") or ()
    counts = ((driver.get("name") or "", (driver.get("allocatable") or {}).get("count")) for driver in drivers)
    return {name: int(count) for name, count in counts if count is not None}


class Counter:
    """Volumes as (driver, handle) for the length of one Filter; what claims stand for is looked up once."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._claims: dict[str, Manifest | None] = {}
        self._attachments: dict[str, Attached] | None = None
        self._everywhere: dict[str, Attached] = {}  # by uid: pods whose volumes are the same on all nodes
        self._varies = False

    def problem_of_new(self, pod: Pod) -> Status | None:
        """Return the reason why the pod's volumes can't be counted. Unlike running pods' claims, new pods' claims must exist."""
        for use in volumes_of(pod.spec).claims:
            name = use.name(pod)
            if not name:
                return error("PersistentVolumeClaim had no name")
            claim = self._claim(pod, name)
            if claim is None:
                return unresolvable(NO_CLAIM(key=f"{pod.namespace}/{name}", claim=name))
            if use.ephemeral and not is_owned_by(claim, pod):
                return error(not_owned(claim, pod))
        return None

    def exceeds(self, pod: Pod, others: Sequence[Pod], csi_node: Manifest | None, limits: Mapping[str, int]) -> bool:
        """Return whether the node's limits are exceeded with the pod. Raise ValueError if a volume can't be identified."""
        wanted = self.volumes(pod, csi_node)
        if not any(driver in limits for driver in wanted.values()):
            return False
        assert csi_node is not None
        attached, new = self.count(pod, others, csi_node, str(csi_node["metadata"].get("name") or ""))
        return any(
            driver in limits and attached.get(driver, 0) + count > limits[driver] for driver, count in new.items()
        )

    def missing_driver(self, pod: Pod, csi_node: Manifest | None) -> str:
        """Return the first driver of the pod's volumes that asks to be on the node and is not there; "" for none. ValueError."""
        present = [each.get("name") for each in ((csi_node or {}).get("spec") or {}).get("drivers") or ()]
        for driver in dict.fromkeys(self.volumes(pod, csi_node).values()):
            known = self._handle.get("CSIDriver", "", driver)
            asks = known is not None and (known.get("spec") or {}).get("preventPodSchedulingIfMissing")
            if asks and driver not in present:
                return driver
        return ""

    def count(
        self, pod: Pod, others: Sequence[Pod], csi_node: Manifest | None, node_name: str
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Driver -> volumes attached, and driver -> volumes that the pod would add. A volume of several pods counts once."""
        in_use: Attached = {}
        for other in others:
            if other.spec.volumes:
                in_use.update(self.volumes(other, csi_node))
        everything = {**self._attached_to(node_name), **in_use}
        attached: dict[str, int] = {}
        for driver in everything.values():
            attached[driver] = attached.get(driver, 0) + 1
        new: dict[str, int] = {}
        for volume, driver in self.volumes(pod, csi_node).items():
            if volume not in in_use:
                new[driver] = new.get(driver, 0) + 1
        return attached, new

    def volumes(self, pod: Pod, csi_node: Manifest | None) -> Attached:
        """The pod's volumes that CSI drivers attach. ValueError where one can't be identified."""
        known = self._everywhere.get(pod.identity)
        if known is not None:
            return known
        self._varies = False
        volumes = self._volumes(pod, csi_node)
        if not self._varies:
            self._everywhere[pod.identity] = volumes
        return volumes

    def _volumes(self, pod: Pod, csi_node: Manifest | None) -> Attached:
        volumes: Attached = {}
        mine = volumes_of(pod.spec)
        for use in mine.claims:
            claim = self._claim(pod, use.name(pod))
            if claim is None:
                continue
            if use.ephemeral and not is_owned_by(claim, pod):
                raise ValueError(not_owned(claim, pod))
            driver, handle = self._driver_of(claim, csi_node)
            if driver and handle:
                volumes[f"{driver}/{handle}"] = driver
        for volume in mine.in_tree:
            plugin = in_tree_plugin(volume)
            self._varies = True
            if plugin is not None and is_counted_on(csi_node, plugin):
                try:
                    handle = handle_of(plugin, volume[plugin.source], {})
                except ValueError as wrong:
                    text = f"converting volume({volume.get('name', '')}) from inline to csi: {wrong}"
                    raise ValueError(text) from wrong
                volumes[f"{plugin.driver}/{handle}"] = plugin.driver
        return volumes

    def _claim(self, pod: Pod, name: str) -> Manifest | None:
        key = f"{pod.namespace}/{name}"
        if key not in self._claims:
            self._claims[key] = self._handle.get("PersistentVolumeClaim", pod.namespace, name)
        return self._claims[key]

    def _driver_of(self, claim: Manifest, csi_node: Manifest | None) -> tuple[str, str]:
        """Driver and handle of a claim's volume, or of the one that its class will make; "" where no driver attaches it."""
        name = volume_name(claim)
        volume = self._handle.get("PersistentVolume", "", name) if name else None
        if volume is None:
            return self._driver_of_class(claim, csi_node)
        spec = volume.get("spec") or {}
        source = spec.get("csi")
        if source is not None:
            return str(source.get("driver") or ""), str(source.get("volumeHandle") or "")
        plugin = in_tree_plugin(spec)
        self._varies = self._varies or plugin is not None
        if plugin is None or not is_counted_on(csi_node, plugin):
            return "", ""
        try:
            labels = volume["metadata"].get("labels") or {}
            return plugin.driver, handle_of(plugin, spec[plugin.source], labels)
        except ValueError:
            return "", ""

    def _driver_of_class(self, claim: Manifest, csi_node: Manifest | None) -> tuple[str, str]:
        name = class_of(claim)
        storage_class = self._handle.get("StorageClass", "", name) if name else None
        if storage_class is None:
            return "", ""
        provisioner = str(storage_class.get("provisioner") or "")
        handle = f"not yet made for {key_of(claim)}"
        plugin = plugin_of_provisioner(provisioner)
        if plugin is None:
            return provisioner, handle
        self._varies = True
        return (plugin.driver, handle) if is_counted_on(csi_node, plugin) else ("", "")

    def _attached_to(self, node_name: str) -> Attached:
        if self._attachments is None:
            self._attachments = self._all_attachments()
        return self._attachments.get(node_name, {})

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
