"""Actions on claims for devices."""

from __future__ import annotations

from playground.workbench.actions.contract import Action, Choices, Field, Subject, gettext_noop
from playground.workbench.actions.nodes import STATUSES
from scheduler_core.world.commands import ReportDeviceCondition

CLAIM = ("ResourceClaim",)


def _results(subject: Subject) -> list[dict[str, object]]:
    return list(subject.part("status", "allocation", "devices", "results") or ())


def _devices(subject: Subject) -> Choices:
    """All devices of the claim, and each."""
    names = ["/".join(str(each.get(name)) for name in ("driver", "pool", "device")) for each in _results(subject)]
    return [("", gettext_noop("all devices of the claim")), *((name, name) for name in dict.fromkeys(names))]


def _conditions(subject: Subject) -> Choices:
    """Return the binding conditions."""
    fields = ("bindingConditions", "bindingFailureConditions")
    names = [str(name) for each in _results(subject) for field in fields for name in each.get(field) or ()]  # type: ignore[attr-defined]
    return [(name, name) for name in dict.fromkeys(names)]


ACTIONS = (
    Action(
        "report-device",
        CLAIM,
        gettext_noop("Set a device condition"),
        gettext_noop("In a cluster, the device's driver does this. A binding may wait for it."),
        gettext_noop("Condition of %(name)s set."),
        lambda subject, values: ReportDeviceCondition(
            subject.key,
            values["type"],
            values["status"],
            values["device"] or "",
            values["reason"] or "",
            values["message"] or "",
        ),
        (
            Field("type", "text", gettext_noop("Condition"), required=True, choices=_conditions),
            Field("status", "choice", gettext_noop("Status"), required=True, choices=lambda subject: STATUSES),
            Field("device", "choice", gettext_noop("Device"), choices=_devices),
            Field("reason", "text", gettext_noop("Reason"), gettext_noop("one word, such as Prepared")),
            Field("message", "text", gettext_noop("Message")),
        ),
        applies=lambda subject: bool(_results(subject)),
    ),
)
