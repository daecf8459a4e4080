"""YAML texts: documents built from libyaml's events.

Scalars are resolved as kubectl's parser does (YAML 1.1 booleans; no sexagesimal numbers; timestamps stay
strings). Tags of other languages are refused, a key that stands twice is an error unless the last may count, and
aliases may repeat only so many nodes, so that a few lines can't stand for millions.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

import yaml

from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject
from scheduler_core.apimachinery.objects.strict import Step
from scheduler_core.apimachinery.objects.texts.json_text import RepeatedKey, fitting, twice

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TRUE, _FALSE = ("true", "yes", "on", "y"), ("false", "no", "off", "n")
_INT = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|[1-9][0-9_]*|0)\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?\Z")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_MOST_DIRECTIVES = 100  # libyaml compares each %TAG with all before it
_LONGEST_NUMBER = 64  # characters
_LONGEST_OBJECT = 200_000  # characters in which a field is looked for
_EXACT = 2.0**53  # beyond it a float has no exact integer
_CORE = "tag:yaml.org,2002:"


def read(text: str, max_depth: int, max_alias_nodes: int, repeated: list[RepeatedKey] | None = None) -> list[Any]:
    """Return all documents of the text. Raise InvalidObject with line and column if the text is malformed.

    A repeated key is an error, unless `repeated` collects such keys: then the last value counts.
    """
    for number, line in enumerate(_DIRECTIVE.finditer(text), start=1):
        if number > _MOST_DIRECTIVES:
            problem = f"more than {_MOST_DIRECTIVES} lines begin with %"
            place = FieldError("", "not readable as YAML", f"({problem})", line=text.count("\n", 0, line.start()) + 1)
            raise InvalidObject([place])
    builder = _Builder(max_depth, max_alias_nodes, repeated)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _build_yaml_error(error.problem or error.context or "it is not YAML", mark) from error
    except yaml.YAMLError as error:
        raise _build_yaml_error(str(error), None) from error
    return builder.documents


@dataclass(slots=True)
class _OpenCollection:
    """A collection under construction. `size` counts its nodes, including those that aliases repeat."""

    value: Any
    anchor: str | None
    size: int = 1
    key: Any = None
    has_key: bool = False
    merged: list[Any] = field(default_factory=list)


_MERGE = object()


class _Builder:
    """Values from events. Aliases share the value they repeat."""

    def __init__(self, max_depth: int, max_alias_nodes: int, repeated: list[RepeatedKey] | None) -> None:
        self._repeated = repeated
        self.documents: list[Any] = []
        self._max_depth = max_depth
        self._alias_budget = max_alias_nodes
        self._max_alias_nodes = max_alias_nodes
        self._stack: list[_OpenCollection] = []
        self._anchors: dict[str, tuple[Any, int]] = {}

    def take(self, event: yaml.Event) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._scalar(event)
        elif kind is yaml.MappingStartEvent:
            self._open({}, event)
        elif kind is yaml.SequenceStartEvent:
            self._open([], event)
        elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            done = self._stack.pop()
            for merged in done.merged:  # the first wins over the later ones
                done.value = {**merged, **done.value}
            if done.anchor:
                self._anchors[done.anchor] = (done.value, done.size)
            self._add(done.value, done.size, event)
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self._anchors = {}

    def _scalar(self, event: Any) -> None:
        if event.implicit[0]:
            value = _MERGE if event.value == "<<" and self._wants_key() else _plain(event.value)
            if isinstance(value, float) and not math.isfinite(value):
                raise _build_yaml_error(f"{event.value} is not a number that a manifest can hold", event.start_mark)
        else:
            value = _read_tagged_scalar(event)
        if isinstance(value, str) and "\x00" in value:
            raise _build_yaml_error("a NUL character can't be part of a manifest", event.start_mark)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._add(value, 1, event)

    def _wants_key(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1].value, dict) and not self._stack[-1].has_key

    def _open(self, value: Any, event: Any) -> None:
        if len(self._stack) >= self._max_depth:
            raise _build_yaml_error(f"it nests deeper than {self._max_depth} levels", event.start_mark)
        if event.tag and event.tag not in (_CORE + "map", _CORE + "seq"):
            raise _build_yaml_error(f"the tag {event.tag} is not known here", event.start_mark)
        if self._wants_key():
            raise _build_yaml_error("a key must be plain text", event.start_mark)
        self._stack.append(_OpenCollection(value, event.anchor))

    def _alias(self, event: Any) -> None:
        anchor = self._anchors.get(event.anchor)
        if anchor is None:
            raise _build_yaml_error(f'the alias "*{event.anchor}" has no anchor before it', event.start_mark)
        value, size = anchor
        self._alias_budget -= size
        if self._alias_budget < 0:
            problem = f"aliases repeat more than {self._max_alias_nodes} nodes; write them out or use fewer"
            raise _build_yaml_error(problem, event.start_mark)
        self._add(value, size, event)

    def _add(self, value: Any, size: int, event: Any) -> None:
        if not self._stack:
            self.documents.append(value)
            return
        top = self._stack[-1]
        top.size += size
        if isinstance(top.value, list):
            top.value.append(value)
        elif not top.has_key:
            self._key(top, value, event)
        else:
            top.has_key = False
            if top.key is _MERGE:
                top.merged += _mergeable(value, event)
            else:
                top.value[top.key] = value

    def _key(self, top: _OpenCollection, value: Any, event: Any) -> None:
        if value is not _MERGE:
            if not isinstance(value, str):
                value = _key_text(value, event)
            if value in top.value:
                if self._repeated is None:
                    raise _build_yaml_error(twice(value), event.start_mark)
                self._repeated.append(RepeatedKey(value, event.start_mark.line + 1))
            top.value[value] = None
        top.key, top.has_key = value, True


def _key_text(value: Any, event: Any) -> str:
    """Return a key that is not a string in its JSON form, as kubectl does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise _build_yaml_error("a key must be plain text", event.start_mark)


