"""The binder's sync of one claim.

kube: pkg/controller/volume/persistentvolume/pv_controller.go (syncClaim, syncUnboundClaim, syncBoundClaim, provisionClaim) @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod, controller_reference, is_owned_by
from scheduler_core.apimachinery.objects.storage import volumes as storage
from scheduler_core.apimachinery.objects.storage.csi_migration import plugin_of_provisioner
from scheduler_core.apiserver import ADDED, DELETED, NORMAL, WARNING, Answer, Refused, Store, WatchEvent, with_section
from scheduler_core.apiserver.storage_classes import default_class, waits_for_consumer
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.volumes.released import bind, say, set_claim_status

# Matching volumes of a claim, and matching claims of a volume.
#
# Volumes are searched in groups of equal access modes, the fewest modes first: a volume reserved for the claim is chosen, else the
# smallest that is large enough. If the claim's class waits for a consumer, only a reserved volume is.
# kube: pkg/controller/volume/persistentvolume/{index,pv_controller}.go @ v1.34.1

_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")


def best_volume(store: Store, claim: Manifest) -> Manifest | None:
    """Return the best volume for a claim, or None. Raise Refused if its selector is invalid."""
    usable = _usable(claim)
    waits = waits_for_consumer(store, storage.class_of(claim))
    wanted = set(storage.access_modes(claim))
    groups: dict[tuple[int, tuple[str, ...]], list[Manifest]] = {}
    for volume in store.list(storage.VOLUME):
        modes = tuple(mode for mode in _MODES if mode in storage.access_modes(volume))
        if wanted <= set(modes) and usable.at_all(volume):
            groups.setdefault((len(modes), modes), []).append(volume)
    for _, volumes in sorted(groups.items(), key=lambda group: group[0]):
        best = next((volume for volume in volumes if storage.is_for(volume, claim)), None)
        free = [] if waits else [volume for volume in volumes if usable.unclaimed(volume)]
        best = best or min(free, key=storage.capacity, default=None)
        if best is not None:
            return best
    return None


def askers(store: Store, volume: Manifest) -> list[str]:
    """Return the keys of the claims that may be bound to an unclaimed volume, or of the claim for which the volume is reserved."""
    if storage.deleting(volume):
        return []
    if ref := storage.claim_ref(volume):
        claim = store.get(storage.CLAIM, str(ref.get("namespace") or ""), str(ref.get("name") or ""))
        waits = claim is not None and not storage.volume_name(claim) and storage.is_for(volume, claim)
        return [storage.key_of(claim)] if claim is not None and waits else []
    name, class_ = storage.name_of(volume), storage.class_of(volume)
    waits = waits_for_consumer(store, class_)
    return [
        storage.key_of(claim)
        for claim in store.list(storage.CLAIM)
        if storage.volume_name(claim) == name
        or (
            not waits and not storage.volume_name(claim) and storage.class_of(claim) == class_ and _suits(volume, claim)
        )
    ]


def _suits(volume: Manifest, claim: Manifest) -> bool:
    try:
        return storage.VolumeCriteria.of(claim).at_all(volume)
    except ValueError:
        return False


def _usable(claim: Manifest) -> storage.VolumeCriteria:
    try:
        return storage.VolumeCriteria.of(claim)
    except ValueError as error:
        text = f'error finding PV for claim "{storage.key_of(claim)}": {error}'
        raise Refused.because(Answer("InternalError", text), storage.key_of(claim)) from None


def mismatch(volume: Manifest, claim: Manifest) -> str:
    """Return why a volume that a claim requests by name does not match; "" if it matches."""
    if storage.deleting(volume):
        return f'the volume is marked for deletion "{storage.name_of(volume)}"'
    if storage.capacity(volume) < storage.get_requested_storage(claim):
        return "requested PV is too small"
    if storage.class_of(volume) != storage.class_of(claim):
        return "storageClassName does not match"
    if storage.attributes_class(volume) != storage.attributes_class(claim):
        return "volumeAttributesClassName does not match"
    if storage.volume_mode(volume) != storage.volume_mode(claim):
        return "incompatible volumeMode"
    modes = storage.access_modes(volume)
    return "" if all(mode in modes for mode in storage.access_modes(claim)) else "incompatible accessMode"


# The controller of generic ephemeral volumes: creates their claims, which the pods own.
# kube: pkg/controller/volume/ephemeral/controller.go @ v1.34.1


class EphemeralVolumes(Controller):
    """Makes the claims of pods' ephemeral volumes; when they are deleted, anew."""

    name = "ephemeral-volume-controller"
    component = "ephemeral_volume"
    watches = ("Pod", storage.CLAIM)

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
        if not pod.deleting and any(use.ephemeral for use in storage.volumes_of(pod.spec).claims):
            self.enqueue(world, pod.key)

    def sync(self, world: World, key: str) -> str:
        pod = world.store.pod_at(key)
        if pod is None or pod.deleting:
            return ""
        for use, claim in zip(storage.volumes_of(pod.spec).claims, claims_of(pod), strict=True):
            found = world.store.get(storage.CLAIM, *claim.split("/", 1)) if use.ephemeral else None
            if found is not None and not is_owned_by(found, pod):
                text = f"ephemeral volume {use.claim}: {storage.not_owned(found, pod)}"
                self.event(world, WARNING, "FailedBinding", "Pod", key, text)
                return f"left {key} without the claim of a volume: {text}"
        made = missing_claims(world.store, pod)
        for manifest in made:
            world.api.create(manifest)
        names = ", ".join(manifest["metadata"]["name"] for manifest in made)
        return f"created {names} for {key}" if made else ""


PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
_LOST_REFERENCE = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
_LOST_VOLUME = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
_MISBOUND = "Two claims are bound to the same volume, this one is bound incorrectly"
_NO_CLASS = "no persistent volumes available for this claim and no storage class is set"
_IN_TREE = "kubernetes.io/"
_DISABLED = "kubernetes.io/host-path"


def sync(world: World, claim: Manifest) -> str:
    """Reconcile a claim. Return a description."""
    if storage.annotation(claim, storage.BIND_COMPLETED) is not None:
        # The claim was bound before: complete the binding on both sides, or mark the claim as Lost.
        name = storage.volume_name(claim)
        if not name:
            return _lose(world, claim, "ClaimLost", _LOST_REFERENCE)
        volume = world.store.get(storage.VOLUME, "", name)
        if volume is None:
            return _lose(world, claim, "ClaimLost", _LOST_VOLUME)
        ref = storage.claim_ref(volume)
        if ref is not None and ref.get("uid") != claim["metadata"].get("uid"):
            return _lose(world, claim, "ClaimMisbound", _MISBOUND)
        return f"bound {storage.key_of(claim)} to {name} again" if bind(world, volume, claim) else ""
    return _asks_for_one(world, claim) if storage.volume_name(claim) else _unbound(world, claim)


def _unbound(world: World, claim: Manifest) -> str:
    """Bind an unbound claim to a matching volume, or have one provisioned."""
    store, key = world.store, storage.key_of(claim)
    volume = best_volume(store, claim)
    if volume is not None:
        why = "reserved for the claim" if storage.is_for(volume, claim) else "the smallest matching volume"
        bind(world, volume, claim)
        return f"bound {key} to {storage.name_of(volume)}: {why}"
    if (
        (claim.get("spec") or {}).get("storageClassName") is None
        and storage.annotation(claim, storage.BETA_CLASS) is None
    ) and (default := default_class(store)):
        world.api.update(with_section(claim, "spec", {"storageClassName": default}))
        return f"set the storage class of {key} to the default {default}"
    if waits_for_consumer(store, storage.class_of(claim)) and storage.annotation(claim, storage.SELECTED_NODE) is None:
        text = _say_whom_it_waits_for(world, claim)
    elif storage.class_of(claim):
        return _provision(world, claim)
    else:
        text = _NO_CLASS
        say(world, claim, NORMAL, "FailedBinding", text)
    set_claim_status(world, claim, "Pending")
    return f"left {key} pending: {text}"


def _say_whom_it_waits_for(world: World, claim: Manifest) -> str:
    users = world.surroundings.volumes.users.of(world.store, storage.key_of(claim))
    pods = [pod.name for pod in users if not pod.terminal and not pod.node_name]
    if not pods:
        text = "waiting for first consumer to be created before binding"
        say(world, claim, NORMAL, "WaitForFirstConsumer", text)
        return text
    text = f"waiting for {'pods' if len(pods) > 1 else 'pod'} {','.join(pods)} to be scheduled"
    say(world, claim, NORMAL, "WaitForPodScheduled", text)
    return text


