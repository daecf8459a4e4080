"""What a reason means for a pod, as one sentence. A reason that no sentence is written for is said in kube's own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from playground.presenters.amounts import amount, amounts, is_bytes
from playground.presenters.why.volumes import about_claims
from playground.presenters.words import Message, exactly, gettext_noop, list_nodes, message
from scheduler_core.analysis.explain import Given

NAMED = 3  # nodes of a reason that are called by their names

_NODES = gettext_noop("%(count)s of %(total)s nodes")
_ALL_NODES = gettext_noop("all %(total)s nodes")
_BOTH_NODES = gettext_noop("both nodes")
_OF = gettext_noop("%(amount)s of %(resource)s")

_OTHER = gettext_noop("%(plugin)s refuses %(nodes)s: %(message)s.")
_ALL_AT_ONCE = gettext_noop("%(plugin)s refuses %(pod)s on any node: %(message)s.")
_SHORT = gettext_noop("%(pod)s requests %(wanted)s. Closest: %(node)s, %(short)s short.")
_NEAREST = gettext_noop("%(pod)s requests %(wanted)s, too much for %(nodes)s. Closest: %(node)s, %(short)s short.")
_MANY_SHORT = gettext_noop(
    "%(pod)s requests %(wanted)s, too much for %(nodes)s. %(near)s of them are at most %(below)s short."
)
_TOO_SMALL = gettext_noop("%(pod)s requests %(wanted)s, but the largest of these %(count)s nodes has only %(most)s.")
_TOO_SMALL_ALONE = gettext_noop("%(pod)s requests %(wanted)s, but %(node)s has only %(most)s.")
_UNKNOWN = gettext_noop("%(pod)s requests %(wanted)s, which none of these %(count)s nodes has.")
_UNKNOWN_ALONE = gettext_noop("%(pod)s requests %(wanted)s, which %(node)s does not have.")
_TOO_MANY_PODS = gettext_noop("%(nodes)s already run as many pods as their kubelet allows, so %(pod)s does not fit.")
_TAINT = gettext_noop("%(pod)s does not tolerate the taint %(taint)s of %(nodes)s.")
_CORDONED = gettext_noop("%(nodes)s: cordoned.")
_NO_LABEL = gettext_noop("%(pod)s requires nodes with %(text)s, but no node has the label %(key)s.")
_NO_VALUE = gettext_noop("%(pod)s requires nodes with %(text)s. Nodes with this label have %(list)s.")
_LABELS = gettext_noop("%(pod)s requires labels that %(nodes)s do not have.")
_ASKS_FOR = gettext_noop("%(pod)s requires nodes with %(text)s, which excludes %(nodes)s.")
_PROFILE = gettext_noop("The profile's own addedAffinity (%(text)s) leaves out %(nodes)s.")
_LEFT_OUT = gettext_noop("%(pod)s may only run on nodes that it names, which excludes %(nodes)s.")
_OTHER_NODE = gettext_noop("The nodeName of %(pod)s excludes %(nodes)s.")
_PORTS = gettext_noop("%(pod)s needs a host port that is in use on %(nodes)s.")
_SPREAD = gettext_noop("With %(pod)s on %(nodes)s, the spread over %(key)s would exceed maxSkew %(skew)s.")
_SPREAD_CLOSED = gettext_noop(
    "The spread over %(key)s counts %(list)s, where %(pod)s cannot run. Everywhere else, one more pod "
    "would exceed maxSkew %(skew)s."
)
_SPREAD_LABEL = gettext_noop("%(pod)s is spread over a label that %(nodes)s do not have.")
_AFFINITY = gettext_noop("The pod affinity of %(pod)s requires certain pods, and none of them runs near %(nodes)s.")
_AFFINITY_KEY = gettext_noop(
    "The pod affinity of %(pod)s requires pods in the same %(key)s, but no node has the label %(key)s."
)
_SPREAD_LABEL = gettext_noop("%(pod)s is spread over the label %(key)s, which is missing on %(nodes)s.")
_AFFINITY = gettext_noop("%(pod)s must run beside certain pods, and none of these pods runs near %(nodes)s.")
_AFFINITY_KEY = gettext_noop("%(pod)s must run beside pods in the same %(key)s, but no node has the label %(key)s.")
_AFFINITY_ELSEWHERE = gettext_noop(
    "The pod affinity of %(pod)s requires pods that run in another namespace (%(list)s), which it does not select."
)
_ANTI_AFFINITY = gettext_noop("The anti-affinity of %(pod)s excludes %(nodes)s, where matching pods run nearby.")
_EXISTING = gettext_noop("The anti-affinity of pods near %(nodes)s excludes %(pod)s.")
_DEVICES = gettext_noop("%(pod)s cannot get the devices that it claims on %(nodes)s.")
_DEVICE_CLASS = gettext_noop("%(pod)s claims devices of the class %(class)s, which does not exist.")
_VOLUME_LIMIT = gettext_noop("No more volumes can be attached to %(nodes)s.")
_DISK = gettext_noop("%(pod)s needs a disk that is in use on %(nodes)s.")
_EXCLUSIVE = gettext_noop(
    "%(pod)s has a claim that only one pod may use at a time (ReadWriteOncePod), and another pod uses it."
)
_SIBLINGS = gettext_noop("The group of %(pod)s has %(there)s pods and needs %(members)s.")

# By the reason's code without its plugin, which a sentence with counts alone is enough for.
_PLAIN = {
    "NodeResourcesFit/TooManyPods": _TOO_MANY_PODS,
    "NodeUnschedulable/Cordoned": _CORDONED,
    "NodeName/OtherNode": _OTHER_NODE,
    "NodeAffinity/LeftOut": _LEFT_OUT,
    "NodePorts/HostPortsTaken": _PORTS,
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
    return message(_ALL_AT_ONCE if everywhere else _OTHER, plugin=plugin, message=reason.message.rstrip(". "), **values)


def of_nodes(reason: Given, total: int) -> Message:
    """So many of the nodes, to stand in a sentence; few of them by their names."""
    if len(reason.nodes) == 1 or (reason.count < total and reason.count <= NAMED):
        return list_nodes(reason.nodes)
    if reason.count < total:
        return message(_NODES, count=reason.count, total=total)
    return message(_BOTH_NODES) if total == 2 else message(_ALL_NODES, total=total)


def format_resource_amount(resource: str, value: int) -> Message:
    """An amount with its resource: 3 cpu, 512Mi of hugepages-2Mi."""
    return _of_resource(resource, amount(resource, value))


def _of_resource(resource: str, text: str) -> Message:
    return message(_OF, amount=text, resource=resource) if is_bytes(resource) else exactly(f"{text} {resource}")


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
            return message(_UNKNOWN_ALONE if alone else _UNKNOWN, **values)
        most = beside(evidence["most"])
        return message(_TOO_SMALL_ALONE if alone else _TOO_SMALL, most=most, **values)
    if near["count"] > len(near["nodes"]):
        below = beside(near["atMost"])
        return message(_MANY_SHORT, near=near["count"], below=below, **values)
    nearest = near["nodes"][0]
    short = beside(nearest["short"])
    return message(_SHORT if alone else _NEAREST, **{**values, "node": nearest["node"], "short": short})


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
    if asked and not missing and not alternatives - {0} and len(asked) <= NAMED:
        return message(_ASKS_FOR, text=", ".join(str(each["text"]) for each in asked), **values)
    if not missing or (len(alternatives) > 1 and "alternative" in missing[0]):
        return message(_LABELS, **values)
    first = missing[0]
    if not first["labelled"]:
        return message(_NO_LABEL, text=first["text"], key=first["key"], **values)
    found = ", ".join(each["value"] for each in first["values"])
    return message(_NO_VALUE, text=first["text"], list=found, **values)


def _describe_profile(reason: Given, values: Values) -> Message:
    return message(_PROFILE, text=reason.evidence.get("text", "-"), **values)


def _describe_spread(reason: Given, values: Values) -> Message | None:
    constraints = reason.evidence.get("constraints") or ()
    if not constraints:
        return None
    closed = next((each for each in constraints if each["closedDomains"]), None)
    first = closed or constraints[0]
    values |= {"key": first["topologyKey"], "skew": first["maxSkew"]}
    if closed is not None:
        return message(_SPREAD_CLOSED, list=", ".join(closed["closedDomains"]), **values)
    return message(_SPREAD, **values)


def _describe_unlabelled_nodes(reason: Given, values: Values) -> Message | None:
    missing = (each for each in reason.evidence.get("constraints") or () if each["unlabelled"])
    first = next(missing, None)
    return None if first is None else message(_SPREAD_LABEL, key=first["topologyKey"], **values)


_WORDED: Mapping[str, Callable[[Given, Values], Message | None]] = {
    "TaintToleration/UntoleratedTaint": _taint,
    "NodeAffinity/NoMatch": _labels,
    "NodeAffinity/NoMatchForProfile": _describe_profile,
    "InterPodAffinity/NoMatchingPod": _affinity,
    "PodTopologySpread/SkewTooLarge": _describe_spread,
    "PodTopologySpread/MissingLabel": _describe_unlabelled_nodes,
}
