"""What the controller of volumes does for one claim or volume, and what a claim wants.

kube: pkg/controller/volume/persistentvolume/pv_controller.go, sigs.k8s.io/sig-storage-lib-external-provisioner @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_core.api.kube_events import NORMAL, WARNING, KubeEvent
from scheduler_core.api.rewriting import merge_patch
from scheduler_core.api.store import Store
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.storage.usable import Usable
from scheduler_core.objects.storage.volumes import (
    BETA_CLASS,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    CLAIM,
    NO_PROVISIONER,
    SELECTED_NODE,
    VOLUME,
    WAIT_FOR_FIRST_CONSUMER,
    Manifest,
    annotation,
    capacity,
    claim_ref,
    class_of,
    deleting,
    fully_bound,
    is_for,
    name_of,
    phase,
    reserved_for,
    volume_name,
    volumes_of,
)

REPORTER = "persistentvolume-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"

CLASSIFY, BIND, PROVISION, LOSE = "classify", "bind", "provision", "lose"
CLAIM_LOST, PROVISIONED, NOT_PROVISIONED = "ClaimLost", "ProvisioningSucceeded", "ProvisioningFailed"


def wanted(store: Store, claim: Manifest) -> str:
    """What is to be done for a claim: one of the words above, or "" where it is bound or has to wait."""
    if deleting(claim):
        return ""
    if volume_name(claim):
        return _wanted_with_volume(claim, store.get(VOLUME, "", volume_name(claim)))
    if _has_no_class(claim) and default_class(store):
        return CLASSIFY
    if best_volume(store, claim) is not None:
        return BIND
    name = class_of(claim)
    storage_class = store.get("StorageClass", "", name) if name else None
    if storage_class is None or storage_class.get("provisioner") in (None, "", NO_PROVISIONER):
        return ""
    late = storage_class.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER
    return PROVISION if not late or annotation(claim, SELECTED_NODE) else ""


def _wanted_with_volume(claim: Manifest, volume: Manifest | None) -> str:
    if volume is None:
        return LOSE if fully_bound(claim) and phase(claim) != "Lost" else ""
    if fully_bound(claim) and phase(claim) == "Bound":
        return ""
    return BIND if claim_ref(volume) is None or is_for(volume, claim) else ""


def _has_no_class(claim: Manifest) -> bool:
    return (claim.get("spec") or {}).get("storageClassName") is None and annotation(claim, BETA_CLASS) is None


def default_class(store: Store) -> str:
    """The class that claims without one get: the newest one marked so, the first by name of these."""
    marked = [c for c in store.list("StorageClass") if annotation(c, DEFAULT_CLASS) == "true"]
    newest = max((str(c["metadata"].get("creationTimestamp") or "") for c in marked), default="")
    return next(
        (name_of(c) for c in marked if str(c["metadata"].get("creationTimestamp") or "") == newest), ""
    )


def waits_for_consumer(store: Store, class_name: str) -> bool:
    storage_class = store.get("StorageClass", "", class_name) if class_name else None
    return storage_class is not None and storage_class.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def best_volume(store: Store, claim: Manifest) -> Manifest | None:
    """The volume meant for a claim, else the smallest that suits it; where the class waits for a consumer the first kind only."""
    try:
        usable = Usable.of(claim)
    except ValueError:
        return None
    free = []
    for volume in store.list(VOLUME):
        if not usable.at_all(volume):
            continue
        if claim_ref(volume) is not None:
            return volume
        if usable.unclaimed(volume):
            free.append(volume)
    if not free or waits_for_consumer(store, class_of(claim)):
        return None
    return min(free, key=capacity)


def taker(store: Store, volume: Manifest) -> Manifest | None:
    """The first claim that would take a volume that is nobody's; None where the volume's class waits for a consumer."""
    if claim_ref(volume) is not None or waits_for_consumer(store, class_of(volume)):
        return None
    return next((claim for claim in store.list(CLAIM) if _suits(volume, claim)), None)


def _suits(volume: Manifest, claim: Manifest) -> bool:
    if volume_name(claim) or deleting(claim) or class_of(claim) != class_of(volume):
        return False
    try:
        usable = Usable.of(claim)
    except ValueError:
        return False
    return usable.at_all(volume) and usable.unclaimed(volume)


def offer(store: Store, name: str, now: int) -> None:
    """Binds claims that a volume suits, each to the best volume for it, until the volume is taken or nobody wants it."""
    while (volume := store.get(VOLUME, "", name)) is not None and (claim := taker(store, volume)) is not None:
        _bind(store, claim, now)


def do(store: Store, what: str, claim: Manifest, now: int) -> None:
    """Does what a claim wants (see `wanted`)."""
    _WORK[what](store, claim, now)


def _classify(store: Store, claim: Manifest, now: int) -> None:
    _change(store, CLAIM, claim, {"spec": {"storageClassName": default_class(store)}})


def _lose(store: Store, claim: Manifest, now: int) -> None:
    _change(store, CLAIM, claim, {"status": {"phase": "Lost"}})
    _say(
        store,
        claim,
        now,
        WARNING,
        CLAIM_LOST,
        "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
    )


def _bind(store: Store, claim: Manifest, now: int) -> None:
    name = volume_name(claim)
    volume = store.get(VOLUME, "", name) if name else best_volume(store, claim)
    if volume is not None:
        _bind_to(store, claim, volume)


def _bind_to(store: Store, claim: Manifest, volume: Manifest) -> None:
    """First the volume, then the claim; the mark of the controller says which side it chose."""
    bound = reserved_for(volume, claim)
    store.replace({**bound, "status": {**(volume.get("status") or {}), "phase": "Bound"}}, VOLUME)
    marks = {BIND_COMPLETED: "yes"}
    if not volume_name(claim):
        marks[BOUND_BY_CONTROLLER] = "yes"
    spec = volume.get("spec") or {}
    status = {
        "phase": "Bound",
        "accessModes": spec.get("accessModes") or [],
        "capacity": spec.get("capacity") or {},
    }
    patch = {"metadata": {"annotations": marks}, "spec": {"volumeName": name_of(volume)}, "status": status}
    _change(store, CLAIM, claim, patch)


def _provision(store: Store, claim: Manifest, now: int) -> None:
    """Makes a volume and binds it. Without its node a claim gives its choice back, so that the scheduler chooses anew."""
    selected = annotation(claim, SELECTED_NODE)
    if selected is not None and store.node(selected) is None:
        _change(store, CLAIM, claim, {"metadata": {"annotations": {SELECTED_NODE: None}}})
        text = f'failed to get target node: nodes "{selected}" not found'
        _say(store, claim, now, WARNING, NOT_PROVISIONED, text)
        return
    storage_class = store.get("StorageClass", "", class_of(claim))
    assert storage_class is not None
    volume = _new_volume(store, claim, storage_class)
    if store.get(VOLUME, "", name_of(volume)) is None:
        store.create(volume, VOLUME, now)
    text = f"Successfully provisioned volume {name_of(volume)}"
    _say(store, claim, now, NORMAL, PROVISIONED, text)
    _bind_to(store, claim, store.get(VOLUME, "", name_of(volume)) or volume)


def _new_volume(store: Store, claim: Manifest, storage_class: Manifest) -> Manifest:
    spec, provisioner = claim.get("spec") or {}, str(storage_class.get("provisioner"))
    name = f"pvc-{claim['metadata'].get('uid') or name_of(claim)}"
    terms = _topology(store, claim, storage_class)
    volume: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": VOLUME,
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: provisioner}},
        "spec": {
            "accessModes": spec.get("accessModes") or [],
            "capacity": (spec.get("resources") or {}).get("requests") or {},
            "csi": {"driver": provisioner, "volumeHandle": name},
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
            "storageClassName": class_of(claim),
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
        "status": {"phase": "Available"},
    }
    if terms:
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    if spec.get("volumeAttributesClassName"):
        volume["spec"]["volumeAttributesClassName"] = spec["volumeAttributesClassName"]
    return reserved_for(volume, claim)


def _topology(store: Store, claim: Manifest, storage_class: Manifest) -> list[Manifest]:
    """From where the volume can be reached: the selected node's part of the topology, else what the class allows."""
    allowed = [
        [{"key": e["key"], "operator": "In", "values": list(e["values"])} for e in expressions]
        for term in storage_class.get("allowedTopologies") or ()
        if (expressions := term.get("matchLabelExpressions"))
    ]
    selected = annotation(claim, SELECTED_NODE)
    node = None if selected is None else store.node(selected)
    if node is None:
        return [{"matchExpressions": expressions} for expressions in allowed]
    keys = _driver_keys(store, node.name, str(storage_class.get("provisioner")))
    keys = keys or list(dict.fromkeys(e["key"] for expressions in allowed for e in expressions))
    here = [
        {"key": key, "operator": "In", "values": [node.labels[key]]} for key in keys if key in node.labels
    ]
    return [{"matchExpressions": here}] if here else []


