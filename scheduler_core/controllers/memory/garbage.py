"""What the collectors of garbage remember: who depends on whom, nodes that are missing, namespaces that end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler_core.apiserver.store import Store
from scheduler_core.base.state import Copied, Derived, State


class Item(NamedTuple):
    """One object."""

    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, kind: str, manifest: Mapping[str, Any]) -> Item:
        meta = manifest["metadata"]
        return cls(kind, str(meta.get("namespace") or ""), str(meta["name"]))

    def __str__(self) -> str:
        return "/".join(part for part in self if part)


def owners(manifest: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The ownerReferences of an object."""
    return [] if manifest is None else list(manifest["metadata"].get("ownerReferences") or ())


@dataclass(slots=True)
class Dependents(State):
    """Objects by the uids of their owners. It is made of the store when it is first asked for, and kept up with then."""

    by_owner: Derived[dict[str, dict[Item, None]]] = field(default_factory=dict)
    made: Derived[int] = 0

    def forget(self) -> None:
        """Has it made anew."""
        self.by_owner, self.made = {}, 0

    def of(self, store: Store, uid: str) -> list[Item]:
        """Return an owner's dependents, in order."""
        if not self.made:
            self.made = 1
            for kind in store.kinds():
                for manifest in store.list(kind):
                    if manifest["metadata"].get("ownerReferences"):
                        self._add(kind, manifest)
        return sorted(self.by_owner.get(uid, ()))

    def _add(self, kind: str, manifest: Mapping[str, Any]) -> None:
        item = Item.of(kind, manifest)
        for owner in _uids(manifest):
            self.by_owner.setdefault(owner, {})[item] = None

    def follow(self, kind: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
        """Keeps up with a change of an object."""
        if not self.made:
            return
        before, after = set(_uids(old)), set(_uids(new))
        for uid in sorted(before - after):
            items = self.by_owner.get(uid, {})
            items.pop(Item.of(kind, old or {}), None)
            if not items:
                self.by_owner.pop(uid, None)
        for uid in sorted(after - before):
            self.by_owner.setdefault(uid, {})[Item.of(kind, new or {})] = None


def _uids(manifest: Mapping[str, Any] | None) -> Iterator[str]:
    return (str(ref.get("uid") or "") for ref in owners(manifest))


@dataclass(slots=True)
class Pods(State):
    """The pod collector's state: the number of ended pods, and the deadlines (ns) for missing nodes to appear."""

    ended: int = 0
    quarantine: Copied[dict[str, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Namespaces(State):
    """Namespaces that wait for their content to go: when each was looked at last, and how long until the next look (ns)."""

    waiting: Copied[dict[str, tuple[int, int]]] = field(default_factory=dict)


@dataclass(slots=True)
class Garbage(State):
    """All of it."""

    dependents: Copied[Dependents] = field(default_factory=Dependents)
    pods: Copied[Pods] = field(default_factory=Pods)
    namespaces: Copied[Namespaces] = field(default_factory=Namespaces)
