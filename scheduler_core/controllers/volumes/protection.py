"""Protection of what is in use: a claim that a pod on a node names, and a volume that is bound, are not deleted before that ends.

kube: pkg/controller/volume/{pvcprotection/pvc_protection_controller,pvprotection/pv_protection_controller}.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.ownership import is_owned_by
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage import volumes
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.volumes import claims_of

CLAIM_FINALIZER, VOLUME_FINALIZER = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"


class ClaimProtection(Controller):
    """Lets a deleted claim go once no pod on a node uses it."""

    name = "persistentvolumeclaim-protection-controller"
    watches = (volumes.CLAIM, "Pod")

    def on_start(self, world: World) -> None:
        for claim in world.store.list(volumes.CLAIM):
            self._ask(world, claim)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == volumes.CLAIM:
            if event.new is not None:
                self._ask(world, event.new)
            return
        old, new = event.old_pod, event.new_pod
        pod = new or old
        if pod is None or not pod.spec.volumes:
            return
        world.surroundings.volumes.users.follow(old, new)
        if new is None or new.terminal or not new.node_name or _shut_down(new):
            for key in claims_of(pod):
                claim = world.store.get(volumes.CLAIM, *key.split("/", 1))
                if claim is not None:
                    self._ask(world, claim)

    def _ask(self, world: World, claim: Manifest) -> None:
        if _may_go(claim, CLAIM_FINALIZER) or _lacks(claim, CLAIM_FINALIZER):
            self.enqueue(world, volumes.key_of(claim))

    def sync(self, world: World, key: str) -> str:
        claim = world.store.get(volumes.CLAIM, *key.split("/", 1))
        if claim is None:
            return ""
        if _lacks(claim, CLAIM_FINALIZER):
            return _protect(world, claim, CLAIM_FINALIZER, key)
        if not _may_go(claim, CLAIM_FINALIZER):
            return ""
        users = world.surroundings.volumes.users.of(world.store, key)
        using = [pod.key for pod in users if _uses(pod, claim)]
        if using:
            return f"kept {key}: {', '.join(using)} use{'s' if len(using) == 1 else ''} it"
        return _let_go(world, claim, CLAIM_FINALIZER, f"let {key} go: no pod on a node uses it")


class VolumeProtection(Controller):
    """Lets a deleted volume go once it is not bound."""

    name = "persistentvolume-protection-controller"
    watches = (volumes.VOLUME,)

    def ask(self, world: World, manifest: Manifest) -> None:
        if _may_go(manifest, VOLUME_FINALIZER) or _lacks(manifest, VOLUME_FINALIZER):
            self.enqueue(world, volumes.name_of(manifest))

    def sync(self, world: World, key: str) -> str:
        volume = world.store.get(volumes.VOLUME, "", key)
        if volume is None:
            return ""
        if _lacks(volume, VOLUME_FINALIZER):
            return _protect(world, volume, VOLUME_FINALIZER, key)
        if not _may_go(volume, VOLUME_FINALIZER):
            return ""
        if volumes.phase(volume) == "Bound":
            return f"kept {key}: it is bound"
        return _let_go(world, volume, VOLUME_FINALIZER, f"let {key} go: it is not bound")


def _uses(pod: Pod, claim: Manifest) -> bool:
    if not pod.node_name:
        return False
    name = volumes.name_of(claim)
    return any(
        use.name(pod) == name and (not use.ephemeral or (not _shut_down(pod) and is_owned_by(claim, pod)))
        for use in volumes.volumes_of(pod.spec).claims
    )


def _shut_down(pod: Pod) -> bool:
    """Return whether the kubelet has ended a pod that only finalizers retain."""
    return pod.deleting and pod.manifest["metadata"].get("deletionGracePeriodSeconds") == 0


def _may_go(manifest: Manifest, finalizer: str) -> bool:
    return volumes.deleting(manifest) and finalizer in (manifest["metadata"].get("finalizers") or ())


def _lacks(manifest: Manifest, finalizer: str) -> bool:
    return not volumes.deleting(manifest) and finalizer not in (manifest["metadata"].get("finalizers") or ())


def _protect(world: World, manifest: Manifest, finalizer: str, key: str) -> str:
    finalizers = [*(manifest["metadata"].get("finalizers") or ()), finalizer]
    world.api.update(with_section(manifest, "metadata", {"finalizers": finalizers}))
    return f"protected {key} from being deleted while it is in use"


def _let_go(world: World, manifest: Manifest, finalizer: str, why: str) -> str:
    finalizers = [f for f in manifest["metadata"].get("finalizers") or () if f != finalizer]
    world.api.update(with_section(manifest, "metadata", {"finalizers": finalizers}))
    return why