def _driver_keys(store: Store, node_name: str, driver: str) -> list[str]:
    """The labels by which a driver distinguishes nodes, as the node's CSINode says."""
    csi_node = store.get("CSINode", "", node_name)
    drivers = ((csi_node or {}).get("spec") or {}).get("drivers") or ()
    return next((list(d.get("topologyKeys") or ()) for d in drivers if d.get("name") == driver), [])


_WORK: dict[str, Callable[[Store, Manifest, int], None]] = {
    CLASSIFY: _classify,
    BIND: _bind,
    PROVISION: _provision,
    LOSE: _lose,
}


def release(store: Store, name: str) -> None:
    """A volume whose claim is gone: deleted with it or kept aside, as its reclaim policy says."""
    volume = store.get(VOLUME, "", name)
    if volume is None:
        return
    if (volume.get("spec") or {}).get("persistentVolumeReclaimPolicy") == "Delete":
        store.remove(VOLUME, "", name)
    else:
        _change(store, VOLUME, volume, {"status": {"phase": "Released"}})


def missing_claims(store: Store, pod: Pod) -> list[Manifest]:
    """The claims that a pod's generic ephemeral volumes still lack."""
    missing = []
    for use in volumes_of(pod.spec).claims:
        if use.ephemeral and store.get(CLAIM, pod.namespace, use.name(pod)) is None:
            volume = next(v for v in pod.spec.volumes if v.get("name") == use.claim and v.get("ephemeral"))
            missing.append(_ephemeral_claim(pod, use.name(pod), volume))
    return missing


def _ephemeral_claim(pod: Pod, name: str, volume: Manifest) -> Manifest:
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": pod.name,
        "uid": pod.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    meta = {**(template.get("metadata") or {}), "name": name, "namespace": pod.namespace}
    return {
        "apiVersion": "v1",
        "kind": CLAIM,
        "metadata": {**meta, "ownerReferences": [owner]},
        "spec": template.get("spec") or {},
        "status": {"phase": "Pending"},
    }


def create_claims(store: Store, pod: Pod, now: int) -> None:
    for claim in missing_claims(store, pod):
        store.create(claim, CLAIM, now)


def _change(store: Store, kind: str, manifest: Manifest, patch: Manifest) -> None:
    store.replace(merge_patch(manifest, patch), kind)


def _say(store: Store, claim: Manifest, now: int, kind: str, reason: str, message: str) -> None:
    namespace = str(claim["metadata"].get("namespace") or "")
    store.record(KubeEvent(now, kind, reason, CLAIM, namespace, name_of(claim), message, REPORTER))
