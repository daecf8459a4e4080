"""Server-side apply: who manages which fields, conflicts, and the merge by the types of the data.

A set of fields is kept as fieldsV1 has it: {"f:spec": {"f:replicas": {}}}; "." stands for the place itself.

kube: sigs.k8s.io/structured-merge-diff/v6/{fieldpath,typed,merge}, apimachinery/pkg/util/managedfields @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door import crds
from scheduler_core.apiserver.door.answers import Failure, bad_request
from scheduler_core.apiserver.door.context import Context
from scheduler_core.apiserver.door.decoding import Decoder, Undecodable
from scheduler_core.apiserver.door.resources import Resource, fields_of, find_by_kind, read_api
from scheduler_core.apiserver.store import Store

Set = dict[str, Any]
Finish = Callable[[Manifest | None, Manifest], Manifest]
_STRIPPED = ("apiVersion", "kind")
_OWN = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "managedFields",
)
_OWN_TOO = ("selfLink", "deletionGracePeriodSeconds")
_ATOMIC_MAP = "atomic"


class Shape(NamedTuple):
    """How a value is merged. `type`: an expression of the data, "" where no type is known; `schema`: of a custom resource."""

    type: str
    topology: str = ""
    schema: Mapping[str, Any] | None = None

    @property
    def bare(self) -> str:
        return self.type.lstrip("*")

    @property
    def keys(self) -> list[str]:
        """The keys of a list that is a map."""
        return self.topology.removeprefix("map=").split(",") if self.topology.startswith("map=") else []

    def field(self, name: str) -> Shape:
        """The shape of a field, or of a map's value."""
        if self.schema is not None:
            properties, others = self.schema.get("properties") or {}, self.schema.get("additionalProperties")
            return _of_schema(properties.get(name) or (others if isinstance(others, Mapping) else {}))
        if self.bare.startswith("{}"):
            return Shape(self.bare[2:])
        known = fields_of(self.bare).get(name)
        return Shape("") if known is None else Shape(known[1], known[4] if len(known) > 4 else "")

    @property
    def item(self) -> Shape:
        """The shape of a list's elements."""
        if self.schema is not None:
            return _of_schema(self.schema.get("items") or {})
        return Shape(self.bare[2:]) if self.bare.startswith("[]") else Shape("")

    @property
    def is_struct(self) -> bool:
        """True for what Go holds by value: it is there even when empty."""
        return self.type in read_api()["types"] if self.schema is None else False

    @property
    def is_atomic(self) -> bool:
        """True for what has one manager as a whole."""
        if self.topology == _ATOMIC_MAP:
            return True
        return self.bare.startswith("[]") and not self.topology


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


def _root(resource: Resource) -> Shape:
    return Shape(resource.type) if resource.definition is None else Shape("", "", crds.schema_of(resource))


def _child(shape: Shape, name: str, is_root: bool) -> Shape:
    if is_root and name == "metadata":
        return Shape(_META)
    return shape.field(name)


def _item_key(shape: Shape, element: Any) -> str:
    """The element of a path for an element of a list."""
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


def _parts(value: Any, shape: Shape, is_root: bool = False) -> Iterator[tuple[str, Any, Shape]]:
    """The parts of a value that have managers of their own; none for a leaf."""
    if shape.is_atomic:
        return
    if isinstance(value, Mapping):
        for name, each in value.items():
            if is_root and name in _STRIPPED:
                continue
            yield f"f:{name}", each, _child(shape, name, is_root)
    elif isinstance(value, list) and (shape.keys or shape.topology == "set"):
        for each in value:
            yield _item_key(shape, each), each, shape.item


def list_applied(value: Any, shape: Shape, is_root: bool = True) -> Set:
    """The fields that a configuration sets."""
    found: Set = {}
    for key, each, inner in _parts(value, shape, is_root):
        if is_root and key == "f:metadata":
            each = {name: part for name, part in each.items() if name not in (*_OWN, *_OWN_TOO)}
            if not each:
                continue
        below = list_applied(each, inner, False)
        found[key] = {".": {}, **below} if key.startswith("k:") else below
    return found


