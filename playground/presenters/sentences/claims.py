"""What a call of the scheduler does to a claim for devices, in one sentence."""

from __future__ import annotations

from playground.presenters.scene import short
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.base.trace.kinds import ApiCall

_DONE = {
    ("protected",): gettext_noop("%(claim)s gets the scheduler's finalizer before its allocation for %(pod)s"),
    ("unprotected",): gettext_noop("%(claim)s loses the scheduler's finalizer"),
    ("allocated", "reserved"): gettext_noop("%(claim)s is allocated %(devices)s and reserved for %(pod)s"),
    ("reserved",): gettext_noop("%(claim)s is also reserved for %(pod)s"),
    ("released",): gettext_noop("%(claim)s is no longer reserved for %(pod)s"),
    ("deallocated",): gettext_noop("%(claim)s is deallocated before a new allocation for %(pod)s: %(devices)s free"),
}
_FAILED = {
    ("protected",): gettext_noop("%(claim)s does not get the scheduler's finalizer for %(pod)s: %(message)s"),
    ("unprotected",): gettext_noop("%(claim)s keeps the scheduler's finalizer: %(message)s"),
    ("allocated", "reserved"): gettext_noop("%(claim)s is not allocated %(devices)s for %(pod)s: %(message)s"),
    ("reserved",): gettext_noop("%(claim)s is not reserved for %(pod)s: %(message)s"),
    ("released",): gettext_noop("%(claim)s stays reserved for %(pod)s: %(message)s"),
    ("deallocated",): gettext_noop("%(claim)s is not deallocated for %(pod)s: %(message)s"),
}
_ANY = gettext_noop("%(claim)s for %(pod)s: %(effects)s")
_ANY_FAILED = gettext_noop("%(claim)s for %(pod)s, %(effects)s, fails: %(message)s")


def of_claim_call(call: ApiCall, pod: str) -> Message:
    failed = call.error or call.fault
    effects = tuple(call.effects or ())
    text = _FAILED.get(effects, _ANY_FAILED) if failed else _DONE.get(effects, _ANY)
    return message(
        text,
        claim=short(call.object.removesuffix("/status")),
        pod=pod,
        devices=", ".join(each.rpartition("/")[2] for each in call.devices or ()) or "–",
        effects=", ".join(effects),
        message=failed,
    )
