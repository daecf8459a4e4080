"""Removal of credentials from imports, so that they do not get into logs, previews, and traces.

It removes the data of Secrets and of tokens; values of env, args, annotations, and ConfigMaps whose name or form indicates credentials;
and fields that only kubectl and the API server use: last-applied-configuration and managedFields.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from scheduler_core.apimachinery.objects import CONTAINER_LISTS, Manifest

_MAPPING = (dict, Mapping)  # isinstance is fastest for dict
REMOVED = "(removed)"
SECRETS, VALUES, APPLIED, MANAGED = "secrets", "values", "applied", "managed"
"""The sorts of removed credentials, for counts."""

_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_KEYS = "api|access|private|signing|encryption|auth|account|client|ssh|master"
_WORDS = (
    r"pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|dsn|cookie|jwt|bearer|authorization"
    rf"|(?:{_KEYS})[-_.]?key(?:[-_.]?data)?"
)
_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_NAME = re.compile(rf"(?i)(?:^|[^a-z])(?:{_WORDS})s?(?:$|[^a-z])|(?:password|passwd|secret|token|apikey)$")
_POINTER = re.compile(
    r"(?i)[-_.]?(?:name|names|file|path|dir|url|uri|ref|type|ttl|expiry|expiration|mode|audience|count|enabled|id)$"
)
_LOOK = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # a JSON web token
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}"
    r"|\bsk-[\w-]{20,}|\bAIza[\w-]{30,}|\bnpm_\w{30,}"
    r"|(?<=://)[^\s/:@]*:[^\s/@]+(?=@)",  # user:password of a URL
    re.DOTALL,
)
_LINE = re.compile(rf"(?im)((?:^|[\s\"',;{{&?-])[\w.-]*(?:{_WORDS})[\w.-]*[\"']?\s*(?:=|:)\s*[\"']?)([^\s\"',;&}}]+)")
_FLAG = re.compile(rf"(?i)^--?[\w.-]*(?:{_WORDS})$")
_PODS = ("Pod", "PodTemplate")
_WITH_PODS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob")
_SELECTING = ("labels", "matchLabels", "nodeSelector", "selector")
_PLAIN = ("Node", "Namespace", "PersistentVolumeClaim", "CSINode", "Lease", "ResourceSlice")


def without_credentials(manifests: Iterable[Any], counts: Counter[str]) -> list[Any]:
    """Return the objects without credentials. `counts` counts the removed ones by sort."""
    return [_redact_manifest(each, counts) if isinstance(each, _MAPPING) else each for each in manifests]


def _redact_manifest(manifest: Manifest, counts: Counter[str]) -> Manifest:
    kind = manifest.get("kind")
    if kind == "KubeSchedulerConfiguration":  # no object of the cluster, and needed in full
        return manifest
    new = dict(manifest)
    meta = manifest.get("metadata")
    if isinstance(meta, _MAPPING):
        new["metadata"] = _metadata(meta, counts)
    spec = manifest.get("spec")
    if kind == "Secret":
        return _secret(new, counts)
    if kind in _PODS or kind in _WITH_PODS:
        if isinstance(spec, _MAPPING):
            new["spec"] = _spec(spec, counts)
        if isinstance(manifest.get("template"), _MAPPING):
            new["template"] = _template(manifest["template"], counts)
    elif kind not in _PLAIN:
        for name, value in new.items():
            if name not in ("apiVersion", "kind", "metadata"):
                new[name] = _anything(name, value, counts)
    return new


def _secret(manifest: dict[str, Any], counts: Counter[str]) -> Manifest:
    kept = {name: value for name, value in manifest.items() if name not in ("data", "stringData")}
    counts[SECRETS] += len(kept) < len(manifest)
    return kept


def _metadata(meta: Manifest, counts: Counter[str]) -> Manifest:
    notes = meta.get("annotations")
    managed = "managedFields" in meta
    if not managed and not notes:
        return meta
    new = {name: value for name, value in meta.items() if name != "managedFields"}
    counts[MANAGED] += managed
    if isinstance(notes, _MAPPING) and notes:
        new["annotations"] = {name: _value(str(name), text, counts) for name, text in notes.items() if name != _APPLIED}
        counts[APPLIED] += _APPLIED in notes
        if not new["annotations"]:
            del new["annotations"]
    return new


def _spec(spec: Manifest, counts: Counter[str]) -> Manifest:
    """Return a pod's spec, or a spec with a pod template, without credentials."""
    new: dict[str, Any] = {}
    for field in CONTAINER_LISTS:
        if isinstance(spec.get(field), list):
            new[field] = [_container(each, counts) for each in spec[field]]
    for field in ("template", "jobTemplate"):
        if isinstance(spec.get(field), _MAPPING):
            new[field] = _template(spec[field], counts)
    return {**spec, **new} if new else spec


