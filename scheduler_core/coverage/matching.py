"""What of a manifest has no effect, by the list in no_effect.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import Any

from scheduler_core.coverage.no_effect import ANY_CUSTOM, CONFIGURATION, ENTRIES, POD, NoEffect

Manifest = Mapping[str, Any]
_Match = tuple[int, NoEffect, str]
_MAPPING = (dict, Mapping)  # a dict is told at once
_NOTHING: tuple[Any, ...] = (None, [], "")
_NOT_SERVED = ("kubelet.config.k8s.io", "kubescheduler.config.k8s.io", "metrics.k8s.io")
_TEMPLATES = {
    "Deployment": "spec.template.",
    "ReplicaSet": "spec.template.",
    "ReplicationController": "spec.template.",
    "StatefulSet": "spec.template.",
    "DaemonSet": "spec.template.",
    "Job": "spec.template.",
    "CronJob": "spec.jobTemplate.spec.template.",
    "PodTemplate": "template.",
}


def _by_kind() -> dict[str, list[NoEffect]]:
    entries: dict[str, list[NoEffect]] = {}
    for entry in ENTRIES:
        entries.setdefault(entry.kind, []).append(entry)
    for kind, prefix in _TEMPLATES.items():
        moved = [NoEffect(kind, prefix + e.path, e.why, e.usual) for e in entries[POD]]
        entries.setdefault(kind, []).extend(moved)
    return entries


_ENTRIES = _by_kind()


def without_effect(manifest: Manifest) -> list[tuple[str, str]]:
    """Paths of fields that are set and change nothing here, each with the reason; the path "" is the whole object."""
    return [(path, entry.why) for entry, path in _found(manifest)]


def notes(manifests: Iterable[Manifest]) -> list[str]:
    """The same of many objects, one line for each field, with how many objects have it."""
    seen: dict[tuple[str, str, str], list[str]] = {}
    for manifest in manifests:
        name = str((manifest.get("metadata") or {}).get("name") or "")
        kind = str(manifest.get("kind"))
        for path, why in dict.fromkeys((entry.path, entry.why) for entry, _ in _found(manifest)):
            seen.setdefault((kind, path, why), []).append(name)
    return [_note(kind, path, why, names) for (kind, path, why), names in seen.items()]


def notes_of_configuration(configuration: Manifest) -> list[str]:
    """Fields of a KubeSchedulerConfiguration that are accepted and have no effect, each with the reason."""
    return [
        f"{path} has no effect here: {entry.why}" for entry, path in _found_in(configuration, CONFIGURATION)
    ]


def _note(kind: str, path: str, why: str, names: list[str]) -> str:
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"{kind} {names[0]}{more}: {path + ' ' if path else ''}has no effect here: {why}"


def _found(manifest: Manifest) -> list[tuple[NoEffect, str]]:
    custom = _is_custom(str(manifest.get("apiVersion") or ""))
    return _found_in(manifest, ANY_CUSTOM if custom else str(manifest.get("kind")))


def _found_in(manifest: Manifest, kind: str) -> list[tuple[NoEffect, str]]:
    found: list[_Match] = []
    _look(manifest, _tree(kind), "", found)
    found.sort(key=itemgetter(0))
    return [(entry, path) for _, entry, path in found]


def _is_custom(api_version: str) -> bool:
    group = api_version.rpartition("/")[0]
    return "." in group and (not group.endswith(".k8s.io") or group in _NOT_SERVED)


@dataclass(slots=True)
class _Tree:
    """The entries of what stands here, with their places in the list, and the trees of its fields and of a list's elements."""

    entries: list[tuple[int, NoEffect]] = field(default_factory=list)
    fields: dict[str, _Tree] = field(default_factory=dict)
    elements: _Tree | None = None


@cache
def _tree(kind: str) -> _Tree:
    """All entries of a kind, so that an object is gone through once for all of them."""
    root = _Tree()
    for number, entry in enumerate(_ENTRIES.get(kind, ())):
        tree = root
        for step in entry.path.split(".") if entry.path else ():
            tree = tree.fields.setdefault(step.removesuffix("[]"), _Tree())
            if step.endswith("[]"):
                tree.elements = tree.elements or _Tree()
                tree = tree.elements
        tree.entries.append((number, entry))
    return root


def _look(value: Any, tree: _Tree, path: str, found: list[_Match]) -> None:
    """Adds the entries that a value, or what is in it, answers to."""
    if tree.entries and not (path and value in _NOTHING):
        found += [
            (number, entry, path) for number, entry in tree.entries if not path or value not in entry.usual
        ]
    if tree.fields and isinstance(value, _MAPPING):
        for name, inner in value.items():
            below = tree.fields.get(name)
            if below is not None and inner is not None:
                _look(inner, below, f"{path}.{name}" if path else name, found)
    elif tree.elements is not None and isinstance(value, list | tuple):
        for i, element in enumerate(value):
            _look(element, tree.elements, f"{path}[{i}]", found)
