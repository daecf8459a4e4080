"""Manifests from text: YAML or JSON, one object, several documents, or a List, as kubectl prints and reads
them.

Errors say line and column. What a field-path error is about can be found in the text afterwards
(`Loaded.locate`), which costs time only then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from scheduler_core.objects import json_text, yaml_text
from scheduler_core.objects.errors import FieldError, InvalidObject, wrong_type
from scheduler_core.objects.paths import Step, parse_path

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LoadLimits:
    """What is refused before it costs anything: bytes of UTF-8, objects, levels of nesting, nodes that
    aliases repeat.
    """

    max_bytes: int = 32 * 1024 * 1024
    max_objects: int = 100_000
    max_depth: int = 64
    max_alias_nodes: int = 20_000


@dataclass(frozen=True, slots=True)
class Loaded:
    """One object. `index` counts from 0 over the whole text; `locate` gives line and column (from 1) of a
    field path, or of the nearest field above it that is there; None where the text can't tell.
    """

    manifest: Any
    index: int
    locate: Callable[[str], Place | None]


def load_manifests(text: str, limits: LoadLimits | None = None) -> list[Loaded]:
    """All objects of a text, Lists flattened, empty documents left out. InvalidObject where it can't be read
    or breaks a limit.
    """
    limits = limits or LoadLimits()
    _check_text(text, limits)
    read, find = _reader(text)
    documents = read(text, limits.max_depth, limits.max_alias_nodes)
    found: list[Loaded] = []
    for number, document in enumerate(documents):
        for manifest, steps in _objects(document):
            if len(found) >= limits.max_objects:
                raise _refused(
                    f"more than {limits.max_objects} objects",
                    f"at most {limits.max_objects} are read at once",
                )
            found.append(Loaded(manifest, len(found), partial(_locate, find, text, number, steps)))
    return found


Reader = Callable[[str, int, int], list[Any]]
Finder = Callable[[str, int, tuple[Step, ...]], Place | None]


def _reader(text: str) -> tuple[Reader, Finder]:
    """JSON is read by the faster reader; what only looks like JSON ({a: b}) by YAML's."""
    if json_text.looks_like_json(text):
        return json_text.read, json_text.find
    return yaml_text.read, yaml_text.find


def _check_text(text: str, limits: LoadLimits) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise _refused("the text", "holds half of a surrogate pair; send it as UTF-8") from error
    if size > limits.max_bytes:
        raise _refused(f"{size} bytes", f"at most {limits.max_bytes} are read at once")


def _refused(received: str, expected: str) -> InvalidObject:
    return InvalidObject([FieldError("", received, f"({expected})")])


def _objects(document: Any) -> list[tuple[Any, tuple[Step, ...]]]:
    """A document's objects with where they stand in it."""
    if document is None:
        return []
    if isinstance(document, list):
        return [(entry, (i,)) for i, entry in enumerate(document) if entry is not None]
    if isinstance(document, Mapping) and _is_list(document):
        items = document.get("items")
        if items is not None and not isinstance(items, list):
            raise InvalidObject([wrong_type("items", items, "a list")])
        return [(entry, ("items", i)) for i, entry in enumerate(items or ()) if entry is not None]
    return [(document, ())]


def _is_list(document: Mapping[str, Any]) -> bool:
    kind = document.get("kind")
    return "items" in document and isinstance(kind, str) and kind.endswith("List")


def _locate(find: Finder, text: str, document: int, steps: tuple[Step, ...], path: str) -> Place | None:
    return find(text, document, (*steps, *parse_path(path)))
