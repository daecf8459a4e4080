"""What the binder does about one claim.

kube: pkg/controller/volume/persistentvolume/pv_controller.go (syncClaim, syncUnboundClaim, syncBoundClaim, provisionClaim) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.ownership import is_owned_by
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.csi_migration import plugin_of_provisioner
from scheduler_core.apimachinery.objects.storage.volumes import (
    BETA_CLASS,
    BIND_COMPLETED,
    CLAIM,
    SELECTED_NODE,
    VOLUME,
    Usable,
    access_modes,
    annotation,
    attributes_class,
    capacity,
    claim_ref,
    class_of,
    deleting,
    get_requested_storage,
    is_for,
    key_of,
    name_of,
    not_owned,
    phase,
    volume_mode,
    volume_name,
    volumes_of,
    with_annotation,
)
from scheduler_core.apiserver.kube_events import NORMAL, WARNING
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.status import Answer, Refused
from scheduler_core.apiserver.storage_classes import default_class, waits_for_consumer
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.watch import ADDED, DELETED, WatchEvent
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.storage import missing_claims
from scheduler_core.controllers.volumes.released import bind, say, set_claim_status

# Which volume suits a claim, and which claims a volume.
#
# Volumes are looked through in groups of equal access modes, the fewest modes first: one that is meant for the claim is taken, else the
# smallest that is large enough. Where the claim's class waits for a consumer, only one that is meant for it is.
#
# kube: pkg/controller/volume/persistentvolume/{index,pv_controller}.go @ v1.34.1

_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")


def best_volume(store: Store, claim: Manifest) -> Manifest | None:
    """The volume for a claim. Refused where its selector can't be read."""
    usable = _usable(claim)
    waits = waits_for_consumer(store, class_of(claim))
    wanted = set(access_modes(claim))
    groups: dict[tuple[int, tuple[str, ...]], list[Manifest]] = {}
    for volume in store.list(VOLUME):
        modes = tuple(mode for mode in _MODES if mode in access_modes(volume))
        if wanted <= set(modes) and usable.at_all(volume):
            groups.setdefault((len(modes), modes), []).append(volume)
    for _, volumes in sorted(groups.items(), key=lambda group: group[0]):
        best = next((volume for volume in volumes if is_for(volume, claim)), None)
        free = [] if waits else [volume for volume in volumes if usable.unclaimed(volume)]
        best = best or min(free, key=capacity, default=None)
        if best is not None:
            return best
    return None


def askers(store: Store, volume: Manifest) -> list[str]:
    """Keys of the claims that may be bound to a volume which is nobody's."""
    if claim_ref(volume) is not None or deleting(volume):
        return []
    name, class_ = name_of(volume), class_of(volume)
    waits = waits_for_consumer(store, class_)
    return [
        key_of(claim)
        for claim in store.list(CLAIM)
        if volume_name(claim) == name
        or (not waits and not volume_name(claim) and class_of(claim) == class_ and _suits(volume, claim))
    ]


def _suits(volume: Manifest, claim: Manifest) -> bool:
    try:
        return Usable.of(claim).at_all(volume)
    except ValueError:
        return False


def _usable(claim: Manifest) -> Usable:
    try:
        return Usable.of(claim)
    except ValueError as error:
        text = f'error finding PV for claim "{key_of(claim)}": {error}'
        raise Refused.because(Answer("InternalError", text), key_of(claim)) from None


def mismatch(volume: Manifest, claim: Manifest) -> str:
    """Return why a volume that a claim requests by name does not match; "" if it matches."""
    if deleting(volume):
        return f'the volume is marked for deletion "{name_of(volume)}"'
    if capacity(volume) < get_requested_storage(claim):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if attributes_class(volume) != attributes_class(claim):
        return "volumeAttributesClassName does not match"
    if volume_mode(volume) != volume_mode(claim):
        return "incompatible volumeMode"
    modes = access_modes(volume)
    return "" if all(mode in modes for mode in access_modes(claim)) else "incompatible accessMode"