def _mergeable(value: Any, event: Any) -> list[Any]:
    entries = value if isinstance(value, list) else [value]
    if not all(isinstance(entry, dict) for entry in entries):
        raise _build_yaml_error("<< takes an object or a list of objects", event.start_mark)
    return entries


def _plain(text: str) -> Any:
    """A scalar without quotes or tag; a long one can only be text."""
    return _resolve_scalar(text) if len(text) <= _LONGEST_NUMBER else text


@lru_cache(maxsize=16384)
def _resolve_scalar(text: str) -> Any:
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    lower = text.lower()
    if lower in _TRUE and text in (lower, lower.upper(), lower.title()) and len(text) > 1:
        return True
    if lower in _FALSE and text in (lower, lower.upper(), lower.title()) and len(text) > 1:
        return False
    return _number(text) if text[0] in "+-.0123456789" else text


def _number(text: str) -> Any:
    """Return the number that a scalar denotes, or the text itself. A float without a fraction becomes an int, as in kubectl's JSON."""
    try:
        if _INT.match(text):
            return _integer(text.replace("_", ""))
        if _FLOAT.match(text):
            number = float(text.replace("_", ""))
            return int(number) if number.is_integer() and abs(number) < _EXACT else number
    except ValueError:  # 0x_
        return text
    return math.nan if _INFINITE.match(text) else text


def _integer(text: str) -> int | float:
    body = text.lstrip("+-")
    base = {"0x": 16, "0b": 2, "0o": 8}.get(body[:2], 8 if body[0] == "0" and len(body) > 1 else 10)
    return fitting(int(body, base) * (-1 if text[0] == "-" else 1))


def _read_tagged_scalar(event: Any) -> Any:
    """A quoted scalar, or one with a tag of YAML's own."""
    tag = event.tag
    if tag in (None, "!", _CORE + "str"):
        return event.value
    if tag in (_CORE + "int", _CORE + "float", _CORE + "bool", _CORE + "null"):
        return _plain(event.value)
    raise _build_yaml_error(f"the tag {tag} is not known here", event.start_mark)


