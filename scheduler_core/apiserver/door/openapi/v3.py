"""The OpenAPI documents, v3 and v2: paths of the served resources, schemas of built-in types and of definitions.

Up to 1.33, kubectl reads a whole document for each object that it applies. The documents therefore repeat nothing, and only fields have
descriptions.

kube: apiserver/pkg/endpoints/{installer,openapi/openapi}.go, kube-openapi/pkg/{handler,handler3} @ v1.34.1, gnostic-models
OpenAPIv2.proto
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from scheduler_core.apiserver.door.custom.crds import schema_of
from scheduler_core.apiserver.door.resources import Objects, Resource, list_custom, list_own, read_schemas

Data = dict[str, Any]
INFO = {"title": "Kubernetes", "version": "unversioned"}
# A verb's method, kube's action, the beginning of the operation's id, and its parameters.
_SELECTS = ("continue", "fieldSelector", "labelSelector", "limit", "resourceVersion", "resourceVersionMatch")
_WRITES = ("dryRun", "fieldManager", "fieldValidation")
_DELETES = ("dryRun", "gracePeriodSeconds", "propagationPolicy")
_WATCHES = ("allowWatchBookmarks", "sendInitialEvents", "timeoutSeconds", "watch")
_COLLECTION = {
    "list": ("get", "list", "list", (*_SELECTS, *_WATCHES)),
    "create": ("post", "post", "create", _WRITES),
    "deletecollection": ("delete", "deletecollection", "delete", (*_SELECTS, *_DELETES)),
}
_OBJECT = {
    "get": ("get", "get", "read", ()),
    "update": ("put", "put", "replace", _WRITES),
    "patch": ("patch", "patch", "patch", (*_WRITES, "force")),
    "delete": ("delete", "delete", "delete", _DELETES),
}
_TYPE_OF = {
    **dict.fromkeys(("limit", "timeoutSeconds", "gracePeriodSeconds"), "integer"),
    **dict.fromkeys(("allowWatchBookmarks", "sendInitialEvents", "watch", "force"), "boolean"),
}
_PATCHES = ("apply-patch+yaml", "json-patch+json", "merge-patch+json", "strategic-merge-patch+json")
_JSON = "application/json"
_REFERENCE = rb'"#/components/schemas/([^"]+)"'


def _title(text: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"\W", text))


def _parameter(name: str, place: str = "query") -> Data:
    schema = {"type": _TYPE_OF.get(name, "string")}
    return {"name": name, "in": place, "schema": schema, **({"required": True} if place == "path" else {})}


def _operation(resource: Resource, verb: str, kind: Sequence[str], rest: str, names: Mapping[Any, str]) -> Data:
    """Return one operation. `kind`: group, version, and kind of its object; `rest`: the end of its id."""
    method, action, begins, parameters = (_COLLECTION | _OBJECT)[verb]
    connects = kind[2].endswith("Options") or rest.endswith("PodLog")
    if kind[2].endswith("Options"):
        action, begins, parameters, rest = "connect", "connect", (), method.title() + rest
    elif verb == "deletecollection":
        rest = f"Collection{rest}"
    place = _title(resource.group.removesuffix(".k8s.io") or "core") + _title(resource.version)
    answer = names.get((*kind[:2], f"{kind[2]}List" if verb == "list" else kind[2]))
    known = answer and not connects and "delete" not in verb
    content = {"content": {_JSON: {"schema": _refer(answer)}}} if known else {}
    found: Data = {"operationId": f"{begins}{place}{rest}", "x-kubernetes-action": action}
    found["x-kubernetes-group-version-kind"] = dict(zip(("group", "version", "kind"), kind, strict=True))
    if parameters:
        found["parameters"] = [_parameter(each) for each in parameters]
    if verb == "patch" and not connects:
        taken = _PATCHES[:-1] if resource.definition else _PATCHES
        found["requestBody"] = {"content": {f"application/{each}": {"schema": {"type": "object"}} for each in taken}}
    elif verb in ("create", "update") and known:
        found["requestBody"] = {"content": {"*/*": {"schema": _refer(answer)}}, "required": True}
    created = verb == "create" and not connects
    found["responses"] = {"201" if created else "200": {"description": "Created" if created else "OK", **content}}
    return {method: found}


def _refer(name: str | None) -> Data:
    return {"$ref": f"#/components/schemas/{name}"}


def _paths(resource: Resource, names: Mapping[Any, str]) -> Data:
    """Return the paths of one resource. `names`: of the schemas, by group, version, and kind."""
    base = f"/apis/{resource.group}/{resource.version}/" if resource.group else f"/api/{resource.version}/"
    scope, scoped = ("namespaces/{namespace}/", "Namespaced") if resource.namespaced else ("", "")
    own = (resource.group, resource.version, resource.kind)
    every, one = f"{base}{scope}{resource.plural}", f"{base}{scope}{resource.plural}/{{name}}"
    rows = [(every, verb, own, scoped + resource.kind) for verb in _COLLECTION if verb in resource.verbs]
    if scope and "list" in resource.verbs:
        rows.append((f"{base}{resource.plural}", "list", own, f"{resource.kind}ForAllNamespaces"))
    rows += [(one, verb, own, scoped + resource.kind) for verb in _OBJECT if verb in resource.verbs]
    for name, (group, version, kind, verbs) in resource.sub.items():
        about = scoped + resource.kind + _title(name)
        of = (group, version, kind) if version else (*own[:2], kind)
        rows += [(f"{one}/{name}", verb, of, about) for verb in verbs]
    found: Data = {}
    for path, verb, kind, rest in rows:
        there = found.setdefault(path, {})
        there |= _operation(resource, verb, kind, rest, names)
        if "{" in path:
            there["parameters"] = [_parameter(each, "path") for each in re.findall(r"{(\w+)}", path)]
    return found


def _document(resources: Iterable[Resource], schemas: Mapping[str, Data]) -> bytes:
    """Return the document of the resources of one version, with the schemas that they refer to."""
    kinds = {
        (each["group"], each["version"], each["kind"]): name
        for name, schema in schemas.items()
        for each in schema.get("x-kubernetes-group-version-kind") or ()
    }
    paths: Data = {}
    for each in resources:
        paths |= _paths(each, kinds)
    used, text = {}, msgspec.json.encode(paths)
    left = re.findall(_REFERENCE, text)
    while left:
        name = left.pop().decode()
        if name not in used:
            used[name] = msgspec.Raw(msgspec.json.encode(schemas[name]))
            left += re.findall(_REFERENCE, used[name])
    components = {"schemas": dict(sorted(used.items()))}
    return msgspec.json.encode({"openapi": "3.0.0", "info": INFO, "paths": msgspec.Raw(text), "components": components})


def _custom_schemas(customs: Iterable[Resource]) -> Data:
    own, found = read_schemas(), dict(read_schemas())
    common, listed = (own[f"io.k8s.api.apps.v1.{kind}"]["properties"] for kind in ("Deployment", "DeploymentList"))
    for each in customs:
        name = ".".join([*reversed(each.group.split(".")), each.version, each.kind])
        gvk = {"group": each.group, "version": each.version, "kind": each.kind}
        given = schema_of(each)
        properties = {field: common[field] for field in ("apiVersion", "kind", "metadata")}
        merged = {**properties, **(given.get("properties") or {}), "metadata": common["metadata"]}
        found[name] = {**given, "type": "object", "properties": merged, "x-kubernetes-group-version-kind": [gvk]}
        items = {**listed, "items": {"type": "array", "items": _refer(name)}}
        gvk = {**gvk, "kind": f"{each.kind}List"}
        found[f"{name}List"] = {
            "type": "object",
            "required": ["items"],
            "properties": items,
            "x-kubernetes-group-version-kind": [gvk],
        }
    return found


@cache
def _own() -> Mapping[str, bytes]:
    """Return the documents of kube's own groups and versions."""
    return {place: _document(resources, read_schemas()) for place, resources in _by_place(list_own()).items()}