# The controller of generic ephemeral volumes: makes their claims, which the pods own.
#
# kube: pkg/controller/volume/ephemeral/controller.go @ v1.34.1


class EphemeralVolumes(Controller):
    """Makes the claims of pods' ephemeral volumes; when they are deleted, anew."""

    name = "ephemeral-volume-controller"
    component = "ephemeral_volume"
    watches = ("Pod", CLAIM)
    event_reasons = ("FailedBinding",)

    def on_start(self, world: World) -> None:
        for pod in world.store.pods():
            self._ask(world, pod)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Pod":
            pod = event.new_pod or event.old_pod
            if pod is not None and pod.spec.volumes:
                world.surroundings.volumes.users.follow(event.old_pod, event.new_pod)
                if event.type == ADDED:
                    self._ask(world, pod)
        elif event.type == DELETED:
            key = f"{event.namespace}/{event.name}"
            for pod in world.surroundings.volumes.users.of(world.store, key):
                self._ask(world, pod)

    def _ask(self, world: World, pod: Pod) -> None:
        if not pod.deleting and any(use.ephemeral for use in volumes_of(pod.spec).claims):
            self.enqueue(world, pod.key)

    def sync(self, world: World, key: str) -> str:
        pod = world.store.pod_at(key)
        if pod is None or pod.deleting:
            return ""
        for use, claim in zip(volumes_of(pod.spec).claims, claims_of(pod), strict=True):
            found = world.store.get(CLAIM, *claim.split("/", 1)) if use.ephemeral else None
            if found is not None and not is_owned_by(found, pod):
                text = f"ephemeral volume {use.claim}: {not_owned(found, pod)}"
                self.event(world, WARNING, "FailedBinding", "Pod", key, text)
                return f"left {key} without the claim of a volume: {text}"
        made = missing_claims(world.store, pod)
        for manifest in made:
            world.api.create(manifest)
        names = ", ".join(manifest["metadata"]["name"] for manifest in made)
        return f"made {names} for {key}" if made else ""


PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
_LOST_REFERENCE = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
_LOST_VOLUME = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
_MISBOUND = "Two claims are bound to the same volume, this one is bound incorrectly"
_NO_CLASS = "no persistent volumes available for this claim and no storage class is set"
_IN_TREE = "kubernetes.io/"
_DISABLED = "kubernetes.io/host-path"


def sync(world: World, claim: Manifest) -> str:
    """Reconciles a claim."""
    if annotation(claim, BIND_COMPLETED) is not None:
        return _sync_bound(world, claim)
    return _asks_for_one(world, claim) if volume_name(claim) else _unbound(world, claim)


def _unbound(world: World, claim: Manifest) -> str:
    """A claim that takes any volume that suits it, or has one made."""
    store, key = world.store, key_of(claim)
    volume = best_volume(store, claim)
    if volume is not None:
        why = "it is meant for it" if is_for(volume, claim) else "the smallest that suits it"
        bind(world, volume, claim)
        return f"bound {key} to {name_of(volume)}: {why}"
    if _has_no_class(claim) and (default := default_class(store)):
        world.api.update(with_section(claim, "spec", {"storageClassName": default}))
        return f"gave {key} the default class {default}"
    if waits_for_consumer(store, class_of(claim)) and annotation(claim, SELECTED_NODE) is None:
        text = _say_whom_it_waits_for(world, claim)
    elif class_of(claim):
        return _provision(world, claim)
    else:
        text = _NO_CLASS
        say(world, claim, NORMAL, "FailedBinding", text)
    set_claim_status(world, claim, "Pending")
    return f"left {key} pending: {text}"


def _has_no_class(claim: Manifest) -> bool:
    return (claim.get("spec") or {}).get("storageClassName") is None and annotation(claim, BETA_CLASS) is None


