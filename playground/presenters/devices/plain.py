"""kube's refusals about devices and claims in plain words; they follow the exact text."""

from __future__ import annotations

import re

from playground.presenters.words import Message, gettext_noop, message

_EXACT = {
    "cannot allocate all claims": gettext_noop(
        "The node cannot provide all devices that the pod's claims request: they are in use, not selected, "
        "or do not fit together."
    ),
    "resourceclaim not available on the node": gettext_noop(
        "A claim of the pod already has its devices, and this node cannot reach them."
    ),
    "timed out trying to allocate devices": gettext_noop(
        "The search for devices on this node took longer than the plugin's filterTimeout."
    ),
    "cannot fit resource": gettext_noop(
        "The node does not have enough of an extended resource, neither directly nor through devices."
    ),
    "cannot schedule extended resource claim": gettext_noop(
        "A claim for extended resources is left over from an earlier attempt. It is deleted first."
    ),
    "no new claims to deallocate": gettext_noop("The pod has no claim whose devices could be freed to try again."),
    "deallocation of ResourceClaim completed": gettext_noop(
        "A claim that restricted the pod's nodes has freed its devices. The next attempt can allocate others."
    ),
    "deletion of ResourceClaim completed": gettext_noop(
        "The claim for extended resources of an earlier attempt is deleted. The next attempt creates another one."
    ),
    "still not schedulable": gettext_noop(
        "No claim of the pod can be freed: no claim restricts the nodes, or other pods use it."
    ),
    "invalid resource pools were encountered": gettext_noop(
        "No device suits, and a driver published at least one pool with an error, such as two devices of one name."
    ),
    "device binding timeout": gettext_noop("The drivers did not report in time that the devices are ready."),
    "claim allocation not found for node": gettext_noop("Filter left no allocation for the chosen node."),
}
_SHAPES = (
    (
        r'could not find ResourceClaim "(?P<claim>[^"]+)"',
        gettext_noop("The claim %(claim)s does not exist yet, or the scheduler has not received it."),
    ),
    (
        r'pod "[^"]+": ResourceClaim not created yet',
        gettext_noop("The resource claim controller has not created the pod's claim from its template yet."),
    ),
    (
        r'resourceclaim "(?P<claim>[^"]+)" is being deleted',
        gettext_noop("The claim %(claim)s is being deleted and can no longer be used."),
    ),
    (
        r"resource claim (?P<claim>\S+) is in the process of being allocated",
        gettext_noop(
            "The cycle of another pod has chosen devices for the claim %(claim)s and has not written them yet."
        ),
    ),
    (
        r"request (?P<request>\S+): device class (?P<name>\S+) does not exist",
        gettext_noop("The claim requests devices of the class %(name)s, which does not exist."),
    ),
    (
        r".*ResourceClaim \S+ was not created for pod \S+ \(pod is not owner\)",
        gettext_noop("A claim of that name exists, but it was created for another pod."),
    ),
    (
        r".*asks for all devices, but resource pool (?P<name>\S+) is currently being updated",
        gettext_noop("Some slices of the pool %(name)s are missing, so its devices are not fully known."),
    ),
    (
        r".*pool (?P<name>\S+) is invalid: duplicate device name .*",
        gettext_noop(
            "The driver published a device of the pool %(name)s twice. Until this is fixed, kube allocates no device."
        ),
    ),
    (
        r".*selector #\d+: CEL runtime error: (?P<error>.*)",
        gettext_noop("A CEL expression fails for a device, which ends the scheduling cycle: %(error)s"),
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
