"""What can be done to nodes, as kubectl does it; and what their kubelets are made to do."""

from __future__ import annotations

from typing import Any

from playground.workbench.actions.contract import Action, Choices, Field, Patch, Patching, Subject, Values, gettext_noop
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
    Action(
        "cordon",
        NODE,
        gettext_noop("Cordon"),
        gettext_noop("The scheduler places no new pods here. Running pods stay."),
        gettext_noop("%(name)s is cordoned."),
        Patching(_unschedulable(True)),
        applies=lambda subject: not _is_cordoned(subject),
        letter="c",
        icon="cordon",
    ),
    Action(
        "uncordon",
        NODE,
        gettext_noop("Uncordon"),
        gettext_noop("The scheduler can place pods here again."),
        gettext_noop("%(name)s is uncordoned."),
        Patching(_unschedulable(None)),
        applies=_is_cordoned,
        letter="c",
        icon="cordon",
    ),
    Action(
        "drain",
        NODE,
        gettext_noop("Drain"),
        gettext_noop(
            "Cordons the node and requests the eviction of its pods. A request that a disruption budget refuses "
            "is repeated every 5 s."
        ),
        gettext_noop("%(name)s is being drained."),
        _drain,
        (
            Field(
                "ignore_daemon_sets",
                "flag",
                gettext_noop("Ignore the pods of DaemonSets"),
                gettext_noop("--ignore-daemonsets: without this flag, one such pod is an error"),
            ),
            Field(
                "force",
                "flag",
                gettext_noop("Evict pods without a controller"),
                gettext_noop("--force: without this flag, one such pod is an error"),
            ),
            Field(
                "delete_empty_dir_data",
                "flag",
                gettext_noop("Evict pods with data in an emptyDir"),
                gettext_noop("--delete-emptydir-data: without this flag, one such pod is an error"),
            ),
            Field(
                "grace_period_seconds",
                "number",
                gettext_noop("Grace period in seconds"),
                gettext_noop("empty: the pod's own grace period"),
            ),
        ),
        danger=True,
        letter="d",
        icon="down",
    ),
    Action(
        "cancel-drain",
        NODE,
        gettext_noop("Stop the drain"),
        gettext_noop("Same as Ctrl-C in kubectl drain: no more evictions are requested, and the node stays cordoned."),
        gettext_noop("The drain of %(name)s is stopped."),
        lambda subject, values: CancelDrain(subject.name),
        applies=lambda subject: subject.draining,
    ),
)
TAINT = Action(
    "taint",
    NODE,
    gettext_noop("Taint"),
    gettext_noop("Pods that do not tolerate the taint are not scheduled here, or are evicted."),
    gettext_noop("Taint added to %(name)s."),
    Patching(_taint),
    (
        Field(
            "key",
            "text",
            gettext_noop("Key"),
            gettext_noop("such as dedicated"),
            required=True,
            choices=_used("taint keys"),
        ),
        Field("value", "text", gettext_noop("Value"), gettext_noop("optional"), choices=_used("taint values")),
        Field(
            "effect",
            "choice",
            gettext_noop("Effect"),
            gettext_noop("replaces a taint with the same key and effect"),
            True,
            choices=lambda subject: EFFECTS,
        ),
        Field("replaces", "choice", gettext_noop("Replaces"), choices=_list_replaceable_taints),
    ),
    letter="t",
    icon="taint",
)
UNTAINT = Action(
    "untaint",
    NODE,
    gettext_noop("Untaint"),
    gettext_noop("Removes a taint and cancels the evictions that it caused."),
    gettext_noop("Taint removed from %(name)s."),
    Patching(_untaint),
    (Field("taint", "choice", gettext_noop("Taint"), required=True, choices=_present_taints),),
    applies=lambda subject: bool(taints_of(subject)),
    icon="taint",
)
KUBELETS = (
    Action(
        "stop-kubelet",
        NODE,
        gettext_noop("Stop the kubelet"),
        gettext_noop(
            "The kubelet stops renewing its Lease and starting or stopping pods. Containers keep running. After "
            "node-monitor-grace-period the node is Unknown."
        ),
        gettext_noop("Kubelet of %(name)s stopped."),
        lambda subject, values: SetKubelet(subject.name, False),
        applies=lambda subject: subject.kubelet_runs,
        danger=True,
    ),
    Action(
        "start-kubelet",
        NODE,
        gettext_noop("Start the kubelet"),
        gettext_noop("The kubelet reports again and catches up."),
        gettext_noop("Kubelet of %(name)s started."),
        lambda subject, values: SetKubelet(subject.name, True),
        applies=lambda subject: not subject.kubelet_runs,
    ),
    Action(
        "report",
        NODE,
        gettext_noop("Set a condition"),
        gettext_noop("From now on the kubelet or a node problem detector reports this condition."),
        gettext_noop("Condition of %(name)s set."),
        lambda subject, values: ReportCondition(
            subject.name, values["type"], values["status"], values["reason"], values["message"]
        ),
        (
            Field("type", "text", gettext_noop("Condition"), required=True, choices=_conditions),
            Field("status", "choice", gettext_noop("Status"), required=True, choices=lambda subject: STATUSES),
            Field("reason", "text", gettext_noop("Reason"), gettext_noop("one word, such as KernelDeadlock")),
            Field("message", "text", gettext_noop("Message")),
        ),
    ),
)
