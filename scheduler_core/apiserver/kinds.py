"""The known kinds of objects: group, plural, and whether they are namespaced.

kinds.json has the versions, by release, of kinds that are new or have no effect here; "!" marks kinds without namespaces.

kube: `kubectl api-resources` of v1.34; api/discovery/aggregated_v2.json @ v1.34.2, v1.35.4, v1.36.3, v1.37.2
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind. `key` is its name in a store: the kind, followed by its group if the kind is not one of kube's own."""

    key: str
    group: str
    plural: str
    namespaced: bool

    @property
    def resource(self) -> str:
        """The resource's name in the API server's messages: `pods`, `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


# The kinds by group; "!" marks kinds that are not namespaced.
_BUILT_IN: Mapping[str, str] = json.loads(Path(__file__).with_name("built_in.json").read_text())["kinds"]
_TEMPLATES = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController")
# The path of the spec of a pod or pod template, in each kind that has one.
POD_SPECS: Mapping[str, str] = {
    "Pod": "spec",
    **dict.fromkeys(_TEMPLATES, "spec.template.spec"),
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
# The PriorityClasses of each cluster.
SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_OWN_GROUPS = frozenset(_BUILT_IN) | {"events.k8s.io", "extensions"}


def _plural(kind: str) -> str:
    """Guess the plural as kube does. kube: apimachinery/pkg/api/meta/restmapper.go UnsafeGuessKindToResource"""
    name = kind.lower()
    if name.endswith("endpoints"):
        return name
    if name.endswith("s"):
        return name + "es"
    return name[:-1] + "ies" if name.endswith("y") else name + "s"


KINDS = {
    kind: Kind(kind, group, _plural(kind), not cluster_wide)
    for group, kinds in _BUILT_IN.items()
    for kind, cluster_wide in ((word.rstrip("!"), word.endswith("!")) for word in kinds.split())
}

_LISTED: Mapping[str, Mapping[str, str]] = json.loads(Path(__file__).with_suffix(".json").read_text())
VERSIONS = {key.rstrip("!"): versions for key, versions in _LISTED.items()}
# Kinds of kube's groups whose objects are stored like custom resources.
KEPT = {
    key: Kind(key, group, _plural(kind), f"{key}!" not in _LISTED)
    for key in VERSIONS
    for kind, _, group in (key.partition("."),)
    if group
}

# The groups of 1.35 and 1.36 have other fields than those of 1.37.
_OTHER_FORMS = {"scheduling.k8s.io/v1alpha1 PodGroup", "scheduling.k8s.io/v1alpha2 PodGroup"}


def split_api_version(api_version: str) -> tuple[str, str]:
    """Return group and version, such as ("apps", "v1"); the core group is ""."""
    group, slash, version = api_version.rpartition("/")
    return (group, version) if slash else ("", api_version)


def find_kind(api_version: str, kind: str) -> Kind | None:
    """Return the kind, or None if it is neither kube's nor possibly a custom resource.

    A kind of a group that is not kube's own is treated as a custom resource without a definition.
    """
    group, _ = split_api_version(api_version)
    built_in = KINDS.get(kind)
    if f"{api_version} {kind}" in _OTHER_FORMS:
        return None
    if built_in is not None and (built_in.group == group or group == "extensions"):
        return built_in
    if kept := KEPT.get(f"{kind}.{group}"):
        return kept
    if group in _OWN_GROUPS or "." not in group:
        return None
    return Kind(f"{kind}.{group}", group, _plural(kind), True)


def is_own_group(api_version: str) -> bool:
    """Return whether a version belongs to one of kube's own groups. Other groups may have kinds of the same name."""
    return split_api_version(api_version)[0] in _OWN_GROUPS


def kind_of(manifest: Mapping[str, Any]) -> Kind | None:
    return find_kind(str(manifest.get("apiVersion", "")), str(manifest.get("kind", "")))


def has_uid(manifest: Any) -> bool:
    """Return whether an object has a uid, which means that it comes from a cluster. Any data is accepted."""
    meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    return isinstance(meta, Mapping) and bool(meta.get("uid"))


def get_kind_by_key(key: str) -> Kind:
    """Return the kind of a store's key. Raise KeyError if there is none."""
    built_in = KINDS.get(key) or KEPT.get(key)
    if built_in is not None:
        return built_in
    kind, dot, group = key.partition(".")
    if not dot:
        raise KeyError(key)
    return Kind(key, group, _plural(kind), True)


def namespace_of(kind: Kind, manifest: Mapping[str, Any]) -> str:
    """Return the namespace of an object: "" for kinds without namespaces, and for a custom resource without one."""
    metadata = manifest.get("metadata") or {}
    if not kind.namespaced:
        return ""
    return metadata.get("namespace") or ("" if "." in kind.key and kind.key not in KEPT else "default")


def key_of(manifest: Mapping[str, Any]) -> tuple[str, str]:
    """Return the namespace ("" for none) and the name of an object."""
    meta = manifest["metadata"]
    return str(meta.get("namespace") or ""), str(meta.get("name") or "")


def reference(kind: str, namespace: str, name: str) -> str:
    """Return an object's name in errors: `Pod default/web-1`, `Node a`."""
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def describe(manifest: Any) -> str:
    """Return an object's name in errors. Malformed objects are accepted, too."""
    if not isinstance(manifest, Mapping):
        return ""
    meta = manifest.get("metadata")
    name = meta.get("name") if isinstance(meta, Mapping) else None
    kind = kind_of(manifest)
    space = namespace_of(kind, manifest) if kind is not None and isinstance(meta, Mapping) else ""
    return reference(str(manifest.get("kind") or "object"), str(space), str(name or "?"))
