"""Proposals of claims and volumes that are created for a pod or recreated."""

import copy
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import count
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.storage.volumes import (
    CLAIM,
    NO_PROVISIONER,
    VOLUME,
    WAIT_FOR_FIRST_CONSUMER,
    class_of,
    key_of,
    name_of,
    phase,
    volume_name,
    volumes_of,
)
from scheduler_core.scheduler.framework import Change, Draft, Edit, Handle, Refusal
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME

CLASS = "StorageClass"
IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
SIZE = "1Gi"
MOST_CLAIMS = 2
_OF_STORAGE = ("pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/")


def missing_claims(draft: Draft, pod: Pod, handle: Handle) -> Iterator[Draft]:
    """Propose fixes for a pod's missing claims, except ephemeral ones, which a controller creates."""
    for use in volumes_of(pod.spec).claims:
        if not use.ephemeral and handle.get(CLAIM, pod.namespace, use.claim) is None:
            yield from _missing(draft, pod, use.claim, handle)


def _missing(draft: Draft, pod: Pod, name: str, handle: Handle) -> Iterator[Draft]:
    """Propose existing claims of the namespace, most similar names first, and to create the claim for a class or with a new volume."""
    others = [name_of(claim) for claim in handle.list(CLAIM) if claim["metadata"].get("namespace") == pod.namespace]
    alike = sorted(others, key=lambda other: (-SequenceMatcher(None, name, other).ratio(), other))
    for other in alike[:MOST_CLAIMS]:
        yield draft.with_pod(Change("claim-name", {"from": name, "to": other}), _using(name, other))
    free = [volume for volume in handle.list(VOLUME) if not (volume.get("spec") or {}).get("claimRef")]
    size = (free[0]["spec"].get("capacity") or {}).get("storage", SIZE) if free else SIZE
    modes = list(free[0]["spec"].get("accessModes") or ["ReadWriteOnce"]) if free else ["ReadWriteOnce"]
    usable = usable_classes(handle)
    class_name = class_of(free[0]) if free else name_of(usable[0]) if usable else ""
    claim = {
        "apiVersion": "v1",
        "kind": CLAIM,
        "metadata": {"name": name, "namespace": pod.namespace},
        "spec": {"accessModes": modes, "resources": {"requests": {"storage": size}}, "storageClassName": class_name},
    }
    change = Change("claim", {"claim": key_of(claim), "size": size, "class": class_name})
    made = [claim] if free or usable else [claim, new_volume(claim, "")]
    yield draft.with_applied(change, *made).taking_time()


def _using(old: str, new: str) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        for volume in manifest["spec"].get("volumes") or ():
            source = volume.get("persistentVolumeClaim")
            if source is not None and source.get("claimName") == old:
                source["claimName"] = new

    return edit


def usable_classes(handle: Handle) -> list[Manifest]:
    """Return the classes with a provisioner: the default first, then those that wait for the pod."""
    classes = [each for each in handle.list(CLASS) if each.get("provisioner") not in (None, "", NO_PROVISIONER)]
    return sorted(classes, key=lambda each: (not _is_default(each), not _waits(each), name_of(each)))


def _is_default(storage_class: Manifest) -> bool:
    return (storage_class["metadata"].get("annotations") or {}).get(IS_DEFAULT) == "true"


def _waits(storage_class: Manifest) -> bool:
    return storage_class.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def is_lost(claim: Manifest, handle: Handle) -> bool:
    """Return whether the claim's volume no longer exists."""
    volume = volume_name(claim)
    return phase(claim) == "Lost" or (bool(volume) and handle.get(VOLUME, "", volume) is None)


def recreate_lost_claims(draft: Draft, refusal: Refusal, handle: Handle) -> Iterator[Draft]:
    """Propose to recreate the pod's claims whose volumes no longer exist."""
    for use in volumes_of(refusal.pod.spec).claims:
        claim = handle.get(CLAIM, refusal.pod.namespace, use.name(refusal.pod))
        if claim is not None and is_lost(claim, handle):
            yield anew(draft, claim, refusal, handle)


