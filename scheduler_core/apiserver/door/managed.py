"""Server-side apply: field managers, conflicts, and merging by the types of the data.

kube: sigs.k8s.io/structured-merge-diff/v6/merge, apimachinery/pkg/util/managedfields @ v1.34.1
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.answers import Failure, bad_request
from scheduler_core.apiserver.door.bodies.decoding import Decoder, DecodingError
from scheduler_core.apiserver.door.bodies.versions import to_served
from scheduler_core.apiserver.door.context import Context
from scheduler_core.apiserver.door.custom import crds
from scheduler_core.apiserver.door.fieldsets import (
    STRIPPED,
    Set,
    Shape,
    child_shape,
    difference,
    format_path,
    intersection,
    item_key,
    list_applied,
    list_changed,
    shape_of,
    union,
)
from scheduler_core.apiserver.door.resources import CUSTOM, Resource, find_by_kind
from scheduler_core.apiserver.schema.api import read_api
from scheduler_core.apiserver.schema.go_values import go_map, go_syntax, go_type
from scheduler_core.apiserver.schema.zeros import fill
from scheduler_core.apiserver.store import Store

Finish = Callable[[Manifest | None, Manifest], Manifest]


class Manager(NamedTuple):
    """A writer of fields, its operation, and its time."""

    name: str
    operation: str
    api_version: str
    subresource: str
    time: str

    @property
    def identity(self) -> tuple[str, str, str, str]:
        return (self.name, self.operation, self.api_version, self.subresource)

    def entry(self, fields: Set) -> dict[str, Any]:
        """Return the entry of managedFields."""
        entry: dict[str, Any] = {"manager": self.name, "operation": self.operation, "apiVersion": self.api_version}
        entry |= {"time": self.time} if self.time else {}
        entry |= {"fieldsType": "FieldsV1", "fieldsV1": _sort(fields)}
        return {**entry, "subresource": self.subresource} if self.subresource else entry


def _sort(fields: Set) -> Set:
    return {} if set(fields) == {"."} else {key: _sort(fields[key]) for key in sorted(fields)}


def _identity(entry: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return (entry["manager"], entry["operation"], entry["apiVersion"], entry.get("subresource") or "")


def _list_managers(manifest: Manifest | None) -> list[dict[str, Any]]:
    return [] if manifest is None else list(manifest["metadata"].get("managedFields") or ())


def _order(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = [{**entry, "fieldsV1": _sort(entry["fieldsV1"])} for entry in entries if entry["fieldsV1"]]
    return sorted(kept, key=lambda entry: (entry["operation"] != "Apply", entry.get("time", ""), entry["manager"]))


def finish(resource: Resource, manager: Manager) -> Finish:
    """Return a function that records a manager for the fields of an update, just before the object is stored."""
    shape = shape_of(resource)

    def mark(old: Manifest | None, new: Manifest) -> Manifest:
        entries = _list_managers(new if old else None)
        if resource.kind == "PersistentVolume" and old is not None:
            new = note_phase(manager.time)(old, new)
        served = ((to_served(resource, each) if each else {}) for each in (new, old))
        after, before = (fill(resource.type, each) for each in served)
        if resource.kind == CUSTOM and old is None:
            before = {"spec": {"names": {}}}  # Go's structs, which are written even without a value
        had = list_applied(before, shape)
        given = {name: value for name, value in after.items() if name != "status" or manager.subresource == "status"}
        before = {name: value for name, value in before.items() if name in given}
        changed = list_changed(before, given, shape)
        if manager.subresource == "status" and changed:
            changed = {name: below for name, below in changed.items() if name in ("f:status", "f:metadata")} or None
        there = list_applied(after, shape)
        kept = []
        for entry in entries:
            fields = entry["fieldsV1"]
            if _identity(entry) != manager.identity and changed is not None:
                fields = difference(fields, _without_places(changed))
            kept.append({**entry, "fieldsV1": _without_gone(fields, had, there)})
        if changed is None:
            return _with_list_managers(new, _order(kept))
        own = next((entry for entry in kept if _identity(entry) == manager.identity), None)
        fields = union(own["fieldsV1"], changed) if own and own["fieldsV1"] else changed
        others = [entry for entry in kept if entry is not own]
        return _with_list_managers(new, _order([*others, manager.entry(fields)]))

    return mark


def finish_as_component(store: Store, now: int) -> Finish:
    """Return a function that records the manager of the fields that a controller writes."""

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


def note_phase(time: str) -> Finish:
    """Return a function that records when the phase of a volume changes."""

    def note(old: Manifest | None, new: Manifest) -> Manifest:
        before, after = (((each or {}).get("status") or {}).get("phase") for each in (old, new))
        return new if before == after else {**new, "status": {**new["status"], "lastPhaseTransitionTime": time}}

    return note


def _without_places(changed: Set) -> Set:
    """Return the set without places, because a place may have several managers."""
    return {key: _without_places(below) for key, below in changed.items() if key != "."}


def _without_gone(fields: Set, had: Set, there: Set) -> Set:
    """Return the fields of a set without those that an object has lost."""
    found: Set = {}
    for key, below in fields.items():
        if key in there or key not in had:
            left = _without_gone(below, had.get(key, {}), there.get(key, {}))
            if left or not below:
                found[key] = left
    return found


def _with_list_managers(manifest: Manifest, entries: list[dict[str, Any]]) -> Manifest:
    meta = {name: value for name, value in manifest["metadata"].items() if name != "managedFields"}
    return {**manifest, "metadata": {**meta, "managedFields": entries} if entries else meta}


# Apply


def typed_of(context: Context, body: Any) -> dict[str, Any]:
    """Return the configuration of an apply patch. Raise Failure (400 or 500) if it does not fit the resource's type."""
    resource, decoder, is_scale = context.resource, Decoder(), context.target.subresource == "scale"
    if not isinstance(body, Mapping):
        raise bad_request(f"the object provided is unrecognized (must be of type {resource.kind})")
    group, _, version = str(body.get("apiVersion") or "").rpartition("/")
    if (group, version, body.get("kind")) != (resource.group, resource.version, resource.kind) and not is_scale:
        raise bad_request(f"invalid object type: {group}/{version}, Kind={body.get('kind') or ''}")
    skips = context.query.get("fieldValidation") == "Ignore"
    wrong = sorted(_judge(body, shape_of(resource), "", skips, True)) if not context.is_custom else []
    try:
        manifest = (
            crds.prune(resource, body, decoder.unknown) if context.is_custom else decoder.object(body, resource.type)
        )
    except DecodingError as error:
        if not wrong:
            kind = f"{resource.group}/{resource.version}, Kind={resource.kind}"
            decoding = "error decoding from json: " if "base64" in str(error) else ""
            why = f"to proper version: unable to convert unstructured object to {kind}: {decoding}{error}"
            raise Failure(500, "", _describe_failure(context, body, "convert new object", why, " ")) from None
    if context.is_custom and not skips:
        wrong = [f".{path}: field not declared in schema" for path in decoder.unknown]
    if wrong:
        why = wrong[0] if len(wrong) == 1 else "errors:\n  " + "\n  ".join(wrong)
        raise Failure(500, "", _describe_failure(context, body, "create typed patch object", why))
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {}, **manifest}


