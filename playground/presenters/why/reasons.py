"""What a reason means for a pod, as one sentence. A reason that no sentence is written for is said in kube's own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.presenters.amounts import amount
from playground.presenters.why.volumes import about_claims
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.explain import Given

_OTHER = gettext_noop("%(plugin)s refuses %(count)s of %(total)s nodes: %(message)s")
_ALL_AT_ONCE = gettext_noop("%(plugin)s refuses %(pod)s on any node: %(message)s")
_SHORT = gettext_noop(
    "%(pod)s asks for %(amount)s %(resource)s, more than is free on %(count)s of %(total)s nodes: "
    "%(node)s comes nearest and lacks %(short)s of it."
)
_MANY_SHORT = gettext_noop(
    "%(pod)s asks for %(amount)s %(resource)s, more than is free on %(count)s of %(total)s nodes: "
    "%(near)s of them lack at most %(below)s of it."
)
_TOO_SMALL = gettext_noop(
    "%(pod)s asks for %(amount)s %(resource)s, and the largest of these %(count)s nodes has %(most)s in all."
)
_TOO_SMALL_ALONE = gettext_noop(
    "%(pod)s asks for %(amount)s %(resource)s, and the one node concerned has %(most)s in all."
)
_UNKNOWN = gettext_noop(
    "%(pod)s asks for %(amount)s %(resource)s, which none of these %(count)s nodes offers."
)
_UNKNOWN_ALONE = gettext_noop(
    "%(pod)s asks for %(amount)s %(resource)s, which the one node concerned does not offer."
)
_TOO_MANY_PODS = gettext_noop(
    "%(count)s of %(total)s nodes already run as many pods as their kubelets allow."
)
_TAINT = gettext_noop(
    "%(count)s of %(total)s nodes have the taint %(taint)s, which %(pod)s does not tolerate."
)
_CORDONED = gettext_noop("%(count)s of %(total)s nodes are cordoned.")
_NO_LABEL = gettext_noop("%(pod)s asks for nodes with %(text)s, and no node has the label %(key)s.")
_NO_VALUE = gettext_noop("%(pod)s asks for nodes with %(text)s; those with the label have %(list)s.")
_LABELS = gettext_noop("%(count)s of %(total)s nodes do not have the labels that %(pod)s asks for.")
_PROFILE = gettext_noop("The profile's own addedAffinity leaves %(count)s of %(total)s nodes out.")
_LEFT_OUT = gettext_noop(
    "%(pod)s may only run on nodes that it names, which leaves %(count)s of %(total)s out."
)
_OTHER_NODE = gettext_noop("%(pod)s asks for one node by its name, which leaves %(count)s of %(total)s out.")
_PORTS = gettext_noop("A host port that %(pod)s needs is taken on %(count)s of %(total)s nodes.")
_SPREAD = gettext_noop(
    "One more pod would make the spread over %(key)s larger than maxSkew %(skew)s on %(count)s of %(total)s nodes."
)
_SPREAD_CLOSED = gettext_noop(
    "The spread over %(key)s counts %(list)s, where %(pod)s can't go: "
    "everywhere else one more pod would be more than maxSkew %(skew)s above it."
)
_SPREAD_LABEL = gettext_noop("%(count)s of %(total)s nodes lack the label that %(pod)s is spread over.")
_AFFINITY = gettext_noop("%(pod)s has to be beside pods that are not around %(count)s of %(total)s nodes.")
_AFFINITY_KEY = gettext_noop(
    "%(pod)s has to be beside pods in the same %(key)s, and no node has the label %(key)s."
)
_AFFINITY_ELSEWHERE = gettext_noop(
    "%(pod)s has to be beside pods that run in another namespace: %(list)s, where its affinity does not look."
)
_ANTI_AFFINITY = gettext_noop("%(pod)s keeps away from pods that are around %(count)s of %(total)s nodes.")
_EXISTING = gettext_noop("Pods that run around %(count)s of %(total)s nodes keep %(pod)s away.")
_DEVICES = gettext_noop("The devices that %(pod)s claims can't be had on %(count)s of %(total)s nodes.")
_DEVICE_CLASS = gettext_noop("%(pod)s claims devices of the class %(class)s, which does not exist.")
_VOLUME_LIMIT = gettext_noop("%(count)s of %(total)s nodes can attach no more volumes.")
_DISK = gettext_noop("A disk that %(pod)s needs is in use on %(count)s of %(total)s nodes.")
_EXCLUSIVE = gettext_noop(
    "A claim of %(pod)s lets one pod use it at a time (ReadWriteOncePod), and another pod does."
)
_SIBLINGS = gettext_noop("The group of %(pod)s has %(there)s pods and needs %(members)s.")

# By the reason's code without its plugin, which a sentence with counts alone is enough for.
_PLAIN = {
    "NodeResourcesFit/TooManyPods": _TOO_MANY_PODS,
    "NodeUnschedulable/Cordoned": _CORDONED,
    "NodeName/OtherNode": _OTHER_NODE,
    "NodeAffinity/LeftOut": _LEFT_OUT,
    "NodeAffinity/NoMatchForProfile": _PROFILE,
    "NodePorts/HostPortsTaken": _PORTS,
    "PodTopologySpread/MissingLabel": _SPREAD_LABEL,
    "InterPodAffinity/MatchingPod": _ANTI_AFFINITY,
    "InterPodAffinity/RefusedByPod": _EXISTING,
    "DynamicResources/CannotAllocate": _DEVICES,
    "DynamicResources/ClaimOutOfReach": _DEVICES,
    "DynamicResources/CannotFitResource": _DEVICES,
    "DynamicResources/DeviceClassNotFound": _DEVICE_CLASS,
    "NodeVolumeLimits/TooManyVolumes": _VOLUME_LIMIT,
    "VolumeRestrictions/DiskConflict": _DISK,
    "VolumeRestrictions/ClaimInUse": _EXCLUSIVE,
    "Coscheduling/TooFewSiblings": _SIBLINGS,
}
Values = dict[str, object]


def about(reason: Given, pod: str, total: int) -> Message:
    """The reason as a sentence; `total` nodes there are."""
    values: Values = {"pod": pod, "count": reason.count, "total": total}
    if "resource" in reason.evidence and "requested" in reason.evidence and reason.code not in _PLAIN:
        return _resource(reason.evidence, values)
    worded = _WORDED.get(reason.code)
    said = worded(reason, values) if worded is not None else about_claims(reason, pod)
    if said is not None:
        return said
    text = _PLAIN.get(reason.code)
    if text is not None:
        known = {key: value for key, value in reason.evidence.items() if isinstance(value, str)}
        return message(text, **{**known, **values})
    everywhere = reason.count == total
    return message(
        _ALL_AT_ONCE if everywhere else _OTHER, plugin=reason.plugin, message=reason.message, **values
    )


def _resource(evidence: Mapping[str, Any], values: Values) -> Message:
    resource, near = str(evidence["resource"]), evidence.get("near")
    values |= {"resource": resource, "amount": amount(resource, evidence["requested"])}
    if near is None:
        alone = values["count"] == 1
        if not evidence.get("most"):
            return message(_UNKNOWN_ALONE if alone else _UNKNOWN, **values)
        text = _TOO_SMALL_ALONE if alone else _TOO_SMALL
        return message(text, most=amount(resource, evidence["most"]), **values)
    if near["count"] > len(near["nodes"]):
        return message(_MANY_SHORT, near=near["count"], below=amount(resource, near["atMost"]), **values)
    nearest = near["nodes"][0]
    return message(_SHORT, node=nearest["node"], short=amount(resource, nearest["short"]), **values)


def _taint(reason: Given, values: Values) -> Message:
    key, value = reason.evidence["key"], reason.evidence["value"]
    return message(_TAINT, taint=f"{key}={value}" if value else key, **values)


def _affinity(reason: Given, values: Values) -> Message | None:
    missing, elsewhere = reason.evidence.get("missingKeys"), reason.evidence.get("elsewhere")
    if missing:
        return message(_AFFINITY_KEY, key=missing[0], pod=values["pod"])
    if elsewhere:
        return message(_AFFINITY_ELSEWHERE, list=", ".join(elsewhere), pod=values["pod"])
    return message(_AFFINITY, **values)


def _labels(reason: Given, values: Values) -> Message:
    asked = reason.evidence.get("requirements") or ()
    alternatives = {each.get("alternative") for each in asked} - {None}
    missing = [each for each in asked if not each["matching"]]
    if not missing or (len(alternatives) > 1 and "alternative" in missing[0]):
        return message(_LABELS, **values)
    first = missing[0]
    if not first["labelled"]:
        return message(_NO_LABEL, text=first["text"], key=first["key"], **values)
    found = ", ".join(each["value"] for each in first["values"])
    return message(_NO_VALUE, text=first["text"], list=found, **values)


def _spread(reason: Given, values: Values) -> Message | None:
    constraints = reason.evidence.get("constraints") or ()
    if not constraints:
        return None
    closed = next((each for each in constraints if each["closedDomains"]), None)
    first = closed or constraints[0]
    values |= {"key": first["topologyKey"], "skew": first["maxSkew"]}
    if closed is not None:
        return message(_SPREAD_CLOSED, list=", ".join(closed["closedDomains"]), **values)
    return message(_SPREAD, **values)


_WORDED: Mapping[str, Callable[[Given, Values], Message | None]] = {
    "TaintToleration/UntoleratedTaint": _taint,
    "NodeAffinity/NoMatch": _labels,
    "InterPodAffinity/NoMatchingPod": _affinity,
    "PodTopologySpread/SkewTooLarge": _spread,
}
