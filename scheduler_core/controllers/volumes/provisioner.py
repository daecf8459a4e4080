"""The provisioners of CSI drivers: they create a claim's volume on request, and delete released volumes.

The cluster's setting `provisioners` enables them. A finalizer keeps a volume whose policy is Delete until it is deleted from the storage.
The setting `provisioning_errors` makes them fail: they retry after 1 s, 2 s ... 5 minutes.

DEVIATION: a volume is created and deleted at once, and uses no CSIStorageCapacity; a claim whose driver has no room on the selected node
keeps its selected node.

kube: sigs.k8s.io/sig-storage-lib-external-provisioner/controller/controller.go (what v1.34.1 is used with)
"""

from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Manifest
from scheduler_core.apimachinery.objects.storage import volumes as storage
from scheduler_core.apiserver import NORMAL, WARNING, with_section
from scheduler_core.apiserver.status import unknown_error
from scheduler_core.apiserver.store import Store
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.volumes.claims import PROVISIONER
from scheduler_core.controllers.volumes.released import PROVISIONED_BY, policy_of

FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer"


class Provisioner(Controller):
    """All provisioners that run. A key is a claim's "namespace/name", or a volume's name."""

    name = "csi-provisioner"
    watches = (storage.CLAIM, storage.VOLUME)
    always_on = True
    pauses = (SECOND, 300 * SECOND)

    def ask(self, world: World, manifest: Manifest) -> None:
        if manifest["kind"] == storage.VOLUME:
            if _is_to_go(world, manifest):
                self.enqueue(world, storage.name_of(manifest))
        elif _wants_volume(world, manifest):
            self.enqueue(world, storage.key_of(manifest))

    def sync(self, world: World, key: str) -> str:
        if "/" in key:
            claim = world.store.get(storage.CLAIM, *key.split("/", 1))
            return "" if claim is None or not _wants_volume(world, claim) else self._provision(world, claim)
        volume = world.store.get(storage.VOLUME, "", key)
        return "" if volume is None or not _is_to_go(world, volume) else _delete(world, volume)

    def _provision(self, world: World, claim: Manifest) -> str:
        key, storage_class = storage.key_of(claim), world.store.get("StorageClass", "", storage.class_of(claim))
        if storage_class is None or world.store.get(storage.VOLUME, "", name_of_new_volume(claim)) is not None:
            return ""
        text = f'External provisioner is provisioning volume for claim "{key}"'
        self.event(world, NORMAL, "Provisioning", storage.CLAIM, key, text)
        selected = storage.annotation(claim, storage.SELECTED_NODE)
        if selected is not None and world.store.node(selected) is None:
            # If the selected node is gone, remove the annotation, so that the scheduler selects another.
            text = f'failed to get target node: nodes "{selected}" not found'
            self.event(world, WARNING, "ProvisioningFailed", storage.CLAIM, storage.key_of(claim), text)
            marks = claim["metadata"].get("annotations") or {}
            kept = {name: value for name, value in marks.items() if name != storage.SELECTED_NODE}
            world.api.update(with_section(claim, "metadata", {"annotations": kept}))
            return f"created no volume for {storage.key_of(claim)}: {text}"
        self._fail_if_set(world, claim)
        volume = new_volume(world.store, claim, storage_class, storage.annotation(claim, PROVISIONER) or "")
        if policy_of(volume) == "Delete":
            volume["metadata"]["finalizers"] = [FINALIZER]
        meta = claim["metadata"]
        volume["spec"]["claimRef"] = {
            "apiVersion": "v1",
            "kind": storage.CLAIM,
            "namespace": meta.get("namespace") or "",
            "name": storage.name_of(claim),
            "uid": meta.get("uid") or "",
        }
        world.api.create(volume)
        text = f"Successfully provisioned volume {storage.name_of(volume)}"
        self.event(world, NORMAL, "ProvisioningSucceeded", storage.CLAIM, key, text)
        return f"created {storage.name_of(volume)} for {key}"

    def _fail_if_set(self, world: World, claim: Manifest) -> None:
        """Raise Refused if the settings make the claim's provisioning fail."""
        errors = world.cluster.provisioning_errors
        problem = errors.get(storage.class_of(claim)) or errors.get(storage.annotation(claim, PROVISIONER) or "")
        if problem:
            text = f'failed to provision volume with StorageClass "{storage.class_of(claim)}": {problem}'
            self.event(world, WARNING, "ProvisioningFailed", storage.CLAIM, storage.key_of(claim), text)
            raise unknown_error(text, f"claim {storage.key_of(claim)}")


