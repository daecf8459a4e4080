"""Fixes in words: each change as a sentence, what it defeats, and what it does to other pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.presenters.amounts import amounts, duration, is_bytes
from playground.presenters.scene import short
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import parse_quantity

MOST_EFFECTS = 6
SECOND = 1_000_000_000

_TEXTS = {
    "gates": gettext_noop("Remove the scheduling gates: %(list)s"),
    "scheduler": gettext_noop("Let the profile %(name)s schedule the pod: nobody answers to its schedulerName"),
    "profile": gettext_noop("Give the scheduler the profile %(name)s that the pod asks for"),
    "node-name": gettext_noop(
        "Take the nodeName %(node)s off the pod and let the scheduler choose: there is no such node"
    ),
    "claim-name": gettext_noop("Have the pod use the claim %(to)s in place of %(from)s, which does not exist"),
    "volume-name": gettext_noop(
        "Call the pod's volume %(from)s by another name, such as %(to)s: the claim %(claim)s belongs to somebody else"
    ),
    "unit": gettext_noop(
        "Ask for %(to)s cpu in place of %(from)s: without the m they are whole cores, and no node has so many"
    ),
    "claim": gettext_noop("Create the claim %(claim)s, of %(size)s, which the pod uses"),
    "topology-key": gettext_noop("Set topologyKey to %(to)s in place of %(from)s, a label that no node has"),
    "topology": gettext_noop("Set topologyKey to %(to)s in place of %(from)s"),
    "driver-name": gettext_noop(
        "Have the DeviceClass %(class)s select the driver %(to)s in place of %(from)s, which publishes no devices"
    ),
    "slices": gettext_noop(
        "Have %(driver)s publish the devices of %(node)s, as it does for %(like)s: %(node)s has no ResourceSlice"
    ),
    "runtime-class-made": gettext_noop("Create the RuntimeClass %(class)s, which the pods name"),
    "runtime-class-left": gettext_noop("Take the RuntimeClass %(class)s out of the template"),
    "overhead": gettext_noop("Lower the %(resource)s overhead of the RuntimeClass %(class)s from %(from)s to %(to)s"),
    "name": gettext_noop("Recreate %(owner)s under a name of at most %(most)s characters: %(to)s"),
    "limit-range-bound": gettext_noop(
        "Change %(field)s %(resource)s per %(of)s of the LimitRange %(limitRange)s from %(from)s to %(to)s"
    ),
    "failure-policy": gettext_noop(
        "Set failurePolicy of the webhook %(webhook)s in %(configuration)s to Ignore: the webhook does not answer"
    ),
    "fewer-replicas": gettext_noop("Scale %(owner)s to replicas: %(to)s (now %(from)s)"),
    "class": gettext_noop("Create the StorageClass %(class)s, which the claim %(claim)s asks for"),
    "default-class": gettext_noop("Make %(class)s the default StorageClass: the claim %(claim)s asks for none"),
    "driver-class": gettext_noop(
        "Create the DeviceClass %(class)s, which the claim %(claim)s asks for, for the devices of %(driver)s"
    ),
    "volume": gettext_noop("Create a volume of %(size)s that the claim %(claim)s can bind"),
    "claim-class": gettext_noop("Make the claim %(claim)s anew in the StorageClass %(to)s"),
    "volume-label": gettext_noop("Set the label %(key)s of the volume %(volume)s to %(to)s"),
    "ready": gettext_noop("Bring %(node)s back: its condition Ready is not True"),
    "capacity": gettext_noop("Have %(node)s offer %(to)s %(resource)s in place of %(from)s"),
    "storage-capacity": gettext_noop(
        "Have %(driver)s tell of its room for the StorageClass %(class)s on %(node)s: it publishes no CSIStorageCapacity"
    ),
    "taint-left": gettext_noop(
        "Remove the taint %(taint)s from %(node)s: whoever set it was to remove it, and has not"
    ),
    "uncordon": gettext_noop("Uncordon %(node)s"),
    "toleration": gettext_noop("Add a toleration for the taint %(taint)s to the pod"),
    "policy": gettext_noop("Set %(field)s to %(to)s in the spread over %(key)s"),
    "match-label-keys": gettext_noop(
        "Count only pods of the same revision in the spread over %(key)s: matchLabelKeys %(label)s"
    ),
    "namespaces": gettext_noop("Have the pod affinity to %(text)s look in more namespaces: %(list)s"),
    "min-domains": gettext_noop("Lower minDomains of the spread over %(key)s from %(from)s to %(to)s"),
    "attach-limit": gettext_noop("Raise how many volumes of %(driver)s %(node)s can attach from %(from)s to %(to)s"),
    "topologies": gettext_noop("Let the StorageClass %(class)s make volumes where %(node)s is, too"),
    "release": gettext_noop("Release the volume %(volume)s: the claim %(claim)s that held it is gone"),
    "quota": gettext_noop("Raise %(resource)s of the quota %(quota)s from %(from)s to %(to)s"),
    "limit-range": gettext_noop(
        "Create a LimitRange in %(namespace)s with defaults for what the quota wants pods to state: %(list)s"
    ),
    "rollout": gettext_noop(
        "Let the rollout of %(deployment)s end an old pod before a new one starts: maxSurge 0, maxUnavailable 1"
    ),
    "runtime-class": gettext_noop(
        "Take %(list)s out of the node selector of the RuntimeClass %(class)s, which writes it into the pod"
    ),
    "budget": gettext_noop("Set %(field)s of the PodDisruptionBudget %(budget)s from %(from)s to %(to)s"),
    "selector-value": gettext_noop("Ask for nodes with %(to)s in place of %(from)s, which no node has"),
    "resource-name": gettext_noop("Ask for %(to)s in place of %(from)s, which no node offers"),
    "term-value": gettext_noop(
        "Ask for pods with %(to)s in place of %(from)s in the pod affinity: no pod has that label, and this is the pod's own"
    ),
    "volume-labels": gettext_noop(
        "Label the volume %(volume)s with %(text)s, by which the claim %(claim)s selects volumes"
    ),
    "label": gettext_noop("Label %(node)s with %(key)s=%(value)s"),
    "unlabel": gettext_noop("Remove the label %(key)s from %(node)s"),
    "selector": gettext_noop("Remove %(text)s from the pod's node selection"),
    "skew": gettext_noop("Raise maxSkew of the spread over %(key)s from %(from)s to %(to)s"),
    "devices": gettext_noop(
        "Ask for fewer devices in the request %(request)s of the claim %(claim)s: %(to)s instead of %(from)s"
    ),
    "device-toleration": gettext_noop(
        "Add a toleration for the device taint %(taint)s to request %(request)s of the claim %(claim)s"
    ),
    "device-class": gettext_noop(
        "Ask for the device class %(to)s in place of %(from)s in request %(request)s of the claim %(claim)s"
    ),
    "device-selector": gettext_noop(
        "Remove the selector %(expression)s from request %(request)s of the claim %(claim)s"
    ),
    "device-constraint": gettext_noop("Remove the constraint on %(attribute)s from the claim %(claim)s"),
    "taint": gettext_noop("Remove the taint %(taint)s from %(node)s"),
    "port": gettext_noop("Give up the pod's host ports %(list)s"),
    "request": gettext_noop("Lower the pod's %(resource)s request from %(from)s to %(to)s"),
    "claim-size": gettext_noop("Ask for %(to)s in place of %(from)s in the claim %(claim)s"),
    "claim-mode": gettext_noop("Ask for the access mode %(to)s in place of %(from)s in the claim %(claim)s"),
    "without-claims": gettext_noop("Let the pod do without its claims for devices: %(list)s"),
    "extender": gettext_noop("Take the extender %(url)s out of the scheduler's configuration"),
    "disable": gettext_noop("Disable the plugin %(plugin)s in the profile %(profile)s"),
    "move": gettext_noop("Move %(list)s from %(node)s to %(to)s, so that there is room for the pod"),
    "resize": gettext_noop("Lower the %(resource)s request of %(pod)s in place from %(from)s to %(to)s"),
    "claim-anew": gettext_noop("Create the claim %(claim)s anew: %(node)s can't reach its volume %(volume)s"),
    "claim-beside": gettext_noop("Have the pod use a new claim %(to)s like %(claim)s, which is being deleted"),
    "configuration": gettext_noop("Take %(argument)s out of the arguments of %(plugin)s"),
    "node": gettext_noop("Add a node %(name)s like %(node)s"),
    "wait": gettext_noop("Wait: %(pod)s gets a place by itself after %(time)s"),
    "recreate": gettext_noop("Make %(pod)s anew: a new pod is tried at once"),
    "old-revision": gettext_noop(
        "Delete %(pod)s: it was made of an old template, and %(owner)s waits for it before it makes another"
    ),
    "selected-node": gettext_noop("Take the annotation off the claim %(claim)s that ties it to the node %(node)s"),
    "order": gettext_noop("List the init containers in this order: %(list)s"),
    "own-claim": gettext_noop(
        "Give the pod a claim of its own, by the template %(template)s, in place of the claim %(claim)s that others use"
    ),
    "pool": gettext_noop("Give each of the nodes %(list)s a pool of its own in place of the pool %(pool)s"),
    "node-selector": gettext_noop(
        "Ask for the node %(node)s by nodeSelector in place of nodeName, so that a scheduler places the pod"
    ),
    "priority-class": gettext_noop("Create the PriorityClass %(class)s, which the pod names"),
    "service-account": gettext_noop("Create the ServiceAccount %(account)s in %(namespace)s, which the pods name"),
    "claim-template": gettext_noop(
        "Create the ResourceClaimTemplate %(template)s in %(namespace)s, as %(from)s has it"
    ),
    "security-context": gettext_noop(
        "Give the containers %(list)s the security context that the Pod Security level %(level)s wants"
    ),
    "security-level": gettext_noop(
        "Lower the Pod Security level that %(namespace)s enforces from %(level)s to privileged"
    ),
    "partition": gettext_noop(
        "Lower the partition of the StatefulSet %(owner)s from %(from)s to %(to)s: the update goes on"
    ),
    "next-revision": gettext_noop("Delete %(pod)s: %(owner)s makes it anew of the new template, and does so only then"),
    "undo": gettext_noop("Undo the rollout of %(owner)s: the revision before it gets its pods back"),
    "delete-job": gettext_noop("Delete the Job %(job)s, which keeps the CronJob %(owner)s from its next one"),
    "runtime-class-name": gettext_noop("Name the RuntimeClass %(to)s in place of %(from)s, which does not exist"),
    "priority-class-left": gettext_noop("Take the PriorityClass %(class)s out of the template"),
    "parallel": gettext_noop(
        "Make the StatefulSet %(owner)s anew with podManagementPolicy Parallel: no pod waits for the one before it"
    ),
    "job-anew": gettext_noop("Make the Job %(job)s anew with %(field)s %(to)s: it has used up %(from)s"),
    "recreate-strategy": gettext_noop(
        "Give %(owner)s the strategy Recreate: its old pods end before the new ones start"
    ),
    "failure-rule": gettext_noop("Recreate the Job %(job)s without its podFailurePolicy: a rule of it ended the Job"),
    "left-to-admission": gettext_noop("Take %(field)s out of the template: admission writes it"),
    "resume": gettext_noop("Let %(owner)s go on: it is paused or suspended"),
    "limits": gettext_noop("Set %(field)s of %(resource)s of the container %(container)s to %(to)s"),
    "retry": gettext_noop("Have the controller of %(owner)s try again now: change an annotation of it"),
    "quota-scope": gettext_noop("Create a quota in %(namespace)s that allows pods of the PriorityClass %(class)s"),
    "unready-eviction": gettext_noop(
        "Let the PodDisruptionBudget %(budget)s evict pods that are not ready: unhealthyPodEvictionPolicy AlwaysAllow"
    ),
    "one-budget": gettext_noop("Delete the PodDisruptionBudget %(budget)s: another one covers the same pods"),
    "replicas": gettext_noop("Scale %(owner)s to replicas: %(to)s (now %(from)s)"),
    "namespace-selector": gettext_noop("Have the pod anti-affinity look in all namespaces: namespaceSelector {}"),
    "force-delete": gettext_noop("Force the deletion of %(pod)s, which is ending on %(node)s"),
    "delete": gettext_noop("Delete %(pod)s"),
    "free-quota": gettext_noop("Delete %(list)s, which the quota %(quota)s counts"),
    "out-of-service": gettext_noop("Taint %(node)s as out of service: its pods and volumes are let go"),
    "no-execute": gettext_noop("Taint %(node)s with %(taint)s, which evicts pods that do not tolerate it"),
    "partner-priority": gettext_noop(
        "Give %(list)s the PriorityClass %(class)s as well: the pod has to be near them, so they must not be evicted for it"
    ),
    "remove-node": gettext_noop("Delete the node %(node)s, which is gone"),
    "finalizer": gettext_noop("Take the finalizers off %(pod)s: %(list)s"),
}
_OWN_CLAIM = gettext_noop("Have the pod use a new claim %(to)s like %(claim)s, which another pod uses")
_NO_CLASS = gettext_noop("Make the claim %(claim)s anew without a StorageClass")
_DEVICE_CLAIM = gettext_noop("Create the claim %(claim)s for a device of the class %(name)s")
_RELIEVED = gettext_noop("Clear the cause of %(list)s on %(node)s: the taint goes with it")
_GROUP = gettext_noop("Add a node %(name)s like %(node)s to the group %(group)s")
_SMALLEST = gettext_noop("Add a node with at least %(amounts)s")
_SMALLEST_LABELLED = gettext_noop("Add a node with at least %(amounts)s, labelled %(labels)s")
_CLASS = gettext_noop("Give the pod the PriorityClass %(name)s, which has the priority %(value)s")
_PREEMPTS = gettext_noop(
    "Let the pod preempt: give it the PriorityClass %(name)s, which has the same priority %(value)s and no preemptionPolicy Never"
)
_NEW_PREEMPTS = gettext_noop(
    "Let the pod preempt: give it a new PriorityClass %(name)s with the same priority %(value)s and no preemptionPolicy Never"
)
_NEW_CLASS = gettext_noop("Give the pod a new PriorityClass %(name)s with the priority %(value)s")
_OF_CONTAINER = gettext_noop("Lower the %(resource)s request of the container %(container)s from %(from)s to %(to)s")
_NODE_NAME = gettext_noop("Take the nodeName %(node)s off the pod and let the scheduler choose")
_NO_REQUEST = gettext_noop("Ask for no %(resource)s in the pod: it asks for %(from)s")
_ENDS = gettext_noop("Wait: %(pod)s ends by itself after %(time)s")
_FREE = gettext_noop("Free %(amounts)s on %(node)s: delete %(list)s")
_DELETE = gettext_noop("Delete %(list)s from %(node)s, to make way for the pod")
_SOFTEN = {
    "spread": gettext_noop("Make the spread over %(text)s soft: ScheduleAnyway"),
    "nodeAffinity": gettext_noop("Make the pod's required node affinity a preference"),
    "podAffinity": gettext_noop("Make the pod affinity to %(text)s a preference"),
    "podAntiAffinity": gettext_noop("Make the pod anti-affinity to %(text)s a preference"),
}

# What a change defeats, or costs; those that only mend something have none.
_DEFEATS = {
    "force-delete": gettext_noop("Its containers may still run: only do this when the node is known to be down."),
    "out-of-service": gettext_noop("Do this only when the machine is off: two pods may write to one disk."),
    "delete": gettext_noop("What the pod is doing is lost."),
    "remove-node": gettext_noop("All pods on the node are deleted."),
    "finalizer": gettext_noop("What the finalizer was to clean up stays behind."),
    "unready-eviction": gettext_noop("Pods that are only starting may be evicted as well."),
    "one-budget": gettext_noop("What that budget alone protects is protected no more."),
    "replicas": gettext_noop("Nobody loses anything, but one more pod takes room."),
    "free-quota": gettext_noop("What the deleted pods were to do is not done."),
    "no-execute": gettext_noop("Every other pod there without a toleration is evicted, too."),
    "partner-priority": gettext_noop("The pods that get the class are restarted."),
    "scheduler": gettext_noop("What its own scheduler would have heeded does not count."),
    "gates": gettext_noop("Whoever gated the pod has not let it go yet."),
    "taint-left": gettext_noop("Where who set it is still at work, it comes back, or the node goes."),
    "uncordon": gettext_noop("Somebody cordoned the node, perhaps to work on it."),
    "toleration": gettext_noop("The taint is there to keep pods like this one off the node."),
    "label": gettext_noop("The label has to be true of the node: others select by it, too."),
    "node": gettext_noop("Nobody loses anything, but a machine costs."),
    "request": gettext_noop("The pod may need what it asked for: with less it is slowed down or killed."),
    "without-claims": gettext_noop("The pod gets less than its owner asked for."),
    "devices": gettext_noop("The pod gets less than its owner asked for."),
    "port": gettext_noop("Nobody reaches the pod at these ports of its node any more."),
    "fewer-replicas": gettext_noop("Fewer pods run than the owner of the workload wanted."),
    "failure-policy": gettext_noop("Objects that the webhook would refuse are let in while it does not answer."),
    "topology": gettext_noop("The rule then holds for other sets of nodes than its owner wanted."),
    "runtime-class-left": gettext_noop("The containers run without the isolation that the RuntimeClass gives."),
    "overhead": gettext_noop("Every pod of the class is counted with less than its sandbox may use."),
    "limit-range-bound": gettext_noop("Every pod of the namespace may then ask for as much."),
    "claim-size": gettext_noop("The volume may fill up sooner."),
    "delete-job": gettext_noop("What the Job has not finished is lost."),
    "security-level": gettext_noop("Every pod of the namespace may then do what this level allows."),
    "runtime-class": gettext_noop("Pods of this class may land on nodes that its author ruled out."),
    "budget": gettext_noop("Fewer of its pods may be up than their owner wanted."),
    "move": gettext_noop("The pods that move are restarted."),
    "resize": gettext_noop("The other pod may need what it asked for."),
    "free": gettext_noop("Who is deleted comes back only if a controller makes it again and it fits elsewhere."),
    "priority": gettext_noop("Pods of a lower priority have to go for it, now and whenever room is short."),
    "skew": gettext_noop("The pods are spread less evenly than their owner wanted."),
    "min-domains": gettext_noop("The pods are spread over fewer domains than their owner wanted."),
    "limit-range": gettext_noop("It holds for every pod that is made in the namespace from then on."),
    "rollout": gettext_noop("While it rolls out, there is one replica less."),
    "match-label-keys": gettext_noop("While it rolls out, old and new pods together are spread less evenly."),
    "quota": gettext_noop("The namespace may use more than its administrator allowed."),
    "unlabel": gettext_noop("Whoever labelled the node so selects by it."),
    "volume-label": gettext_noop("Where the volume really is does not change by its label."),
    "taint": gettext_noop("Every other pod may come to the node then, too."),
    "claim-anew": gettext_noop("What was written to the old volume is not on the new one."),
    "claim-beside": gettext_noop("What was written to the old volume is not on the new one."),
    "resource-name": gettext_noop("What goes by the other name may be larger, smaller or shared."),
    "selector": gettext_noop("The pod may land on nodes that its owner ruled out."),
    "release": gettext_noop("What the old claim left on the volume is seen by the new one."),
    "extender": gettext_noop("What it looks after is looked after no more, for any pod."),
    "disable": gettext_noop("What it looks after is looked after no more, for any pod."),
    "configuration": gettext_noop("It holds for all pods of the profile."),
}
_SOFTENED = {
    "spread": gettext_noop("All replicas may end up in one domain, and go down with it."),
    "nodeAffinity": gettext_noop("The pod may land on nodes that its owner ruled out."),
    "podAffinity": gettext_noop("The pod may run far from those that it was to be near."),
    "podAntiAffinity": gettext_noop("Pods that were to be kept apart may share a node, and go down with it."),
}

_EFFECTS = {
    "violates": gettext_noop("%(pod)s has to go, although its PodDisruptionBudget allows no further disruption"),
    "evicted": gettext_noop("%(pod)s loses its place on %(node)s and does not come back"),
    "pending": gettext_noop("%(pod)s has to wait; without this change, it would run on %(node)s"),
    "replaced": gettext_noop("%(pod)s is deleted from %(node)s; %(by)s takes its place on %(to)s"),
    "moves": gettext_noop("%(pod)s goes to %(to)s instead of %(node)s"),
    "placed": gettext_noop("%(pod)s gets a place on %(to)s as well"),
}
_REPLACED_WAITS = gettext_noop("%(pod)s is deleted from %(node)s; %(by)s, made in its place, has to wait")
_REMADE = gettext_noop("%(pod)s loses its place on %(node)s; %(by)s makes another in its place")
_GONE_WAITING = gettext_noop("%(pod)s, which waits, is deleted")
_MORE = gettext_noop("%(n)s more pods are affected")


def sentence(change: Mapping[str, Any]) -> Message:
    """One change as people say it."""
    kind, values = change["kind"], _align_units(dict(change["values"]))
    if kind in _SPECIAL:
        return _SPECIAL[kind](values)
    for name in ("claim", "pod", "budget"):
        if name in values:
            values[name] = short(values[name])
    return message(_TEXTS[kind], **values)


def _align_units(values: dict[str, Any]) -> dict[str, Any]:
    """The values with an amount before and after the change in one unit: 1.5 and 1, not 1500m and 1."""
    resource, both = values.get("resource"), [values.get("from"), values.get("to")]
    measured = isinstance(resource, str) and (resource == "cpu" or is_bytes(resource))
    if not measured or None in both or both[1] == "0":
        return values
    scale = 1000 if resource == "cpu" else 1
    before, after = amounts(str(resource), *(int(parse_quantity(str(each)) * scale) for each in both))
    return {**values, "from": before, "to": after}


def _describe_softening(values: dict[str, Any]) -> Message:
    return message(_SOFTEN[values["what"]], text=values["text"])


def _describe_deletion(values: dict[str, Any]) -> Message:
    pods = ", ".join(short(key) for key in values["pods"])
    if not values["amounts"]:
        return message(_DELETE, node=values["node"], list=pods)
    return message(_FREE, node=values["node"], list=pods, amounts=", ".join(values["amounts"]))


def _describe_new_node(values: dict[str, Any]) -> Message:
    if values["like"]:
        text = _GROUP if values.get("group") else _TEXTS["node"]
        return message(text, name=values["node"], node=values["like"], group=values.get("group", ""))
    amounts = ", ".join(f"{n} {name}" for name, n in values["amounts"].items() if name != "pods")
    labels = ", ".join(f"{key}={value}" for key, value in values["labels"].items())
    return message(_SMALLEST_LABELLED if labels else _SMALLEST, amounts=amounts, labels=labels)


def _build_list_describer(kind: str, field: str) -> Callable[[dict[str, Any]], Message]:
    def describe(values: dict[str, Any]) -> Message:
        rest = {name: short(each) if name == "pod" else each for name, each in values.items() if name != field}
        listed = map(short, values[field]) if field == "pods" else values[field]
        return message(_TEXTS[kind], list=", ".join(listed), **rest)

    return describe


def _ready(values: dict[str, Any]) -> Message:
    taints = values.get("taints") or ()
    if not taints or any(key.endswith(("/not-ready", "/unreachable")) for key in taints):
        return message(_TEXTS["ready"], node=values["node"])
    return message(_RELIEVED, node=values["node"], list=", ".join(dict.fromkeys(taints)))


def _describe_limit_range(values: dict[str, Any]) -> Message:
    resources = ", ".join(values["resources"])
    return message(_TEXTS["limit-range"], namespace=values["namespace"], list=resources)


def _describe_claim_class(values: dict[str, Any]) -> Message:
    text = _TEXTS["claim-class"] if values["to"] else _NO_CLASS
    return message(text, claim=short(values["claim"]), to=values["to"])


def _describe_claim(values: dict[str, Any]) -> Message:
    if "deviceClass" in values:
        return message(_DEVICE_CLAIM, claim=short(values["claim"]), name=values["deviceClass"])
    return message(_TEXTS["claim"], claim=short(values["claim"]), size=values["size"])


def _describe_namespaces(values: dict[str, Any]) -> Message:
    return message(_TEXTS["namespaces"], text=values["text"], list=", ".join(values["namespaces"]))


def _describe_move(values: dict[str, Any]) -> Message:
    pods = ", ".join(short(key) for key in values["pods"])
    return message(_TEXTS["move"], list=pods, node=values["node"], to=", ".join(values["to"]))


def _describe_priority(values: dict[str, Any]) -> Message:
    texts = (_PREEMPTS, _NEW_PREEMPTS) if values["value"] == values["from"] else (_CLASS, _NEW_CLASS)
    return message(texts[bool(values["new"])], name=values["class"], value=values["value"])


def _describe_runtime_class(values: dict[str, Any]) -> Message:
    return message(_TEXTS["runtime-class"], list=", ".join(values["labels"]), **{"class": values["class"]})


def _describe_request(values: dict[str, Any]) -> Message:
    text = _OF_CONTAINER if values.get("container") else _TEXTS["request"]
    return message(_NO_REQUEST if values["to"] == "0" else text, **values)


_SPECIAL: dict[str, Callable[[dict[str, Any]], Message]] = {
    "soften": _describe_softening,
    "free": _describe_deletion,
    "node": _describe_new_node,
    "gates": _build_list_describer("gates", "gates"),
    "port": _build_list_describer("port", "ports"),
    "without-claims": _build_list_describer("without-claims", "claims"),
    "move": _describe_move,
    "claim": _describe_claim,
    "claim-class": _describe_claim_class,
    "ready": _ready,
    "limit-range": _describe_limit_range,
    "namespaces": _describe_namespaces,
    "priority": _describe_priority,
    "runtime-class": _describe_runtime_class,
    "request": _describe_request,
    "claim-beside": lambda values: message(
        _TEXTS["claim-beside"] if values.get("ends", True) else _OWN_CLAIM,
        claim=short(values["claim"]),
        to=values["to"],
    ),
    "wait": lambda values: message(
        _ENDS if values.get("ends") else _TEXTS["wait"],
        pod=short(values["pod"]),
        time=duration(max(values.get("time", 0), SECOND)),
    ),
    "node-name": lambda values: message(
        _NODE_NAME if values.get("exists") else _TEXTS["node-name"], node=values["node"]
    ),
    **{
        kind: _build_list_describer(kind, field)
        for kind, field in (
            ("order", "containers"),
            ("pool", "nodes"),
            ("free-quota", "pods"),
            ("partner-priority", "pods"),
            ("finalizer", "finalizers"),
            ("security-context", "containers"),
        )
    },
}


def defeats(changes: list[Mapping[str, Any]]) -> list[Message]:
    """Return what the changes defeat or cost, without duplicates."""
    texts = []
    for change in changes:
        kind = change["kind"]
        text = _SOFTENED[change["values"]["what"]] if kind == "soften" else _DEFEATS.get(kind)
        if text is not None and text not in texts:
            texts.append(text)
    return [message(text) for text in texts]


def effect_sentence(effect: Mapping[str, Any]) -> Message:
    """Return a sentence about the effect on one other pod."""
    kind, text = effect["kind"], _EFFECTS[effect["kind"]]
    if kind == "replaced" and not effect["to"]:
        text = _REPLACED_WAITS
    elif kind == "evicted" and effect["by"]:
        text = _REMADE
    elif kind == "evicted" and not effect["node"]:
        text = _GONE_WAITING
    values = {name: effect[name] for name in ("node", "to")}
    return message(text, pod=short(effect["pod"]), by=short(effect["by"]), **values)


def effects_in_words(effects: list[Mapping[str, Any]]) -> list[Message]:
    """The worst first; of many pods the first few, and how many more there are."""
    lines = [effect_sentence(effect) for effect in effects[:MOST_EFFECTS]]
    if len(effects) > MOST_EFFECTS:
        lines.append(message(_MORE, n=len(effects) - MOST_EFFECTS))
    return lines


_WARNINGS = {
    "evicts-sibling": gettext_noop("Warning: another pod of the same owner loses its place."),
    "dead-node": gettext_noop("Warning: the node is not ready, so nothing would run there."),
    "shares-disk": gettext_noop("Warning: two pods would write to the same disk."),
}


def warning_of(disturbance: str) -> Message | None:
    """Return the warning about a fix that harms others in one of the worst ways."""
    text = _WARNINGS.get(disturbance)
    return None if text is None else message(text)


def describe_findings(findings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a search's findings (Findings.to_json()), each fix with its sentences."""
    fixes = [
        {
            **{name: value for name, value in fix.items() if name != "changes"},
            "lines": [sentence(change) for change in fix["changes"]],
            "defeats": defeats(fix["changes"]),
            "effects": effects_in_words(fix["effects"]),
            "warning": warning_of(fix["disturbance"]),
            "takes": duration(fix["time"]) if fix["time"] >= SECOND else "",
        }
        for fix in findings["fixes"]
    ]
    return {**findings, "name": short(findings["pod"]), "fixes": fixes}
