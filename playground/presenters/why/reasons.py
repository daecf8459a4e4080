"""What a reason means for a pod, as one sentence. A reason that no sentence is written for is said in kube's own words."""

from collections.abc import Callable, Mapping
from pathlib import Path

from playground.common.catalogs import read_yaml
from playground.presenters.amounts import amount, amounts, is_bytes
from playground.presenters.why.volumes import about_claims
from playground.presenters.words import Message, exactly, list_nodes, message
from scheduler_core.analysis.explain import Given

WORDS = read_yaml(Path(__file__).with_name("sentences.yaml"))["reasons"]

NAMED = 3  # nodes of a reason that are called by their names


# By the reason's code without its plugin, which a sentence with counts alone is enough for.
_PLAIN = {
    "NodeResourcesFit/TooManyPods": WORDS["too-many-pods"],
    "NodeUnschedulable/Cordoned": WORDS["cordoned"],
    "NodeName/OtherNode": WORDS["other-node"],
    "NodeAffinity/LeftOut": WORDS["left-out"],
    "NodePorts/HostPortsTaken": WORDS["ports"],
    "InterPodAffinity/MatchingPod": WORDS["anti-affinity"],
    "InterPodAffinity/RefusedByPod": WORDS["existing"],
    "DynamicResources/CannotAllocate": WORDS["devices"],
    "DynamicResources/ClaimOutOfReach": WORDS["devices"],
    "DynamicResources/CannotFitResource": WORDS["devices"],
    "DynamicResources/DeviceClassNotFound": WORDS["device-class"],
    "NodeVolumeLimits/TooManyVolumes": WORDS["volume-limit"],
    "VolumeRestrictions/DiskConflict": WORDS["disk"],
    "VolumeRestrictions/ClaimInUse": WORDS["exclusive"],
    "Coscheduling/TooFewSiblings": WORDS["siblings"],
}
Values = dict[str, object]


def about(reason: Given, pod: str, total: int) -> Message:
    """The reason as a sentence; `total` nodes there are."""
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
    everywhere = reason.count == total
    plugin = f"Extender {reason.plugin}" if "://" in reason.plugin else reason.plugin
    return message(
        WORDS["all-at-once"] if everywhere else WORDS["other"],
        plugin=plugin,
        message=reason.message.rstrip(". "),
        **values,
    )


def of_nodes(reason: Given, total: int) -> Message:
    """So many of the nodes, to stand in a sentence; few of them by their names."""
    if len(reason.nodes) == 1 or (reason.count < total and reason.count <= NAMED):
        return list_nodes(reason.nodes)
    if reason.count < total:
        return message(WORDS["nodes"], count=reason.count, total=total)
    return message(WORDS["both-nodes"]) if total == 2 else message(WORDS["all-nodes"], total=total)


def format_resource_amount(resource: str, value: int) -> Message:
    """An amount with its resource: 3 cpu, 512Mi of hugepages-2Mi."""
    return _of_resource(resource, amount(resource, value))


def _of_resource(resource: str, text: str) -> Message:
    return message(WORDS["of"], amount=text, resource=resource) if is_bytes(resource) else exactly(f"{text} {resource}")


def _resource(reason: Given, values: Values) -> Message:
    evidence, alone = reason.evidence, reason.count == 1
    resource, near = str(evidence["resource"]), evidence.get("near")

    def beside(other: int) -> str:
        """What is asked for and another amount, in one unit."""
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
        below = beside(near["atMost"])
        return message(WORDS["many-short"], near=near["count"], below=below, **values)
    nearest = near["nodes"][0]
    short = beside(nearest["short"])
    return message(WORDS["short"] if alone else WORDS["nearest"], **{**values, "node": nearest["node"], "short": short})


def _taint(reason: Given, values: Values) -> Message:
    key, value = reason.evidence["key"], reason.evidence["value"]
    return message(WORDS["taint"], taint=f"{key}={value}" if value else key, **values)


def _affinity(reason: Given, values: Values) -> Message | None:
    missing, elsewhere = reason.evidence.get("missingKeys"), reason.evidence.get("elsewhere")
    if missing:
        return message(WORDS["affinity-key"], key=missing[0], pod=values["pod"])
    if elsewhere:
        return message(WORDS["affinity-elsewhere"], list=", ".join(elsewhere), pod=values["pod"])
    return message(WORDS["affinity"], **values)


def _labels(reason: Given, values: Values) -> Message:
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


def _describe_profile(reason: Given, values: Values) -> Message:
    return message(WORDS["profile"], text=reason.evidence.get("text", "-"), **values)


def _describe_spread(reason: Given, values: Values) -> Message | None:
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


def _describe_unlabelled_nodes(reason: Given, values: Values) -> Message | None:
    missing = (each for each in reason.evidence.get("constraints") or () if each["unlabelled"])
    first = next(missing, None)
    return None if first is None else message(WORDS["spread-label"], key=first["topologyKey"], **values)


_WORDED: Mapping[str, Callable[[Given, Values], Message | None]] = {
    "TaintToleration/UntoleratedTaint": _taint,
    "NodeAffinity/NoMatch": _labels,
    "NodeAffinity/NoMatchForProfile": _describe_profile,
    "InterPodAffinity/NoMatchingPod": _affinity,
    "PodTopologySpread/SkewTooLarge": _describe_spread,
    "PodTopologySpread/MissingLabel": _describe_unlabelled_nodes,
}
