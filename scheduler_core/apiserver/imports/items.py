"""What an import brings: its sources, and its plan: what would become of each object, before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import TERMINAL_PHASES
from scheduler_core.apiserver.imports.missing import Missing
from scheduler_core.apiserver.store import Store

Locate = Callable[[str], tuple[int, int] | None]
CREATED, CHANGED, UNCHANGED, IGNORED, REFUSED = "created", "changed", "unchanged", "ignored", "refused"
ACTIONS = (CREATED, CHANGED, UNCHANGED, IGNORED, REFUSED)


class Located(Protocol):
    """A manifest that came from a text; loading.Loaded is one."""

    @property
    def manifest(self) -> Any: ...

    @property
    def locate(self) -> Locate: ...


@dataclass(frozen=True, slots=True)
class Item:
    """One object of the import. `changed` are the paths that differ."""

    action: str
    kind: str
    namespace: str
    name: str
    index: int
    manifest: Manifest
    changed: tuple[str, ...] = ()
    reason: str = ""
    errors: tuple[FieldError, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Without the manifest."""
        return {
            "action": self.action,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "index": self.index,
            "changed": list(self.changed),
            "reason": self.reason,
            "errors": [error.to_json() for error in self.errors],
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome of each object. `missing`: what objects refer to and the cluster does not have."""

    items: tuple[Item, ...] = ()
    warnings: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()

    @property
    def accepted(self) -> list[Manifest]:
        """The manifests that would change something, as given: what a command to apply the import holds."""
        return [item.manifest for item in self.items if item.action in (CREATED, CHANGED)]

    @property
    def counts(self) -> dict[str, int]:
        """The number of objects per action."""
        counts = dict.fromkeys(ACTIONS, 0)
        for item in self.items:
            counts[item.action] += 1
        return counts

    def to_json(self) -> dict[str, Any]:
        return {
            "counts": self.counts,
            "warnings": list(self.warnings),
            "items": [item.to_json() for item in self.items],
        }


@dataclass(slots=True)
class Source:
    """A manifest of the import, and its place in the text."""

    manifest: Any
    index: int
    locate: Locate | None = None
    file: str = ""


def source_of(index: int, source: Any) -> Source:
    """A source of an import, with where it stood."""
    if isinstance(source, Mapping) or not hasattr(source, "locate"):
        return Source(source, index)
    return Source(source.manifest, index, source.locate, file=getattr(source, "file", ""))


def notes(store: Store, items: tuple[Item, ...]) -> list[str]:
    """Return notes on accepted objects: pods of absent nodes, pods that have ended."""
    nodes = {item.name for item in items if item.kind == "Node" and item.action != REFUSED}
    absent: dict[str, int] = {}
    ended = 0
    for item in items:
        if item.kind != "Pod" or item.action not in (CREATED, CHANGED):
            continue
        node = (item.manifest.get("spec") or {}).get("nodeName")
        if node and node not in nodes and store.node(node) is None:
            absent[node] = absent.get(node, 0) + 1
        ended += (item.manifest.get("status") or {}).get("phase") in TERMINAL_PHASES
    said = [_absent_node(name, count) for name, count in sorted(absent.items())]
    if ended:
        said.append(f"{_pods(ended)} past the end (Succeeded or Failed): kept, and left alone by the scheduler")
    return said


def _absent_node(name: str, count: int) -> str:
    return f'node "{name}" is not in the cluster: {_pods(count)} bound to it'


def _pods(count: int) -> str:
    return f"{count} pod is" if count == 1 else f"{count} pods are"
