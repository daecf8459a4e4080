"""The status that Cluster Autoscaler writes into a ConfigMap: which node groups there are, and how large they may be.

Formats: cluster-autoscaler/clusterstate/api/types.go (YAML, since 1.30) and clusterstate/utils/status.go (text, before).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadedObject, LoadLimits, load_manifests
from scheduler_core.formats.manifests.notes import Note, gettext_noop

GROUPS = gettext_noop(
    "Cluster Autoscaler's status: %(groups)s. The playground does not scale node groups. To scale up "
    "a group, add nodes yourself."
)
_NAME = "cluster-autoscaler-status"
_LIMITS = LoadLimits(max_bytes=1 << 20, max_objects=4)
_MOST_SHOWN = 12
_COUNTED = re.compile(r"cloudProviderTarget=(\d{1,7}) \(minSize=(\d{1,7}), maxSize=(\d{1,7})")
_Group = tuple[str, str, str, str]


def autoscaler_notes(objects: Sequence[LoadedObject]) -> list[Note]:
    """Return notes on the node groups in Cluster Autoscaler's status ConfigMaps among the objects."""
    said = []
    for each in objects:
        status = _status(each.manifest)
        groups = list(_groups(status)) if status else []
        if groups:
            shown = [f"{name} ({target}; {least}–{most})" for name, target, least, most in groups[:_MOST_SHOWN]]
            said.append(Note(GROUPS, {"groups": ", ".join(shown) + (", …" if len(groups) > _MOST_SHOWN else "")}))
    return said


def _status(manifest: Any) -> str:
    if not isinstance(manifest, Mapping) or manifest.get("kind") != "ConfigMap":
        return ""
    meta, data = manifest.get("metadata"), manifest.get("data")
    if not isinstance(meta, Mapping) or meta.get("name") != _NAME or not isinstance(data, Mapping):
        return ""
    status = data.get("status")
    return status if isinstance(status, str) else ""


def _groups(status: str) -> Iterator[_Group]:
    try:
        documents = load_manifests(status, _LIMITS)
    except InvalidObject:
        documents = []
    whole = documents[0].manifest if documents else None
    listed = whole.get("nodeGroups") if isinstance(whole, Mapping) else None
    yield from _of_yaml(listed) if isinstance(listed, list) else _of_text(status)


def _of_yaml(listed: Sequence[Any]) -> Iterator[_Group]:
    for group in listed:
        health = group.get("health") if isinstance(group, Mapping) else None
        if isinstance(health, Mapping):
            name, target = str(group.get("name")), str(health.get("cloudProviderTarget", 0))
            yield name, target, str(health.get("minSize", 0)), str(health.get("maxSize", 0))


def _of_text(status: str) -> Iterator[_Group]:
    name = ""
    for line in status.split("\n"):
        field, _, rest = line.strip().partition(":")
        if field == "Name":
            name = rest.strip()
        elif field == "Health" and name and (match := _COUNTED.search(rest)):
            yield name, match[1], match[2], match[3]
            name = ""
