"""Protection of storage in use: a claim is not deleted while a pod on a node uses it, nor a volume while it is bound.

kube: pkg/controller/volume/{pvcprotection/pvc_protection_controller,pvprotection/pv_protection_controller}.go @ v1.34.1
"""

from typing import ClassVar

from scheduler_core.apimachinery.objects import Manifest, Pod, is_owned_by
from scheduler_core.apimachinery.objects.storage import volumes
from scheduler_core.apiserver import WatchEvent, with_section
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.volumes import claims_of


class Protection(Controller):
    """Lets a deleted object go once it is not in use. A finalizer keeps it until then."""

    kind: ClassVar[str]
    finalizer: ClassVar[str]
    unused: ClassVar[str]

    def on_start(self, world: World) -> None:
        for manifest in world.store.list(self.kind):
            self.ask(world, manifest)

    def ask(self, world: World, manifest: Manifest) -> None:
        if volumes.deleting(manifest) is (self.finalizer in (manifest["metadata"].get("finalizers") or ())):
            self.enqueue(world, volumes.key_of(manifest).removeprefix("/"))

    def sync(self, world: World, key: str) -> str:
        namespace, _, name = key.rpartition("/")
        found = world.store.get(self.kind, namespace, name)
        finalizers = [] if found is None else list(found["metadata"].get("finalizers") or ())
        if found is None or volumes.deleting(found) is not (self.finalizer in finalizers):
            return ""
        if not volumes.deleting(found):
            kept, said = [*finalizers, self.finalizer], f"protected {key} from being deleted while it is in use"
        elif use := self.describe_use(world, found, key):
            return f"kept {key}: {use}"
        else:
            kept = [finalizer for finalizer in finalizers if finalizer != self.finalizer]
            said = f"allowed the deletion of {key}: {self.unused}"
        world.api.update(with_section(found, "metadata", {"finalizers": kept}))
        return said

    def describe_use(self, world: World, manifest: Manifest, key: str) -> str:
        """Return a description of an object's use; "" if it is unused."""
        raise NotImplementedError


class ClaimProtection(Protection):
    """Lets a deleted claim go once no pod on a node uses it."""

    name = "persistentvolumeclaim-protection-controller"
    watches = (volumes.CLAIM, "Pod")
    kind = volumes.CLAIM
    finalizer = "kubernetes.io/pvc-protection"
    unused = "no pod on a node uses it"

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == volumes.CLAIM:
            super().on_watch(world, event)
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
                    self.ask(world, claim)

    def describe_use(self, world: World, manifest: Manifest, key: str) -> str:
        users = world.surroundings.volumes.users.of(world.store, key)
        using = [pod.key for pod in users if _uses(pod, manifest)]
        return f"{', '.join(using)} use{'s' if len(using) == 1 else ''} it" if using else ""


class VolumeProtection(Protection):
    """Lets a deleted volume go once it is not bound."""

    name = "persistentvolume-protection-controller"
    watches = (volumes.VOLUME,)
    kind = volumes.VOLUME
    finalizer = "kubernetes.io/pv-protection"
    unused = "it is not bound"

    def describe_use(self, world: World, manifest: Manifest, key: str) -> str:
        return "it is bound" if volumes.phase(manifest) == "Bound" else ""


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
