"""What can be done to nodes, as kubectl does it; and what their kubelets are made to do."""

from collections.abc import Mapping
from typing import Any

from playground.workbench.actions.contract import (
    WORKLOADS,
    Choices,
    Patch,
    Patching,
    Subject,
    Values,
    Wrong,
    gettext_noop,
    labels,
    read_action,
)
from scheduler_core.world.commands import CancelDrain, Command, DrainNode, ReportCondition, SetKubelet, SetUsage
from scheduler_core.world.readonly import parse_duration

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


SECOND = 1_000_000_000
Entry = dict[str, Any]


def clock(nanoseconds: int) -> str:
    """A virtual time or duration as entries and rules write it: seconds."""
    seconds, rest = divmod(nanoseconds, SECOND)
    return f"{seconds}.{rest:09d}".rstrip("0") + "s" if rest else f"{seconds}s"


def present(subject: Subject) -> Entry:
    """Return the usage entry of a pod or node now: later entries override earlier ones, field by field."""
    held = [each for each in subject.usage if _about(each) == _thing(subject) and _at(each) <= subject.now]
    uses: Entry = {}
    for entry in sorted(held, key=_at):
        for name, value in entry.items():
            before = uses.get(name)
            merged = isinstance(value, Mapping) and isinstance(before, Mapping)
            uses[name] = {**(before or {}), **value} if merged else value
    return {name: value for name, value in uses.items() if name not in ("at", *_thing(subject)[:1])}


def _thing(subject: Subject) -> tuple[str, str]:
    """Return an entry's key and value for the object; workload pods by their labels."""
    if subject.kind == "Node":
        return "node", subject.name
    return ("pod", subject.key) if subject.kind == "Pod" else ("podLabel", labels(subject, ","))


def _about(entry: Mapping[str, Any]) -> tuple[str, Any]:
    return next(((name, entry[name]) for name in ("node", "pod", "podLabel") if name in entry), ("", ""))


def _at(entry: Mapping[str, Any]) -> int:
    try:
        return parse_duration(str(entry.get("at", "0s")))
    except ValueError:
        return 0


def _with(subject: Subject, uses: Entry) -> SetUsage:
    """All entries, with one more of what differs for this pod or node from now on."""
    what, name = _thing(subject)
    before = present(subject)
    given = {key: value for key, value in uses.items() if value not in ("", None, {}, before.get(key))}
    if not given:
        raise Wrong("", gettext_noop("No changes."))
    return SetUsage((*subject.usage, {"at": clock(subject.now), what: name, **given}))


def _pod(subject: Subject, values: Values) -> SetUsage:
    return _with(subject, {name: values[name] for name in _POD})


def _node(subject: Subject, values: Values) -> SetUsage:
    uses = {name: values[name] for name in ("memory", "pids", "pidMax", "unusedImages")}
    uses |= {disk: _pair(values, disk, "capacity", "used") for disk in ("nodefs", "imagefs")}
    return _with(subject, uses | {"inodes": _pair(values, "inodes", "total", "used")})


def _pair(values: Values, of: str, *names: str) -> Entry:
    pairs = ((name, values[f"{of}_{name}"]) for name in names)
    return {name: value for name, value in pairs if value not in ("", None)}


def _measure(name: str, part: str = "") -> Any:
    """Return a field's initial value: the present usage."""

    def initial(subject: Subject) -> Any:
        value = present(subject).get(name)
        return value.get(part) if part and isinstance(value, Mapping) else None if part else value

    return initial


def _volumes(subject: Subject) -> str:
    return ", ".join(f"{name}={size}" for name, size in (present(subject).get("volumes") or {}).items())


_POD = ("memory", "rootfs", "logs", "volumes", "inodes", "pids")
_POD_FIELDS = {**{name: {"initial": _measure(name)} for name in _POD}, "volumes": {"initial": _volumes}}
_NODE_FIELDS = (
    "memory",
    "nodefs_used",
    "nodefs_capacity",
    "imagefs_used",
    "imagefs_capacity",
    "unusedImages",
    "inodes_used",
    "inodes_total",
    "pids",
    "pidMax",
)
POD_USAGE = read_action("use-pod", ("Pod",), _pod, fields=_POD_FIELDS)
WORKLOAD_USAGE = read_action(
    "use-workload", WORKLOADS, _pod, applies=lambda subject: bool(labels(subject)), fields=_POD_FIELDS
)
NODE_USAGE = read_action(
    "use-node", ("Node",), _node, fields={name: {"initial": _measure(*name.split("_"))} for name in _NODE_FIELDS}
)
