"""A world's objects, so that they can be brought into another world, or into a real cluster.

As they are, they open another world in this one's state: each kind in the order in which its objects were made, which decides who is
tried first, with uids, owners, times and status. For kubectl they are without what a cluster makes of them by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.standing import is_standing
from scheduler_core.apiserver.store import Store
from scheduler_core.world.commands import Continuation

_WRITTEN_ANEW = ("resourceVersion", "managedFields", "selfLink")
# Owner references name uids of this world; in another cluster they would have the garbage collector delete the object.
_OWNED = (
    *_WRITTEN_ANEW,
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
)
_HEADING = "# scheduler-playground: "
_FIRST = ("Namespace", "PriorityClass", "Node")
_LAST = ("Pod",)


def objects_of(store: Store) -> list[Manifest]:
    """All objects but those that are in every cluster, each after what it needs, and in the order in which they were made."""
    return [
        manifest
        for kind in in_order(store.kinds())
        for manifest in store.in_creation_order(kind)
        if not is_standing(manifest)
    ]


def in_order(kinds: list[str]) -> list[str]:
    """Kinds so that each comes after what it needs."""

    def rank(kind: str) -> tuple[int, int, str]:
        first = _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
        return (kind in _LAST, first, kind)

    return sorted(kinds, key=rank)


def as_it_is(manifest: Manifest) -> Manifest:
    """An object for a world that goes on from here."""
    return _without(manifest, _WRITTEN_ANEW)


def for_kubectl(manifest: Manifest) -> Manifest:
    """An object that kubectl can apply to another cluster."""
    plain = _without(manifest, _OWNED)
    spec = plain.get("spec")
    # Admission sets priority from the class, and refuses one that it did not set.
    if manifest.get("kind") == "Pod" and isinstance(spec, Mapping) and spec.get("priorityClassName"):
        plain["spec"] = {name: value for name, value in spec.items() if name != "priority"}
    return plain


def _without(manifest: Manifest, fields: tuple[str, ...]) -> dict[str, Any]:
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in fields}
    return {**manifest, "metadata": metadata}


def heading(continuation: Continuation) -> str:
    """A comment in YAML that says what the objects do not."""
    return f"{_HEADING}{msgspec.json.encode(continuation).decode()}\n"


def continuation_of(text: str) -> Continuation | None:
    """Return the contents of a text's heading; None if there is no heading or it was changed."""
    if not text.startswith(_HEADING):
        return None
    line = text[len(_HEADING) : text.find("\n")]
    try:
        return msgspec.json.decode(line, type=Continuation)
    except msgspec.DecodeError:
        return None
