"""The garbage collector: deletes or orphans dependents when their owners are deleted, by ownerReferences.

background   the owner is removed at once; a dependent without any existing owner is deleted
foreground   the owner keeps a finalizer until the dependents that block its deletion are deleted; these are deleted first
orphan       the owner keeps a finalizer until its dependents no longer refer to it

An owner is looked up by the kind, name and uid of the reference, in the dependent's namespace or among cluster-scoped objects: an owner
that never existed, or is in another namespace, counts as absent. DEVIATION: a reference is ignored, and not retried, if its kind has
neither a definition nor an object, or if an import named its owner without including it: the owner exists in the imported cluster.

kube: pkg/controller/garbagecollector/{garbagecollector,graph_builder}.go @ v1.34.1
"""

from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver import KINDS, WARNING, Kind, Store, WatchEvent, find_kind, with_section
from scheduler_core.apiserver.deletion import FOREGROUND, ORPHAN
from scheduler_core.apiserver.server import Preconditions
from scheduler_core.controllers.contract import EVERY_KIND, Controller, World
from scheduler_core.controllers.memory.workloads import Item, owners

# The owners behind ownerReferences.
# kube: pkg/controller/garbagecollector/garbagecollector.go (isDangling, classifyReferences) @ v1.34.1

_DEFINITION = "CustomResourceDefinition"


@dataclass(slots=True)
class ClassifiedReferences:
    """References by the state of the owner: existing, absent, waiting for the deletion of its dependents, or of an unknown kind."""

    solid: list[Manifest] = field(default_factory=list)
    dangling: list[Manifest] = field(default_factory=list)
    waiting: list[Manifest] = field(default_factory=list)
    unknown: list[Manifest] = field(default_factory=list)


def classify(world: World, item: Item, manifest: Manifest) -> ClassifiedReferences:
    """Classify the references of an object."""
    found = ClassifiedReferences()
    for ref in owners(manifest):
        kind = owner_kind(world.store, ref)
        if kind is None or (kind.namespaced and not item.namespace):
            found.unknown.append(ref)
            continue
        owner = resolve(world.store, item, ref)
        if owner is None:
            elsewhere = ref.get("uid") in world.surroundings.garbage.elsewhere
            (found.unknown if elsewhere else found.dangling).append(ref)
        elif _waits(owner):
            found.waiting.append(ref)
        else:
            found.solid.append(ref)
    return found


def resolve(store: Store, item: Item, ref: Manifest) -> Manifest | None:
    """Return the owner to which a reference of an object refers, or None."""
    kind = find_kind(str(ref.get("apiVersion") or ""), str(ref.get("kind") or ""))
    if kind is None:
        return None
    owner = store.get(kind.key, item.namespace if kind.namespaced else "", str(ref.get("name") or ""))
    if owner is None and kind.key not in KINDS:
        owner = store.get(kind.key, "", str(ref.get("name") or ""))
    return owner if owner is not None and owner["metadata"].get("uid") == ref.get("uid") else None


def owner_kind(store: Store, ref: Manifest) -> Kind | None:
    """Return the kind that a reference names, or None if the cluster does not serve it."""
    kind = find_kind(str(ref.get("apiVersion") or ""), str(ref.get("kind") or ""))
    if kind is None or kind.key in KINDS or store.count(kind.key):
        return kind
    defined = ((definition.get("spec") or {}) for definition in store.list(_DEFINITION))
    names = {((spec.get("names") or {}).get("kind"), spec.get("group")) for spec in defined}
    return kind if (ref.get("kind"), kind.group) in names else None


def _waits(owner: Manifest) -> bool:
    meta = owner["metadata"]
    return meta.get("deletionTimestamp") is not None and FOREGROUND in (meta.get("finalizers") or ())