def _template(template: Manifest, counts: Counter[str]) -> Manifest:
    new = dict(template)
    if isinstance(template.get("metadata"), _MAPPING):
        new["metadata"] = _metadata(template["metadata"], counts)
    if isinstance(template.get("spec"), _MAPPING):
        new["spec"] = _spec(template["spec"], counts)
    return new


def _container(container: Any, counts: Counter[str]) -> Any:
    if not isinstance(container, _MAPPING):
        return container
    new: dict[str, Any] = {}
    if isinstance(container.get("env"), list):
        new["env"] = [_variable(each, counts) for each in container["env"]]
    for field in ("args", "command"):
        if isinstance(container.get(field), list):
            given = container[field]
            kept: list[Any] = []
            for number, entry in enumerate(given):
                before = given[number - 1] if number else ""
                if isinstance(before, str) and _FLAG.match(before) and isinstance(entry, str) and entry[:1] != "-":
                    kept.append(REMOVED)
                    counts[VALUES] += 1
                else:
                    kept.append(_value("", entry, counts))
            new[field] = kept
    return {**container, **new} if new else container


def _variable(entry: Any, counts: Counter[str]) -> Any:
    if not isinstance(entry, _MAPPING) or not isinstance(entry.get("value"), str):
        return entry
    value = _value(str(entry.get("name") or ""), entry["value"], counts)
    return entry if value is entry["value"] else {**entry, "value": value}


def _anything(name: str, value: Any, counts: Counter[str]) -> Any:
    if name in _SELECTING:
        return value
    if isinstance(value, _MAPPING):
        if isinstance(value.get("name"), str) and isinstance(value.get("value"), str):
            value = _variable(value, counts)
        return {key: _anything(str(key), entry, counts) for key, entry in value.items()}
    if isinstance(value, list):
        return [_anything("", entry, counts) for entry in value]
    return _value(name, value, counts)


def _value(name: str, value: Any, counts: Counter[str]) -> Any:
    """Return a value without credentials: all is removed if the name indicates one, else the parts that look like one."""
    if not isinstance(value, str) or not value or value == REMOVED:
        return value
    if name and _is_credential(name) and not value.startswith("$("):
        counts[VALUES] += 1
        return REMOVED
    new = _LOOK.sub(REMOVED, value)
    if "=" in new or ":" in new:
        new = _LINE.sub(_redact_match, new)
    if new == value:
        return value
    counts[VALUES] += 1
    return new


@lru_cache(maxsize=4096)
def _is_credential(name: str) -> bool:
    """Return whether a name denotes a credential: `dbPassword` and `API_KEY` do, `SECRET_NAME` only points to one."""
    return bool(_NAME.search(_HUMP.sub(r"\1-\2", name))) and not _POINTER.search(name)


def _redact_match(match: re.Match[str]) -> str:
    if _POINTER.search(match[1].rstrip(" :=\"'")) or match[2].startswith(("$(", "${", "(removed", "{", "[", "|")):
        return match[0]
    return match[1] + REMOVED
