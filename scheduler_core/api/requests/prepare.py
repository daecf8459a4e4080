"""From manifests as given to what is to be done with each: nothing is written here.

Steps of each object: structure, kind, name taken twice, admission, semantics, and a look at what the store
has under its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.api.admission.admission import Admission
from scheduler_core.api.admission.priority import PriorityClasses
from scheduler_core.api.kinds import Kind, is_own_group, kind_of
from scheduler_core.api.requests.updates import desired, difference, fits_in_place
from scheduler_core.api.requests.workloads import IGNORED
from scheduler_core.api.store import Store
from scheduler_core.api.validation.objects import describe, metadata, semantics, structure
from scheduler_core.objects.errors import FieldError, duplicate

Manifest = Mapping[str, Any]
CREATED, CHANGED, UNCHANGED, IGNORED_, REFUSED = "created", "changed", "unchanged", "ignored", "refused"
MAX_ERRORS = 100  # of one object
# What others refer to comes first; within a kind the order given is kept.
_FIRST = ("Namespace", "CustomResourceDefinition", "PriorityClass", "StorageClass", "Node")
_RANK = {kind: rank for rank, kind in enumerate(_FIRST)}
_LAST = {"Pod": len(_FIRST) + 1}


@dataclass(slots=True)
class Prepared:
    """One object: where it stood in the request, what becomes of it, and the manifest to store."""

    index: int
    submitted: Manifest
    action: str
    kind: Kind | None = None
    manifest: Manifest | None = None
    errors: tuple[FieldError, ...] = ()
    reason: str = ""
    changed: tuple[str, ...] = ()
    recreated: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, namespace and name."""
        source = self.submitted if self.manifest is None else self.manifest
        meta = source.get("metadata") if isinstance(source, Mapping) else None
        meta = meta if isinstance(meta, Mapping) else {}
        kind = self.kind.key if self.kind else str(source.get("kind") if isinstance(source, Mapping) else "")
        return kind, str(meta.get("namespace") or ""), str(meta.get("name") or "")

    @property
    def rank(self) -> int:
        kind = self.key[0]
        return _RANK.get(kind, _LAST.get(kind, len(_FIRST)))


def prepare(store: Store, manifests: Sequence[Manifest], *, whole: bool = False) -> list[Prepared]:
    """What becomes of each, in the order given. `whole`: the manifests are complete objects (see
    updates.desired).
    """
    items = [_read(index, manifest) for index, manifest in enumerate(manifests)]
    admission = Admission(_priority_classes(store, items))
    checker = _Checker()
    seen: dict[tuple[str, str, str], None] = {}
    for item in items:
        if item.kind is None or item.action == REFUSED:
            continue
        admitted, refusals = admission.admit(item.submitted, item.kind)
        item.manifest = admitted
        errors = [*refusals, *checker.errors(admitted, item.kind)]
        if item.key in seen:
            errors.append(duplicate("metadata.name", item.key[2]))
        seen[item.key] = None
        if errors:
            name = describe(admitted)
            item.action, item.errors = REFUSED, _named(errors, name)
        else:
            _compare(store, item, whole)
    return items


def _read(index: int, manifest: Manifest) -> Prepared:
    kind = manifest.get("kind") if isinstance(manifest, Mapping) else None
    if isinstance(kind, str) and kind in IGNORED and isinstance(manifest.get("metadata"), Mapping):
        if is_own_group(str(manifest.get("apiVersion"))):
            return Prepared(index, manifest, IGNORED_, reason=IGNORED[kind])
    if errors := structure(manifest):
        name = describe(manifest)
        return Prepared(index, manifest, REFUSED, errors=_named(errors, name))
    return Prepared(index, manifest, CREATED, kind=kind_of(manifest))


def _named(errors: Sequence[FieldError], name: str) -> tuple[FieldError, ...]:
    """The errors with their object's name; of very many the first ones."""
    named = [error.of(name) for error in errors[:MAX_ERRORS]]
    if len(errors) > MAX_ERRORS:
        named.append(FieldError("", f"{len(errors) - MAX_ERRORS} more errors", "are not shown", name))
    return tuple(named)


def _priority_classes(store: Store, items: Sequence[Prepared]) -> PriorityClasses:
    """The store's classes, and those of the request over them."""
    classes = {manifest["metadata"]["name"]: manifest for manifest in store.list("PriorityClass")}
    for item in items:
        if (
            item.kind is not None
            and item.kind.key == "PriorityClass"
            and (item.submitted.get("metadata") or {}).get("name")
        ):
            classes[item.submitted["metadata"]["name"]] = item.submitted
    return PriorityClasses(classes.values())


class _Checker:
    """Semantic checks; those of a pod's spec are made once for all pods that share it."""

    def __init__(self) -> None:
        self._specs: dict[int, tuple[Manifest, tuple[FieldError, ...]]] = {}

    def errors(self, manifest: Manifest, kind: Kind) -> list[FieldError]:
        if kind.key != "Pod" or manifest.get("status") != {"phase": "Pending"}:
            return semantics(manifest, kind)
        errors: list[FieldError] = []
        metadata(manifest, kind, errors)
        spec = manifest.get("spec") or {}
        known = self._specs.get(id(spec))
        if known is None:
            own: list[FieldError] = []
            metadata(manifest, kind, own)
            all_of_it = semantics(manifest, kind)
            known = self._specs[id(spec)] = (spec, tuple(all_of_it[len(own) :]))
        return [*errors, *known[1]]


def _compare(store: Store, item: Prepared, whole: bool) -> None:
    """Against what the store has under the same name."""
    old = store.get(*item.key)
    if old is None or item.manifest is None:
        return
    new = desired(old, item.manifest, whole=whole)
    item.changed = tuple(difference(old, new))
    item.action = CHANGED if item.changed else UNCHANGED
    if item.changed and item.key[0] == "Pod" and not fits_in_place(old, new):
        item.recreated = True
        return
    item.manifest = new
