"""Requests that write: each is checked as a whole first, so that it is carried out or changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.api.kinds import kind_of, known, reference
from scheduler_core.api.requests.prepare import CHANGED, CREATED, Prepared, prepare
from scheduler_core.api.rewriting import merge_patch
from scheduler_core.api.status import Refused, not_found
from scheduler_core.api.store import Store
from scheduler_core.api.watch import WatchEvent
from scheduler_core.objects.errors import FieldError, invalid

Manifest = Mapping[str, Any]
Reference = tuple[str, str, str]  # kind, namespace, name


def apply_objects(store: Store, manifests: Sequence[Manifest], now: int) -> list[WatchEvent]:
    """Creates what is new and changes what differs, in an order in which nothing refers to what is not there
    yet.

    Refused, with all errors of all objects, where any is not acceptable. Objects of kinds that this cluster
    ignores are passed over. A pod that can't be changed in place is deleted and made anew, as `kubectl
    replace --force` does.
    """
    return _carry_out(store, prepare(store, manifests), now)


def patch_object(store: Store, target: Reference, patch: Mapping[str, Any], now: int) -> list[WatchEvent]:
    """Applies a JSON merge patch (RFC 7396). The name can't be changed."""
    kind, namespace, name = target
    old = store.get(kind, namespace, name)
    if old is None:
        raise Refused.because(not_found(_resource(kind), name), reference(*target))
    new = merge_patch(old, patch)
    same = kind_of(new) if isinstance(new, Mapping) else None
    if same is None or same.key != kind:
        new_kind = new.get("kind") if isinstance(new, Mapping) else new
        raise Refused([invalid("kind", new_kind, "field is immutable").of(reference(*target))])
    fixed = {"name": name, **({"namespace": namespace} if namespace else {})}
    meta = new.get("metadata")
    if isinstance(meta, Mapping):
        new["metadata"] = {**meta, **fixed}
    return _carry_out(store, prepare(store, [new], whole=True), now)


def delete_objects(
    store: Store, targets: Sequence[Reference], now: int, *, grace: int | None = None
) -> list[WatchEvent]:
    """Deletes objects and, as the garbage collector would, what they own; a namespace takes along all that is
    in it.

    `grace`: seconds that running pods are left (None: each its own). Refused where one is not there.
    """
    missing = [target for target in targets if store.get(*target) is None]
    if missing:
        raise Refused(
            FieldError(
                "", "", not_found(_resource(kind), name).message, object=reference(kind, namespace, name)
            )
            for kind, namespace, name in missing
        )
    events = []
    for target in dict.fromkeys(targets):
        for kind, namespace, name in (target, *_dependents(store, target)):
            if store.get(kind, namespace, name) is not None:
                events.append(store.delete(kind, namespace, name, now, grace))
    return events


def _carry_out(store: Store, items: list[Prepared], now: int) -> list[WatchEvent]:
    errors = [error for item in items for error in item.errors]
    if errors:
        raise Refused(errors)
    events = []
    for item in sorted(items, key=lambda item: item.rank):
        events += _write(store, item, now)
    return events


def _write(store: Store, item: Prepared, now: int) -> list[WatchEvent]:
    if item.kind is None or item.manifest is None or item.action not in (CREATED, CHANGED):
        return []
    kind, namespace, name = item.key
    if item.action == CREATED:
        return [store.create(item.manifest, kind, now)]
    if not item.recreated:
        return _some(store.replace(item.manifest, kind))
    removed = store.remove(kind, namespace, name)
    return [*_some(removed), store.create(_as_new(item.manifest), kind, now)]


def _some(event: WatchEvent | None) -> list[WatchEvent]:
    return [] if event is None else [event]


def _as_new(manifest: Manifest) -> Manifest:
    """Without what belonged to the object it takes the place of."""
    gone = (
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    )
    meta = {name: value for name, value in manifest["metadata"].items() if name not in gone}
    return {**manifest, "metadata": meta}


def _dependents(store: Store, target: Reference) -> list[Reference]:
    """What goes along with an object, each after its owner."""
    kind, _, name = target
    if kind == "Namespace":
        return [
            (inner, name, manifest["metadata"]["name"])
            for inner in store.kinds()
            for manifest in store.list(inner)
            if manifest["metadata"].get("namespace") == name
        ]
    if kind in ("Pod", "Node"):
        return []
    return _owned(store, target)


def _owned(store: Store, target: Reference) -> list[Reference]:
    owner = store.get(*target)
    uid = owner["metadata"]["uid"] if owner else ""
    owned: list[Reference] = []
    for kind in ("ReplicaSet", "Job", "Pod"):
        for manifest in store.list(kind):
            meta = manifest["metadata"]
            if any(ref.get("uid") == uid for ref in meta.get("ownerReferences") or ()):
                dependent = (kind, meta.get("namespace", ""), meta["name"])
                owned += [dependent, *(_owned(store, dependent) if kind != "Pod" else ())]
    return owned


def _resource(kind: str) -> str:
    """A kind's name in messages, also of one that nobody knows."""
    try:
        return known(kind).resource
    except KeyError:
        return kind.lower()
