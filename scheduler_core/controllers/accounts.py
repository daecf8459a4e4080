"""serviceaccount-controller: creates the ServiceAccount `default` of each namespace, and creates it again once it is deleted.

DEVIATION: it leaves clusters alone in which the namespace `default` has none, as pods run without accounts here.

kube: pkg/controller/serviceaccount/serviceaccounts_controller.go @ v1.34.2
"""

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver import DELETED, WatchEvent
from scheduler_core.controllers.contract import Controller, World

ACCOUNT, DEFAULT = "ServiceAccount", "default"


class ServiceAccounts(Controller):
    name = "serviceaccount-controller"
    watches = ("Namespace", ACCOUNT)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == ACCOUNT and event.type == DELETED and event.name == DEFAULT:
            self.enqueue(world, event.namespace)
        super().on_watch(world, event)

    def ask(self, world: World, manifest: Manifest) -> None:
        name, there = manifest["metadata"]["name"], world.store.get(ACCOUNT, DEFAULT, DEFAULT)
        if manifest["kind"] == "Namespace" and there and world.store.get(ACCOUNT, name, DEFAULT) is None:
            self.enqueue(world, name)

    def sync(self, world: World, key: str) -> str:
        status = (world.store.get("Namespace", "", key) or {}).get("status") or {}
        if status.get("phase") != "Active" or world.store.get(ACCOUNT, key, DEFAULT) is not None:
            return ""
        world.api.create({"apiVersion": "v1", "kind": ACCOUNT, "metadata": {"name": DEFAULT, "namespace": key}})
        return f"created {ACCOUNT} {key}/{DEFAULT}"
