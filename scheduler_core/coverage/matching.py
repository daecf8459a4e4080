"""What of a manifest has no effect, by the list in no_effect.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from scheduler_core.coverage.no_effect import ANY_CUSTOM, CONFIGURATION, ENTRIES, POD, NoEffect

Manifest = Mapping[str, Any]
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


def _found(manifest: Manifest) -> Iterator[tuple[NoEffect, str]]:
    kind = str(manifest.get("kind"))
    if _is_custom(str(manifest.get("apiVersion") or "")):
        kind = ANY_CUSTOM
    yield from _found_in(manifest, kind)


def _found_in(manifest: Manifest, kind: str) -> Iterator[tuple[NoEffect, str]]:
    for entry in _ENTRIES.get(kind, ()):
        if not entry.path:
            yield entry, ""
            continue
        for path, value in _values(manifest, _steps(entry.path), ""):
            if value not in entry.usual:
                yield entry, path


def _is_custom(api_version: str) -> bool:
    group = api_version.rpartition("/")[0]
    return "." in group and (not group.endswith(".k8s.io") or group in _NOT_SERVED)


@cache
def _steps(path: str) -> tuple[tuple[str, bool], ...]:
    """The names of a path, each with whether it is a list whose elements are meant."""
    return tuple((step.removesuffix("[]"), step.endswith("[]")) for step in path.split("."))


def _values(value: Any, steps: tuple[tuple[str, bool], ...], path: str) -> Iterator[tuple[str, Any]]:
    """What stands at a path, wherever its lists have it."""
    for number, (name, listed) in enumerate(steps, start=1):
        value = value.get(name) if isinstance(value, (dict, Mapping)) else None
        if value is None:
            return
        path = f"{path}.{name}" if path else name
        if listed:
            for i, element in enumerate(value if isinstance(value, list | tuple) else ()):
                yield from _values(element, steps[number:], f"{path}[{i}]")
            return
    if value not in (None, [], ""):
        yield path, value
