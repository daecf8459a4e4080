"""The plan of an import where the cluster is modelled: each object is tried on a copy of the store, as it would be applied.

Workloads are not expanded: their controllers make the pods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scheduler_core.api.kinds import kind_of, namespace_of
from scheduler_core.api.requests.plan import Item, Located, Plan, notes_of
from scheduler_core.api.requests.prepare import CHANGED, CREATED, IGNORED_, REFUSED, UNCHANGED
from scheduler_core.api.requests.updates import difference
from scheduler_core.api.requests.workloads import IGNORED
from scheduler_core.api.server import APIServer, rank
from scheduler_core.api.status import Refused
from scheduler_core.objects.errors import duplicate

Manifest = Mapping[str, Any]


def plan_requests(api: APIServer, sources: Sequence[Manifest | Located]) -> Plan:
    """What applying manifests, or loaded texts, would do; what others refer to is tried first."""
    trial = replace(api, store=api.store.replica())
    manifests = [getattr(source, "manifest", source) for source in sources]
    items: list[Item | None] = [None] * len(manifests)
    seen: set[tuple[str, str, str]] = set()
    for index in sorted(range(len(manifests)), key=lambda i: rank(manifests[i])):
        items[index] = _located(_tried(trial, manifests[index], index, seen), sources[index])
    planned = tuple(item for item in items if item is not None)
    return Plan(planned, tuple(notes_of(api.store, planned)))


def _tried(trial: APIServer, manifest: Any, index: int, seen: set[tuple[str, str, str]]) -> Item:
    """Applies one object to the copy, and says what that did."""
    key = _key(manifest)
    item = Item(CREATED, *key, index, manifest if isinstance(manifest, Mapping) else {})
    if key[0] == "Event":
        return replace(item, action=IGNORED_, reason=IGNORED["Event"])
    if key in seen:
        return replace(item, action=REFUSED, errors=(duplicate("metadata.name", key[2]),))
    seen.add(key)
    old = trial.store.get(*key)
    try:
        trial.apply([manifest])
    except Refused as refused:
        return replace(item, action=REFUSED, errors=refused.errors)
    new = trial.store.get(*key)
    if old is None or new is None:
        return item
    changed = tuple(difference(old, new))
    return replace(item, action=CHANGED if changed else UNCHANGED, changed=changed)


def _key(manifest: Any) -> tuple[str, str, str]:
    """Kind, namespace and name as far as they can be read."""
    if not isinstance(manifest, Mapping):
        return "", "", ""
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    kind = kind_of(manifest)
    name = str(meta.get("name") or "")
    if kind is None:
        return str(manifest.get("kind") or ""), str(meta.get("namespace") or ""), name
    return kind.key, str(namespace_of(kind, {"metadata": meta})), name


def _located(item: Item, source: Manifest | Located) -> Item:
    """With the lines of its errors, where it came from a text."""
    locate = getattr(source, "locate", None)
    if locate is None:
        return item
    file = getattr(source, "file", "")
    return replace(item, errors=tuple(error.at(locate(error.path)).in_file(file) for error in item.errors))
