"""What is made for claims and pods where volumes are provisioned: the volumes, and the claims of ephemeral volumes.

kube: sigs.k8s.io/sig-storage-lib-external-provisioner, pkg/controller/volume/ephemeral/controller.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod, controller_reference
from scheduler_core.apimachinery.objects.storage import volumes
from scheduler_core.apiserver.store import Store

PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"


def name_of_new_volume(claim: Manifest) -> str:
    """The name of the volume that is made for a claim."""
    return f"pvc-{claim['metadata'].get('uid') or volumes.name_of(claim)}"


def new_volume(store: Store, claim: Manifest, storage_class: Manifest, provisioner: str) -> dict[str, Any]:
    """The volume that a provisioner makes for a claim, without the reference to it."""
    spec, name = claim.get("spec") or {}, name_of_new_volume(claim)
    terms = _topology(store, claim, storage_class, provisioner)
    volume: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": volumes.VOLUME,
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: provisioner}},
        "spec": {
            "accessModes": spec.get("accessModes") or [],
            "capacity": (spec.get("resources") or {}).get("requests") or {},
            "csi": {"driver": provisioner, "volumeHandle": name},
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
            "storageClassName": volumes.class_of(claim),
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
        "status": {"phase": "Available"},
    }
    if terms:
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    if spec.get("volumeAttributesClassName"):
        volume["spec"]["volumeAttributesClassName"] = spec["volumeAttributesClassName"]
    return volume


def _topology(store: Store, claim: Manifest, storage_class: Manifest, provisioner: str) -> list[Manifest]:
    """Return the topology of the volume: the selected node's labels, or else the topologies that the class allows."""
    allowed = [
        [{"key": e["key"], "operator": "In", "values": list(e["values"])} for e in expressions]
        for term in storage_class.get("allowedTopologies") or ()
        if (expressions := term.get("matchLabelExpressions"))
    ]
    selected = volumes.annotation(claim, volumes.SELECTED_NODE)
    node = None if selected is None else store.node(selected)
    if node is None:
        return [{"matchExpressions": expressions} for expressions in allowed]
    keys = _driver_keys(store, node.name, provisioner)
    keys = keys or list(dict.fromkeys(e["key"] for expressions in allowed for e in expressions))
    here = [{"key": key, "operator": "In", "values": [node.labels[key]]} for key in keys if key in node.labels]
    return [{"matchExpressions": here}] if here else []


def _driver_keys(store: Store, node_name: str, driver: str) -> list[str]:
    """The labels by which a driver distinguishes nodes, as the node's CSINode says."""
    csi_node = store.get("CSINode", "", node_name)
    drivers = ((csi_node or {}).get("spec") or {}).get("drivers") or ()
    return next((list(d.get("topologyKeys") or ()) for d in drivers if d.get("name") == driver), [])


def missing_claims(store: Store, pod: Pod) -> list[dict[str, Any]]:
    """The claims that a pod's generic ephemeral volumes still lack."""
    missing = []
    for use in volumes.volumes_of(pod.spec).claims:
        if use.ephemeral and store.get(volumes.CLAIM, pod.namespace, use.name(pod)) is None:
            volume = next(v for v in pod.spec.volumes if v.get("name") == use.claim and v.get("ephemeral"))
            missing.append(_ephemeral_claim(pod, use.name(pod), volume))
    return missing


def _ephemeral_claim(pod: Pod, name: str, volume: Manifest) -> dict[str, Any]:
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
    owner = controller_reference("v1", "Pod", pod.name, pod.uid)
    meta = {**(template.get("metadata") or {}), "name": name, "namespace": pod.namespace}
    return {
        "apiVersion": "v1",
        "kind": volumes.CLAIM,
        "metadata": {**meta, "ownerReferences": [owner]},
        "spec": template.get("spec") or {},
        "status": {"phase": "Pending"},
    }