def _provision(world: World, claim: Manifest) -> str:
    """Request a volume from the provisioner of the claim's class."""
    storage_class = world.store.get("StorageClass", "", storage.class_of(claim))
    if storage_class is None:
        return _cannot_provision(world, claim, f'storageclass.storage.k8s.io "{storage.class_of(claim)}" not found')
    named = str(storage_class.get("provisioner") or "")
    migrated = plugin_of_provisioner(named)
    if named == _DISABLED:
        text = f'Failed to create provisioner: provisioning in volume plugin "{named}" is disabled'
        return _cannot_provision(world, claim, text)
    if named.startswith(_IN_TREE) and migrated is None:
        return _cannot_provision(world, claim, f"no volume plugin matched name: {named}")
    provisioner = named if migrated is None else migrated.driver
    if storage.annotation(claim, PROVISIONER) != provisioner:
        marked = storage.with_annotation(claim, BETA_PROVISIONER, provisioner)
        claim = world.api.update(storage.with_annotation(marked, PROVISIONER, provisioner))
    text = (
        f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by "
        "the system administrator. If volume creation is delayed, please verify that the provisioner is running "
        "and correctly registered."
    )
    say(world, claim, NORMAL, "ExternalProvisioning", text)
    return f"asked {provisioner} for a volume for {storage.key_of(claim)}"


def _cannot_provision(world: World, claim: Manifest, why: str) -> str:
    say(world, claim, WARNING, "ProvisioningFailed", why)
    return f"left {storage.key_of(claim)} pending: {why}"


def _asks_for_one(world: World, claim: Manifest) -> str:
    """Bind a claim to the volume that it names."""
    key, name = storage.key_of(claim), storage.volume_name(claim)
    volume = world.store.get(storage.VOLUME, "", name)
    if volume is None:
        set_claim_status(world, claim, "Pending")
        return f"left {key} pending: its volume {name} does not exist"
    if storage.claim_ref(volume) is None and (why := mismatch(volume, claim)):
        text = f'Cannot bind to requested volume "{name}": {why}'
        say(world, claim, WARNING, "VolumeMismatch", text)
    elif storage.claim_ref(volume) is None or storage.is_for(volume, claim):
        bind(world, volume, claim)
        return f"bound {key} to {name}, which the claim names"
    else:
        text = f'volume "{name}" already bound to a different claim.'
        say(world, claim, WARNING, "FailedBinding", text)
    set_claim_status(world, claim, "Pending")
    return f"left {key} pending: {text}"


def _lose(world: World, claim: Manifest, reason: str, message: str) -> str:
    if storage.phase(claim) == "Lost":
        return ""
    set_claim_status(world, claim, "Lost")
    say(world, claim, WARNING, reason, message)
    return f"marked {storage.key_of(claim)} as Lost: {message}"


# The claims of ephemeral volumes. kube: pkg/controller/volume/ephemeral/controller.go @ v1.34.1


def missing_claims(store: Store, pod: Pod) -> list[dict[str, Any]]:
    """Return the claims that must be created for a pod's generic ephemeral volumes."""
    missing = []
    for use in storage.volumes_of(pod.spec).claims:
        if use.ephemeral and store.get(storage.CLAIM, pod.namespace, use.name(pod)) is None:
            volume = next(v for v in pod.spec.volumes if v.get("name") == use.claim and v.get("ephemeral"))
            missing.append(_ephemeral_claim(pod, use.name(pod), volume))
    return missing


def _ephemeral_claim(pod: Pod, name: str, volume: Manifest) -> dict[str, Any]:
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
    owner = controller_reference("v1", "Pod", pod.name, pod.uid)
    meta = {**(template.get("metadata") or {}), "name": name, "namespace": pod.namespace}
    return {
        "apiVersion": "v1",
        "kind": storage.CLAIM,
        "metadata": {**meta, "ownerReferences": [owner]},
        "spec": template.get("spec") or {},
        "status": {"phase": "Pending"},
    }