def list_changed(old: Any, new: Any, shape: Shape, is_root: bool = True, is_new: bool = False) -> Set | None:
    """The fields that differ, those that are gone left out; None where nothing does. `is_new`: there is no old value."""
    if not is_new and old == new:
        return None
    before = {key: each for key, each, _ in _parts(old, shape, is_root)}
    parts = list(_parts(new, shape, is_root))
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
        below = list_changed(before.get(key), each, inner, False, fresh and not (inner.is_struct and not is_new))
        if fresh and inner.is_struct and not is_new and isinstance(each, Mapping):
            below = list_changed({}, each, inner, False)
            if below is None and not each:
                below = {}
        if below is not None:
            bare = not below or (inner.is_struct and not is_new)
            found[key] = {".": {}, **below} if fresh and not bare else below
            if fresh and key.startswith("k:"):
                found[key] = {".": {}, **below}
    return found or None


def union(one: Set, other: Set) -> Set:
    """The fields of two sets."""
    keys = dict.fromkeys((*one, *other))
    return {key: union(one.get(key) or {}, other.get(key) or {}) for key in keys}


def difference(one: Set, other: Set) -> Set:
    """The fields of a set that another does not have."""
    found: Set = {}
    for key, below in one.items():
        if key not in other:
            found[key] = below
            continue
        left = difference(below, other[key])
        if left:
            found[key] = left
    return found


