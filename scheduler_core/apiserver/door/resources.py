"""The served resources by their paths: kube's own, and those of CustomResourceDefinitions.

openapi.json.xz has the OpenAPI v3 documents; the rest is in schema/api.py.

kube: k8s.io/api, pkg/printers/internalversion, api/openapi-spec @ v1.34.1
"""

import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import VERSIONS, get_kind_by_key
from scheduler_core.apiserver.schema.api import read_api

EVENTS = "Event.events.k8s.io"  # the store's key of the Events that clients write
CUSTOM = "CustomResourceDefinition"
_HERE = Path(__file__)
_EVERY_VERB = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
_STATUS_VERBS = ["get", "patch", "update"]
_AGED = [["Name", "string", "name", 0, ""], ["Age", "date", "", 0, ""]]


class Objects(Protocol):
    """The part of a store in which resources are looked up."""

    def list(self, kind: str) -> Any: ...


@cache
def read_schemas() -> Mapping[str, Any]:
    """Return the OpenAPI schemas of kube's own types, by name."""
    data: Mapping[str, Any] = json.loads(lzma.decompress(_HERE.with_name("openapi.json.xz").read_bytes()))
    return data


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of one version. `key`: the kind's key in a store; `type`: the objects' type in the data, "" for a custom resource."""

    group: str
    version: str
    plural: str
    kind: str
    singular: str
    namespaced: bool
    verbs: Sequence[str]
    key: str
    type: str = ""
    short: Sequence[str] = ()
    categories: Sequence[str] = ()
    hash: str = ""
    sub: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    columns: Sequence[Sequence[Any]] = ()
    counts: bool = False  # generations
    definition: Mapping[str, Any] | None = None  # the version of a CustomResourceDefinition

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def named(self) -> str:
        """The resource's name in the API server's messages: `pods`, `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


class Target(NamedTuple):
    """The parts of a path; `name` is "" for a collection."""

    group: str
    version: str
    namespace: str
    plural: str
    name: str = ""
    subresource: str = ""
    rest: str = ""


def parse_path(path: str) -> Target | None:
    """Return the target of a path such as /api/v1/namespaces/default/pods/a/status, or None for other paths."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, parts = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, parts = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2 and not (len(parts) == 3 and parts[2] in ("status", "finalize")):
        namespace, parts = parts[1], parts[2:]
    plural, name, subresource = (*parts, "", "", "")[:3]
    return Target(group, version, namespace, plural, name, subresource, "/".join(parts[3:]))


@cache
def list_own() -> tuple[Resource, ...]:
    """Return kube's own resources, in the order of discovery."""
    api = read_api()
    texts, found = read_schemas()["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]["properties"], []
    name, time = (texts[field]["description"] for field in ("name", "creationTimestamp"))
    for each in api["resources"]:
        group, version, kind = each["group"], each["version"], each["kind"]
        type_ = api["kinds"].get(f"{group}/{version} {kind}" if group else f"{version} {kind}", "")
        columns = each.get("columns") or [["Name", "string", "name", 0, name], ["Created At", "date", "", 0, time]]
        given = {key: value for key, value in each.items() if key != "columns"}
        found.append(Resource(**given, key=EVENTS if kind == "Event" else kind, type=type_, columns=columns))
    return tuple(found)


@cache
def _by_place() -> Mapping[tuple[str, str, str], Resource]:
    """Return kube's own resources, including those that discovery (by default that of 1.34) does not list."""
    versions = {kind: " ".join(history.values()).split() for kind, history in VERSIONS.items()}
    versions["PodGroup"] = ["v1beta1", "v1alpha3", "v1alpha2"]
    newer = []
    for key, names in versions.items():
        kind, name = get_kind_by_key(key), key.partition(".")[0]
        of = (kind.plural, name, name.lower(), kind.namespaced, _EVERY_VERB, key)
        newer += [Resource(kind.group, version, *of, columns=_AGED) for version in names]
    return {(each.group, each.version, each.plural): each for each in (*list_own(), *newer)}


def list_custom(store: Objects) -> Iterator[Resource]:
    """Yield the resources of a store's definitions, one for each served version."""
    for definition in store.list(CUSTOM):
        spec = definition.get("spec") or {}
        status = definition.get("status") or {}
        if any(each["type"] == "Established" and each["status"] != "True" for each in status.get("conditions") or ()):
            continue
        names = status.get("acceptedNames") or spec.get("names") or {}
        for version in spec.get("versions") or ():
            if version.get("served"):
                yield _custom(spec, names, version)


def _custom(spec: Manifest, names: Manifest, version: Manifest) -> Resource:
    kind, sub = str(names.get("kind")), {}
    subresources = version.get("subresources") or {}
    if "status" in subresources:
        sub["status"] = [spec["group"], version["name"], kind, _STATUS_VERBS]
    if "scale" in subresources:
        sub["scale"] = ["autoscaling", "v1", "Scale", _STATUS_VERBS]
    name, created = _by_place()["apiextensions.k8s.io", "v1", "customresourcedefinitions"].columns
    columns: list[Sequence[Any]] = [name]
    for each in version.get("additionalPrinterColumns") or ():
        said = each.get("description") or f"Custom resource definition column (in JSONPath format): {each['jsonPath']}"
        more = (each.get("format") or "", each.get("priority") or 0, said, each["jsonPath"])
        columns.append([each["name"], each["type"], *more])
    if len(columns) == 1:
        columns.append(["Age", *created[1:]])
    return Resource(
        spec["group"],
        version["name"],
        str(names.get("plural")),
        kind,
        names.get("singular") or kind.lower(),
        spec.get("scope") != "Cluster",
        _EVERY_VERB,
        f"{kind}.{spec['group']}",
        short=names.get("shortNames") or (),
        categories=names.get("categories") or (),
        sub=sub,
        columns=columns,
        definition=version,
    )


def find_resource(store: Objects, group: str, version: str, plural: str) -> Resource | None:
    """Return the resource of a group, a version, and a plural name, or None."""
    own = _by_place().get((group, version, plural))
    if own is not None or "." not in group:
        return own
    places = ((each.group, each.version, each.plural) for each in list_custom(store))
    return next(
        (each for place, each in zip(places, list_custom(store), strict=True) if place == (group, version, plural)),
        None,
    )


@cache
def _by_kind() -> Mapping[tuple[str, str], Resource]:
    return {(each.api_version, each.kind): each for each in list_own()}


def find_by_kind(store: Objects, api_version: str, kind: str) -> Resource | None:
    """Return the resource of a kind, or None."""
    own = _by_kind().get((api_version, kind))
    if own is not None or "." not in api_version:
        return own
    for each in list_custom(store):
        if (each.api_version, each.kind) == (api_version, kind):
            return each
    return None