def _runs(world: World, provisioner: str | None) -> bool:
    running = world.cluster.provisioners
    return bool(provisioner) and (running is None or provisioner in running)


def _wants_volume(world: World, claim: Manifest) -> bool:
    """Return whether the binder has asked a running provisioner for a volume, and the claim has none yet."""
    return (
        not storage.volume_name(claim)
        and not storage.deleting(claim)
        and _runs(world, storage.annotation(claim, PROVISIONER))
    )


def _is_to_go(world: World, volume: Manifest) -> bool:
    """Return whether a running provisioner has created a volume and must delete it."""
    return (
        storage.phase(volume) == "Released"
        and policy_of(volume) == "Delete"
        and _runs(world, storage.annotation(volume, PROVISIONED_BY))
        and (not storage.deleting(volume) or FINALIZER in (volume["metadata"].get("finalizers") or ()))
    )


def _delete(world: World, volume: Manifest) -> str:
    name = storage.name_of(volume)
    if not storage.deleting(volume):
        world.api.delete((storage.VOLUME, "", name))
    left = world.store.get(storage.VOLUME, "", name)
    finalizers = [] if left is None else list(left["metadata"].get("finalizers") or ())
    if left is not None and FINALIZER in finalizers:
        kept = [f for f in finalizers if f != FINALIZER]
        world.api.update(with_section(left, "metadata", {"finalizers": kept}))
    return f"deleted {name}: it is released, and its reclaim policy is Delete"


# The new volume of a claim.


def name_of_new_volume(claim: Manifest) -> str:
    """Return the name of the volume that is created for a claim."""
    return f"pvc-{claim['metadata'].get('uid') or storage.name_of(claim)}"


def new_volume(store: Store, claim: Manifest, storage_class: Manifest, provisioner: str) -> dict[str, Any]:
    """Build the volume that a provisioner creates for a claim, without the claimRef."""
    spec, name = claim.get("spec") or {}, name_of_new_volume(claim)
    terms = _topology(store, claim, storage_class, provisioner)
    volume: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": storage.VOLUME,
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: provisioner}},
        "spec": {
            "accessModes": spec.get("accessModes") or [],
            "capacity": (spec.get("resources") or {}).get("requests") or {},
            "csi": {"driver": provisioner, "volumeHandle": name},
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
            "storageClassName": storage.class_of(claim),
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
    selected = storage.annotation(claim, storage.SELECTED_NODE)
    node = None if selected is None else store.node(selected)
    if node is None:
        return [{"matchExpressions": expressions} for expressions in allowed]
    keys = _driver_keys(store, node.name, provisioner)
    keys = keys or list(dict.fromkeys(e["key"] for expressions in allowed for e in expressions))
    here = [{"key": key, "operator": "In", "values": [node.labels[key]]} for key in keys if key in node.labels]
    return [{"matchExpressions": here}] if here else []


def _driver_keys(store: Store, node_name: str, driver: str) -> list[str]:
    """Return the topology keys of a driver in the node's CSINode."""
    csi_node = store.get("CSINode", "", node_name)
    drivers = ((csi_node or {}).get("spec") or {}).get("drivers") or ()
    return next((list(d.get("topologyKeys") or ()) for d in drivers if d.get("name") == driver), [])
