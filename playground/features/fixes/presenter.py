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
    "scheduler": gettext_noop("Let the profile %(name)s schedule the pod: no profile has its schedulerName"),
    "profile": gettext_noop("Add the profile %(name)s, which the pod names, to the scheduler"),
    "node-name": gettext_noop(
        "Remove the nodeName %(node)s from the pod and let the scheduler choose: the node does not exist"
    ),
    "claim-name": gettext_noop("Use the claim %(to)s instead of %(from)s, which does not exist"),
    "volume-name": gettext_noop(
        "Rename the pod's volume %(from)s, for example to %(to)s: the claim %(claim)s belongs to another object"
    ),
    "unit": gettext_noop(
        "Request %(to)s cpu instead of %(from)s: without the m, the number means whole cores, and no node has that many"
    ),
    "os": gettext_noop(
        "Add the node selector kubernetes.io/os=%(os)s to the pod: the scheduler does not look at spec.os"
    ),
    "field": gettext_noop("Set %(field)s of %(owner)s to %(to)s (now %(from)s)"),
    "namespace-label": gettext_noop("Label the namespace %(namespace)s with %(list)s"),
    "toleration-effect": gettext_noop(
        "Give the pod's toleration of %(taint)s the effect %(to)s: it has the effect %(from)s"
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
    "class": gettext_noop("Create the StorageClass %(class)s, which the claim %(claim)s names"),
    "default-class": gettext_noop("Make %(class)s the default StorageClass: the claim %(claim)s names none"),
    "driver-class": gettext_noop(
        "Create the DeviceClass %(class)s, which the claim %(claim)s names, for the devices of %(driver)s"
    ),
    "volume": gettext_noop("Create a volume of %(size)s that the claim %(claim)s can bind"),
    "claim-class": gettext_noop("Recreate the claim %(claim)s with the StorageClass %(to)s"),
    "volume-label": gettext_noop("Set the label %(key)s of the volume %(volume)s to %(to)s"),
    "ready": gettext_noop("Recover %(node)s: its condition Ready is not True"),
    "capacity": gettext_noop("Increase %(resource)s of %(node)s from %(from)s to %(to)s"),
    "storage-capacity": gettext_noop(
        "Let %(driver)s publish its capacity for the StorageClass %(class)s on %(node)s: there is no CSIStorageCapacity"
    ),
    "taint-left": gettext_noop("Remove the taint %(taint)s from %(node)s. It was meant to be temporary."),
    "uncordon": gettext_noop("Uncordon %(node)s"),
    "toleration": gettext_noop("Add a toleration for the taint %(taint)s to the pod"),
    "policy": gettext_noop("Set %(field)s to %(to)s in the spread over %(key)s"),
    "match-label-keys": gettext_noop(
        "Count only pods of the same revision in the spread over %(key)s: matchLabelKeys %(label)s"
    ),
    "namespaces": gettext_noop("Extend the pod affinity to %(text)s to more namespaces: %(list)s"),
    "min-domains": gettext_noop("Lower minDomains of the spread over %(key)s from %(from)s to %(to)s"),
    "attach-limit": gettext_noop("Raise how many volumes of %(driver)s %(node)s can attach from %(from)s to %(to)s"),
    "topologies": gettext_noop("Allow the StorageClass %(class)s to provision volumes in the topology of %(node)s"),
    "release": gettext_noop("Release the volume %(volume)s: its claim %(claim)s no longer exists"),
    "quota": gettext_noop("Raise %(resource)s of the quota %(quota)s from %(from)s to %(to)s"),
    "limit-range": gettext_noop(
        "Create a LimitRange in %(namespace)s with defaults for the resources that the quota requires: %(list)s"
    ),
    "rollout": gettext_noop(
        "Let the rollout of %(deployment)s end an old pod before a new one starts: maxSurge 0, maxUnavailable 1"
    ),
    "runtime-class": gettext_noop(
        "Remove %(list)s from the node selector of the RuntimeClass %(class)s, which adds it to the pod"
    ),
    "budget": gettext_noop("Set %(field)s of the PodDisruptionBudget %(budget)s from %(from)s to %(to)s"),
    "selector-value": gettext_noop("Require nodes with %(to)s instead of %(from)s, which no node has"),
    "resource-name": gettext_noop("Request %(to)s instead of %(from)s, which no node has"),
    "term-value": gettext_noop(
        "Use %(to)s instead of %(from)s in the pod affinity: no pod has that label, and the pod itself has this one"
    ),
    "volume-labels": gettext_noop(
        "Label the volume %(volume)s with %(text)s, by which the claim %(claim)s selects volumes"
    ),
    "label": gettext_noop("Label %(node)s with %(key)s=%(value)s"),
    "unlabel": gettext_noop("Remove the label %(key)s from %(node)s"),
    "selector": gettext_noop("Remove %(text)s from the pod's node selection"),
    "skew": gettext_noop("Raise maxSkew of the spread over %(key)s from %(from)s to %(to)s"),
    "devices": gettext_noop("Request fewer devices in %(request)s of the claim %(claim)s: %(to)s instead of %(from)s"),
    "device-toleration": gettext_noop(
        "Add a toleration for the device taint %(taint)s to request %(request)s of the claim %(claim)s"
    ),
    "device-class": gettext_noop(
        "Use the device class %(to)s instead of %(from)s in request %(request)s of the claim %(claim)s"
    ),
    "device-selector": gettext_noop(
        "Remove the selector %(expression)s from request %(request)s of the claim %(claim)s"
    ),
    "device-constraint": gettext_noop("Remove the constraint on %(attribute)s from the claim %(claim)s"),
    "taint": gettext_noop("Remove the taint %(taint)s from %(node)s"),
    "port": gettext_noop("Remove the pod's host ports %(list)s"),
    "request": gettext_noop("Lower the pod's %(resource)s request from %(from)s to %(to)s"),
    "claim-size": gettext_noop("Request %(to)s instead of %(from)s in the claim %(claim)s"),
    "claim-mode": gettext_noop("Request the access mode %(to)s instead of %(from)s in the claim %(claim)s"),
    "without-claims": gettext_noop("Remove the pod's device claims: %(list)s"),
    "extender": gettext_noop("Remove the extender %(url)s from the scheduler's configuration"),
    "disable": gettext_noop("Disable the plugin %(plugin)s in the profile %(profile)s"),
    "move": gettext_noop("Move %(list)s from %(node)s to %(to)s, so that there is room for the pod"),
    "resize": gettext_noop("Lower the %(resource)s request of %(pod)s in place from %(from)s to %(to)s"),
    "claim-anew": gettext_noop("Recreate the claim %(claim)s: %(node)s cannot reach its volume %(volume)s"),
    "claim-beside": gettext_noop("Use a new claim %(to)s like %(claim)s, which is being deleted"),
    "configuration": gettext_noop("Remove %(argument)s from the arguments of %(plugin)s"),
    "node": gettext_noop("Add a node %(name)s like %(node)s"),
    "wait": gettext_noop("Wait: %(pod)s gets a place by itself after %(time)s"),
    "recreate": gettext_noop("Recreate %(pod)s: the scheduler tries a new pod immediately"),
    "old-revision": gettext_noop(
        "Delete %(pod)s: it was created from an old template, and %(owner)s waits for it before creating another pod"
    ),
    "selected-node": gettext_noop("Remove the annotation from the claim %(claim)s that ties it to the node %(node)s"),
    "order": gettext_noop("List the init containers in this order: %(list)s"),
    "own-claim": gettext_noop(
        "Give the pod a claim of its own, by the template %(template)s, in place of the claim %(claim)s that others use"
    ),
    "pool": gettext_noop("Give each of the nodes %(list)s a pool of its own in place of the pool %(pool)s"),
    "node-selector": gettext_noop(
        "Select the node %(node)s with a nodeSelector instead of nodeName, so that a scheduler places the pod"
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
        "Lower the partition of the StatefulSet %(owner)s from %(from)s to %(to)s, so that the update continues"
    ),
    "next-revision": gettext_noop("Delete %(pod)s: only then %(owner)s recreates it from the new template"),
    "undo": gettext_noop("Undo the rollout of %(owner)s: the previous revision gets its pods back"),
    "delete-job": gettext_noop("Delete the Job %(job)s, which keeps the CronJob %(owner)s from its next one"),
    "runtime-class-name": gettext_noop("Use the RuntimeClass %(to)s instead of %(from)s, which does not exist"),
    "priority-class-left": gettext_noop("Remove the PriorityClass %(class)s from the template"),
    "parallel": gettext_noop(
        "Recreate the StatefulSet %(owner)s with podManagementPolicy Parallel: no pod waits for the previous one"
    ),
    "job-anew": gettext_noop("Recreate the Job %(job)s with %(field)s %(to)s: it has used up %(from)s"),
    "recreate-strategy": gettext_noop(
        "Give %(owner)s the strategy Recreate: its old pods end before the new ones start"
    ),
    "failure-rule": gettext_noop("Recreate the Job %(job)s without its podFailurePolicy: a rule of it ended the Job"),
    "left-to-admission": gettext_noop("Take %(field)s out of the template: admission writes it"),
    "resume": gettext_noop("Resume %(owner)s, which is paused or suspended"),
    "limits": gettext_noop("Set %(field)s of %(resource)s of the container %(container)s to %(to)s"),
    "retry": gettext_noop("Make the controller of %(owner)s retry now by changing an annotation"),
    "quota-scope": gettext_noop("Create a quota in %(namespace)s that allows pods of the PriorityClass %(class)s"),
    "unready-eviction": gettext_noop(
        "Let the PodDisruptionBudget %(budget)s evict pods that are not ready: unhealthyPodEvictionPolicy AlwaysAllow"
    ),
    "one-budget": gettext_noop("Delete the PodDisruptionBudget %(budget)s: another one covers the same pods"),
    "replicas": gettext_noop("Scale %(owner)s to replicas: %(to)s (now %(from)s)"),
    "namespace-selector": gettext_noop("Extend the pod anti-affinity to all namespaces: namespaceSelector {}"),
    "force-delete": gettext_noop("Force the deletion of %(pod)s, which is terminating on %(node)s"),
    "delete": gettext_noop("Delete %(pod)s"),
    "free-quota": gettext_noop("Delete %(list)s, which the quota %(quota)s counts"),
    "out-of-service": gettext_noop("Taint %(node)s as out of service to release its pods and volumes"),
    "no-execute": gettext_noop("Taint %(node)s with %(taint)s, which evicts pods that do not tolerate it"),
    "partner-priority": gettext_noop(
        "Also set the PriorityClass %(class)s of %(list)s: the pod must run near them, so preemption must "
        "not delete them"
    ),
    "remove-node": gettext_noop("Delete the node %(node)s, whose machine no longer exists"),
    "finalizer": gettext_noop("Remove the finalizers from %(pod)s: %(list)s"),
}
_OWN_CLAIM = gettext_noop("Have the pod use a new claim %(to)s like %(claim)s, which another pod uses")
_MEMORY_UNIT = gettext_noop(
    "Set memory of the container %(container)s to %(to)s instead of %(from)s: with the m, the number means thousandths of a byte"
)
_WITH_CLASS = gettext_noop("Recreate %(pod)s: the new pod gets the priority that its PriorityClass %(class)s has now")
_NO_CLASS = gettext_noop("Recreate the claim %(claim)s without a StorageClass")
_DEVICE_CLAIM = gettext_noop("Create the claim %(claim)s for a device of the class %(name)s")
_RELIEVED = gettext_noop("Clear the cause of %(list)s on %(node)s, which also removes the taint")
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
_NODE_NAME = gettext_noop("Remove the nodeName %(node)s from the pod and let the scheduler choose")
_NO_REQUEST = gettext_noop("Remove the request for %(from)s %(resource)s")
_ENDS = gettext_noop("Wait: %(pod)s ends by itself after %(time)s")
_FREE = gettext_noop("Free %(amounts)s on %(node)s: delete %(list)s")
_DELETE = gettext_noop("Delete %(list)s from %(node)s to make room for the pod")
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
    "delete": gettext_noop("The pod's work in progress is lost."),
    "remove-node": gettext_noop("All pods on the node are deleted."),
    "finalizer": gettext_noop("The resources that the finalizer cleans up are left behind."),
    "unready-eviction": gettext_noop("Pods that are only starting may be evicted as well."),
    "one-budget": gettext_noop("Pods protected only by that budget lose their protection."),
    "replicas": gettext_noop("No pod is affected. One more pod uses resources."),
    "free-quota": gettext_noop("The work of the deleted pods is not done."),
    "no-execute": gettext_noop("Every other pod there without a toleration is evicted, too."),
    "partner-priority": gettext_noop("The pods that get the class are restarted."),
    "scheduler": gettext_noop("The rules of its own scheduler do not apply."),
    "gates": gettext_noop("A scheduling gate still holds the pod."),
    "taint-left": gettext_noop(
        "If the component that set the taint still runs, the taint returns or the node is removed."
    ),
    "uncordon": gettext_noop("The node was cordoned, perhaps for maintenance."),
    "toleration": gettext_noop("The taint is meant to repel pods like this one."),
    "namespace-label": gettext_noop("Other objects may select the namespace by this label, too."),
    "label": gettext_noop("The label must be true of the node: other pods select by it, too."),
    "node": gettext_noop("No pod is affected. You pay for one more node."),
    "request": gettext_noop("The pod may need its full request. With less, it may slow down or be killed."),
    "without-claims": gettext_noop("The pod gets less than its owner requested."),
    "devices": gettext_noop("The pod gets less than its owner requested."),
    "port": gettext_noop("The pod can no longer be reached at these ports of its node."),
    "fewer-replicas": gettext_noop("Fewer pods run than the owner of the workload wanted."),
    "failure-policy": gettext_noop("Objects that the webhook would refuse are let in while it does not answer."),
    "topology": gettext_noop("The rule then holds for other sets of nodes than its owner wanted."),
    "runtime-class-left": gettext_noop("The containers run without the isolation that the RuntimeClass gives."),
    "overhead": gettext_noop("Every pod of the class is counted with less than its sandbox may use."),
    "limit-range-bound": gettext_noop("Every pod of the namespace may then request as much."),
    "claim-size": gettext_noop("The volume may fill up sooner."),
    "delete-job": gettext_noop("The unfinished work of the Job is lost."),
    "security-level": gettext_noop("Every pod of the namespace then has the permissions of this level."),
    "runtime-class": gettext_noop("Pods of this class may land on nodes that its author excluded."),
    "budget": gettext_noop("Fewer of its pods may be available than intended."),
    "move": gettext_noop("The pods that move are restarted."),
    "resize": gettext_noop("The other pod may need its full request."),
    "free": gettext_noop("A deleted pod returns only if a controller recreates it and it fits elsewhere."),
    "priority": gettext_noop("The pod can preempt lower-priority pods, now and whenever resources are short."),
    "skew": gettext_noop("The pods are spread less evenly than intended."),
    "min-domains": gettext_noop("The pods are spread over fewer domains than intended."),
    "limit-range": gettext_noop("It applies to every pod created in the namespace from then on."),
    "rollout": gettext_noop("During the rollout, there is one replica less."),
    "match-label-keys": gettext_noop("During the rollout, old and new pods together are spread less evenly."),
    "quota": gettext_noop("The namespace may use more than its administrator allowed."),
    "unlabel": gettext_noop("Other pods may select nodes by this label."),
    "volume-label": gettext_noop("The label does not change the real location of the volume."),
    "taint": gettext_noop("Every other pod can then be scheduled to the node, too."),
    "claim-anew": gettext_noop("The data on the old volume is not on the new one."),
    "claim-beside": gettext_noop("The data on the old volume is not on the new one."),
    "resource-name": gettext_noop("The other name may mean a larger, smaller, or shared resource."),
    "selector": gettext_noop("The pod may land on nodes that its owner excluded."),
    "release": gettext_noop("The new claim sees the data that the old claim left on the volume."),
    "extender": gettext_noop("Its checks no longer run, for any pod."),
    "disable": gettext_noop("Its checks no longer run, for any pod."),
    "configuration": gettext_noop("It applies to all pods of the profile."),
}
_SOFTENED = {
    "spread": gettext_noop("All replicas may land in one domain and fail with it."),
    "nodeAffinity": gettext_noop("The pod may land on nodes that its owner excluded."),
    "podAffinity": gettext_noop("The pod may run far from the pods that it should be near."),
    "podAntiAffinity": gettext_noop("Pods that should be kept apart may share a node and fail with it."),
}

