"""Sets of fields in the format of fieldsV1, and the shapes of values: {"f:spec": {"f:replicas": {}}}; "." is the place itself.

kube: sigs.k8s.io/structured-merge-diff/v6/{fieldpath,typed} @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from scheduler_core.apiserver.door.custom import crds
from scheduler_core.apiserver.door.resources import Resource
from scheduler_core.apiserver.schema.api import fields_of, read_api

Set = dict[str, Any]
STRIPPED = ("apiVersion", "kind")
_OWN = (
    *("name", "namespace", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "managedFields"),
)
_OWN_TOO = ("selfLink", "deletionGracePeriodSeconds")
_ATOMIC_MAP = "atomic"


class Shape(NamedTuple):
    """The way to merge a value. `type`: an expression of the data, or "" if the type is unknown; `schema`: of a custom resource."""

    type: str
    topology: str = ""
    schema: Mapping[str, Any] | None = None

    @property
    def bare(self) -> str:
        return self.type.lstrip("*")

    @property
    def keys(self) -> list[str]:
        """The keys of a list of the type map."""
        return self.topology.removeprefix("map=").split(",") if self.topology.startswith("map=") else []

    def field(self, name: str) -> Shape:
        """Return the shape of a field, or of a map's value."""
        if self.schema is not None:
            properties, others = self.schema.get("properties") or {}, self.schema.get("additionalProperties")
            return _of_schema(properties.get(name) or (others if isinstance(others, Mapping) else {}))
        if self.bare.startswith("{}"):
            return _of_type(self.bare[2:])
        known = fields_of(self.bare).get(name)
        return Shape("") if known is None else _of_type(known[1], known[4] if len(known) > 4 else "")

    @property
    def item(self) -> Shape:
        """The shape of a list's elements."""
        if self.schema is not None:
            return _of_schema(self.schema.get("items") or {})
        return _of_type(self.bare[2:]) if self.bare.startswith("[]") else Shape("")

    @property
    def is_atomic(self) -> bool:
        """True if one manager owns the whole value."""
        return self.topology == _ATOMIC_MAP or (self.bare.startswith("[]") and not self.topology)


@cache
def _of_type(expression: str, topology: str = "") -> Shape:
    bare = expression.lstrip("*")
    return Shape(expression, topology or (_ATOMIC_MAP if bare in read_api()["atomic"] or bare == "raw" else ""))


def _of_schema(schema: Mapping[str, Any]) -> Shape:
    topology = schema.get("x-kubernetes-list-type") or ""
    if topology == "map":
        topology = "map=" + ",".join(schema.get("x-kubernetes-list-map-keys") or ())
    if schema.get("x-kubernetes-map-type") == "atomic":
        topology = _ATOMIC_MAP
    if schema.get("type") == "array" and not topology:
        topology = _ATOMIC_MAP
    return Shape("", topology, schema)


_META = "meta.v1.ObjectMeta"


def shape_of(resource: Resource) -> Shape:
    return Shape(resource.type) if resource.definition is None else Shape("", "", crds.schema_of(resource))


def child_shape(shape: Shape, name: str, is_root: bool) -> Shape:
    return Shape(_META) if is_root and name == "metadata" else shape.field(name)


def item_key(shape: Shape, element: Any) -> str:
    """Return the path element of a list's element."""
    if shape.keys and isinstance(element, Mapping):
        known = fields_of(shape.item.bare)
        key = {}
        for name in sorted(shape.keys):
            if name in element:
                key[name] = element[name]
            elif name == "protocol" and "protocol" in known:
                key[name] = "TCP"
        return "k:" + json.dumps(key, separators=(",", ":"))
    return "v:" + json.dumps(element, separators=(",", ":"))


def iterate_parts(value: Any, shape: Shape, is_root: bool = False) -> Iterator[tuple[str, Any, Shape]]:
    """Yield the parts of a value that have managers of their own; none for a leaf."""
    if shape.is_atomic:
        return
    if isinstance(value, Mapping):
        for name, each in value.items():
            if is_root and name in STRIPPED:
                continue
            yield f"f:{name}", each, child_shape(shape, name, is_root)
    elif isinstance(value, list) and (shape.keys or shape.topology == "set"):
        for each in value:
            yield item_key(shape, each), each, shape.item


def list_applied(value: Any, shape: Shape, is_root: bool = True) -> Set:
    """Return the fields that a configuration sets."""
    found: Set = {}
    for key, each, inner in iterate_parts(value, shape, is_root):
        if is_root and key == "f:metadata":
            each = {name: part for name, part in each.items() if name not in (*_OWN, *_OWN_TOO)}
            if not each:
                continue
        below = list_applied(each, inner, False)
        found[key] = {".": {}, **below} if key.startswith("k:") else below
    return found


def list_changed(old: Any, new: Any, shape: Shape, is_root: bool = True, is_new: bool = False) -> Set | None:
    """Return the fields that differ, without removed ones, or None if none differ. `is_new`: there is no old value."""
    if not is_new and old == new:
        return None
    before = {key: each for key, each, _ in iterate_parts(old, shape, is_root)}
    parts = list(iterate_parts(new, shape, is_root))
    if not parts:
        return {} if is_new or old != new else None
    found: Set = {}
    for key, each, inner in parts:
        if is_root and key == "f:metadata":
            each = {name: part for name, part in each.items() if name not in (*_OWN, *_OWN_TOO)}
            before[key] = {name: part for name, part in (before.get(key) or {}).items() if name in each}
            if not each:
                continue
        fresh = key not in before
        below = list_changed(before.get(key), each, inner, False, fresh)
        if below is not None:
            found[key] = {".": {}, **below} if fresh and below else below
    return found or None


def union(one: Set, other: Set) -> Set:
    """Return the fields of two sets."""
    found = {
        key: union(one[key], other[key]) if key in one and key in other else one.get(key, other.get(key))
        for key in {**one, **other}
    }
    return {".": {}, **found} if found and not (one and other) else found


def difference(one: Set, other: Set) -> Set:
    """Return the fields of a set that the other set lacks."""
    found: Set = {}
    for key, below in one.items():
        if key not in other:
            found[key] = below
            continue
        left = difference(below, other[key])
        if left or (not below and other[key] and "." not in other[key]):
            found[key] = left
    return found


def leaves(fields: Set, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of a set, including those of its places."""
    names = sorted(fields.keys() - {"."})
    yield from ((*path, key) for key in names if not fields[key] or "." in fields[key])
    for key in names:
        yield from leaves(fields[key], (*path, key))


def intersection(one: Set, other: Set) -> list[tuple[str, ...]]:
    """Return the leaves that two sets share."""
    shared = set(leaves(other))
    return [path for path in leaves(one) if path in shared]


def format_path(path: tuple[str, ...]) -> str:
    """Return a path in the form of messages: `.spec.containers[name="main"].image`."""
    text = ""
    for part in path:
        kind, rest = part[:2], part[2:]
        if kind == "f:":
            text += f".{rest}"
        elif kind == "k:":
            pairs = ",".join(f"{name}={json.dumps(value)}" for name, value in json.loads(rest).items())
            text += f"[{pairs}]"
        else:
            text += f"[={rest}]"
    return text