@cache
def _own_digests() -> Mapping[str, str]:
    """Return the hashes of these documents. An index contains all of them, and each kubectl requests it."""
    return {place: _digest(document) for place, document in _own().items()}


def _digest(document: bytes) -> str:
    return hashlib.sha256(document).hexdigest().upper()


def _by_place(resources: Iterable[Resource]) -> dict[str, list[Resource]]:
    """Return resources by the path of their version: `api/v1`, `apis/GROUP/VERSION`."""
    found: dict[str, list[Resource]] = {}
    for each in resources:
        place = f"apis/{each.group}/{each.version}" if each.group else f"api/{each.version}"
        found.setdefault(place, []).append(each)
    return found


def openapi_document(store: Objects, place: str) -> bytes | None:
    """Return the OpenAPI v3 document of `api/v1` or `apis/GROUP/VERSION`, or None if the version does not exist."""
    if place in _own():
        return _own()[place]
    customs = _by_place(list_custom(store)).get(place)
    return _document(customs, _custom_schemas(customs)) if customs else None


def list_documents(store: Objects | None) -> list[Data]:
    """Return the documents of the custom resources in a store; without a store, those of kube's own resources."""
    found = list(_own().values())
    if store is not None:
        customs = _by_place(list_custom(store)).values()
        found = [_document(each, _custom_schemas(each)) for each in customs]
    return [msgspec.json.decode(each) for each in found]


def openapi_index(store: Objects, prefix: str) -> Data:
    """Return the index of /openapi/v3; `prefix` is the path of this API server."""
    customs = sorted(_by_place(list_custom(store)).items())
    made = {place: _digest(_document(each, _custom_schemas(each))) for place, each in customs if place not in _own()}
    urls = {place: f"{prefix}/openapi/v3/{place}?hash={digest}" for place, digest in {**_own_digests(), **made}.items()}
    return {"paths": {place: {"serverRelativeURL": url} for place, url in urls.items()}}