_EFFECTS = {
    "violates": gettext_noop("%(pod)s is evicted, although its PodDisruptionBudget allows no further disruption"),
    "evicted": gettext_noop("%(pod)s is removed from %(node)s and not recreated"),
    "pending": gettext_noop("%(pod)s must wait. Without this change, it would run on %(node)s"),
    "replaced": gettext_noop("%(pod)s is deleted from %(node)s, and %(by)s replaces it on %(to)s"),
    "moves": gettext_noop("%(pod)s lands on %(to)s instead of %(node)s"),
    "placed": gettext_noop("%(pod)s also lands on %(to)s"),
}
_REPLACED_WAITS = gettext_noop("%(pod)s is deleted from %(node)s, and its replacement %(by)s must wait")
_REMADE = gettext_noop("%(pod)s is removed from %(node)s, and %(by)s creates another pod")
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
        if isinstance(rest.get("to"), list):
            rest["to"] = ", ".join(rest["to"])
        return message(_TEXTS[kind], list=", ".join(listed), **rest)

    return describe


def _ready(values: dict[str, Any]) -> Message:
    taints = values.get("taints") or ()
    if not taints or any(key.endswith(("/not-ready", "/unreachable")) for key in taints):
        return message(_TEXTS["ready"], node=values["node"])
    return message(_RELIEVED, node=values["node"], list=", ".join(dict.fromkeys(taints)))


