"""kube's refusals in plain words. The exact text always stands first; this is what follows it."""

from __future__ import annotations

from playground.presenters.devices.plain import about_devices
from playground.presenters.words import Message, gettext_noop, message

_EXACT = {
    "Too many pods": gettext_noop("The node already runs as many pods as its kubelet allows."),
    "node(s) were unschedulable": gettext_noop("The node is cordoned and the pod does not tolerate it."),
    "node(s) didn't match Pod's node affinity/selector": gettext_noop(
        "The node's labels do not match the pod's nodeSelector or required node affinity."
    ),
    "node(s) didn't match the requested node name": gettext_noop("The pod's nodeName names another node."),
    "node(s) didn't have free ports for the requested pod ports": gettext_noop(
        "Another pod on the node already uses a host port that the pod needs."
    ),
    "node(s) didn't match scheduler-enforced node affinity": gettext_noop(
        "The addedAffinity of the profile excludes this node."
    ),
    "no nodes available to schedule pods": gettext_noop("The cluster has no node yet."),
}
_FREE = gettext_noop("The node has less free %(resource)s than the pod requests.")
_TAINT = gettext_noop("The node has the taint %(taint)s, which the pod does not tolerate.")
_GATE = gettext_noop("The pod has a scheduling gate. It enters the queue once the gate is removed.")


def in_plain_words(reason: str) -> Message | None:
    """Explain one of kube's reasons; None if its own text is plain enough."""
    if reason in _EXACT:
        return message(_EXACT[reason])
    if reason.startswith("Insufficient "):
        return message(_FREE, resource=reason.removeprefix("Insufficient "))
    head, _, taint = reason.partition("untolerated taint ")
    if taint and head == "node(s) had ":
        return message(_TAINT, taint=taint)
    if "scheduling gates" in reason:
        return message(_GATE)
    return about_devices(reason)
