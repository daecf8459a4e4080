"""The controller of generic ephemeral volumes: makes their claims, which the pods own.

kube: pkg/controller/volume/ephemeral/controller.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.ownership import is_owned_by
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, not_owned, volumes_of
from scheduler_core.apiserver.kube_events import WARNING
from scheduler_core.apiserver.watch import ADDED, DELETED, WatchEvent
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.storage import missing_claims


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
