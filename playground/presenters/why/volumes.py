"""What keeps a pod's claims from a volume, as one sentence: the first claim that something is wrong with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.presenters.amounts import amount
from playground.presenters.scene import short
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.analysis.explain import Given

_NO_CLAIM = gettext_noop("%(pod)s waits for its claim %(claim)s, which does not exist.")
_NOT_MADE = gettext_noop("%(pod)s waits for its claim %(claim)s to be created.")
_DELETED = gettext_noop("The claim %(claim)s of %(pod)s is being deleted.")
_DELETED_USED = gettext_noop(
    "The claim %(claim)s of %(pod)s is being deleted. It stays as long as it is in use, by %(others)s, and no new pod may use it meanwhile."
)
_LOST = gettext_noop("The claim %(claim)s of %(pod)s is bound to the volume %(volume)s, which does not exist.")
_ANOTHERS = gettext_noop("The claim %(claim)s was not made for %(pod)s, and another pod's can't be used.")
_NO_CLASS = gettext_noop("%(pod)s waits for its claim %(claim)s, whose storage class %(class)s does not exist.")
_NO_VOLUME = gettext_noop("%(pod)s waits for its claim %(claim)s to be bound, but no volume is available.")
_NO_FREE = gettext_noop(
    "%(pod)s waits for its claim %(claim)s to be bound, but every matching volume is in use (%(count)s)."
)
_UNBOUND = gettext_noop("%(pod)s waits for its claim %(claim)s to be bound; %(volume)s could be its volume.")
_TOO_SMALL = gettext_noop(
    "The claim %(claim)s of %(pod)s requests %(wanted)s, but the volume %(volume)s has only %(has)s."
)
_OTHER_MODES = gettext_noop(
    "The claim %(claim)s of %(pod)s requests %(wanted)s, but the volume %(volume)s offers only %(has)s."
)
_OTHER_VOLUME_MODE = gettext_noop(
    "The claim %(claim)s of %(pod)s requests the volume mode %(wanted)s, but the volume %(volume)s has "
    "the mode %(has)s."
)
_OTHER_LABELS = gettext_noop(
    "The claim %(claim)s of %(pod)s takes only volumes with the labels %(wanted)s, which the volume %(volume)s lacks."
)
_RELEASED = gettext_noop(
    "%(pod)s waits for its claim %(claim)s to be bound: the volume %(volume)s is still held for the claim %(old)s, which is gone."
)
_OTHER_CLASS = gettext_noop(
    "%(pod)s waits for its claim %(claim)s to be bound. The claim has the storage class %(wanted)s, but "
    "the volume %(volume)s has %(has)s."
)
_OTHER_CLASS_THAN_NONE = gettext_noop(
    "%(pod)s waits for its claim %(claim)s to be bound. The claim has no storage class, but the volume "
    "%(volume)s has %(has)s."
)
_CLASS_OF_NONE = gettext_noop(
    "%(pod)s waits for its claim %(claim)s to be bound. The claim has the storage class %(wanted)s, but "
    "the volume %(volume)s has none."
)
_PROVISIONING = gettext_noop("%(pod)s waits for %(provisioner)s to provision a volume for its claim %(claim)s.")
_REACH = gettext_noop(
    "The volume %(volume)s of %(pod)s can only be used on nodes with %(affinity)s, which excludes %(nodes)s."
)
_OTHER_ZONE = gettext_noop("The volume %(volume)s of %(pod)s is in another zone than %(nodes)s.")
_NOTHING_FREE = gettext_noop("On %(nodes)s, no free volume suits the claim %(claim)s of %(pod)s.")
_NOT_MADE_THERE = gettext_noop("On %(nodes)s, %(provisioner)s makes no volume for the claim %(claim)s of %(pod)s.")
_STORAGE = gettext_noop("The storage class %(class)s of the claim %(claim)s has too little room left near %(nodes)s.")

_BY_REASON = {"ClaimNotFound": _NO_CLAIM, "ClaimNotCreated": _NOT_MADE, "ClaimBeingDeleted": _DELETED}
_BY_REASON |= {"ClaimLost": _LOST, "ClaimOfAnother": _ANOTHERS}
_UNBOUND_REASONS = ("UnboundImmediateClaims", "ClaimNotBound", "ClassNotFound", "ClaimWithoutClass")


def about_claims(reason: Given, pod: str, nodes: Message) -> Message | None:
    """None where it is no reason about a claim."""
    code, evidence = reason.code.partition("/")[2], reason.evidence
    claims = evidence.get("claims") or ()
    if code == "VolumeNotFound" and (lost := next((each for each in claims if each.get("volume")), None)):
        return message(_LOST, pod=pod, claim=short(lost["claim"]), volume=lost["volume"])
    if code in _BY_REASON:
        named = _get_claim_name(evidence, claims)
        users = next((each["usedBy"] for each in claims if each.get("usedBy")), ())
        if code == "ClaimBeingDeleted" and users:
            others = ", ".join(map(short, users))
            return message(_DELETED_USED, pod=pod, claim=named, others=others)
        return message(_BY_REASON[code], pod=pod, claim=named, volume=evidence.get("volume", ""))
    if code in _UNBOUND_REASONS:
        waiting = next((each for each in claims if each.get("exists") and not each["bound"]), None)
        return None if waiting is None else _unbound(waiting, pod)
    return _of_nodes(code, nodes, claims, pod)


def _get_claim_name(evidence: Mapping[str, Any], claims: Any) -> str:
    claim = str(evidence.get("key") or evidence.get("claim") or "")
    return short(claim or next((str(each["claim"]) for each in claims), ""))


def _unbound(claim: Mapping[str, Any], pod: str) -> Message:
    """A claim that should be bound by now."""
    values: dict[str, object] = {"pod": pod, "claim": short(claim["claim"])}
    if claim["class"] and not claim["classExists"] and not claim["candidates"]:
        return message(_NO_CLASS, **values, **{"class": claim["class"]})
    free = [each for each in claim["candidates"] if not each["claimedBy"]]
    if free:
        unlike = next((each for each in free if not _suits(each, claim)), None)
        if unlike is not None and not any(_suits(each, claim) for each in free):
            return _unlike(unlike, claim, values)
        return message(_UNBOUND, volume=free[0]["volume"], **values)
    if claim["provisioner"] and not claim["provisioner"].endswith("no-provisioner"):
        return message(_PROVISIONING, provisioner=claim["provisioner"], **values)
    released = next((each for each in claim["candidates"] if each["phase"] == "Released"), None)
    if released is not None:
        return message(_RELEASED, volume=released["volume"], old=short(released["claimedBy"]), **values)
    others = claim.get("ofOtherClasses")
    if others and not claim["candidates"]:
        return _of_another_class(others[0], claim, values)
    if claim["candidates"]:
        return message(_NO_FREE, count=claim["candidateCount"], **values)
    return message(_NO_VOLUME, **values)


def _suits(volume: Mapping[str, Any], claim: Mapping[str, Any]) -> bool:
    """Return whether a volume suits a claim by labels, class, mode, size, and access modes."""
    if not volume["selected"] or volume["class"] != claim["class"] or volume["volumeMode"] != claim["volumeMode"]:
        return False
    return volume["capacity"] >= claim["requested"] and set(claim["accessModes"]) <= set(volume["accessModes"])


def _unlike(volume: Mapping[str, Any], claim: Mapping[str, Any], values: Mapping[str, object]) -> Message:
    """Return why an unused volume does not match the claim."""
    if volume["class"] != claim["class"]:
        return _of_another_class(volume, claim, values)
    if volume["capacity"] < claim["requested"]:
        sizes = {"wanted": amount("memory", claim["requested"]), "has": amount("memory", volume["capacity"])}
        return message(_TOO_SMALL, volume=volume["volume"], **values, **sizes)
    if volume["volumeMode"] != claim["volumeMode"]:
        modes = {"wanted": claim["volumeMode"], "has": volume["volumeMode"]}
        return message(_OTHER_VOLUME_MODE, volume=volume["volume"], **values, **modes)
    if not volume["selected"]:
        return message(_OTHER_LABELS, volume=volume["volume"], wanted=claim["selector"], **values)
    modes = {"wanted": ", ".join(claim["accessModes"]), "has": ", ".join(volume["accessModes"])}
    return message(_OTHER_MODES, volume=volume["volume"], **values, **modes)


def _of_another_class(volume: Mapping[str, Any], claim: Mapping[str, Any], values: Mapping[str, object]) -> Message:
    has, wanted = volume["class"], claim["class"]
    if not has:
        return message(_CLASS_OF_NONE, volume=volume["volume"], wanted=wanted, **values)
    if not wanted:
        return message(_OTHER_CLASS_THAN_NONE, volume=volume["volume"], has=has, **values)
    return message(_OTHER_CLASS, volume=volume["volume"], has=has, wanted=wanted, **values)


def _of_nodes(code: str, nodes: Message, claims: Any, pod: str) -> Message | None:
    bound = next((each for each in claims if each.get("volume")), None)
    waiting = next((each for each in claims if each.get("exists") and not each["volume"]), None)
    if code == "VolumeOutOfReach" and bound is not None and bound["candidates"]:
        volume = bound["candidates"][0]
        return message(_REACH, pod=pod, volume=volume["volume"], affinity=volume["affinity"], nodes=nodes)
    if code == "OtherZone" and bound is not None:
        return message(_OTHER_ZONE, pod=pod, volume=bound["volume"], nodes=nodes)
    if waiting is None:
        return None
    values: dict[str, object] = {"pod": pod, "claim": short(waiting["claim"]), "nodes": nodes}
    if code == "NoVolumeToBind":
        free = [each for each in waiting["candidates"] if not each["claimedBy"]]
        if free and not any(_suits(each, waiting) for each in free):
            return _unlike(free[0], waiting, {"pod": pod, "claim": values["claim"]})
        provisioner = str(waiting.get("provisioner") or "")
        if provisioner and not provisioner.endswith("no-provisioner"):
            return message(_NOT_MADE_THERE, provisioner=provisioner, **values)
        return message(_NOTHING_FREE, **values)
    if code == "NotEnoughStorage":
        return message(_STORAGE, **values, **{"class": waiting["class"]})
    return None
