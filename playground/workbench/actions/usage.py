"""What pods and nodes use, as kubelets measure it: entries that hold from now on (docs/cluster.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.workbench.actions.contract import (
    WORKLOADS,
    Action,
    Field,
    Subject,
    Type,
    Values,
    Wrong,
    gettext_noop,
    labels,
)
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


def _field(type_: Type, name: str, label: str, help_: str = "", part: str = "") -> Field:
    """A field about what is used; of a disk or of inodes one `part`."""
    return Field(f"{name}_{part}" if part else name, type_, label, help_, initial=_used(name, part))


_POD = ("memory", "rootfs", "logs", "volumes", "inodes", "pids")
_POD_FIELDS = (
    _field("quantity", "memory", gettext_noop("Memory"), gettext_noop("working set, such as 700Mi")),
    _field("quantity", "rootfs", gettext_noop("Writable layers"), gettext_noop("of its containers, such as 2Gi")),
    _field("quantity", "logs", gettext_noop("Logs")),
    Field(
        "volumes",
        "sizes",
        gettext_noop("Volumes on the node's disk"),
        gettext_noop("emptyDir volumes by name: cache=500Mi"),
        initial=_volumes,
    ),
    _field("number", "pids", gettext_noop("Processes")),
    _field("number", "inodes", gettext_noop("Inodes")),
)
POD_USAGE = Action(
    "use",
    ("Pod",),
    gettext_noop("Set usage"),
    gettext_noop(
        "The usage that the kubelet measures for this pod from now on. Empty fields keep their value, which "
        "is 0 at first."
    ),
    gettext_noop("Usage of %(name)s set."),
    _pod,
    _POD_FIELDS,
)
WORKLOAD_USAGE = Action(
    "use",
    WORKLOADS,
    gettext_noop("Set usage of its pods"),
    gettext_noop(
        "The usage that kubelets measure for each current and future pod with these labels from now on. "
        "Settings of a single pod take precedence."
    ),
    gettext_noop("Usage of the pods of %(name)s set."),
    _pod,
    _POD_FIELDS,
    applies=lambda subject: bool(labels(subject)),
)
NODE_USAGE = Action(
    "use",
    ("Node",),
    gettext_noop("Set usage"),
    gettext_noop(
        "The usage that the kubelet measures for the node from now on, without its pods. Empty fields keep their value."
    ),
    gettext_noop("Usage of %(name)s set."),
    _node,
    (
        _field("quantity", "memory", gettext_noop("Memory"), gettext_noop("used by everything except pods")),
        _field(
            "quantity",
            "nodefs",
            gettext_noop("nodefs: used"),
            gettext_noop("by everything except pods and unused images"),
            "used",
        ),
        _field("quantity", "nodefs", gettext_noop("nodefs: capacity"), gettext_noop("default 100Gi"), "capacity"),
        _field(
            "quantity", "imagefs", gettext_noop("imagefs: used"), gettext_noop("empty: images are on nodefs"), "used"
        ),
        _field("quantity", "imagefs", gettext_noop("imagefs: capacity"), "", "capacity"),
        _field(
            "quantity",
            "unusedImages",
            gettext_noop("Unused images"),
            gettext_noop("the amount that image garbage collection can free"),
        ),
        _field("number", "inodes", gettext_noop("Inodes: used"), "", "used"),
        _field("number", "inodes", gettext_noop("Inodes: total"), "", "total"),
        _field("number", "pids", gettext_noop("Processes"), gettext_noop("without those of pods")),
        _field("number", "pidMax", gettext_noop("Maximum processes")),
    ),
)