def _describe_failure(context: Context, body: Any, deed: str, why: str, then: str = ": ") -> str:
    resource, meta = context.resource, body.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    namespace, name = (each if isinstance(each := meta.get(field), str) else "" for field in ("namespace", "name"))
    about = f"{namespace}/{name}; {resource.group}/{resource.version}"
    return f"failed to {deed} ({about}, Kind={resource.kind}){then}{why}"


def _judge(value: Any, shape: Shape, path: str, skips: bool, is_root: bool = False) -> Iterator[str]:
    """Yield the errors in values of a wrong type. `skips`: ignore fields that the schema does not have.

    kube: sigs.k8s.io/structured-merge-diff/v6/typed/validate.go
    """
    bare, expected = shape.bare, ""
    if value is None:
        return
    if bare.startswith("[]"):
        if not isinstance(value, list):
            expected = f"list, got &{{{go_map(value)}}}"
        seen = set()
        for i, each in enumerate(value if isinstance(value, list) else ()):
            if shape.keys and not isinstance(each, Mapping):
                what = "a null element" if each is None else "non-map elements"
                yield f"{path}: element {i}: associative list with keys may not have {what}"
            else:
                place = format_path((item_key(shape, each),)) if shape.keys or shape.topology == "set" else f"[{i}]"
                if place in seen:
                    yield f"{path}: duplicate entries for key {place}"
                seen.add(place)
                yield from _judge(each, shape.item, f"{path}{place}", skips)
    elif bare.startswith("{}") or bare in read_api()["types"]:
        if not isinstance(value, Mapping):
            expected = f"map, got &{{{go_map(value)}}}"
        for name, each in value.items() if isinstance(value, Mapping) else ():
            inner = child_shape(shape, name, is_root)
            if inner.type:
                yield from _judge(each, inner, f"{path}.{name}", skips)
            elif not (skips or (is_root and name in STRIPPED)):
                yield f"{path}.{name}: field not declared in schema"
    elif bare in ("string", "bytes"):
        expected = "" if isinstance(value, str) else f"string, got &value.valueUnstructured{{Value:{go_syntax(value)}}}"
    elif bare == "bool":
        expected = "" if isinstance(value, bool) else f"boolean, got &{{{go_map(value)}}}"
    elif bare.startswith(("int", "uint", "float")) and bare != "intorstring":
        good = isinstance(value, int | float) and not isinstance(value, bool)
        expected = "" if good else f"numeric (int or float), got {go_type(value)}"
    if expected:
        yield f"{path}: expected {expected}"


