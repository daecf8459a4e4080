"""What pods and nodes use, as kubelets measure it: entries that hold from now on (docs/cluster.md)."""

from collections.abc import Mapping
from typing import Any

from playground.workbench.actions.contract import WORKLOADS, Subject, Values, Wrong, gettext_noop, labels, read_action
from scheduler_core.world.commands import SetUsage
from scheduler_core.world.readonly import parse_duration

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


def _used(name: str, part: str = "") -> Any:
    """Return a field's initial value: the present usage."""

    def initial(subject: Subject) -> Any:
        value = present(subject).get(name)
        return value.get(part) if part and isinstance(value, Mapping) else None if part else value

    return initial


def _volumes(subject: Subject) -> str:
    return ", ".join(f"{name}={size}" for name, size in (present(subject).get("volumes") or {}).items())


_POD = ("memory", "rootfs", "logs", "volumes", "inodes", "pids")
_POD_FIELDS = {**{name: {"initial": _used(name)} for name in _POD}, "volumes": {"initial": _volumes}}
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
    "use-node", ("Node",), _node, fields={name: {"initial": _used(*name.split("_"))} for name in _NODE_FIELDS}
)
