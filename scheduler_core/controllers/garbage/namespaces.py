"""The namespace controller: deletes the content of a deleted namespace, then its finalizer. And the service account controller.

It starts 5 s after the deletion and syncs again after half of the time that the remaining objects may need (pods' grace periods; 15 s for
objects with finalizers), plus a second. DEVIATION: a sync is skipped if no object of the namespace was deleted since the last one.

kube: pkg/controller/namespace/namespace_controller.go, pkg/controller/namespace/deletion @ v1.34.1
"""

from collections import Counter
from contextlib import suppress

from scheduler_core.apimachinery.objects import Manifest, parse_time
from scheduler_core.apiserver import DELETED, Refused, WatchEvent, get_kind_by_key, with_section
from scheduler_core.apiserver.registry.strategies import FINALIZE, FINALIZER
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.contract import EVERY_KIND, Controller, World
from scheduler_core.controllers.memory.workloads import Item

BEGINS_AFTER, FOR_FINALIZERS = 5 * SECOND, 15
_FINE = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
)


class NamespaceController(Controller):
    """Deletes the content of namespaces that end."""

    name = "namespace-controller"
    watches = (EVERY_KIND,)

    def on_start(self, world: World) -> None:
        world.surroundings.garbage.namespaces.waiting = {}
        for manifest in world.store.list("Namespace"):
            self._ends(world, manifest)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        waiting = world.surroundings.garbage.namespaces.waiting
        if event.kind == "Namespace":
            if event.new is None:
                waiting.pop(event.name, None)
            elif event.old is None or not _ending(event.old):
                self._ends(world, event.new)
        elif event.namespace in waiting and event.type == DELETED:
            last, pause = waiting[event.namespace]
            rounds = max(1, -(-(world.now - last) // pause))
            self.enqueue_at(world, event.namespace, last + rounds * pause)

    def _ends(self, world: World, manifest: Manifest) -> None:
        if _ending(manifest):
            self.enqueue(world, str(manifest["metadata"]["name"]), BEGINS_AFTER)

    def sync(self, world: World, key: str) -> str:
        waiting = world.surroundings.garbage.namespaces.waiting
        namespace = world.store.get("Namespace", "", key)
        if namespace is None or not _ending(namespace):
            waiting.pop(key, None)
            return ""
        # The pods' grace periods in seconds; 0 after they have expired.
        graces = [
            pod.spec.termination_grace_seconds
            for pod in world.store.pods()
            if pod.namespace == key and not pod.terminal
        ]
        begun = parse_time(namespace["metadata"]["deletionTimestamp"]) - world.store.epoch
        longest = max(graces, default=0)
        estimate = 0 if world.now - begun >= longest * SECOND else longest
        for item in _content(world, key):
            with suppress(Refused):
                world.api.delete(item, propagation="Background")
        left = _content(world, key)
        finalizers = Counter(f for item in left for f in _finalizers(world, item))
        _set_conditions(world, key, left, finalizers)
        if not left:
            waiting.pop(key, None)
            _finalize(world, key)
            return f"allowed the deletion of namespace {key}: the namespace is empty"
        estimate = max(estimate, FOR_FINALIZERS if finalizers else 0, 1)
        waiting[key] = (world.now, (estimate // 2 + 1) * SECOND)
        return f"emptied namespace {key}; objects that remain: {', '.join(map(str, left[:5]))}"


def _ending(namespace: Manifest) -> bool:
    return namespace["metadata"].get("deletionTimestamp") is not None


def _content(world: World, namespace: str) -> list[Item]:
    """Return all objects of a namespace, by kind and name."""
    return [
        Item.of(kind, manifest)
        for kind in world.store.kinds()
        if get_kind_by_key(kind).namespaced
        for manifest in world.store.list(kind)
        if manifest["metadata"].get("namespace") == namespace
    ]


def _finalizers(world: World, item: Item) -> list[str]:
    manifest = world.store.get(*item)
    return [] if manifest is None else list(manifest["metadata"].get("finalizers") or ())


def _finalize(world: World, key: str) -> None:
    namespace = world.store.get("Namespace", "", key)
    if namespace is not None:
        kept = [f for f in (namespace.get("spec") or {}).get("finalizers") or () if f != FINALIZER]
        world.api.update(with_section(namespace, "spec", {"finalizers": kept}), FINALIZE)


def _set_conditions(world: World, key: str, left: list[Item], finalizers: Counter[str]) -> None:
    namespace = world.store.get("Namespace", "", key) or {}
    old = {c.get("type"): c for c in (namespace.get("status") or {}).get("conditions") or ()}
    wrong = _remaining(left, finalizers)
    conditions = []
    for type_, reason, message in _FINE:
        if type_ in wrong:
            status, (reason, message) = "True", wrong[type_]
        else:
            status = "False"
        same = type_ in old and old[type_].get("status") == status
        since = old[type_].get("lastTransitionTime") if same else world.store.timestamp(world.now)
        said = {"type": type_, "status": status, "lastTransitionTime": since}
        conditions.append({**said, "reason": reason, "message": message})
    world.api.patch_status(("Namespace", "", key), {"phase": "Terminating", "conditions": conditions})


def _remaining(left: list[Item], finalizers: Counter[str]) -> dict[str, tuple[str, str]]:
    """Return the conditions about the remaining objects and finalizers."""
    wrong = {}
    if left:
        kinds = Counter(get_kind_by_key(item.kind) for item in left)
        said = sorted(f"{kind.plural}.{kind.group} has {n} resource instances" for kind, n in kinds.items())
        wrong["NamespaceContentRemaining"] = ("SomeResourcesRemain", f"Some resources are remaining: {', '.join(said)}")
    if finalizers:
        said = sorted(f"{name} in {n} resource instances" for name, n in finalizers.items())
        wrong["NamespaceFinalizersRemaining"] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {', '.join(said)}",
        )
    return wrong


# serviceaccount-controller: creates the ServiceAccount `default` of each namespace, and creates it again once it is deleted.
#
# DEVIATION: it ignores clusters whose namespace `default` has none, because pods run without accounts here.
# kube: pkg/controller/serviceaccount/serviceaccounts_controller.go @ v1.34.2

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
