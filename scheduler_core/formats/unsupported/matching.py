"""The parts of a manifest without effect, by the list in no_effect.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import Any

from scheduler_core.apimachinery.objects.errors import child, format_key_path
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import is_own_group, split_api_version
from scheduler_core.formats.unsupported.no_effect import ANY_CUSTOM, CONFIGURATION, ENTRIES, NoEffect

_Match = tuple[int, NoEffect, str]
_MAPPING = (dict, Mapping)  # a dict is told at once
_NOTHING: tuple[Any, ...] = (None, [], "", {})
_NO_FIELDS: Manifest = {}
_STEP = re.compile(r"\[([^\]]*)\]|([^.\[]+)")


def _by_kind() -> dict[str, list[NoEffect]]:
    entries: dict[str, list[NoEffect]] = {}
    for entry in ENTRIES:
        entries.setdefault(entry.kind, []).append(entry)
    return entries


_ENTRIES = _by_kind()


def without_effect(manifest: Manifest) -> list[tuple[str, str]]:
    """Return the paths of set fields without effect, each with the reason. The path "" is the whole object."""
    return [(path, entry.why) for entry, path in _find_matches(manifest)]


def notes(manifests: Iterable[Manifest]) -> list[str]:
    """Return one line for each field without effect, with the number of objects that have it.

    Ignores objects that other given objects create, and fields that a cluster itself writes.
    """
    given = list(manifests)
    uids = {_metadata(manifest).get("uid") for manifest in given} - {None, ""}
    seen: dict[tuple[str, str, str], list[str]] = {}
    for manifest in given:
        if uids and _maker(manifest) in uids:
            continue
        name, kind = str(_metadata(manifest).get("name") or ""), str(manifest.get("kind"))
        kept = bool(_metadata(manifest).get("uid"))
        found = (entry for entry, _ in _find_matches(manifest) if not (kept and entry.written))
        for path, why in dict.fromkeys((entry.path, entry.why) for entry in found):
            seen.setdefault((kind, path, why), []).append(name)
    return [_note(kind, path, why, names) for (kind, path, why), names in seen.items()]


def _metadata(manifest: Manifest) -> Manifest:
    metadata = manifest.get("metadata")
    return metadata if isinstance(metadata, _MAPPING) else {}


def _maker(manifest: Manifest) -> Any:
    """Return the uid of the object's controller, or None."""
    owners = _metadata(manifest).get("ownerReferences") or ()
    return next((owner.get("uid") for owner in owners if owner.get("controller")), None)


def notes_of_configuration(configuration: Manifest) -> list[str]:
    """Return the fields of a KubeSchedulerConfiguration that are accepted without effect, each with the reason."""
    return [
        f"{path} has no effect here: {entry.why}" for entry, path in _find_matches_of_kind(configuration, CONFIGURATION)
    ]


def _note(kind: str, path: str, why: str, names: list[str]) -> str:
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"{kind} {names[0]}{more}: {path + ' ' if path else ''}has no effect here: {why}"


def _find_matches(manifest: Manifest) -> list[tuple[NoEffect, str]]:
    api_version = str(manifest.get("apiVersion") or "")
    if is_own_group(api_version):
        return _find_matches_of_kind(manifest, str(manifest.get("kind")))
    group = f"{ANY_CUSTOM}.{split_api_version(api_version)[0]}"
    return _find_matches_of_kind(manifest, group if group in _ENTRIES else ANY_CUSTOM)


def _find_matches_of_kind(manifest: Manifest, kind: str) -> list[tuple[NoEffect, str]]:
    found: list[_Match] = []
    _look(manifest, _tree(kind), "", found)
    found.sort(key=itemgetter(0))
    return [(entry, path) for _, entry, path in found]


@dataclass(slots=True)
class _Tree:
    """The entries for a value with their positions in the list, and the trees of its fields and elements."""

    entries: list[tuple[int, NoEffect]] = field(default_factory=list)
    fields: dict[str, _Tree] = field(default_factory=dict)
    elements: _Tree | None = None


@cache
def _tree(kind: str) -> _Tree:
    """All entries of a kind, so that an object is gone through once for all of them."""
    root = _Tree()
    for number, entry in enumerate(_ENTRIES.get(kind, ())):
        tree = root
        for key, name in _STEP.findall(entry.path):
            if key or name:
                tree = tree.fields.setdefault(key or name, _Tree())
            else:
                tree.elements = tree.elements or _Tree()
                tree = tree.elements
        tree.entries.append((number, entry))
    return root


def _look(value: Any, tree: _Tree, path: str, found: list[_Match], within: Manifest = _NO_FIELDS) -> None:
    """Add the entries that match a value or its contents. `within` is the object that contains the value."""
    if tree.entries and not (path and value in _NOTHING):
        found += [
            (number, entry, path)
            for number, entry in tree.entries
            if not within.get(entry.beside) and not any(_is_like(value, usual) for usual in entry.usual)
        ]
    if tree.fields and isinstance(value, _MAPPING):
        for name, inner in value.items():
            below = tree.fields.get(name)
            if below is not None and inner is not None:
                where = format_key_path(path, name) if "/" in name else child(path, name)
                _look(inner, below, where, found, value)
    elif tree.elements is not None and isinstance(value, list | tuple):
        for i, element in enumerate(value):
            _look(element, tree.elements, f"{path}[{i}]", found)


def _is_like(value: Any, usual: Any) -> bool:
    return bool(usual(value)) if callable(usual) else value == usual
