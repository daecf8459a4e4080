"""GET: single objects and lists, as objects, tables, or metadata alone.

kube: apiserver/pkg/endpoints/handlers/get.go, apiserver/pkg/storage/{continue,interfaces}.go @ v1.34.1
"""

import base64
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from scheduler_core.apimachinery.objects.errors import Errors, encode
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.access import RBAC, list_roles
from scheduler_core.apiserver.door.answers import Failure, Reply, bad_request, invalid_options
from scheduler_core.apiserver.door.bodies.decoding import read_json
from scheduler_core.apiserver.door.bodies.versions import to_served
from scheduler_core.apiserver.door.events import convert, list_events
from scheduler_core.apiserver.door.resources import EVENTS, Resource, Target
from scheduler_core.apiserver.door.selectors import Test, check_selectors, make_test
from scheduler_core.apiserver.door.tables.cells import define_columns, make_rows
from scheduler_core.apiserver.kinds import key_of
from scheduler_core.apiserver.object_defaults import TEMPLATE_GENERATION
from scheduler_core.apiserver.schema.zeros import fill
from scheduler_core.apiserver.status import Refused, not_found
from scheduler_core.apiserver.store import Store

Form = Literal["object", "table", "metadata"]
Query = Mapping[str, str]
TABLES = "meta.k8s.io/v1"
_FIRST = ("name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp")


def present(resource: Resource, manifest: Manifest, typed: bool = True) -> dict[str, Any]:
    """Return an object as answers contain it: first its type; its generation only if kube counts one."""
    manifest, meta = to_served(resource, manifest), manifest["metadata"]
    shown = {name: meta[name] for name in _FIRST if meta.get(name) not in (None, "")}
    shown |= {name: value for name, value in meta.items() if name not in shown and value not in (None, "", {}, [])}
    if resource.definition is None and not resource.counts:
        shown.pop("generation", None)
    head = {"kind": resource.kind, "apiVersion": resource.api_version} if typed else {}
    filled = fill(resource.type, manifest)
    rest = {name: value for name, value in filled.items() if name not in ("kind", "apiVersion", "metadata")}
    return {**head, "metadata": shown, **rest}


def _metadata_only(resource: Resource, manifest: Manifest) -> dict[str, Any]:
    meta = present(resource, manifest)["metadata"]
    if resource.kind == "DaemonSet":  # kube keeps this annotation as a field of the spec
        notes = {name: each for name, each in (meta.get("annotations") or {}).items() if name != TEMPLATE_GENERATION}
        meta = {name: each for name, each in (meta | {"annotations": notes}).items() if each}
    return {"kind": "PartialObjectMetadata", "apiVersion": TABLES, "metadata": meta}


def make_table(
    resource: Resource, manifests: Sequence[Manifest], now: int, include: str = "", columns: bool = True, kind: str = ""
) -> dict[str, Any]:
    """Return a Table of objects. `include`: Object, None, or metadata alone; without `columns`: for a watch's later events."""
    rows = []
    for manifest, cells in zip(manifests, make_rows(resource, manifests, now, kind), strict=True):
        row: dict[str, Any] = {"cells": cells}
        if include == "Object":
            row["object"] = present(resource, manifest)
        else:
            row["object"] = None if include == "None" else _metadata_only(resource, manifest)
        rows.append(row)
    defined = define_columns(resource, kind) if columns else None
    return {"kind": "Table", "apiVersion": TABLES, "metadata": {}, "columnDefinitions": defined, "rows": rows}


def show(resource: Resource, manifest: Manifest, form: Form, now: int, include: str = "", kind: str = "") -> Any:
    """Return one object in the form that a client requested."""
    if form == "table":
        table = make_table(resource, [manifest], now, include, kind=kind)
        version = manifest["metadata"].get("resourceVersion")
        table["metadata"] = {"resourceVersion": version} if version else {}
        return table
    if form == "metadata":
        return _metadata_only(resource, manifest)
    return manifest if kind else present(resource, manifest)


