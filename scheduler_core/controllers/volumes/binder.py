"""The persistent volume controller: binds claims to volumes, requests new volumes, and reclaims those whose claims are gone.

Changes of claims and volumes are handled at once. Other changes that may concern one (of a class, another volume, a pod) are handled in
the resync every 15 s, which is planned only for the objects concerned.

kube: pkg/controller/volume/persistentvolume/pv_controller_base.go @ v1.34.1
"""

from collections.abc import Iterable

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.storage import volumes as storage
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.volumes import claims, released
from scheduler_core.controllers.volumes.claims import askers
from scheduler_core.controllers.volumes.released import COMPONENT, forget

RESYNC = 15 * SECOND


class VolumeBinder(Controller):
    """Binds, provisions and reclaims. A key is a claim's "namespace/name", or a volume's name."""

    name = "persistentvolume-binder-controller"
    component = COMPONENT
    watches = (storage.CLAIM, storage.VOLUME, "StorageClass", "Pod")

    def on_start(self, world: World) -> None:
        world.surroundings.volumes.users.forget()
        for volume in world.store.list(storage.VOLUME):
            self.enqueue(world, storage.name_of(volume))
        for claim in world.store.list(storage.CLAIM):
            self.enqueue(world, storage.key_of(claim))

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == storage.CLAIM:
            self._on_claim(world, event.old, event.new)
        elif event.kind == storage.VOLUME:
            self._on_volume(world, event.old, event.new)
        elif event.kind == "Pod":
            self._on_pod(world, event.old_pod, event.new_pod)
        elif event.new is not None:
            waiting = (c for c in world.store.list(storage.CLAIM) if storage.class_of(c) in ("", event.name))
            self._at_resync(world, [storage.key_of(claim) for claim in waiting if not storage.fully_bound(claim)])

    def _on_claim(self, world: World, old: Manifest | None, new: Manifest | None) -> None:
        if new is not None:
            self.enqueue(world, storage.key_of(new))
            if old is not None and not storage.volume_name(old) and storage.volume_name(new):
                self._at_resync(world, [n for n in _volumes_for(world, new) if n != storage.volume_name(new)])
        elif old is not None:
            forget(world, storage.CLAIM, *storage.key_of(old).split("/", 1))
            if storage.volume_name(old):
                self.enqueue(world, storage.volume_name(old))
            else:
                self._at_resync(world, _volumes_for(world, old))

    def _on_volume(self, world: World, old: Manifest | None, new: Manifest | None) -> None:
        if new is not None:
            self.enqueue(world, storage.name_of(new))
            if old is None or _offer(old) != _offer(new):
                self._at_resync(world, askers(world.store, new))
        elif old is not None:
            forget(world, storage.VOLUME, "", storage.name_of(old))
            ref = storage.claim_ref(old)
            if ref is not None:
                self.enqueue(world, f"{ref.get('namespace') or ''}/{ref.get('name') or ''}")

    def _on_pod(self, world: World, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        if pod is None or not pod.spec.volumes:
            return
        world.surroundings.volumes.users.follow(old, new)
        if old is None or new is None or _course(old) != _course(new):
            self._at_resync(world, (key for key in claims_of(pod) if _concerns_claim(world, key)))
            if new is None or new.terminal:
                self._at_resync(world, _to_recycle(world, claims_of(pod)))

    def _at_resync(self, world: World, keys: Iterable[str]) -> None:
        for key in keys:
            self.enqueue_at(world, key, (world.now // RESYNC + 1) * RESYNC)

    def sync(self, world: World, key: str) -> str:
        if "/" in key:
            claim = world.store.get(storage.CLAIM, *key.split("/", 1))
            return "" if claim is None else claims.sync(world, claim)
        volume = world.store.get(storage.VOLUME, "", key)
        if volume is None:
            return ""
        done, following = released.sync(world, volume)
        if following:
            self.enqueue(world, following)
        return done


def _offer(volume: Manifest) -> object:
    """Return the properties of a volume that matter to claims."""
    spec = volume.get("spec") or {}
    return (
        (volume.get("status") or {}).get("phase"),
        storage.claim_ref(volume),
        storage.class_of(volume),
        spec.get("capacity"),
        spec.get("accessModes"),
        volume["metadata"].get("labels"),
    )


def _course(pod: Pod) -> tuple[str, bool]:
    return pod.node_name, pod.terminal


def _concerns_claim(world: World, key: str) -> bool:
    """Return whether a claim exists and is unbound."""
    claim = world.store.get(storage.CLAIM, *key.split("/", 1))
    return claim is not None and not storage.volume_name(claim)


def _volumes_for(world: World, claim: Manifest) -> list[str]:
    """Return the names of the volumes whose claimRef refers to the claim."""
    uid = claim["metadata"].get("uid")
    return [
        storage.name_of(v) for v in world.store.list(storage.VOLUME) if (storage.claim_ref(v) or {}).get("uid") == uid
    ]


def _to_recycle(world: World, keys: Iterable[str]) -> list[str]:
    """Return the names of the volumes to recycle that wait until no pod uses their former claims."""
    wanted = {key for key in keys if world.store.get(storage.CLAIM, *key.split("/", 1)) is None}
    if not wanted:
        return []
    found = ((storage.name_of(v), storage.claim_ref(v) or {}, v) for v in world.store.list(storage.VOLUME))
    return [
        name
        for name, ref, volume in found
        if released.policy_of(volume) == "Recycle" and f"{ref.get('namespace') or ''}/{ref.get('name') or ''}" in wanted
    ]