def apply(
    resource: Resource, old: Manifest | None, given: Manifest, manager: Manager, force: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the object with a configuration applied, and its managers. Raise Failure (409) for fields that others set to another value."""
    shape, entries = shape_of(resource), _list_managers(old)
    wanted = list_applied(given, shape)
    if old is None:
        return dict(given), _order([manager.entry(wanted)])
    merged = _merge(old, given, shape, True)
    own = next((entry for entry in entries if _identity(entry) == manager.identity), None)
    dropped = difference(own["fieldsV1"], wanted) if own else {}
    others = [entry for entry in entries if entry is not own]
    for entry in others:
        dropped = difference(dropped, entry["fieldsV1"])
    merged = _remove(merged, dropped, shape, True)
    changed = list_changed(old, merged, shape) or {}
    found = [
        (entry, path)
        for entry in others
        for path in intersection(_without_places(entry["fieldsV1"]), _without_places(changed))
    ]
    if found and not force:
        raise _conflict(found, manager)
    kept = [{**entry, "fieldsV1": difference(entry["fieldsV1"], _without_places(changed))} for entry in others]
    if not changed:  # an apply without changes keeps the time of the previous one
        manager = manager._replace(time=(own or {}).get("time", ""))
    return merged, _order([*kept, manager.entry(wanted)])


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
        said = "\n".join(
            "\n- ".join((f"{who.replace('conflict', 'conflicts', 1)}:", *paths)) for who, paths in sorted(by.items())
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
            keep = is_root and name in STRIPPED
            merged[name] = (
                each if keep or name not in old else _merge(old[name], each, child_shape(shape, name, is_root))
            )
        return merged
    if isinstance(new, list) and (shape.keys or shape.topology == "set"):
        before = {item_key(shape, each): each for each in old}
        after = {item_key(shape, each): each for each in new}
        item = shape.item
        result = {key: _merge(before[key], after[key], item) if key in after else before[key] for key in before}
        return list({**result, **{key: each for key, each in after.items() if key not in before}}.values())
    return new


def _remove(value: Any, fields: Set, shape: Shape, is_root: bool = False) -> Any:
    """Return a value without some of its fields, and without parts that become empty."""
    if not fields:
        return value
    if isinstance(value, Mapping):
        found = dict(value)
        for key, below in fields.items():
            name = key[2:]
            if key == "." or name not in found:
                continue
            left = _remove(found[name], below, child_shape(shape, name, is_root)) if set(below) - {"."} else None
            if left is None:
                del found[name]
            else:
                found[name] = left
        return found
    if isinstance(value, list):
        kept = []
        for each in value:
            below = fields.get(item_key(shape, each))
            if below is None:
                kept.append(each)
            elif below and "." not in below:
                kept.append(_remove(each, below, shape.item))
        return kept
    return value
