"""What can be done to nodes, as kubectl does it; and what their kubelets are made to do."""

from typing import Any

from playground.workbench.actions.contract import Choices, Patch, Patching, Subject, Values, gettext_noop, read_action
from scheduler_core.world.commands import CancelDrain, Command, DrainNode, ReportCondition, SetKubelet

# A node that fails: its kubelet stops, or reports that something is wrong; and that it is well again.

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


FAILURES = (
    read_action("fail", ("Node",), _fail, fields={"how": {"choices": lambda subject: WAYS}}),
    read_action(
        "recover",
        ("Node",),
        _recover,
        applies=lambda subject: bool(_wrong(subject)),
        fields={"what": {"choices": _wrong}},
    ),
)


NODE = ("Node",)
EFFECTS = (
    ("NoSchedule", gettext_noop("NoSchedule: no new pods")),
    ("PreferNoSchedule", gettext_noop("PreferNoSchedule: avoid new pods")),
    ("NoExecute", gettext_noop("NoExecute: evict pods that do not tolerate the taint")),
)
STATUSES = (("True", "True"), ("False", "False"), ("Unknown", "Unknown"))
CONDITIONS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")


def _is_cordoned(subject: Subject) -> bool:
    return bool(subject.part("spec", "unschedulable"))


def taints_of(subject: Subject) -> list[dict[str, Any]]:
    return [dict(taint) for taint in subject.part("spec", "taints") or ()]


def format_taint(taint: dict[str, Any]) -> str:
    """Format a taint for kubectl."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"


def _unschedulable(value: bool | None) -> Any:
    return lambda subject, values: {"spec": {"unschedulable": value}}


def _used(name: str) -> Any:
    """Suggest the values that are already in use."""
    return lambda subject: [(each, each) for each in subject.used.get(name, ())]


def _drain(subject: Subject, values: Values) -> DrainNode:
    return DrainNode(subject.name, **values)


def _taint(subject: Subject, values: Values) -> Patch:
    """A taint of the same key and effect is replaced, as with --overwrite; so is the one that it takes the place of."""
    new = {name: values[name] for name in ("key", "value", "effect") if values[name]}
    same = (new["key"], new["effect"])
    kept = [
        taint
        for taint in taints_of(subject)
        if (taint.get("key"), taint.get("effect")) != same and format_taint(taint) != values["replaces"]
    ]
    return {"spec": {"taints": [new, *kept]}}


def _untaint(subject: Subject, values: Values) -> Patch:
    kept = [taint for taint in taints_of(subject) if format_taint(taint) != values["taint"]]
    return {"spec": {"taints": kept or None}}


def _list_replaceable_taints(subject: Subject) -> Choices:
    return [("", gettext_noop("nothing (add)")), *_present_taints(subject)]


def _present_taints(subject: Subject) -> Choices:
    return [(format_taint(taint), format_taint(taint)) for taint in taints_of(subject)]


def _conditions(subject: Subject) -> Choices:
    return [(name, name) for name in CONDITIONS]


CORDONS = (
    read_action("cordon", NODE, Patching(_unschedulable(True)), applies=lambda subject: not _is_cordoned(subject)),
    read_action("uncordon", NODE, Patching(_unschedulable(None)), applies=_is_cordoned),
    read_action("drain", NODE, _drain),
    read_action(
        "cancel-drain",
        NODE,
        lambda subject, values: CancelDrain(subject.name),
        applies=lambda subject: subject.draining,
    ),
)
TAINT = read_action(
    "taint",
    NODE,
    Patching(_taint),
    fields={
        "key": {"choices": _used("taint keys")},
        "value": {"choices": _used("taint values")},
        "effect": {"choices": lambda subject: EFFECTS},
        "replaces": {"choices": _list_replaceable_taints},
    },
)
UNTAINT = read_action(
    "untaint",
    NODE,
    Patching(_untaint),
    applies=lambda subject: bool(taints_of(subject)),
    fields={"taint": {"choices": _present_taints}},
)
KUBELETS = (
    read_action(
        "stop-kubelet",
        NODE,
        lambda subject, values: SetKubelet(subject.name, False),
        applies=lambda subject: subject.kubelet_runs,
    ),
    read_action(
        "start-kubelet",
        NODE,
        lambda subject, values: SetKubelet(subject.name, True),
        applies=lambda subject: not subject.kubelet_runs,
    ),
    read_action(
        "report",
        NODE,
        lambda subject, values: ReportCondition(
            subject.name, values["type"], values["status"], values["reason"], values["message"]
        ),
        fields={"type": {"choices": _conditions}, "status": {"choices": lambda subject: STATUSES}},
    ),
)
