"""Manifests from text: YAML or JSON, one object, several documents, or a List, as kubectl prints and reads them.

Errors say line and column. What a field-path error is about can be found in the text afterwards (`Loaded.locate`),
which costs time only then.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject, wrong_type
from scheduler_core.apimachinery.objects.strict import Step, parse_path
from scheduler_core.apimachinery.objects.texts import json_text, yaml_text
from scheduler_core.apimachinery.objects.texts.json_text import RepeatedKey

Place = tuple[int, int]

_FILE = re.compile(r"^--- # file: (\".*\")\n", re.MULTILINE)
_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_MOST_MIXED = 1000


@dataclass(frozen=True, slots=True)
class LoadLimits:
    """The limits checked before loading costs anything: bytes of UTF-8, objects, levels of nesting, nodes that
    aliases repeat.
    """

    max_bytes: int = 32 * 1024 * 1024
    max_objects: int = 100_000
    max_depth: int = 64
    max_alias_nodes: int = 20_000


@dataclass(frozen=True, slots=True)
class Loaded:
    """One object. `index` counts from 0 over the whole text; `locate` gives line and column (from 1) of a
    field path, or of the nearest field above it that is there; None where the text doesn't show it. Lines are
    those of the `file`, where the text was joined from several.
    """

    manifest: Any
    index: int
    locate: Callable[[str], Place | None]
    file: str = ""


def load_manifests(
    text: str, limits: LoadLimits | None = None, repeated: list[RepeatedKey] | None = None
) -> list[Loaded]:
    """All objects of a text, Lists flattened, empty documents left out. InvalidObject where it can't be read
    or breaks a limit. A key that stands twice in one object can't be read, unless `repeated` takes such keys:
    then the last of each counts, as for kubectl.
    """
    limits = limits or LoadLimits()
    _check_text(text, limits)
    objects: list[Loaded] = []
    for file, part in files_of(text):
        try:
            for source, document, find, number in _documents(part, limits, repeated):
                for manifest, steps in _objects(document):
                    if len(objects) >= limits.max_objects:
                        raise _build_refusal(
                            f"more than {limits.max_objects} objects", f"at most {limits.max_objects} are read at once"
                        )
                    objects.append(Loaded(manifest, len(objects), partial(_locate, find, source, number, steps), file))
        except InvalidObject as error:
            raise InvalidObject(each.in_file(file) for each in error.errors) from error
    return objects


def join_files(files: Sequence[tuple[str, str]]) -> str:
    """Several files, names and texts, as one text that load_manifests takes apart again."""
    return "".join(f"--- # file: {json.dumps(name)}\n{text}\n" for name, text in files)


def files_of(text: str) -> list[tuple[str, str]]:
    """The parts of a joined text with their files' names; any other text is one part without a name."""
    if not _FILE.match(text):
        return [("", text)]
    pieces = _FILE.split(text)[1:]
    return [(_name(name), part) for name, part in zip(pieces[::2], pieces[1::2], strict=True)]


def forget_places() -> None:
    """Drop the data for finding places in the last text."""
    json_text.forget()


def _name(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted


Reader = Callable[[str, int, int, list[RepeatedKey] | None], list[Any]]
Finder = Callable[[str, int, tuple[Step, ...]], Place | None]
Document = tuple[str, Any, Finder, int]


def _documents(text: str, limits: LoadLimits, repeated: list[RepeatedKey] | None) -> list[Document]:
    """The documents of a text, each with the text that it was read from, what finds a field in that, and its
    number there. JSON is read by the faster reader; what only looks like JSON ({a: b}) by YAML's.
    """
    if not json_text.looks_like_json(text):
        return _read(yaml_text.read, yaml_text.find, text, limits, repeated)
    known = len(repeated or ())
    try:
        return _read(json_text.read, json_text.find, text, limits, repeated)
    except InvalidObject:
        if repeated is not None:
            del repeated[known:]
        parts = _split_mixed(text, limits)
        if all(json_text.looks_like_json(part) for part in parts):
            raise
    return [
        document
        for part in parts
        for document in (
            _read(json_text.read, json_text.find, part, limits, repeated)
            if json_text.looks_like_json(part)
            else _read(yaml_text.read, yaml_text.find, part, limits, repeated)
        )
    ]


def _read(
    read: Reader, find: Finder, text: str, limits: LoadLimits, repeated: list[RepeatedKey] | None
) -> list[Document]:
    documents = read(text, limits.max_depth, limits.max_alias_nodes, repeated)
    return [(text, document, find, number) for number, document in enumerate(documents)]


def _split_mixed(text: str, limits: LoadLimits) -> list[str]:
    """The documents of a text in which JSON and YAML follow one another. Each keeps its lines' numbers.
    Neither language can have a line of three dashes within a document.
    """
    parts: list[str] = []
    lines = above = 0  # above: blank lines in place of the documents above, over all parts
    for part in _SEPARATOR.split(text):
        if part.strip():
            above += lines
            if len(parts) >= _MOST_MIXED or above > limits.max_bytes:
                raise _build_refusal(
                    f"more than {_MOST_MIXED} documents of JSON and YAML in one text, or too many lines between them",
                    "write all of them in one of the two, or in several files",
                )
            parts.append("\n" * lines + part)
        lines += part.count("\n")
    return parts


def _check_text(text: str, limits: LoadLimits) -> None:
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise _build_refusal("the text", "holds half of a surrogate pair; send it as UTF-8") from error
    if size > limits.max_bytes:
        raise _build_refusal(f"{size} bytes", f"at most {limits.max_bytes} are read at once")


def _build_refusal(received: str, expected: str) -> InvalidObject:
    return InvalidObject([FieldError("", received, f"({expected})")])


def _objects(document: Any, above: tuple[Step, ...] = ()) -> Iterator[tuple[Any, tuple[Step, ...]]]:
    """A document's objects with where they stand in it."""
    if document is None:
        return
    if isinstance(document, list) and not above:
        yield from ((entry, (i,)) for i, entry in enumerate(document) if entry is not None)
    elif isinstance(document, Mapping) and _is_list(document):
        items = document.get("items")
        if items is not None and not isinstance(items, list):
            raise InvalidObject([wrong_type("items", items, "a list")])
        kind = str(document.get("kind") or "").removesuffix("List")
        for i, entry in enumerate(items or ()):
            yield from _objects(_with_kind(entry, document, kind), (*above, "items", i))
    else:
        yield document, above


def _is_list(document: Mapping[str, Any]) -> bool:
    """A List of Kubernetes, or what a filter has left of one."""
    if "items" not in document:
        return False
    kind = document.get("kind")
    if kind is None:
        return isinstance(document["items"], list) and "spec" not in document
    return isinstance(kind, str) and kind.endswith("List")


def _with_kind(entry: Any, document: Mapping[str, Any], kind: str) -> Any:
    if not kind or not isinstance(entry, Mapping) or entry.get("kind"):
        return entry
    return {**entry, "apiVersion": entry.get("apiVersion") or document.get("apiVersion"), "kind": kind}


def _locate(find: Finder, text: str, document: int, steps: tuple[Step, ...], path: str) -> Place | None:
    return find(text, document, (*steps, *parse_path(path)))
