"""What keeps a pod's claims from a volume, as one sentence: the first claim that something is wrong with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playground.common.catalogs import read_yaml
from playground.presenters.amounts import amount
from playground.presenters.scene import short
from playground.presenters.words import Message, message
from scheduler_core.analysis.explain import Given

WORDS = read_yaml(Path(__file__).with_name("sentences.yaml"))["volumes"]


_BY_REASON = {
    "ClaimNotFound": WORDS["no-claim"],
    "ClaimNotCreated": WORDS["not-made"],
    "ClaimBeingDeleted": WORDS["deleted"],
}
_BY_REASON |= {"ClaimLost": WORDS["lost"], "ClaimOfAnother": WORDS["anothers"]}
_UNBOUND_REASONS = ("UnboundImmediateClaims", "ClaimNotBound", "ClassNotFound", "ClaimWithoutClass")


def about_claims(reason: Given, pod: str, nodes: Message) -> Message | None:
    """None where it is no reason about a claim."""
    code, evidence = reason.code.partition("/")[2], reason.evidence
    claims = evidence.get("claims") or ()
    if code == "VolumeNotFound" and (lost := next((each for each in claims if each.get("volume")), None)):
        return message(WORDS["lost"], pod=pod, claim=short(lost["claim"]), volume=lost["volume"])
    if code in _BY_REASON:
        named = _get_claim_name(evidence, claims)
        users = next((each["usedBy"] for each in claims if each.get("usedBy")), ())
        if code == "ClaimBeingDeleted" and users:
            others = ", ".join(map(short, users))
            return message(WORDS["deleted-used"], pod=pod, claim=named, others=others)
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
        return message(WORDS["no-class"], **values, **{"class": claim["class"]})
    free = [each for each in claim["candidates"] if not each["claimedBy"]]
    if free:
        unlike = next((each for each in free if not _suits(each, claim)), None)
        if unlike is not None and not any(_suits(each, claim) for each in free):
            return _unlike(unlike, claim, values)
        return message(WORDS["unbound"], volume=free[0]["volume"], **values)
    if claim["provisioner"] and not claim["provisioner"].endswith("no-provisioner"):
        return message(WORDS["provisioning"], provisioner=claim["provisioner"], **values)
    released = next((each for each in claim["candidates"] if each["phase"] == "Released"), None)
    if released is not None:
        return message(WORDS["released"], volume=released["volume"], old=short(released["claimedBy"]), **values)
    others = claim.get("ofOtherClasses")
    if others and not claim["candidates"]:
        return _of_another_class(others[0], claim, values)
    if claim["candidates"]:
        return message(WORDS["no-free"], count=claim["candidateCount"], **values)
    return message(WORDS["no-volume"], **values)


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
        return message(WORDS["too-small"], volume=volume["volume"], **values, **sizes)
    if volume["volumeMode"] != claim["volumeMode"]:
        modes = {"wanted": claim["volumeMode"], "has": volume["volumeMode"]}
        return message(WORDS["other-volume-mode"], volume=volume["volume"], **values, **modes)
    if not volume["selected"]:
        return message(WORDS["other-labels"], volume=volume["volume"], wanted=claim["selector"], **values)
    modes = {"wanted": ", ".join(claim["accessModes"]), "has": ", ".join(volume["accessModes"])}
    return message(WORDS["other-modes"], volume=volume["volume"], **values, **modes)


def _of_another_class(volume: Mapping[str, Any], claim: Mapping[str, Any], values: Mapping[str, object]) -> Message:
    has, wanted = volume["class"], claim["class"]
    if not has:
        return message(WORDS["class-of-none"], volume=volume["volume"], wanted=wanted, **values)
    if not wanted:
        return message(WORDS["other-class-than-none"], volume=volume["volume"], has=has, **values)
    return message(WORDS["other-class"], volume=volume["volume"], has=has, wanted=wanted, **values)


def _of_nodes(code: str, nodes: Message, claims: Any, pod: str) -> Message | None:
    bound = next((each for each in claims if each.get("volume")), None)
    waiting = next((each for each in claims if each.get("exists") and not each["volume"]), None)
    if code == "VolumeOutOfReach" and bound is not None and bound["candidates"]:
        volume = bound["candidates"][0]
        return message(WORDS["reach"], pod=pod, volume=volume["volume"], affinity=volume["affinity"], nodes=nodes)
    if code == "OtherZone" and bound is not None:
        return message(WORDS["other-zone"], pod=pod, volume=bound["volume"], nodes=nodes)
    if waiting is None:
        return None
    values: dict[str, object] = {"pod": pod, "claim": short(waiting["claim"]), "nodes": nodes}
    if code == "NoVolumeToBind":
        free = [each for each in waiting["candidates"] if not each["claimedBy"]]
        if free and not any(_suits(each, waiting) for each in free):
            return _unlike(free[0], waiting, {"pod": pod, "claim": values["claim"]})
        provisioner = str(waiting.get("provisioner") or "")
        if provisioner and not provisioner.endswith("no-provisioner"):
            return message(WORDS["not-made-there"], provisioner=provisioner, **values)
        return message(WORDS["nothing-free"], **values)
    if code == "NotEnoughStorage":
        return message(WORDS["storage"], **values, **{"class": waiting["class"]})
    return None