def find(text: str, document: int, steps: tuple[Step, ...]) -> tuple[int, int] | None:
    """Line and column of the value at the steps, or of the nearest above it."""
    starts = _starts(text)
    for depth in (2, 1, 0):
        start = starts.get((document, steps[:depth]))
        if start is not None and len(steps) >= depth:
            return _find_from(text, start, steps[depth:])
    return None


Start = tuple[int, int, int]  # characters before, line and column from 0


@lru_cache(maxsize=1)
def _starts(text: str) -> dict[tuple[int, tuple[Step, ...]], Start]:
    """Return the starts of documents, and of entries of a top-level list and of `items`.

    One pass finds all, so that each object is then found at once.
    """
    starts: dict[tuple[int, tuple[Step, ...]], Start] = {}
    events = iter(yaml.parse(text, Loader=_Loader))
    document = -1
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            document += 1
            root = next(events)
            starts[document, ()] = _start(root)
            if isinstance(root, yaml.MappingStartEvent):
                _mark_items(events, document, starts)
            elif isinstance(root, yaml.SequenceStartEvent):
                _mark_entries(events, document, (), starts)
    return starts


def _mark_items(events: Iterator[Any], document: int, starts: dict[tuple[int, tuple[Step, ...]], Start]) -> None:
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        value = next(events)
        is_items = isinstance(key, yaml.ScalarEvent) and key.value == "items"
        if is_items and isinstance(value, yaml.SequenceStartEvent):
            _mark_entries(events, document, ("items",), starts)
        else:
            _skip(events, value)


def _mark_entries(
    events: Iterator[Any], document: int, above: tuple[Step, ...], starts: dict[tuple[int, tuple[Step, ...]], Start]
) -> None:
    index = 0
    while not isinstance(entry := next(events), yaml.SequenceEndEvent):
        starts[document, (*above, index)] = _start(entry)
        _skip(events, entry)
        index += 1


def _start(event: Any) -> Start:
    return event.start_mark.index, event.start_mark.line, event.start_mark.column


def _find_from(text: str, start: Start, steps: tuple[Step, ...]) -> tuple[int, int]:
    """Find a field inside one object, which is parsed alone. The text is indented to the object's column to keep its lines aligned."""
    index, line, column = start
    own = " " * column + text[index : index + _LONGEST_OBJECT]
    events = iter(yaml.parse(own, Loader=_Loader))
    try:
        next(events), next(events)  # the stream and the document
        below, right = _find(events, next(events), steps)
        return line + below, right
    except (yaml.YAMLError, StopIteration):
        return line + 1, column + 1


def _find(events: Iterator[Any], event: Any, steps: tuple[Step, ...]) -> tuple[int, int]:
    place = _place(event)
    if not steps:
        return place
    if isinstance(event, yaml.SequenceStartEvent) and isinstance(steps[0], int):
        for _ in range(steps[0]):
            _skip(events, next(events))
        inner = next(events)
        return place if isinstance(inner, yaml.SequenceEndEvent) else _find(events, inner, steps[1:])
    if isinstance(event, yaml.MappingStartEvent):
        last: tuple[Any, list[Any]] | None = None  # of a key that stands twice, the last counts
        try:
            while not isinstance(key := next(events), yaml.MappingEndEvent):
                value = list(_node(events))
                if isinstance(key, yaml.ScalarEvent) and key.value == str(steps[0]):
                    last = key, value
        except (yaml.YAMLError, StopIteration):  # a very long object is cut off
            pass
        if last is None:
            return place
        key, value = last
        if len(steps) == 1 and isinstance(value[0], yaml.CollectionStartEvent):
            return _place(key)
        return _find(iter(value[1:]), value[0], steps[1:])
    return place


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _node(events: Iterator[Any]) -> Iterator[Any]:
    """The events of the next node."""
    depth = 0
    for event in events:
        yield event
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth == 0:
            return


def _skip(events: Iterator[Any], event: Any) -> None:
    """Skip the node that begins with the event."""
    for _ in _node(chain([event], events)):
        pass


def _build_yaml_error(problem: str, mark: Any) -> InvalidObject:
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (None, None)
    where = f"line {line}, column {column}: " if line is not None else ""
    return InvalidObject([FieldError("", "not readable as YAML", f"({where}{problem})", line=line, column=column)])
