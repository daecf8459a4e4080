"""How many pods a budget expects: the sum of the scales of the controllers of the pods that it covers.

kube: pkg/controller/disruption/disruption.go (finders, getExpectedScale, getExpectedPodCount) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.api.kinds import Kind, find_kind
from scheduler_core.api.ownership import controller_of
from scheduler_core.api.store import Store
from scheduler_core.objects.pod import Pod

Manifest = Mapping[str, Any]
_SCALED = ("ReplicationController", "Deployment", "ReplicaSet", "StatefulSet")


class CountFailed(Exception):
    """The expected number can't be said; the text is kube's error."""


class Expected(NamedTuple):
    """Of a budget: pods that are to be there, pods that must stay healthy, names of pods without a controller."""

    pods: int
    healthy: int
    unmanaged: tuple[str, ...] = ()


def expected(store: Store, spec: Manifest, pods: Sequence[Pod]) -> Expected:
    """What a budget's spec means for the pods that it covers. CountFailed."""
    most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
    if most is not None:
        total, unmanaged = _scale_of_all(store, pods)
        return Expected(total, max(0, total - scaled(most, total)), unmanaged)
    if isinstance(least, int):
        return Expected(len(pods), least)
    if least is None:
        return Expected(0, 0)
    total, unmanaged = _scale_of_all(store, pods)
    return Expected(total, scaled(least, total), unmanaged)


def scaled(amount: int | str, total: int) -> int:
    """A number, or a percentage of a total, rounded up. CountFailed."""
    if isinstance(amount, int):
        return amount
    digits = amount.removesuffix("%")
    if digits == amount or not digits.lstrip("-").isdecimal():
        raise CountFailed("invalid value for IntOrString: invalid type: string is not a percentage")
    return -(-int(digits) * total // 100)


def _scale_of_all(store: Store, pods: Sequence[Pod]) -> tuple[int, tuple[str, ...]]:
    """The sum over the controllers of these pods, each counted once, and the pods that have none."""
    scales: dict[str, int] = {}
    seen: set[str] = set()
    unmanaged = []
    for pod in pods:
        owner = controller_of(pod.manifest)
        if owner is None:
            unmanaged.append(pod.name)
        elif (uid := str(owner.get("uid"))) not in seen:
            seen.add(uid)
            found = _scale(store, owner, pod.namespace)
            if found is None:
                raise CountFailed(f'found no controllers for pod "{pod.name}"')
            scales[found[0]] = found[1]
    return sum(scales.values()), tuple(unmanaged)


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
    """Where a kind says its scale; "" where it has none, None where the kind is not known."""
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