def anew(draft: Draft, claim: Manifest, refusal: Refusal, handle: Handle) -> Draft:
    """Propose to recreate the claim without its volume, if possible in a class of the same provisioner that waits for the pod."""
    values = {"claim": key_of(claim), "volume": volume_name(claim), "node": refusal.node.name}
    known = handle.get(CLASS, "", class_of(claim)) or {}
    like = [
        each for each in usable_classes(handle) if each.get("provisioner") == known.get("provisioner") and _waits(each)
    ]
    better = name_of(like[0]) if like and not _waits(known) else None
    return draft.with_object(Change("claim-anew", values), build_unbound_claim(claim, class_name=better))


def beside(draft: Draft, claim: Manifest, handle: Handle) -> Draft:
    """Propose a new claim for the pod like one that is in use: for claims that are terminating or that only one pod may use."""
    name, namespace = name_of(claim), claim["metadata"].get("namespace") or "default"
    names = (f"{name}-{number}" for number in count(2))
    new = next(each for each in names if handle.get(CLAIM, namespace, each) is None)
    made = build_unbound_claim(claim)
    made = {**made, "metadata": {**made["metadata"], "name": new}}
    values = {"claim": key_of(claim), "to": new, "ends": bool(claim["metadata"].get("deletionTimestamp"))}
    return draft.with_pod(Change("claim-beside", values), _using(name, new)).beside(made)


def rename_volume(draft: Draft, pod: Pod, volume: str, handle: Handle) -> Draft:
    """Propose to rename an ephemeral volume, so that no existing claim has the name of its claim."""
    names = (f"{volume}-{number}" for number in count(2))
    new = next(each for each in names if handle.get(CLAIM, pod.namespace, f"{pod.name}-{each}") is None)

    def edit(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        containers = (*spec["containers"], *(spec.get("initContainers") or ()))
        mounts = [m for c in containers for m in (*(c.get("volumeMounts") or ()), *(c.get("volumeDevices") or ()))]
        for each in (*spec["volumes"], *mounts):
            if each.get("name") == volume:
                each["name"] = new

    values = {"from": volume, "to": new, "claim": f"{pod.name}-{volume}"}
    return draft.with_pod(Change("volume-name", values), edit).taking_time()


def build_unbound_claim(
    claim: Manifest, class_name: str | None = None, size: str | None = None, modes: list[str] | None = None
) -> Manifest:
    """Build the claim as its user created it: unbound."""
    spec: dict[str, Any] = copy.deepcopy(dict(claim.get("spec") or {}))
    spec.pop("volumeName", None)
    if class_name is not None:
        spec["storageClassName"] = class_name
    if modes is not None:
        spec["accessModes"] = modes
    if size is not None:
        spec["resources"]["requests"]["storage"] = size
    meta = {k: v for k, v in claim["metadata"].items() if k in ("name", "namespace", "labels", "ownerReferences")}
    notes = claim["metadata"].get("annotations") or {}
    kept = {k: v for k, v in notes.items() if not k.startswith(_OF_STORAGE)}
    if kept:
        meta["annotations"] = kept
    return {"apiVersion": "v1", "kind": CLAIM, "metadata": meta, "spec": spec}


def size_of(claim: Manifest) -> str:
    requests: Mapping[str, Any] = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return str(requests.get("storage") or SIZE)


def new_volume(claim: Manifest, node: str) -> Manifest:
    """Build a volume that the claim can bind: on the disk of `node`, or on any node."""
    spec = claim.get("spec") or {}
    name = f"{name_of(claim)}-volume"
    labels = (spec.get("selector") or {}).get("matchLabels") or {}
    made: dict[str, Any] = {
        "accessModes": list(spec.get("accessModes") or ["ReadWriteOnce"]),
        "capacity": {"storage": size_of(claim)},
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": class_of(claim),
        "volumeMode": spec.get("volumeMode") or "Filesystem",
        # Without claimRef, another pending claim could bind the volume.
        "claimRef": {"namespace": claim["metadata"].get("namespace") or "default", "name": name_of(claim)},
    }
    if node:
        terms = [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [node]}]}]
        made |= {"local": {"path": f"/mnt/{name}"}, "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
    else:
        made |= {"hostPath": {"path": f"/mnt/{name}"}}
    return {"apiVersion": "v1", "kind": VOLUME, "metadata": {"name": name, "labels": dict(labels)}, "spec": made}
