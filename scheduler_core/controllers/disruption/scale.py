"""How many pods a budget expects: the sum of the scales of the controllers of the pods that it covers.

kube: pkg/controller/disruption/disruption.go (finders, getExpectedScale, getExpectedPodCount) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.ownership import controller_of
from scheduler_core.apiserver.kinds import Kind, find_kind
from scheduler_core.apiserver.store import Store
from scheduler_core.controllers.memory.disruption import Coverage

_SCALED = ("ReplicationController", "Deployment", "ReplicaSet", "StatefulSet")


class CountFailed(Exception):
    """The expected number can't be said; the text is kube's error."""


class Expected(NamedTuple):
    """A budget's expected number of pods, of pods that must stay healthy, and of pods without a controller."""

    pods: int
    healthy: int
    unmanaged: int = 0


def evaluate_budget(store: Store, namespace: str, spec: Manifest, coverage: Coverage) -> Expected:
    """Evaluate a budget's spec for the pods that it covers. Raise CountFailed."""
    most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
    if most is not None:
        total = _scale_of_all(store, namespace, coverage)
        return Expected(total, max(0, total - resolve_int_or_percent(most, total)), coverage.unmanaged)
    if isinstance(least, int):
        return Expected(len(coverage.pods), least)
    if least is None:
        return Expected(0, 0)
    total = _scale_of_all(store, namespace, coverage)
    return Expected(total, resolve_int_or_percent(least, total), coverage.unmanaged)


def resolve_int_or_percent(amount: int | str, total: int) -> int:
    """A number, or a percentage of a total, rounded up. CountFailed."""
    if isinstance(amount, int):
        return amount
    digits = amount.removesuffix("%")
    if digits == amount or not digits.lstrip("-").isdecimal():
        raise CountFailed("invalid value for IntOrString: invalid type: string is not a percentage")
    return -(-int(digits) * total // 100)


def _scale_of_all(store: Store, namespace: str, coverage: Coverage) -> int:
    """The sum over the controllers of the pods, each counted once. CountFailed tells of the first pod by name."""
    scales: dict[str, int] = {}
    failed: dict[str, str] = {}
    for uid, owner in coverage.references.items():
        try:
            found = _scale(store, owner, namespace)
        except CountFailed as problem:
            failed[uid] = str(problem)
            continue
        if found is None:
            failed[uid] = 'found no controllers for pod "{}"'
        else:
            scales[found[0]] = found[1]
    if failed:
        raise CountFailed(_first(store, coverage, failed))
    return sum(scales.values())


def _first(store: Store, coverage: Coverage, failed: Mapping[str, str]) -> str:
    """The failure that concerns the first pod."""
    for key in sorted(coverage.pods):
        pod = store.pod_at(key)
        owner = None if pod is None else controller_of(pod.manifest)
        if pod is not None and owner is not None and str(owner.get("uid")) in failed:
            return failed[str(owner.get("uid"))].replace("{}", pod.name)
    return ""


def _scale(store: Store, owner: Manifest, namespace: str) -> tuple[str, int] | None:
    """Uid and scale of a controller, of a ReplicaSet's Deployment in its place; None where it is not there. CountFailed."""
    version, name = str(owner.get("apiVersion")), str(owner.get("name"))
    kind = find_kind(version, str(owner.get("kind")))
    path = _replicas_path(store, kind) if kind is not None else None
    if kind is None or path is None:
        raise CountFailed(f'no matches for kind "{owner.get("kind")}" in version "{version}"')
    if not path:
        raise CountFailed(f"{kind.resource} does not implement the scale subresource")
    found = store.get(kind.key, namespace, name)
    if found is None or found["metadata"].get("uid") != owner.get("uid"):
        return None
    if kind.key == "ReplicaSet":
        found = _deployment(store, found, namespace) or found
    return found["metadata"]["uid"], _number(found, path)


def _replicas_path(store: Store, kind: Kind) -> str | None:
    """Return the path of a kind's replica count; "" if there is none, None if the kind is unknown."""
    if "." not in kind.key:
        return ".spec.replicas" if kind.key in _SCALED else ""
    definition = store.get("CustomResourceDefinition", "", kind.resource)
    if definition is None:
        return None
    for version in (definition.get("spec") or {}).get("versions") or ():
        scale = (version.get("subresources") or {}).get("scale")
        if scale is not None:
            return str(scale.get("specReplicasPath") or "")
    return ""


def _number(manifest: Manifest, path: str) -> int:
    value: Any = manifest
    for step in path.strip(".").split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return 1 if value is None else int(value)


def _deployment(store: Store, replica_set: Manifest, namespace: str) -> Manifest | None:
    owner = controller_of(replica_set)
    if owner is None or owner.get("kind") != "Deployment":
        return None
    found = store.get("Deployment", namespace, str(owner.get("name")))
    return found if found is not None and found["metadata"].get("uid") == owner.get("uid") else None