class GarbageCollector(Controller):
    """Deletes and orphans by ownerReferences."""

    name = "garbage-collector-controller"
    watches = (EVERY_KIND,)

    def on_start(self, world: World) -> None:
        world.surroundings.garbage.dependents.forget()
        for kind in world.store.kinds():
            for manifest in world.store.list(kind):
                self._note_object(world, kind, None, manifest)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        old, new = event.old, event.new
        if old is not None and new is not None and not _concerns(old, new):
            return
        world.surroundings.garbage.dependents.follow(event.kind, old, new)
        if new is not None:
            self._note_object(world, event.kind, old, new)
        elif old is not None:
            world.surroundings.garbage.elsewhere.pop(str(old["metadata"].get("uid")), None)
            self._enqueue_dependents(world, old)
            for ref in owners(old):
                self._enqueue_owner(world, ref)

    def _note_object(self, world: World, kind: str, old: Manifest | None, new: Manifest) -> None:
        """Handle a created or changed object: enqueue it if its owner does not exist, and the owners whose deletion it blocked before."""
        item = Item.of(kind, new)
        before = owners(old)
        added = [ref for ref in owners(new) if ref not in before]
        if any(resolve(world.store, item, ref) is None for ref in added):
            self.enqueue(world, str(item))
            self._report(world, item, added)
        for ref in before:
            if ref.get("blockOwnerDeletion") and not _blocks(new, ref.get("uid")):
                self._enqueue_owner(world, ref)
        if _ends_with(new, ORPHAN) and not _ends_with(old, ORPHAN):
            self.enqueue(world, str(item))
        elif _ends_with(new, FOREGROUND) and not _ends_with(old, FOREGROUND):
            self._enqueue_dependents(world, new)
            self.enqueue(world, str(item))

    def _enqueue_dependents(self, world: World, owner: Manifest) -> None:
        for item in _dependents(world, owner):
            self.enqueue(world, str(item))

    def _enqueue_owner(self, world: World, ref: Manifest) -> None:
        """Enqueue the owner of a reference if it waits for its dependents."""
        found = world.store.by_uid(str(ref.get("uid") or ""))
        if found is not None and _ends_with(world.store.get(*found), FOREGROUND):
            self.enqueue(world, str(Item(*found)))

    def _report(self, world: World, item: Item, refs: list[Manifest]) -> None:
        """Record an Event about each owner that is in another namespace, where it can't be an owner."""
        for ref in refs:
            found = world.store.by_uid(str(ref.get("uid") or ""))
            if found is not None and found[1] and found[1] != item.namespace:
                said = ", ".join(
                    f"{field}: {value}" for field, value in (("namespace", item.namespace), ("name", ref.get("name")))
                )
                said = f"[{ref.get('apiVersion')}/{ref.get('kind')}, {said}, uid: {ref.get('uid')}]"
                text = f'ownerRef {said} does not exist in namespace "{item.namespace}"'
                key = f"{item.namespace}/{item.name}" if item.namespace else item.name
                self.event(world, WARNING, "OwnerRefInvalidNamespace", item.kind, key, text)

    def sync(self, world: World, key: str) -> str:
        kind, *rest = key.split("/")
        item = Item(kind, rest[0] if len(rest) > 1 else "", rest[-1])
        latest = world.store.get(*item)
        if latest is None:
            return ""
        if _ends_with(latest, ORPHAN):
            uid = str(latest["metadata"].get("uid"))
            dependents = _dependents(world, latest)
            for dependent in dependents:
                manifest = world.store.get(*dependent)
                if manifest is not None:
                    _take_references(world, dependent, manifest, {uid})
            _take_finalizer(world, item, latest, ORPHAN)
            return f"allowed the deletion of {item} and orphaned {_list(dependents) or 'nothing'}"
        if _ends_with(latest, FOREGROUND):
            return self._wait_for_dependents(world, item, latest)
        if latest["metadata"].get("deletionTimestamp") is not None or not owners(latest):
            return ""
        return _attempt_to_delete(world, item, latest, classify(world, item, latest))

    def _wait_for_dependents(self, world: World, item: Item, owner: Manifest) -> str:
        blocking = [
            (dependent, manifest)
            for dependent in _dependents(world, owner)
            if (manifest := world.store.get(*dependent)) is not None and _blocks(manifest, owner["metadata"].get("uid"))
        ]
        if not blocking:
            _take_finalizer(world, item, owner, FOREGROUND)
            return f"allowed the deletion of {item}: no dependent blocks it"
        for dependent, manifest in blocking:
            if not _ends_with(manifest, FOREGROUND):
                self.enqueue(world, str(dependent))
        return f"kept {item}, because its deletion is blocked by {_list([dependent for dependent, _ in blocking])}"


