"""Manifests from text: YAML or JSON, one object, several documents, or a List, as kubectl prints and reads them.

Errors have a line and a column. `Loaded.locate` finds the place of a field path afterwards, so that only errors cost that time.
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
class LoadedObject:
    """One object of a text. `index` counts from 0 over the whole text. `locate` returns the line and column (from 1) of a field path or
    of its nearest existing parent, or None if the text does not show the place. Where the text joins several files, lines count from the
    start of `file`.
    """

    manifest: Any
    index: int
    locate: Callable[[str], Place | None]
    file: str = ""


def load_manifests(
    text: str, limits: LoadLimits | None = None, repeated: list[RepeatedKey] | None = None
) -> list[LoadedObject]:
    """Return all objects of a text: Lists are flattened and empty documents are left out.

    Raise InvalidObject if the text is malformed or exceeds a limit. A repeated key is an error, unless `repeated` collects such keys:
    then the last value counts, as in kubectl.
    """
    limits = limits or LoadLimits()
    _check_text(text, limits)
    objects: list[LoadedObject] = []
    for file, part in files_of(text):
        try:
            for source, document, find, number in _documents(part, limits, repeated):
                for manifest, steps in _objects(document):
                    if len(objects) >= limits.max_objects:
                        raise _build_refusal(
                            f"more than {limits.max_objects} objects", f"at most {limits.max_objects} are read at once"
                        )
                    objects.append(
                        LoadedObject(manifest, len(objects), partial(_locate, find, source, number, steps), file)
                    )
        except InvalidObject as error:
            raise InvalidObject(each.in_file(file) for each in error.errors) from error
    return objects


def join_files(files: Sequence[tuple[str, str]]) -> str:
    """Return files (names and texts) as one text, which files_of takes apart again."""
    return "".join(f"--- # file: {json.dumps(name)}\n{text}\n" for name, text in files)


def files_of(text: str) -> list[tuple[str, str]]:
    """Return the parts of a joined text with the names of their files. Any other text is one part without a name."""
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
    """Return the documents of a text, each with its source text, its finder of fields, and its number. JSON goes to the faster reader; a
    text that only looks like JSON ({a: b}) goes to the YAML reader.
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
    """Yield the objects of a document with their paths in it."""
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
    """Return whether the document is a List of Kubernetes, or the part of a List that a filter has left."""
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
