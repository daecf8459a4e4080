"""In-tree volumes as the CSI drivers see them that have taken them over.

kube: k8s.io/csi-translation-lib, plugins/nodevolumelimits/utils.go, plugins/volumebinding/binder.go (tryTranslatePVToCSI) @ v1.34.1
DEVIATION: a GCE disk of several zones keeps its zones in its handle, where kube writes their region; both distinguish disks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"

_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_BETA_ZONE, _BETA_REGION = ("failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region")
_EBS_ID = re.compile(r"vol-[^/]*\Z")


@dataclass(frozen=True, slots=True)
class InTreePlugin:
    """An in-tree volume plugin: the field of its source, its name, the driver that replaces it, and the zone label of that driver.

    `always`: counted as migrated on any node with a CSINode. `migrates`: kube v1.34 can translate its volumes.
    """

    source: str
    name: str
    driver: str
    zone_key: str = ""
    always: bool = False
    migrates: bool = True


_PLUGINS = (
    InTreePlugin("gcePersistentDisk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone", True),
    InTreePlugin(
        "awsElasticBlockStore", "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", True
    ),
    InTreePlugin(
        "cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone", True
    ),
    InTreePlugin("azureDisk", "kubernetes.io/azure-disk", "disk.csi.azure.com", "", True),
    InTreePlugin("portworxVolume", "kubernetes.io/portworx-volume", "pxd.portworx.com"),
    InTreePlugin("azureFile", "kubernetes.io/azure-file", "file.csi.azure.com", migrates=False),
    InTreePlugin("vsphereVolume", "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", migrates=False),
)
_BY_NAME = {plugin.name: plugin for plugin in _PLUGINS}


def in_tree_plugin(source: Manifest) -> InTreePlugin | None:
    """Return the plugin of a volume in a pod's spec or of a PersistentVolume's spec; None if the source is not in-tree."""
    return next((plugin for plugin in _PLUGINS if source.get(plugin.source) is not None), None)


def plugin_of_provisioner(provisioner: str) -> InTreePlugin | None:
    return _BY_NAME.get(provisioner)


def is_migrated_on(csi_node: Manifest | None, plugin: InTreePlugin) -> bool:
    """Return whether a node's CSINode lists the plugin as migrated, so that the affinity of its volumes is translated."""
    if csi_node is None or not plugin.migrates:
        return False
    annotations = csi_node["metadata"].get("annotations") or {}
    return plugin.name in str(annotations.get(MIGRATED_PLUGINS) or "").split(",")


def is_counted_on(csi_node: Manifest | None, plugin: InTreePlugin) -> bool:
    """Return whether volume limits count the plugin's volumes on a node: for most plugins, on any node with a CSINode."""
    if csi_node is None:
        return False
    return plugin.always or is_migrated_on(csi_node, plugin)


def handle_of(plugin: InTreePlugin, source: Manifest, labels: Mapping[str, str]) -> str:
    """Return the CSI volume handle. `source` is the plugin's source of the volume; `labels` are the PersistentVolume's ({} for an inline
    volume).

    Raise ValueError if the source can't be translated.
    """
    if plugin.source == "gcePersistentDisk":
        zones = labels.get(_BETA_ZONE) or labels.get(_ZONE) or "UNSPECIFIED"
        return f"projects/UNSPECIFIED/zones/{zones}/disks/{source.get('pdName') or ''}"
    if plugin.source == "awsElasticBlockStore":
        volume_id = str(source.get("volumeID") or "")
        if not volume_id.startswith("aws://"):
            return volume_id
        _, _, path = volume_id.removeprefix("aws://").partition("/")
        ebs_id = path.strip("/")
        if not _EBS_ID.match(ebs_id):
            raise ValueError(
                f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({volume_id})"
            )
        return ebs_id
    if plugin.source == "azureDisk":
        kind = source.get("kind")
        if kind is not None and str(kind).lower() != "managed":
            raise ValueError(f"kind({kind}) is not supported in csi migration")
        return str(source.get("diskURI") or "")
    return str(source.get("volumeID") or "")


def translate_affinity(plugin: InTreePlugin, volume: Manifest) -> Manifest:
    """Return the volume with its node affinity in the terms of the CSI driver's node labels."""
    if not plugin.zone_key:
        return volume
    spec = volume.get("spec") or {}
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    terms = [dict(term) for term in required.get("nodeSelectorTerms") or ()]
    labels = volume["metadata"].get("labels") or {}
    zone, region = _topology_labels(terms, labels)
    if any(e.get("values") for e in _expressions(terms, zone)):
        terms = [_rename_key(term, zone, plugin.zone_key) for term in terms]
    elif zone in labels:
        zones = sorted({part.strip() for part in str(labels[zone]).split("__")} - {""})
        if zones:
            wanted = {"key": plugin.zone_key, "operator": "In", "values": zones}
            terms = [
                {**term, "matchExpressions": [*(term.get("matchExpressions") or ()), wanted]} for term in terms or [{}]
            ]
    if region == _BETA_REGION:
        terms = [_rename_key(term, region, _REGION) for term in terms]
    if not terms:
        return volume
    affinity = {"required": {"nodeSelectorTerms": terms}}
    return {**volume, "spec": {**spec, "nodeAffinity": affinity}}


def _topology_labels(terms: list[dict[str, Any]], labels: Mapping[str, str]) -> tuple[str, str]:
    if any(True for _ in _expressions(terms, _ZONE)):
        return _ZONE, _REGION
    if any(True for _ in _expressions(terms, _BETA_ZONE)):
        return _BETA_ZONE, _BETA_REGION
    if _ZONE not in labels and _BETA_ZONE in labels:
        return _BETA_ZONE, _BETA_REGION
    return _ZONE, _REGION


def _expressions(terms: list[dict[str, Any]], key: str) -> list[Manifest]:
    return [e for term in terms for e in term.get("matchExpressions") or () if e.get("key") == key]


def _rename_key(term: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    expressions = [{**e, "key": new} if e.get("key") == old else e for e in term.get("matchExpressions") or ()]
    return {**term, "matchExpressions": expressions}
