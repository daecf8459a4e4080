"""A node that fails: its kubelet stops, or reports that something is wrong; and that it is well again."""

from __future__ import annotations

from playground.workbench.actions.contract import Action, Choices, Field, Subject, Values, gettext_noop
from scheduler_core.world.commands import Command, ReportCondition, SetKubelet

KUBELET, READY = "kubelet", "Ready"
WAYS = (
    (KUBELET, gettext_noop("Stop the kubelet: Unknown after node-monitor-grace-period")),
    (READY, gettext_noop("NotReady: the kubelet reports Ready=False")),
    ("MemoryPressure", "MemoryPressure"),
    ("DiskPressure", "DiskPressure"),
    ("PIDPressure", "PIDPressure"),
    ("NetworkUnavailable", "NetworkUnavailable"),
)
_BACK = {KUBELET: gettext_noop("Start the kubelet again"), READY: gettext_noop("Ready")}


def _fail(subject: Subject, values: Values) -> Command:
    what = values["how"]
    if what == KUBELET:
        return SetKubelet(subject.name, False)
    if what == READY:
        return ReportCondition(subject.name, READY, "False", "KubeletNotReady", "the container runtime is down")
    return ReportCondition(subject.name, what, "True")


def _recover(subject: Subject, values: Values) -> Command:
    what = values["what"]
    if what == KUBELET:
        return SetKubelet(subject.name, True)
    return ReportCondition(subject.name, what, "True" if what == READY else "False")


def _wrong(subject: Subject) -> Choices:
    """Return the current failures of a node."""
    stopped = [] if subject.kubelet_runs else [KUBELET]
    conditions = subject.part("status", "conditions") or ()
    reported = [
        each["type"]
        for each in conditions
        if (each.get("status") == "False") == (each.get("type") == READY)
        and each.get("status") != "Unknown"
        and each.get("type") in dict(WAYS)
    ]
    return [(what, _BACK.get(what, what)) for what in (*stopped, *reported)]


ACTIONS = (
    Action(
        "fail",
        ("Node",),
        gettext_noop("Fail"),
        gettext_noop("Makes the node fail. Controllers then taint the node and evict its pods."),
        gettext_noop("%(name)s fails."),
        _fail,
        (Field("how", "choice", gettext_noop("Failure"), required=True, choices=lambda subject: WAYS),),
        danger=True,
        letter="x",
        icon="fail",
    ),
    Action(
        "recover",
        ("Node",),
        gettext_noop("Recover"),
        gettext_noop("Ends the failure."),
        gettext_noop("%(name)s recovers."),
        _recover,
        (Field("what", "choice", gettext_noop("Recovery"), required=True, choices=_wrong),),
        applies=lambda subject: bool(_wrong(subject)),
        letter="o",
        icon="restart",
    ),
)
