"""Volumes that a claim almost matches: released ones whose old claim is gone, and those of another class, size or access mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.apimachinery.objects.labels import IN, LabelSelector
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.quantity import value
from scheduler_core.apimachinery.objects.storage.volumes import (
    CLAIM,
    VOLUME,
    access_modes,
    claim_ref,
    class_of,
    deleting,
    is_for,
    key_of,
    name_of,
    volume_mode,
)
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.framework.plugin import Handle
from scheduler_core.scheduler.plugins.helper.volumes import build_unbound_claim, size_of

MOST = 2


def propose_matches(draft: Draft, claim: Manifest, handle: Handle) -> Iterator[Draft]:
    """The claim made anew so that it takes a volume which nobody has, and the volume let go of where an old claim still holds it."""
    found = []
    for volume in handle.list(VOLUME):
        if deleting(volume) or volume_mode(volume) != volume_mode(claim) or _is_held(volume, claim, handle):
            continue
        proposal = _matching(draft, claim, volume)
        if proposal is not draft:
            found.append(proposal)
    yield from sorted(found, key=lambda each: each.cost)[:MOST]


def _is_held(volume: Manifest, claim: Manifest, handle: Handle) -> bool:
    """Return whether another existing claim holds the volume."""
    ref = claim_ref(volume)
    if ref is None or is_for(volume, claim):
        return False
    other = handle.get(CLAIM, str(ref.get("namespace") or ""), str(ref.get("name") or ""))
    return other is not None and ref.get("uid") in (None, "", other["metadata"].get("uid"))


def _matching(draft: Draft, claim: Manifest, volume: Manifest) -> Draft:
    """One change for each way in which they differ."""
    ref, key = claim_ref(volume), key_of(claim)
    if ref is not None and not is_for(volume, claim):
        old = f"{ref.get('namespace')}/{ref.get('name')}"
        spec = {name: each for name, each in volume["spec"].items() if name != "claimRef"}
        change = Change("release", {"volume": name_of(volume), "claim": old})
        draft = draft.with_applied(change, {**volume, "spec": spec})
    wanted: dict[str, Any] = {}
    if class_of(volume) != class_of(claim):
        wanted["class_name"] = class_of(volume)
        values = {"claim": key, "from": class_of(claim), "to": class_of(volume)}
        draft = draft.with_object(Change("claim-class", values), build_unbound_claim(claim, **wanted))
    labels = _labels_wanted(claim, volume)
    if labels:
        meta = volume["metadata"]
        labelled = {**volume, "metadata": {**meta, "labels": {**(meta.get("labels") or {}), **labels}}}
        text = ", ".join(f"{name}={each}" for name, each in labels.items())
        values = {"volume": name_of(volume), "claim": key, "text": text}
        draft = draft.with_applied(Change("volume-labels", values), labelled)
    size = str((volume["spec"].get("capacity") or {}).get("storage") or "0")
    if value(size) < value(size_of(claim)):
        wanted["size"] = size
        values = {"claim": key, "from": size_of(claim), "to": size}
        draft = draft.with_object(Change("claim-size", values), build_unbound_claim(claim, **wanted))
    modes = access_modes(volume)
    if modes and any(mode not in modes for mode in access_modes(claim)):
        wanted["modes"] = list(modes)
        values = {"claim": key, "from": ", ".join(access_modes(claim)), "to": ", ".join(modes)}
        draft = draft.with_object(Change("claim-mode", values), build_unbound_claim(claim, **wanted))
    return draft


def _labels_wanted(claim: Manifest, volume: Manifest) -> dict[str, str]:
    """Return the labels that the claim's selector requires and the volume lacks; none if labels alone are not enough."""
    selector = LabelSelector.of((claim.get("spec") or {}).get("selector") or {})
    has = volume["metadata"].get("labels") or {}
    lacking = [each for each in selector.requirements if not each.accepts(has.get(each.key))]
    if any(each.op != IN for each in lacking):
        return {}
    return {each.key: each.values[0] for each in lacking}
