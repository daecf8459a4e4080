"""Reasons as sentences about a pod, reasons about volumes, and endless loops of a world."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from playground.common.catalogs import read_yaml
from playground.presenters.scene import short
from playground.presenters.words import Message, amount, amounts, exactly, gettext_noop, is_bytes, list_nodes, message
from scheduler_core.analysis.explain import GivenReason
from scheduler_core.analysis.whatif import Loop, RestResult

VOLUME_WORDS = read_yaml(Path(__file__).with_name("sentences.yaml"))["volumes"]


_BY_REASON = {
    "ClaimNotFound": VOLUME_WORDS["no-claim"],
    "ClaimNotCreated": VOLUME_WORDS["not-made"],
    "ClaimBeingDeleted": VOLUME_WORDS["deleted"],
}
_BY_REASON |= {"ClaimLost": VOLUME_WORDS["lost"], "ClaimOfAnother": VOLUME_WORDS["anothers"]}
_UNBOUND_REASONS = ("UnboundImmediateClaims", "ClaimNotBound", "ClassNotFound", "ClaimWithoutClass")


def about_claims(reason: GivenReason, pod: str, nodes: Message) -> Message | None:
    """Return the sentence of a reason about a claim, or None for other reasons."""
    code, evidence = reason.code.partition("/")[2], reason.evidence
    claims = evidence.get("claims") or ()
    if code == "VolumeNotFound" and (lost := next((each for each in claims if each.get("volume")), None)):
        return message(VOLUME_WORDS["lost"], pod=pod, claim=short(lost["claim"]), volume=lost["volume"])
    if code in _BY_REASON:
        claim = str(evidence.get("key") or evidence.get("claim") or "")
        named = short(claim or next((str(each["claim"]) for each in claims), ""))
        users = next((each["usedBy"] for each in claims if each.get("usedBy")), ())
        if code == "ClaimBeingDeleted" and users:
            others = ", ".join(map(short, users))
            return message(VOLUME_WORDS["deleted-used"], pod=pod, claim=named, others=others)
        return message(_BY_REASON[code], pod=pod, claim=named, volume=evidence.get("volume", ""))
    if code in _UNBOUND_REASONS:
        waiting = next((each for each in claims if each.get("exists") and not each["bound"]), None)
        return None if waiting is None else _unbound(waiting, pod)
    return _of_nodes(code, nodes, claims, pod)


def _unbound(claim: Mapping[str, Any], pod: str) -> Message:
    """Return the sentence about a claim that should be bound by now."""
    values: dict[str, object] = {"pod": pod, "claim": short(claim["claim"])}
    if claim["class"] and not claim["classExists"] and not claim["candidates"]:
        return message(VOLUME_WORDS["no-class"], **values, **{"class": claim["class"]})
    named = next((each for each in claim["candidates"] if each["volume"] == claim.get("volume")), None)
    if named is not None and named["claimedBy"] not in ("", claim["claim"]):
        return message(VOLUME_WORDS["taken"], volume=named["volume"], old=short(named["claimedBy"]), **values)
    free = [each for each in claim["candidates"] if not each["claimedBy"]]
    if free:
        unlike = next((each for each in free if not _suits(each, claim)), None)
        if unlike is not None and not any(_suits(each, claim) for each in free):
            return _unlike(unlike, claim, values)
        return message(VOLUME_WORDS["unbound"], volume=free[0]["volume"], **values)
    if claim["provisioner"] and not claim["provisioner"].endswith("no-provisioner"):
        return message(VOLUME_WORDS["provisioning"], provisioner=claim["provisioner"], **values)
    if (reserved := _reserved(claim, values)) is not None:
        return reserved
    others = claim.get("ofOtherClasses")
    if others and not claim["candidates"]:
        return _of_another_class(others[0], claim, values)
    if claim["candidates"]:
        used = [f"{each['volume']} ({short(each['claimedBy'])})" for each in claim["candidates"][:NAMED]]
        values |= {"count": claim["candidateCount"], "list": ", ".join(used), "class": claim["class"]}
        return message(VOLUME_WORDS["no-free-static" if claim["provisioner"] else "no-free"], **values)
    return message(VOLUME_WORDS["no-volume" if claim["class"] or claim["namesClass"] else "no-default"], **values)


def _reserved(claim: Mapping[str, Any], values: Mapping[str, object]) -> Message | None:
    """Return a message if a volume is reserved for a claim that does not exist, else None."""
    left = next((each for each in claim["candidates"] if each["claimedBy"] and not each["held"]), None)
    if left is None:
        return None
    word = "released" if left["phase"] == "Released" else "reserved"
    word = "of-former" if left["claimedBy"] == claim["claim"] else word
    return message(VOLUME_WORDS[word], volume=left["volume"], old=short(left["claimedBy"]), **values)


def _suits(volume: Mapping[str, Any], claim: Mapping[str, Any]) -> bool:
    """Return whether a volume matches a claim by labels, class, mode, size, and access modes."""
    if not volume["selected"] or volume["class"] != claim["class"] or volume["volumeMode"] != claim["volumeMode"]:
        return False
    return volume["capacity"] >= claim["requested"] and set(claim["accessModes"]) <= set(volume["accessModes"])


def _unlike(volume: Mapping[str, Any], claim: Mapping[str, Any], values: Mapping[str, object]) -> Message:
    """Return why an unused volume does not match the claim."""
    if volume["class"] != claim["class"]:
        return _of_another_class(volume, claim, values)
    if volume["capacity"] < claim["requested"]:
        sizes = {"wanted": amount("memory", claim["requested"]), "has": amount("memory", volume["capacity"])}
        return message(VOLUME_WORDS["too-small"], volume=volume["volume"], **values, **sizes)
    if volume["volumeMode"] != claim["volumeMode"]:
        modes = {"wanted": claim["volumeMode"], "has": volume["volumeMode"]}
        return message(VOLUME_WORDS["other-volume-mode"], volume=volume["volume"], **values, **modes)
    if not volume["selected"]:
        return message(VOLUME_WORDS["other-labels"], volume=volume["volume"], wanted=claim["selector"], **values)
    modes = {"wanted": ", ".join(claim["accessModes"]), "has": ", ".join(volume["accessModes"])}
    return message(VOLUME_WORDS["other-modes"], volume=volume["volume"], **values, **modes)


def _of_another_class(volume: Mapping[str, Any], claim: Mapping[str, Any], values: Mapping[str, object]) -> Message:
    has, wanted = volume["class"], claim["class"]
    if not has:
        return message(VOLUME_WORDS["class-of-none"], volume=volume["volume"], wanted=wanted, **values)
    if not wanted:
        return message(VOLUME_WORDS["other-class-than-none"], volume=volume["volume"], has=has, **values)
    return message(VOLUME_WORDS["other-class"], volume=volume["volume"], has=has, wanted=wanted, **values)


def _of_nodes(code: str, nodes: Message, claims: Any, pod: str) -> Message | None:
    held = [each for each in claims if each.get("volume")]
    tied = [each for each in held if any(volume.get("affinity") for volume in each["candidates"][:1])]
    bound = next(iter((*tied, *held)), None)
    waiting = next((each for each in claims if each.get("exists") and not each["volume"]), None)
    if code == "VolumeOutOfReach" and len({each["candidates"][0]["affinity"] for each in tied}) > 1:
        places = [f"{each['volume']} ({each['candidates'][0]['affinity']})" for each in tied]
        return message(VOLUME_WORDS["apart"], pod=pod, list=", ".join(places), nodes=nodes)
    if code == "VolumeOutOfReach" and bound is not None and bound["candidates"]:
        volume = bound["candidates"][0]
        return message(
            VOLUME_WORDS["reach"], pod=pod, volume=volume["volume"], affinity=volume["affinity"], nodes=nodes
        )
    if code == "OtherZone" and bound is not None:
        return message(VOLUME_WORDS["other-zone"], pod=pod, volume=bound["volume"], nodes=nodes)
    if waiting is None:
        return None
    values: dict[str, object] = {"pod": pod, "claim": short(waiting["claim"]), "nodes": nodes}
    if code == "NoVolumeToBind":
        free = [each for each in waiting["candidates"] if not each["claimedBy"]]
        if free and not any(_suits(each, waiting) for each in free):
            return _unlike(free[0], waiting, {"pod": pod, "claim": values["claim"]})
        provisioner = str(waiting.get("provisioner") or "")
        if provisioner and not provisioner.endswith("no-provisioner"):
            return message(VOLUME_WORDS["not-made-there"], provisioner=provisioner, **values)
        reserved = None if free else _reserved(waiting, {"pod": pod, "claim": values["claim"]})
        return reserved or message(VOLUME_WORDS["nothing-free"], **values)
    if code == "NotEnoughStorage":
        values |= {"class": waiting["class"], "provisioner": waiting["provisioner"]}
        return message(VOLUME_WORDS["storage" if waiting["capacities"] else "storage-untold"], **values)
    return None


WORDS = read_yaml(Path(__file__).with_name("sentences.yaml"))["reasons"]

NAMED = 3  # nodes of a reason that are named


# Sentences by code, for reasons that need only counts.
_PLAIN = read_yaml(Path(__file__).with_name("sentences.yaml"))["plain"]
Values = dict[str, object]


def about(reason: GivenReason, pod: str, total: int) -> Message:
    """Return a reason as a sentence. `total` is the number of nodes."""
    nodes = of_nodes(reason, total)
    values: Values = {"pod": pod, "count": reason.count, "total": total, "nodes": nodes}
    if "resource" in reason.evidence and "requested" in reason.evidence and reason.code not in _PLAIN:
        return _resource(reason, values)
    worded = _WORDED.get(reason.code)
    said = worded(reason, values) if worded is not None else about_claims(reason, pod, nodes)
    if said is not None:
        return said
    text = _PLAIN.get(reason.code)
    if text is not None:
        known = {key: value for key, value in reason.evidence.items() if isinstance(value, str)}
        return message(text, **{**known, **values})
    plugin = f"Extender {reason.plugin}" if "://" in reason.plugin else reason.plugin
    text = WORDS["all-at-once" if reason.count == total else "other"]
    return message(text, plugin=plugin, message=reason.message.rstrip(". "), **values)


def of_nodes(reason: GivenReason, total: int) -> Message:
    """Return the number of affected nodes as a part of a sentence, or their names if there are few."""
    if len(reason.nodes) == 1 or (reason.count < total and reason.count <= NAMED):
        return list_nodes(reason.nodes)
    if reason.count < total:
        return message(WORDS["nodes"], count=reason.count, total=total)
    return message(WORDS["both-nodes"]) if total == 2 else message(WORDS["all-nodes"], total=total)


def format_resource_amount(resource: str, value: int) -> Message:
    """Format an amount with its resource: 3 cpu, 512Mi of hugepages-2Mi."""
    return _of_resource(resource, amount(resource, value))


def _of_resource(resource: str, text: str) -> Message:
    return message(WORDS["of"], amount=text, resource=resource) if is_bytes(resource) else exactly(f"{text} {resource}")


def _resource(reason: GivenReason, values: Values) -> Message:
    evidence, alone = reason.evidence, reason.count == 1
    resource, near = str(evidence["resource"]), evidence.get("near")

    def beside(other: int) -> str:
        """Format the request and another amount in one unit."""
        wanted, text = amounts(resource, evidence["requested"], other)
        values["wanted"] = _of_resource(resource, wanted)
        return text

    values |= {"wanted": format_resource_amount(resource, evidence["requested"]), "node": reason.nodes[0]}
    if near is None:
        if not evidence.get("most"):
            return message(WORDS["unknown-alone"] if alone else WORDS["unknown"], **values)
        most = beside(evidence["most"])
        return message(WORDS["too-small-alone"] if alone else WORDS["too-small"], most=most, **values)
    if near["count"] > len(near["nodes"]):
        return message(WORDS["many-short"], near=near["count"], below=beside(near["atMost"]), **values)
    nearest = near["nodes"][0]
    short = beside(nearest["short"])
    return message(WORDS["short"] if alone else WORDS["nearest"], **{**values, "node": nearest["node"], "short": short})


def _taint(reason: GivenReason, values: Values) -> Message:
    key, value = reason.evidence["key"], reason.evidence["value"]
    return message(WORDS["taint"], taint=f"{key}={value}" if value else key, **values)


def _affinity(reason: GivenReason, values: Values) -> Message | None:
    missing, elsewhere = reason.evidence.get("missingKeys"), reason.evidence.get("elsewhere")
    if missing:
        return message(WORDS["affinity-key"], key=missing[0], pod=values["pod"])
    if elsewhere:
        return message(WORDS["affinity-elsewhere"], list=", ".join(elsewhere), pod=values["pod"])
    return message(WORDS["affinity"], **values)


def _labels(reason: GivenReason, values: Values) -> Message:
    asked = reason.evidence.get("requirements") or ()
    alternatives = {each.get("alternative") for each in asked} - {None}
    missing = [each for each in asked if not each["matching"]]
    if asked and not missing and not alternatives - {0} and len(asked) <= NAMED:
        return message(WORDS["asks-for"], text=", ".join(str(each["text"]) for each in asked), **values)
    if not missing or (len(alternatives) > 1 and "alternative" in missing[0]):
        return message(WORDS["labels"], **values)
    first = missing[0]
    if not first["labelled"]:
        return message(WORDS["no-label"], text=first["text"], key=first["key"], **values)
    found = ", ".join(each["value"] for each in first["values"])
    return message(WORDS["no-value"], text=first["text"], list=found, **values)


def _describe_profile(reason: GivenReason, values: Values) -> Message:
    return message(WORDS["profile"], text=reason.evidence.get("text", "-"), **values)


def _describe_spread(reason: GivenReason, values: Values) -> Message | None:
    constraints = reason.evidence.get("constraints") or ()
    if not constraints:
        return None
    closed = next((each for each in constraints if each["closedDomains"]), None)
    first = closed or constraints[0]
    values |= {"key": first["topologyKey"], "skew": first["maxSkew"]}
    if len({tuple(each.get("refused", ())) for each in constraints}) > 1:
        named = (f"{each['topologyKey']}: {', '.join(each['refused'])}" for each in constraints)
        return message(WORDS["spread-several"], list="; ".join(named), **values)
    if closed is not None:
        return message(WORDS["spread-closed"], list=", ".join(closed["closedDomains"]), **values)
    return message(WORDS["spread"], **values)


def _describe_unlabelled_nodes(reason: GivenReason, values: Values) -> Message | None:
    missing = (each for each in reason.evidence.get("constraints") or () if each["unlabelled"])
    first = next(missing, None)
    return None if first is None else message(WORDS["spread-label"], key=first["topologyKey"], **values)


_WORDED: Mapping[str, Callable[[GivenReason, Values], Message | None]] = {
    "TaintToleration/UntoleratedTaint": _taint,
    "NodeAffinity/NoMatch": _labels,
    "NodeAffinity/NoMatchForProfile": _describe_profile,
    "InterPodAffinity/NoMatchingPod": _affinity,
    "PodTopologySpread/SkewTooLarge": _describe_spread,
    "PodTopologySpread/MissingLabel": _describe_unlabelled_nodes,
}


NODES = 5  # nodes that are named

_ALIKE = gettext_noop(
    "The pods of %(workload)s fail in the same way, %(count)s so far, on %(nodes)s. The last one is "
    "%(pod)s (%(reason)s): %(message)s"
)
_ALIKE_UNSAID = gettext_noop(
    "The pods of %(workload)s fail in the same way, %(count)s so far, on %(nodes)s. The last one is %(pod)s: %(reason)s"
)
_NOWHERE = gettext_noop("The cluster repeats itself: for %(steps)s steps no pod reached a new state.")


def describe_loop(loop: Loop) -> Message:
    """Describe a workload whose pods always fail: the nodes and the reason."""
    kind, namespace, name = loop.workload
    more = f" +{len(loop.nodes) - NODES}" if len(loop.nodes) > NODES else ""
    text, last = _ALIKE if loop.last.message else _ALIKE_UNSAID, loop.last
    values = {"workload": f"{kind} {namespace}/{name}", "nodes": ", ".join(loop.nodes[:NODES]) + more}
    return message(text, count=f"{loop.count:,}", pod=last.pod, reason=last.reason, message=last.message, **values)


def describe_rest(rest: RestResult) -> Iterator[Message]:
    """Yield the reasons why a world did not come to rest, or only without some workloads."""
    yield from map(describe_loop, rest.loops)
    if rest.circles:
        yield message(_NOWHERE, steps=f"{rest.circles:,}")
    elif rest.fights:
        yield from (message("Controllers undo each other's work: %(message)s", message=text) for text in rest.fights)
    elif not rest.at_rest:
        yield message("The cluster did not settle. This is its last state.")