def _attempt_to_delete(world: World, item: Item, latest: Manifest, refs: ClassifiedReferences) -> str:
    """Delete an object without an existing owner. If an owner is left, remove the references to the others."""
    if refs.unknown:
        return ""
    gone = [*refs.dangling, *refs.waiting]
    if refs.solid:
        if not gone:
            return ""
        _take_references(world, item, latest, {str(ref.get("uid")) for ref in gone})
        return f"removed the references to {_names(gone)} from {item}, which {_names(refs.solid)} also owns"
    if refs.waiting and (dependents := _dependents(world, latest)):
        if any(_ends_with(world.store.get(*dependent), FOREGROUND) for dependent in dependents):
            latest = _unblock(world, item, latest)  # owner and dependent wait for each other
        _delete(world, item, latest, "Foreground")
        return f"deleted {item} in the foreground, because its owner {_names(refs.waiting)} waits for it"
    # An existing finalizer of the object is the user's choice of a policy, and kube honors it.
    finalizers = latest["metadata"].get("finalizers") or ()
    policy = "Orphan" if ORPHAN in finalizers else "Foreground" if FOREGROUND in finalizers else "Background"
    _delete(world, item, latest, policy)
    why = "is being deleted" if refs.waiting else "no longer exists"
    return f"deleted {item}: its owner {_names(gone)} {why}"


# writing


def _delete(world: World, item: Item, latest: Manifest, policy: str) -> None:
    # By now the name could belong to another object, whose owners exist.
    uid = str(latest["metadata"].get("uid") or "")
    world.api.delete(item, propagation=policy, preconditions=Preconditions(uid=uid))


def _take_references(world: World, item: Item, manifest: Manifest, uids: set[str]) -> None:
    kept = [ref for ref in owners(manifest) if str(ref.get("uid")) not in uids]
    world.api.update(with_section(manifest, "metadata", {"ownerReferences": kept}))


def _unblock(world: World, item: Item, manifest: Manifest) -> Manifest:
    refs = [{**ref, "blockOwnerDeletion": False} if ref.get("blockOwnerDeletion") else ref for ref in owners(manifest)]
    return world.api.update(with_section(manifest, "metadata", {"ownerReferences": refs}))


def _take_finalizer(world: World, item: Item, owner: Manifest, finalizer: str) -> None:
    owner = world.store.get(*item) or owner
    kept = [f for f in owner["metadata"].get("finalizers") or () if f != finalizer]
    world.api.update(with_section(owner, "metadata", {"finalizers": kept}))


# reading


def _concerns(old: Manifest, new: Manifest) -> bool:
    """Return whether an update changes the owners, the finalizers, or the deletion timestamp."""
    before, after = old["metadata"], new["metadata"]
    return any(
        before.get(field) != after.get(field) for field in ("ownerReferences", "deletionTimestamp", "finalizers")
    )


def _dependents(world: World, owner: Manifest) -> list[Item]:
    return world.surroundings.garbage.dependents.of(world.store, str(owner["metadata"].get("uid") or ""))


def _ends_with(manifest: Manifest | None, finalizer: str) -> bool:
    """Return whether an object is being deleted and still has the finalizer."""
    meta = {} if manifest is None else manifest["metadata"]
    return meta.get("deletionTimestamp") is not None and finalizer in (meta.get("finalizers") or ())


def _blocks(manifest: Manifest, uid: Any) -> bool:
    return any(ref.get("uid") == uid and ref.get("blockOwnerDeletion") for ref in owners(manifest))


def _names(refs: list[Manifest]) -> str:
    return ", ".join(f"{ref.get('kind')} {ref.get('name')}" for ref in refs)


def _list(items: list[Item], most: int = 5) -> str:
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(map(str, items[:most])) + more
