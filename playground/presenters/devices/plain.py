"""kube's refusals about devices and claims in plain words; they follow the exact text."""

from __future__ import annotations

import re

from playground.presenters.words import Message, gettext_noop, message

_EXACT = {
    "cannot allocate all claims": gettext_noop(
        "The node can't give all devices that the pod's claims ask for: they are in use, are not selected, or can't be had together."
    ),
    "resourceclaim not available on the node": gettext_noop(
        "A claim of the pod has its devices already, and they can't be reached from this node."
    ),
    "timed out trying to allocate devices": gettext_noop(
        "The search for devices on this node took longer than the plugin's filterTimeout."
    ),
    "cannot fit resource": gettext_noop(
        "The node has not enough of an extended resource, neither by itself nor by devices that stand for it."
    ),
    "cannot schedule extended resource claim": gettext_noop(
        "A claim for extended resources is left over from an earlier attempt; it is deleted first."
    ),
    "no new claims to deallocate": gettext_noop("The pod has no claim whose devices could be freed to try again."),
    "deallocation of ResourceClaim completed": gettext_noop(
        "A claim that kept the pod from other nodes has given its devices back; the next attempt may allocate it elsewhere."
    ),
    "deletion of ResourceClaim completed": gettext_noop(
        "The claim for extended resources of an earlier attempt is deleted; the next attempt makes a new one."
    ),
    "still not schedulable": gettext_noop(
        "No claim of the pod can be freed: none keeps it from nodes, or others use it."
    ),
    "device binding timeout": gettext_noop("The drivers did not report in time that the devices are ready."),
    "claim allocation not found for node": gettext_noop("Filter left no allocation for the chosen node."),
}
_SHAPES = (
    (
        r'could not find ResourceClaim "(?P<claim>[^"]+)"',
        gettext_noop("The claim %(claim)s does not exist (yet), or the scheduler has not heard of it."),
    ),
    (
        r'pod "[^"]+": ResourceClaim not created yet',
        gettext_noop("The resource claim controller has not created the pod's claim from its template yet."),
    ),
    (
        r'resourceclaim "(?P<claim>[^"]+)" is being deleted',
        gettext_noop("The claim %(claim)s is going; it can't be used any more."),
    ),
    (
        r"resource claim (?P<claim>\S+) is in the process of being allocated",
        gettext_noop("Another pod's cycle has chosen devices for the claim %(claim)s, and has not written them yet."),
    ),
    (
        r"request (?P<request>\S+): device class (?P<name>\S+) does not exist",
        gettext_noop("The claim asks for devices of the class %(name)s, which nobody has created."),
    ),
    (
        r".*ResourceClaim \S+ was not created for pod \S+ \(pod is not owner\)",
        gettext_noop("A claim of that name exists, but it was not made for this pod."),
    ),
    (
        r".*asks for all devices, but resource pool (?P<name>\S+) is currently being updated",
        gettext_noop("Not all slices of the pool %(name)s are there, so that nobody knows what all its devices are."),
    ),
    (
        r".*pool (?P<name>\S+) is invalid: duplicate device name .*",
        gettext_noop(
            "The driver has published a device of the pool %(name)s twice; kube allocates nothing while that is so."
        ),
    ),
    (
        r".*selector #\d+: CEL runtime error: (?P<error>.*)",
        gettext_noop("A CEL expression fails at a device, which ends the scheduling cycle: %(error)s"),
    ),
)


def about_devices(reason: str) -> Message | None:
    """Explain a reason about devices; None if the reason is not about devices or is plain enough."""
    if reason in _EXACT:
        return message(_EXACT[reason])
    for shape, text in _SHAPES:
        found = re.fullmatch(shape, reason)
        if found is not None:
            return message(text, **found.groupdict())
    return None
