"""What the controller of volumes does for one claim or volume, and what a claim wants.

kube: pkg/controller/volume/persistentvolume/pv_controller.go, sigs.k8s.io/sig-storage-lib-external-provisioner @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.api.kube_events import NORMAL, WARNING, KubeEvent
from scheduler_core.api.rewriting import merge_patch
from scheduler_core.api.storage_classes import DEFAULT, default_class, waits_for_consumer
from scheduler_core.api.store import Store
from scheduler_core.controllers.storage import missing_claims, new_volume
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
)

REPORTER = "persistentvolume-controller"

CLASSIFY, BIND, PROVISION, LOSE = "classify", "bind", "provision", "lose"
CLAIM_LOST, PROVISIONED, NOT_PROVISIONED = "ClaimLost", "ProvisioningSucceeded", "ProvisioningFailed"


def wanted(store: Store, claim: Manifest) -> str:
    """What is to be done for a claim: one of the words above, or "" where it is bound or has to wait."""
    if deleting(claim):
        return ""
    if volume_name(claim):
        return _wanted_with_volume(claim, store.get(VOLUME, "", volume_name(claim)))
    if _has_no_class(claim) and default_class(store, (DEFAULT,)):
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
    _change(store, CLAIM, claim, {"spec": {"storageClassName": default_class(store, (DEFAULT,))}})


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
    provisioner = str(storage_class.get("provisioner"))
    volume = reserved_for(new_volume(store, claim, storage_class, provisioner), claim)
    if store.get(VOLUME, "", name_of(volume)) is None:
        store.create(volume, VOLUME, now)
    text = f"Successfully provisioned volume {name_of(volume)}"
    _say(store, claim, now, NORMAL, PROVISIONED, text)
    _bind_to(store, claim, store.get(VOLUME, "", name_of(volume)) or volume)


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


def create_claims(store: Store, pod: Pod, now: int) -> None:
    for claim in missing_claims(store, pod):
        store.create(claim, CLAIM, now)


def _change(store: Store, kind: str, manifest: Manifest, patch: Manifest) -> None:
    store.replace(merge_patch(manifest, patch), kind)


def _say(store: Store, claim: Manifest, now: int, kind: str, reason: str, message: str) -> None:
    namespace = str(claim["metadata"].get("namespace") or "")
    store.record(KubeEvent(now, kind, reason, CLAIM, namespace, name_of(claim), message, REPORTER))