def _describe_claim_class(values: dict[str, Any]) -> Message:
    text = _TEXTS["claim-class"] if values["to"] else _NO_CLASS
    return message(text, claim=short(values["claim"]), to=values["to"])


def _describe_claim(values: dict[str, Any]) -> Message:
    if "deviceClass" in values:
        return message(_DEVICE_CLAIM, claim=short(values["claim"]), name=values["deviceClass"])
    return message(_TEXTS["claim"], claim=short(values["claim"]), size=values["size"])


def _describe_priority(values: dict[str, Any]) -> Message:
    texts = (_PREEMPTS, _NEW_PREEMPTS) if values["value"] == values["from"] else (_CLASS, _NEW_CLASS)
    return message(texts[bool(values["new"])], name=values["class"], value=values["value"])


def _describe_request(values: dict[str, Any]) -> Message:
    text = _OF_CONTAINER if values.get("container") else _TEXTS["request"]
    return message(_NO_REQUEST if values["to"] == "0" else text, **values)


_SPECIAL: dict[str, Callable[[dict[str, Any]], Message]] = {
    "soften": _describe_softening,
    "free": _describe_deletion,
    "node": _describe_new_node,
    "unit": lambda values: message(_MEMORY_UNIT if values.get("container") else _TEXTS["unit"], **values),
    "claim": _describe_claim,
    "claim-class": _describe_claim_class,
    "ready": _ready,
    "priority": _describe_priority,
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
    "recreate": lambda values: message(
        _WITH_CLASS if values.get("class") else _TEXTS["recreate"], **{**values, "pod": short(values["pod"])}
    ),
    "node-name": lambda values: message(
        _NODE_NAME if values.get("exists") else _TEXTS["node-name"], node=values["node"]
    ),
    **{
        kind: _build_list_describer(kind, field)
        for kind, field in (
            ("gates", "gates"),
            ("port", "ports"),
            ("without-claims", "claims"),
            ("limit-range", "resources"),
            ("namespaces", "namespaces"),
            ("move", "pods"),
            ("runtime-class", "labels"),
            ("namespace-label", "labels"),
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
    "evicts-sibling": gettext_noop("Warning: another pod of the same owner is removed."),
    "dead-node": gettext_noop("Warning: the node is not ready, so no pod would run there."),
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