def all_of(store: Store, resource: Resource) -> list[Manifest]:
    """Return the objects of a resource, in the order of lists."""
    if resource.key == EVENTS:
        return list_events(store, resource.api_version)
    if resource.group == RBAC and store.live:
        return list_roles(store, resource.kind)
    return store.list(resource.key)


def find_object(store: Store, resource: Resource, target: Target) -> Manifest:
    """Return the object of a path. Raise Refused (404)."""
    found = store.get(resource.key, target.namespace, target.name)
    if resource.key == EVENTS or (found is None and resource.group == RBAC):
        place = (target.namespace, target.name)
        found = next((e for e in all_of(store, resource) if key_of(e) == place), None)
    if found is None:
        raise Refused.because(not_found(resource.named, target.name))
    return convert(found) if resource.key == EVENTS and resource.group and "regarding" not in found else found


def get_object(store: Store, resource: Resource, target: Target, form: Form, query: Query, now: int) -> Reply:
    """Answer GET of one object."""
    if query.get("resourceVersion", "0") not in ("", "0"):
        read_version({"resourceVersion": query["resourceVersion"]}, store.resource_version)
    return Reply(200, show(resource, find_object(store, resource, target), form, now, query.get("includeObject", "")))


def is_on(query: Query, name: str) -> bool | None:
    """Return a flag of a query as kube parses it, or None if the flag is absent."""
    return query[name].lower() not in ("false", "0") if name in query else None


_MATCHES = ("Exact", "NotOlderThan", "")


def check_options(query: Query, watch: bool = False) -> None:
    """Raise Failure (422) for options of a list or a watch that exclude each other."""
    text, match, errors = query.get("resourceVersion", ""), query.get("resourceVersionMatch", ""), Errors()
    field, known, starts = "resourceVersionMatch", _MATCHES[watch : 3 - watch], "sendInitialEvents" in query
    if watch:
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        errors.forbidden(field, why, when=starts and match != "NotOlderThan")
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        errors.forbidden(field, why, when=match and not starts)
    else:
        why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        errors.forbidden(field, why, when=match and not text)
        errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list", when=starts)
    why = "resourceVersionMatch is forbidden when continue is provided"
    errors.forbidden(field, why, when=match and query.get("continue"))
    errors.not_supported(field, match, known, when=match and match not in known)
    why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
    errors.forbidden(field, why, when=match == "Exact" and text == "0" and not watch)
    if errors:
        raise invalid_options("ListOptions", *errors)


def read_version(query: Query, current: int, watch: bool = False) -> int | None:
    """Return the resourceVersion of a query, or None if it has none. Raise Failure (400, 500, 504)."""
    text = query.get("resourceVersion", "")
    if not text or (query.get("continue") and not watch):
        return None
    if not text.isdecimal() or len(text) > 19:
        said = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        if watch:
            raise Failure(500, "", said)
        raise bad_request(f"invalid resource version: {said}")
    if int(text) > current and not watch:
        causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
        said = f"Timeout: Too large resource version: {text}, current: {current}"
        raise Failure(504, "Timeout", said, {"causes": causes, "retryAfterSeconds": 1})
    return int(text)


def _token(version: int, start: str) -> str:
    data = {"v": TABLES, "rv": version, "start": f"{start}\0"}
    return base64.urlsafe_b64encode(json.dumps(data, separators=(",", ":")).encode()).decode().rstrip("=")


def _read_token(text: str) -> tuple[int, str]:
    try:
        data = read_json(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("latin-1").encode())
        return int(data["rv"]), str(data["start"]).rstrip("\0").lstrip("/")
    except (ValueError, KeyError, TypeError) as wrong:
        raise bad_request(f"invalid continue token: continue key is not valid: {wrong}") from None