def leaves(fields: Set, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of a set, those of its places too."""
    for key, below in fields.items():
        if key == ".":
            yield path
        elif below:
            yield from leaves(below, (*path, key))
        else:
            yield (*path, key)


def intersection(one: Set, other: Set) -> list[tuple[str, ...]]:
    """The leaves that two sets share."""
    shared = set(leaves(other))
    return [path for path in leaves(one) if path in shared]


def format_path(path: tuple[str, ...]) -> str:
    """A path as messages have it: `.spec.containers[name="main"].image`."""
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


class Manager(NamedTuple):
    """Who writes, how, and when."""

    name: str
    operation: str
    api_version: str
    subresource: str
    time: str

    @property
    def identity(self) -> tuple[str, str, str, str]:
        return (self.name, self.operation, self.api_version, self.subresource)

    def entry(self, fields: Set) -> dict[str, Any]:
        """The entry of managedFields."""
        entry: dict[str, Any] = {"manager": self.name, "operation": self.operation, "apiVersion": self.api_version}
        entry |= {"time": self.time, "fieldsType": "FieldsV1", "fieldsV1": _sorted(fields)}
        return {**entry, "subresource": self.subresource} if self.subresource else entry


def _sorted(fields: Set) -> Set:
    return {} if set(fields) == {"."} else {key: _sorted(fields[key]) for key in sorted(fields)}


def _identity(entry: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return (entry["manager"], entry["operation"], entry["apiVersion"], entry.get("subresource") or "")


def _managed(manifest: Manifest | None) -> list[dict[str, Any]]:
    return [] if manifest is None else list(manifest["metadata"].get("managedFields") or ())


def _ordered(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = [entry for entry in entries if entry["fieldsV1"]]
    return sorted(kept, key=lambda entry: (entry["operation"] != "Apply", entry["time"], entry["manager"]))


def finish(resource: Resource, manager: Manager) -> Finish:
    """What marks the fields of an update as a manager's, just before it is stored."""
    shape = _root(resource)

    def mark(old: Manifest | None, new: Manifest) -> Manifest:
        entries = _managed(old)
        given = {name: value for name, value in new.items() if name != "status" or manager.subresource == "status"}
        before = {name: value for name, value in (old or {}).items() if name in given}
        changed = list_changed(before, given, shape)
        if manager.subresource == "status" and changed:
            changed = {name: below for name, below in changed.items() if name in ("f:status", "f:metadata")} or None
        if changed is None:
            return _with_managed(new, entries)
        there = list_applied({**new}, shape)
        kept = []
        for entry in entries:
            fields = entry["fieldsV1"]
            if _identity(entry) != manager.identity:
                fields = difference(fields, _stolen(changed))
            kept.append({**entry, "fieldsV1": _only_there(fields, there)})
        own = next((entry for entry in kept if _identity(entry) == manager.identity), None)
        fields = union(own["fieldsV1"], changed) if own else changed
        others = [entry for entry in kept if entry is not own]
        return _with_managed(new, _ordered([*others, manager.entry(fields)]))

    return mark


def finish_as_component(store: Store, now: int) -> Finish:
    """What marks the fields that a controller writes, whatever it writes."""

    def mark(old: Manifest | None, new: Manifest) -> Manifest:
        resource = find_by_kind(store, str(new.get("apiVersion")), str(new.get("kind")))
        if resource is None:
            return new
        # A Deployment's controller writes the revision together with the status.
        is_status = (old or {}).get("status") != new.get("status") or resource.kind == "Deployment"
        name = "kubelet" if resource.kind == "Pod" and old is not None else "kube-controller-manager"
        subresource = "status" if is_status and old is not None else ""
        manager = Manager(name, "Update", resource.api_version, subresource, store.timestamp(now))
        return finish(resource, manager)(old, new)

    return mark


def _stolen(changed: Set) -> Set:
    """The set without the places: a place has many managers."""
    return {key: _stolen(below) for key, below in changed.items() if key != "."}


def _only_there(fields: Set, there: Set) -> Set:
    """The fields of a set that an object has."""
    found: Set = {}
    for key, below in fields.items():
        if key == ".":
            found[key] = {}
        elif key in there:
            left = _only_there(below, there[key]) if below and there[key] else below
            if left or not below:
                found[key] = left
    return found


def _with_managed(manifest: Manifest, entries: list[dict[str, Any]]) -> Manifest:
    meta = {name: value for name, value in manifest["metadata"].items() if name != "managedFields"}
    return {**manifest, "metadata": {**meta, "managedFields": entries} if entries else meta}


# Apply


def typed_of(context: Context, body: Any) -> dict[str, Any]:
    """The configuration of an apply patch. Failure: 400, where it is of no type that the resource has."""
    resource, decoder = context.resource, Decoder()
    if not isinstance(body, Mapping):
        raise bad_request(f"the object provided is unrecognized (must be of type {resource.kind})")
    try:
        manifest = (
            crds.prune(resource, body, decoder.unknown) if context.is_custom else decoder.object(body, resource.type)
        )
    except Undecodable as wrong:
        raise Failure(500, "", _typed_words(context, body, str(wrong))) from None
    if decoder.unknown and context.query.get("fieldValidation") != "Ignore":
        said = "; ".join(f".{path}: field not declared in schema" for path in decoder.unknown)
        raise Failure(500, "", _typed_words(context, body, said))
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {}, **manifest}


def _typed_words(context: Context, body: Any, why: str) -> str:
    target, resource = context.target, context.resource
    place = f"{target.namespace}/{target.name}" if target.namespace else f"/{target.name}"
    if why.startswith("json: cannot unmarshal "):
        word, _, rest = why.removeprefix("json: cannot unmarshal ").partition(" into Go struct field ")
        path, _, type_ = rest.partition(" of type ")
        wanted = "numeric (int or float)" if type_.startswith(("int", "float")) else "map" if "." in type_ else type_
        why = f".{path.partition('.')[2]}: expected {wanted}, got {word}"
    return f"failed to create typed patch object ({place}; {resource.api_version}, Kind={resource.kind}): {why}"


