"""The plan of an import: what would become of each object, before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from scheduler_core.api.kinds import find_kind, is_own_group, namespace_of
from scheduler_core.api.requests.missing import Missing
from scheduler_core.api.requests.prepare import (
    CHANGED,
    CREATED,
    IGNORED_,
    REFUSED,
    UNCHANGED,
    Prepared,
    prepare,
)
from scheduler_core.api.requests.workloads import EXPANDED, MAX_REPLICAS, desired_pods, expand, owned_by
from scheduler_core.api.store import Store
from scheduler_core.api.validation.objects import semantics, structure
from scheduler_core.objects.errors import FieldError
from scheduler_core.objects.labels import LabelSelector
from scheduler_core.objects.pod import TERMINAL_PHASES

Manifest = Mapping[str, Any]
Locate = Callable[[str], tuple[int, int] | None]
ACTIONS = (CREATED, CHANGED, UNCHANGED, IGNORED_, REFUSED)


class Located(Protocol):
    """A manifest that came from a text; loading.Loaded is one."""

    @property
    def manifest(self) -> Any: ...

    @property
    def locate(self) -> Locate: ...


@dataclass(frozen=True, slots=True)
class Item:
    """One object of the import. `changed` are the paths that differ, `note` says what else is to be known of
    it.
    """

    action: str
    kind: str
    namespace: str
    name: str
    index: int
    manifest: Manifest
    changed: tuple[str, ...] = ()
    reason: str = ""
    errors: tuple[FieldError, ...] = ()
    note: str = ""
    made_from: str = ""

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
            "note": self.note,
            "made_from": self.made_from,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """`missing`: what is referred to and not there, of a world whose cluster is modelled."""

    items: tuple[Item, ...] = ()
    warnings: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()

    @property
    def accepted(self) -> list[Manifest]:
        """The manifests that would change something, as given: what a command to apply the import holds."""
        return [item.manifest for item in self.items if item.action in (CREATED, CHANGED)]

    @property
    def counts(self) -> dict[str, int]:
        """How many objects of each action."""
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
    """A manifest to be planned: where in the request it stood, and which workload it was made from."""

    manifest: Any
    index: int
    locate: Locate | None = None
    made_from: str = ""
    file: str = ""


@dataclass(slots=True)
class _Pods:
    """Pods of the import and the store by namespace, to see whether a workload has its pods already."""

    by_namespace: dict[str, list[Manifest]] = field(default_factory=dict)

    def add(self, manifest: Manifest) -> None:
        namespace = manifest["metadata"].get("namespace") or "default"
        self.by_namespace.setdefault(namespace, []).append(manifest)

    def any_of(self, workload: Manifest) -> bool:
        namespace = workload["metadata"].get("namespace") or "default"
        raw = (workload.get("spec") or {}).get("selector")
        if workload["kind"] == "ReplicationController" and raw is not None:
            raw = {"matchLabels": raw}
        selector = LabelSelector.of(raw)
        return any(
            owned_by(pod, workload) or selector.matches(pod["metadata"].get("labels") or {})
            for pod in self.by_namespace.get(namespace, ())
        )


def plan(store: Store, sources: Sequence[Manifest | Located]) -> Plan:
    """What importing would do. Sources are manifests or loaded texts; workloads are expanded to their pods."""
    read = [source_of(index, source) for index, source in enumerate(sources)]
    expanded, warnings = _expanded(store, read)
    prepared = prepare(store, [source.manifest for source in expanded])
    items = tuple(_item(source, item) for source, item in zip(expanded, prepared, strict=True))
    return Plan(items, (*warnings, *notes(store, items)))


def source_of(index: int, source: Any) -> Source:
    """A source of an import, with where it stood."""
    if isinstance(source, Mapping) or not hasattr(source, "locate"):
        return Source(source, index)
    return Source(source.manifest, index, source.locate, file=getattr(source, "file", ""))


def _item(source: Source, item: Prepared) -> Item:
    kind, namespace, name = item.key
    errors = item.errors
    if source.locate is not None:
        errors = tuple(error.at(source.locate(error.path)).in_file(source.file) for error in errors)
    note = ""
    if item.recreated:
        note = "a pod can't be changed in place like this: it is deleted and made anew"
    manifest = source.manifest if isinstance(source.manifest, Mapping) else {}
    return Item(
        item.action,
        kind,
        namespace,
        name,
        source.index,
        manifest,
        item.changed,
        item.reason,
        errors,
        note,
        source.made_from,
    )


def _expanded(store: Store, sources: list[Source]) -> tuple[list[Source], list[str]]:
    """The sources, with each new workload's pods after it."""
    if not any(_kind(source.manifest) in EXPANDED for source in sources):
        return sources, []
    pods = _known_pods(store, sources)
    expanded: list[Source] = []
    warnings: list[str] = []
    pods_so_far = 0
    for source in sources:
        expanded.append(source)
        if not _is_new_workload(store, source.manifest) or pods.any_of(source.manifest):
            continue
        count = desired_pods(source.manifest)
        kind, name = source.manifest["kind"], source.manifest["metadata"]["name"]
        if pods_so_far + count > MAX_REPLICAS:
            warnings.append(_too_many(kind, name, count))
            continue
        pods_so_far += count
        expansion = expand(source.manifest)
        source.manifest = expansion.owner
        expanded += [Source(pod, source.index, None, f"{kind} {name}") for pod in expansion.created]
        warnings.append(_made_once(kind, name, expansion.pods))
    return expanded, warnings


def _too_many(kind: str, name: str, pods: int) -> str:
    return (
        f"{kind} {name} asks for {pods} pods; an import makes at most {MAX_REPLICAS}, so none was made of it"
    )


def _made_once(kind: str, name: str, pods: int) -> str:
    which = "its pod was" if pods == 1 else f"its {pods} pods were"
    return f"no controller looks after {kind}s here: {name} is kept and {which} made once"


def _known_pods(store: Store, sources: list[Source]) -> _Pods:
    pods = _Pods()
    for source in sources:
        if (
            _kind(source.manifest) == "Pod"
            and not structure(source.manifest)
            and source.manifest.get("metadata")
        ):
            pods.add(source.manifest)
    for manifest in store.list("Pod"):
        pods.add(manifest)
    return pods


def _is_new_workload(store: Store, manifest: Any) -> bool:
    if (
        _kind(manifest) not in EXPANDED
        or structure(manifest)
        or not (manifest.get("metadata") or {}).get("name")
    ):
        return False
    kind = find_kind(manifest["apiVersion"], manifest["kind"])
    if kind is None or not isinstance(manifest.get("spec"), Mapping) or semantics(manifest, kind):
        return False
    return store.get(kind.key, namespace_of(kind, manifest), manifest["metadata"]["name"]) is None


def _kind(manifest: Any) -> Any:
    """Of kube's own kinds; None for any other."""
    if not isinstance(manifest, Mapping) or not is_own_group(str(manifest.get("apiVersion"))):
        return None
    return manifest.get("kind")


def notes(store: Store, items: tuple[Item, ...]) -> list[str]:
    """What is accepted and yet worth knowing: pods of nodes that are not there, pods that have ended."""
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
        said.append(
            f"{_pods(ended)} past the end (Succeeded or Failed): kept, and left alone by the scheduler"
        )
    return said


def _absent_node(name: str, count: int) -> str:
    return f'node "{name}" is not in the cluster: {_pods(count)} bound to it'


def _pods(count: int) -> str:
    return f"{count} pod is" if count == 1 else f"{count} pods are"
