"""Actions on nodes, as kubectl performs them, and on their kubelets."""

from collections.abc import Mapping
from typing import Any

from playground.workbench.actions.contract import (
    Choices,
    Code,
    Patch,
    Patching,
    Subject,
    Values,
    Wrong,
    gettext_noop,
    labels,
)
from scheduler_core.world.commands import CancelDrain, Command, DrainNode, ReportCondition, SetKubelet, SetUsage
from scheduler_core.world.readonly import parse_duration

# A node that fails: its kubelet stops, or reports that something is wrong; and that it is well again.

KUBELET, READY = "kubelet", "Ready"
CONDITIONS = (READY, "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
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
        and each.get("type") in CONDITIONS
    ]
    return [(what, _BACK.get(what, what)) for what in (*stopped, *reported)]


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


def _taint(subject: Subject, values: Values) -> Patch:
    """Replace a taint of the same key and effect, as --overwrite does, and the edited taint."""
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
    """Return all entries, with one more for this pod's or node's changes from now on."""
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
_POD_FIELDS = {**{name: _measure(name) for name in _POD}, "volumes": _volumes}
_NODE = ("memory", "unusedImages", "pids", "pidMax", "inodes_used", "inodes_total")
_DISKS = ("nodefs_used", "nodefs_capacity", "imagefs_used", "imagefs_capacity")
_NODE_FIELDS = {name: _measure(*name.split("_")) for name in (*_NODE, *_DISKS)}

CODE = {
    "taint": Code(
        Patching(_taint),
        choices={"key": _used("taint keys"), "value": _used("taint values"), "replaces": _list_replaceable_taints},
    ),
    "untaint": Code(Patching(_untaint), choices={"taint": _present_taints}),
    "cordon": Code(Patching(_unschedulable(True))),
    "uncordon": Code(Patching(_unschedulable(None))),
    "drain": Code(lambda subject, values: DrainNode(subject.name, **values)),
    "cancel-drain": Code(lambda subject, values: CancelDrain(subject.name), lambda subject: subject.draining),
    "fail": Code(_fail),
    "recover": Code(_recover, lambda subject: bool(_wrong(subject)), choices={"what": _wrong}),
    "stop-kubelet": Code(lambda subject, values: SetKubelet(subject.name, False), lambda subject: subject.kubelet_runs),
    "start-kubelet": Code(
        lambda subject, values: SetKubelet(subject.name, True), lambda subject: not subject.kubelet_runs
    ),
    "report": Code(lambda subject, values: ReportCondition(subject.name, **values), choices={"type": _conditions}),
    "use-pod": Code(_pod, initial=_POD_FIELDS),
    "use-workload": Code(_pod, lambda subject: bool(labels(subject)), _POD_FIELDS),
    "use-node": Code(_node, initial=_NODE_FIELDS),
}
