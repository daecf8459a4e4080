"""Discovery: groups, versions, and resources in both of kube's formats, and the paths.

kube: apiserver/pkg/endpoints/discovery @ v1.34.1
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from scheduler_core.apiserver.door.resources import Objects, Resource, list_custom, list_own

Data = dict[str, Any]
HEALTH = ("/healthz", "/livez", "/readyz")


def _list_served(store: Objects) -> list[Resource]:
    return [*list_own(), *list_custom(store)]


def _versions(resources: Sequence[Resource]) -> dict[str, dict[str, list[Resource]]]:
    """Return resources by group and version."""
    found: dict[str, dict[str, list[Resource]]] = {}
    for each in resources:
        found.setdefault(each.group, {}).setdefault(each.version, []).append(each)
    return found


def list_aggregated(store: Objects, core: bool) -> Data:
    """Return the APIGroupDiscoveryList of /api or /apis."""
    items: list[Data] = []
    for group, versions in _versions(_list_served(store)).items():
        if (group == "") != core:
            continue
        listed = [
            {"version": version, "resources": [_describe_resource(each) for each in resources], "freshness": "Current"}
            for version, resources in versions.items()
        ]
        items.append({"metadata": {"name": group} if group else {}, "versions": listed})
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _describe_resource(each: Resource) -> Data:
    subresources = [
        {"subresource": name, "responseKind": _response(group, version, kind), "verbs": verbs}
        for name, (group, version, kind, verbs) in each.sub.items()
    ]
    entry: Data = {
        "resource": each.plural,
        "responseKind": _response(each.group, each.version, each.kind),
        "scope": "Namespaced" if each.namespaced else "Cluster",
        "singularResource": each.singular,
        "verbs": each.verbs,
        "shortNames": each.short,
        "categories": each.categories,
        "subresources": subresources,
    }
    return {name: value for name, value in entry.items() if value or name in ("verbs", "singularResource")}


def _response(group: str, version: str, kind: str) -> Data:
    return {"group": group, "version": version, "kind": kind}


def resource_list(store: Objects, group: str, version: str) -> Data | None:
    """Return the APIResourceList of a version, or None if the version does not exist."""
    found = _versions(_list_served(store)).get(group, {}).get(version)
    if found is None:
        return None
    listed: list[Data] = []
    for each in found:
        entry: Data = {
            "name": each.plural,
            "singularName": each.singular,
            "namespaced": each.namespaced,
            "kind": each.kind,
            "verbs": each.verbs,
        }
        more = {"shortNames": each.short, "categories": each.categories, "storageVersionHash": each.hash}
        listed.append({**entry, **{name: value for name, value in more.items() if value}})
        for name, (of, of_version, kind, verbs) in each.sub.items():
            other = {"group": of, "version": of_version} if of != group else {}
            row = {"name": f"{each.plural}/{name}", "singularName": "", "namespaced": each.namespaced}
            listed.append({**row, **other, "kind": kind, "verbs": verbs})
    version_of = {"apiVersion": "v1"} if group else {}
    return {
        "kind": "APIResourceList",
        **version_of,
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": listed,
    }


def group_of(store: Objects, group: str) -> Data | None:
    """Return the APIGroup of a group, or None if the group does not exist."""
    versions = _versions(_list_served(store)).get(group)
    if not group or versions is None:
        return None
    listed = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": listed, "preferredVersion": listed[0]}


def group_list(store: Objects) -> Data:
    """Return the APIGroupList of /apis."""
    groups = [group_of(store, group) for group in _versions(_list_served(store)) if group]
    listed = [{name: value for name, value in (each or {}).items() if name[0] not in "ka"} for each in groups]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}


def core_versions(address: str) -> Data:
    """Return the APIVersions of /api."""
    there = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": there}


def version_of(release: str) -> Data:
    """Return the answer of /version for a release such as 1.34.1."""
    major, minor, *_ = release.split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": f"v{release}",
        "gitCommit": hashlib.sha1(release.encode(), usedforsecurity=False).hexdigest(),
        "gitTreeState": "clean",
        "buildDate": "2025-01-01T00:00:00Z",
        "goVersion": "go1.24.9",
        "compiler": "gc",
        "platform": "linux/amd64",
    }


def list_paths(store: Objects) -> Data:
    """Return the paths of /."""
    paths = ["/api", "/api/v1", "/apis"]
    for group, versions in sorted(_versions(_list_served(store)).items()):
        if group:
            paths += [f"/apis/{group}", *(f"/apis/{group}/{version}" for version in versions)]
    return {"paths": [*paths, *HEALTH, "/openapi/v2", "/openapi/v3", "/version"]}