def read_number(query: Query, name: str) -> int:
    """Return a number of a query. Raise Failure (400)."""
    text = query.get(name, "")
    if text and not re.fullmatch(r"[+-]?\d{1,18}", text):
        raise bad_request(f"strconv.ParseInt: parsing {encode(text)}: invalid syntax")
    return max(0, int(text or 0))


def list_objects(
    store: Store, resource: Resource, target: Target, form: Form, query: Query, now: int, oldest: int
) -> Reply:
    """Answer GET of a collection. `oldest`: earlier resourceVersions have expired."""
    current, limit, _ = store.resource_version, read_number(query, "limit"), read_number(query, "timeoutSeconds")
    check_selectors(query)
    check_options(query)
    test, version = make_test(resource, query), read_version(query, current)
    if version is not None and query.get("resourceVersionMatch") == "Exact" and version < oldest:
        raise Failure(410, "Expired", "The resourceVersion for the provided list is too old.")
    found = all_of(store, resource)
    limit, start = (0 if query.get("resourceVersion") == "0" else limit), ""
    shown_version = version if query.get("resourceVersionMatch") == "Exact" and version else current
    if query.get("continue"):
        given, start = _read_token(query["continue"])
        if query.get("resourceVersion", "0") not in ("", "0"):
            raise bad_request("specifying resource version is not allowed when using continue")
        if 0 <= given < oldest:
            said = (
                "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
                "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
                "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
                "deleted between the time the first chunk was returned and now may show up in the list."
            )
            raise Failure(410, "Expired", said, None, {"continue": _token(-1, start)})
        shown_version = given if given > 0 else current
    picked = pick(found, target.namespace, test, start, 0)
    meta: dict[str, Any] = {"resourceVersion": str(shown_version)}
    if limit and len(picked) > limit:
        last = picked[limit - 1]["metadata"]
        place = (
            last["name"]
            if target.namespace or not resource.namespaced
            else f"{last.get('namespace', '')}/{last['name']}"
        )
        meta["continue"] = _token(shown_version, f"/{place}")
        if test is None:
            meta["remainingItemCount"] = len(picked) - limit
        picked = picked[:limit]
    return Reply(200, partial(_write_list, resource, picked, form, meta, query, now))


def pick(found: Sequence[Manifest], namespace: str, test: Test | None, start: str, limit: int) -> Sequence[Manifest]:
    """Return the objects of a namespace ("": all) that pass a test, after a position."""
    if namespace:
        first = bisect_left(found, (namespace, ""), key=key_of)
        found = found[first : bisect_left(found, (namespace + "\0", ""), key=key_of)]
    if start:
        before, _, name = start.rpartition("/")
        key = (before or namespace, name + "\0")
        found = found[bisect_left(found, key, key=key_of) :]
    return found if test is None else [each for each in found if test(each)]


def _write_list(
    resource: Resource, picked: Sequence[Manifest], form: Form, meta: dict[str, Any], query: Query, now: int
) -> Iterator[bytes]:
    """Yield the bytes of a list, one entry at a time."""
    head: dict[str, Any] = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version}
    name, include, typed = "items", query.get("includeObject", ""), resource.definition is not None
    shape: Callable[[Manifest], Any] = lambda each: present(resource, each, typed)  # noqa: E731 - one of three
    if form == "table":
        name, head = "rows", make_table(resource, [], now, include)
        del head["rows"]
        shape = lambda each: make_table(resource, [each], now, include, columns=False)["rows"][0]  # noqa: E731
    elif resource.definition is not None and form == "object":
        meta = {"continue": "", **meta}
    elif form == "metadata":
        head, shape = {"kind": "PartialObjectMetadataList", "apiVersion": TABLES}, partial(_metadata_only, resource)
    yield msgspec.json.encode({**head, "metadata": meta})[:-1] + f',"{name}":'.encode()
    for number, each in enumerate(picked):
        yield (b"," if number else b"[") + msgspec.json.encode(shape(each))
    yield b"]}\n" if picked else b"null}\n" if form == "metadata" else b"[]}\n"
