"""Summary of a claim, a workload, a namespace, or a volume: the reason for an unwanted state, facts, users, owners, and actions."""

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from playground.presenters.acting import Owner, list_actions, owner_of
from playground.presenters.look import Look
from playground.presenters.scene import PodRef
from playground.presenters.why import WhyPanel
from playground.presenters.why import present as present_why
from playground.presenters.words import gettext_noop
from playground.workbench.actions import Offer
from scheduler_core.world.readonly import WorldView

CLAIMS = ("PersistentVolumeClaim", "ResourceClaim")
WHOLE = ("Namespace", "PersistentVolume")  # kinds without a namespace
PODS = 30
Ref = tuple[str, str, str]


def find_chosen_object(sim: WorldView, look: Look) -> Ref | None:
    """Return kind, namespace, and name of the chosen object, or None if it does not exist or a controller was chosen."""
    if look.about == "claim":
        namespace, _, name = look.claim.rpartition("/")
        refs = [(kind, namespace or "default", name) for kind in CLAIMS]
    else:
        kind, _, rest = look.controller.partition("/")
        namespace, slash, name = rest.rpartition("/")
        refs = [(kind, namespace, name)] if slash or kind in WHOLE else []
    return next((ref for ref in refs if sim.store.get(*ref) is not None), None)


class Fact(TypedDict):
    name: str
    value: str


class NoObject(TypedDict):
    about: Literal["object"]
    kind: Literal["controller", "gone"]


class ObjectBody(TypedDict):
    about: Literal["object"]
    kind: Literal["object"]
    object: str
    namespace: str
    name: str
    why: WhyPanel | None
    at: int | None
    facts: list[Fact]
    owner: Owner | None
    offers: list[Offer]
    count: int
    pods: list[PodRef]
    more: int


def present(sim: WorldView, look: Look, key: str) -> ObjectBody | NoObject:
    """Return the facts of the chosen object, from its manifest."""
    ref = find_chosen_object(sim, look)
    manifest = sim.store.get(*ref) if ref is not None else None
    if ref is None or manifest is None:
        loop = look.about == "controller" and "/" not in look.controller
        return {"about": "object", "kind": "controller" if loop else "gone"}
    kind, namespace, name = ref
    pods = pods_of(sim, ref)
    return {
        "about": "object",
        "kind": "object",
        "object": kind,
        "namespace": namespace,
        "name": name,
        "why": present_why(sim, "/".join(filter(None, ref))),
        "at": look.at,
        "facts": [{"name": label, "value": value} for label, value in _facts(manifest) if value],
        "owner": owner_of(manifest),
        "offers": list_actions(sim, kind, namespace, name),
        "count": len(pods),
        "pods": [_chip(pod) for pod in pods[:PODS]],
        "more": max(len(pods) - PODS, 0),
    }


def pods_of(sim: WorldView, ref: Ref) -> list[Mapping[str, Any]]:
    """Return the pods that use an object, that it owns, or that it selects, as stored in the API server."""
    manifest = sim.store.get(*ref)
    return [] if manifest is None else [pod for pod in sim.store.list("Pod") if _belongs(pod, manifest, *ref)]


def _facts(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    requests = (spec.get("resources") or {}).get("requests") or {}
    selector = (spec.get("selector") or {}).get("matchLabels") or {}
    return [
        (gettext_noop("phase"), _text(status.get("phase"))),
        (gettext_noop("storage class"), _text(spec.get("storageClassName"))),
        (gettext_noop("volume"), _text(spec.get("volumeName"))),
        (gettext_noop("requests"), ", ".join(f"{name} {value}" for name, value in requests.items())),
        (gettext_noop("access modes"), ", ".join(map(str, spec.get("accessModes") or ()))),
        (gettext_noop("replicas"), _text(spec.get("replicas"))),
        (gettext_noop("ready"), _text(status.get("readyReplicas"))),
        (gettext_noop("updated"), _text(status.get("updatedReplicas"))),
        (gettext_noop("selector"), ", ".join(f"{name}={value}" for name, value in selector.items())),
    ]


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _belongs(pod: Mapping[str, Any], manifest: Mapping[str, Any], kind: str, namespace: str, name: str) -> bool:
    """Return whether a pod uses the claim, is owned by the workload, or is selected by the budget."""
    meta, spec = pod["metadata"], pod.get("spec") or {}
    if meta.get("namespace") != (name if kind == "Namespace" else namespace):
        return False
    if kind == "Namespace":
        return True
    if kind == "PodDisruptionBudget":
        wanted = ((manifest.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
        labels = meta.get("labels") or {}
        return all(labels.get(key) == value for key, value in wanted.items())
    if kind == "PersistentVolumeClaim":
        volumes = spec.get("volumes") or ()
        return any((each.get("persistentVolumeClaim") or {}).get("claimName") == name for each in volumes)
    if kind == "ResourceClaim":
        statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or ()
        named = [*(spec.get("resourceClaims") or ()), *statuses]
        return any(each.get("resourceClaimName") == name for each in named)
    owners = meta.get("ownerReferences") or ()
    return any(_owns(each, kind, name) for each in owners)


def _owns(owner: Mapping[str, Any], kind: str, name: str) -> bool:
    """Return whether the owner reference leads to the object. A Deployment owns pods through ReplicaSets named after it."""
    if kind == "Deployment" and owner.get("kind") == "ReplicaSet":
        return str(owner.get("name")).rpartition("-")[0] == name
    return owner.get("kind") == kind and owner.get("name") == name


def _chip(pod: Mapping[str, Any]) -> PodRef:
    meta = pod["metadata"]
    return {"key": f"{meta['namespace']}/{meta['name']}", "name": meta["name"]}