def apply(
    resource: Resource, old: Manifest | None, given: Manifest, manager: Manager, force: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The object with a configuration applied, and its managers. Failure: 409 for fields that others manage with another value."""
    shape, entries = _root(resource), _managed(old)
    wanted = list_applied(given, shape)
    if old is None:
        return dict(given), [manager.entry(wanted)]
    merged = _merge(old, given, shape, True)
    own = next((entry for entry in entries if _identity(entry) == manager.identity), None)
    dropped = difference(own["fieldsV1"], wanted) if own else {}
    others = [entry for entry in entries if entry is not own]
    for entry in others:
        dropped = difference(dropped, entry["fieldsV1"])
    merged = _remove(merged, dropped, shape, True)
    changed = list_changed(old, merged, shape) or {}
    found = [(entry, path) for entry in others for path in intersection(_stolen(entry["fieldsV1"]), _stolen(changed))]
    if found and not force:
        raise _conflict(found, manager)
    kept = [{**entry, "fieldsV1": difference(entry["fieldsV1"], _stolen(changed))} for entry in others]
    fresh = manager.entry(wanted)
    if own is not None and own["fieldsV1"] == fresh["fieldsV1"]:
        fresh = own
    return merged, _ordered([*kept, fresh])


def _conflict(found: list[tuple[dict[str, Any], tuple[str, ...]]], manager: Manager) -> Failure:
    causes = []
    by: dict[str, list[str]] = {}
    for entry, path in found:
        who = f'conflict with "{entry["manager"]}"'
        if entry.get("subresource"):
            who += f' with subresource "{entry["subresource"]}"'
        if entry["operation"] == "Update":
            who += f" using {entry['apiVersion']}"
        causes.append({"reason": "FieldManagerConflict", "message": who, "field": format_path(path)})
        by.setdefault(who, []).append(format_path(path))
    if len(causes) == 1:
        said = f"{causes[0]['message']}: {causes[0]['field']}"
    else:
        said = "conflicts " + "\n".join(
            f"{who.removeprefix('conflict ')}:\n" + "\n".join(f"- {path}" for path in paths)
            for who, paths in by.items()
        )
    return Failure(
        409,
        "Conflict",
        f"Apply failed with {len(causes)} conflict{'s' * (len(causes) > 1)}: {said}",
        {"causes": causes},
    )


def _merge(old: Any, new: Any, shape: Shape, is_root: bool = False) -> Any:
    if shape.is_atomic or not isinstance(old, type(new) if isinstance(new, list) else Mapping):
        return new
    if isinstance(new, Mapping):
        merged = dict(old)
        for name, each in new.items():
            keep = is_root and name in _STRIPPED
            merged[name] = each if keep or name not in old else _merge(old[name], each, _child(shape, name, is_root))
        return merged
    if isinstance(new, list) and (shape.keys or shape.topology == "set"):
        before = {_item_key(shape, each): each for each in old}
        after = {_item_key(shape, each): each for each in new}
        item = shape.item
        result = {key: _merge(before[key], after[key], item) if key in after else before[key] for key in before}
        return list({**result, **{key: each for key, each in after.items() if key not in before}}.values())
    return new


def _remove(value: Any, fields: Set, shape: Shape, is_root: bool = False) -> Any:
    """A value without some of its fields; what is emptied by that goes too."""
    if not fields:
        return value
    if isinstance(value, Mapping):
        found = dict(value)
        for key, below in fields.items():
            name = key[2:]
            if key == "." or name not in found:
                continue
            left = _remove(found[name], below, _child(shape, name, is_root)) if set(below) - {"."} else None
            if left is None:
                del found[name]
            else:
                found[name] = left
        return found
    if isinstance(value, list):
        kept = []
        for each in value:
            below = fields.get(_item_key(shape, each))
            if below is None:
                kept.append(each)
            elif "." not in below:
                kept.append(_remove(each, below, shape.item))
        return kept
    return value
