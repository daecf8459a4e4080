"""What ownerReferences lead to.

kube: pkg/controller/garbagecollector/garbagecollector.go (isDangling, classifyReferences) @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.deletion import FOREGROUND
from scheduler_core.apiserver.kinds import KINDS, Kind, find_kind
from scheduler_core.apiserver.store import Store
from scheduler_core.controllers.memory.garbage import Item, owners

_DEFINITION = "CustomResourceDefinition"


@dataclass(slots=True)
class Classified:
    """References by what they lead to: an owner; nobody; an owner that waits for its dependents to go; a kind that is not known here."""

    solid: list[Manifest] = field(default_factory=list)
    dangling: list[Manifest] = field(default_factory=list)
    waiting: list[Manifest] = field(default_factory=list)
    unknown: list[Manifest] = field(default_factory=list)


def classify(store: Store, item: Item, manifest: Manifest) -> Classified:
    """The references of an object."""
    found = Classified()
    for ref in owners(manifest):
        kind = owner_kind(store, ref)
        if kind is None or (kind.namespaced and not item.namespace):
            found.unknown.append(ref)
            continue
        owner = resolve(store, item, ref)
        if owner is None:
            found.dangling.append(ref)
        elif _waits(owner):
            found.waiting.append(ref)
        else:
            found.solid.append(ref)
    return found


def resolve(store: Store, item: Item, ref: Manifest) -> Manifest | None:
    """The owner that a reference of an object leads to; None: there is none."""
    kind = find_kind(str(ref.get("apiVersion") or ""), str(ref.get("kind") or ""))
    if kind is None:
        return None
    owner = store.get(kind.key, item.namespace if kind.namespaced else "", str(ref.get("name") or ""))
    if owner is None and kind.key not in KINDS:
        owner = store.get(kind.key, "", str(ref.get("name") or ""))
    return owner if owner is not None and owner["metadata"].get("uid") == ref.get("uid") else None


def owner_kind(store: Store, ref: Manifest) -> Kind | None:
    """The kind that a reference names; None where the cluster does not serve it."""
    kind = find_kind(str(ref.get("apiVersion") or ""), str(ref.get("kind") or ""))
    if kind is None or kind.key in KINDS or store.count(kind.key):
        return kind
    defined = ((definition.get("spec") or {}) for definition in store.list(_DEFINITION))
    names = {((spec.get("names") or {}).get("kind"), spec.get("group")) for spec in defined}
    return kind if (ref.get("kind"), kind.group) in names else None


def _waits(owner: Manifest) -> bool:
    meta = owner["metadata"]
    return meta.get("deletionTimestamp") is not None and FOREGROUND in (meta.get("finalizers") or ())