def _say_whom_it_waits_for(world: World, claim: Manifest) -> str:
    users = world.surroundings.volumes.users.of(world.store, key_of(claim))
    pods = [pod.name for pod in users if not pod.terminal and not pod.node_name]
    if not pods:
        text = "waiting for first consumer to be created before binding"
        say(world, claim, NORMAL, "WaitForFirstConsumer", text)
        return text
    text = f"waiting for {'pods' if len(pods) > 1 else 'pod'} {','.join(pods)} to be scheduled"
    say(world, claim, NORMAL, "WaitForPodScheduled", text)
    return text


def _provision(world: World, claim: Manifest) -> str:
    """Tells the provisioner of the claim's class to make a volume."""
    storage_class = world.store.get("StorageClass", "", class_of(claim))
    if storage_class is None:
        return _cannot_provision(world, claim, f'storageclass.storage.k8s.io "{class_of(claim)}" not found')
    named = str(storage_class.get("provisioner") or "")
    migrated = plugin_of_provisioner(named)
    if named == _DISABLED:
        text = f'Failed to create provisioner: provisioning in volume plugin "{named}" is disabled'
        return _cannot_provision(world, claim, text)
    if named.startswith(_IN_TREE) and migrated is None:
        return _cannot_provision(world, claim, f"no volume plugin matched name: {named}")
    provisioner = named if migrated is None else migrated.driver
    if annotation(claim, PROVISIONER) != provisioner:
        marked = with_annotation(claim, BETA_PROVISIONER, provisioner)
        claim = world.api.update(with_annotation(marked, PROVISIONER, provisioner))
    text = (
        f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by "
        "the system administrator. If volume creation is delayed, please verify that the provisioner is running "
        "and correctly registered."
    )
    say(world, claim, NORMAL, "ExternalProvisioning", text)
    return f"asked {provisioner} for a volume for {key_of(claim)}"


def _cannot_provision(world: World, claim: Manifest, why: str) -> str:
    say(world, claim, WARNING, "ProvisioningFailed", why)
    return f"left {key_of(claim)} pending: {why}"


def _asks_for_one(world: World, claim: Manifest) -> str:
    """A claim that names its volume."""
    key, name = key_of(claim), volume_name(claim)
    volume = world.store.get(VOLUME, "", name)
    if volume is None:
        set_claim_status(world, claim, "Pending")
        return f"left {key} pending: its volume {name} is not there"
    if claim_ref(volume) is None and (why := mismatch(volume, claim)):
        text = f'Cannot bind to requested volume "{name}": {why}'
        say(world, claim, WARNING, "VolumeMismatch", text)
    elif claim_ref(volume) is None or is_for(volume, claim):
        bind(world, volume, claim)
        return f"bound {key} to {name}, which it names"
    else:
        text = f'volume "{name}" already bound to a different claim.'
        say(world, claim, WARNING, "FailedBinding", text)
    set_claim_status(world, claim, "Pending")
    return f"left {key} pending: {text}"


def _sync_bound(world: World, claim: Manifest) -> str:
    """A claim that was bound once: both sides are made to say so, or it is lost."""
    name = volume_name(claim)
    if not name:
        return _lose(world, claim, "ClaimLost", _LOST_REFERENCE)
    volume = world.store.get(VOLUME, "", name)
    if volume is None:
        return _lose(world, claim, "ClaimLost", _LOST_VOLUME)
    ref = claim_ref(volume)
    if ref is not None and ref.get("uid") != claim["metadata"].get("uid"):
        return _lose(world, claim, "ClaimMisbound", _MISBOUND)
    return f"bound {key_of(claim)} to {name} again" if bind(world, volume, claim) else ""


def _lose(world: World, claim: Manifest, reason: str, message: str) -> str:
    if phase(claim) == "Lost":
        return ""
    set_claim_status(world, claim, "Lost")
    say(world, claim, WARNING, reason, message)
    return f"gave {key_of(claim)} up for lost: {message}"
