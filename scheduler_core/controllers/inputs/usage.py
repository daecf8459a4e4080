"""The resource usage that kubelets measure: entries that are valid, field by field, until the next entry for the same subject.

Of a pod: memory (its working set), rootfs, logs, volumes, inodes, pids. Of a node: the usage apart from pods, and its disks. A pod's own
entries take precedence over those of a label selector; of several selectors the last in the list counts. Without an entry pods use
nothing, and a node has one disk of 100Gi.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec

from scheduler_core.apimachinery.objects import LabelSelector, Pod, parse_duration
from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject
from scheduler_core.apimachinery.objects.quantity import BadQuantity, nanos, value
from scheduler_core.apimachinery.objects.typed import FieldProblem, convert_data
from scheduler_core.controllers.inputs.programs import read_selector

MOST_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class UsageEntry:
    """One entry: its start (ns), its pod ("namespace/name"), pods, or node, and the usage (bytes, inodes, pids)."""

    at: int
    pod: str = ""
    pods: LabelSelector | None = None
    node: str = ""
    amounts: tuple[tuple[str, int], ...] = ()

    @property
    def subject(self) -> tuple[str, LabelSelector | None, str]:
        return self.pod, self.pods, self.node


@dataclass(slots=True)
class Curve:
    """The declared usage of one subject over time."""

    times: list[int] = field(default_factory=list)
    states: list[dict[str, int]] = field(default_factory=list)

    def add(self, entry: UsageEntry) -> None:
        before = self.states[-1] if self.states else {}
        now = {**before, **dict(entry.amounts)}
        if self.times and self.times[-1] == entry.at:
            self.states[-1] = now
        else:
            self.times.append(entry.at)
            self.states.append(now)

    def at(self, now: int) -> Mapping[str, int]:
        i = bisect_right(self.times, now)
        return self.states[i - 1] if i else {}

    def after(self, now: int) -> Iterator[int]:
        """Return the later times of change."""
        return iter(self.times[bisect_right(self.times, now) :])


_NOTHING = Curve()


class UsageBook:
    """The entries, indexed for lookup."""

    def __init__(self, entries: Sequence[UsageEntry]) -> None:
        self._curves: dict[tuple[str, LabelSelector | None, str], Curve] = {}
        for entry in sorted(entries, key=lambda each: each.at):
            self._curves.setdefault(entry.subject, Curve()).add(entry)
        order = dict.fromkeys(entry.pods for entry in entries if entry.pods is not None)
        self._selectors = list(reversed(order))

    def of_node(self, node: str) -> Curve:
        return self._curves.get(("", None, node), _NOTHING)

    def of_pod(self, pod: Pod) -> Curve:
        curve = self._curves.get((pod.key, None, ""))
        if curve is not None:
            return curve
        for selector in self._selectors:
            if selector.matches(pod.labels):
                return self._curves["", selector, ""]
        return _NOTHING

    def __bool__(self) -> bool:
        return bool(self._curves)


_books: list[tuple[tuple[UsageEntry, ...], UsageBook]] = []


def book_of(entries: tuple[UsageEntry, ...]) -> UsageBook:
    """Return the book of these entries. The last few books are cached."""
    for kept, book in _books:
        if kept is entries:
            return book
    book = UsageBook(entries)
    _books.insert(0, (entries, book))
    del _books[4:]
    return book


# as a user writes them

_Amount = str | int


class _Disk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    capacity: _Amount | None = None
    used: _Amount | None = None

    def __post_init__(self) -> None:
        _check("capacity", self.capacity)
        _check("used", self.used)


class _Inodes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    total: _Amount | None = None
    used: _Amount | None = None

    def __post_init__(self) -> None:
        _check("total", self.total)
        _check("used", self.used)


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    at: Annotated[str, msgspec.Meta(max_length=40)] = "0s"
    pod: str = ""
    pod_label: str | Mapping[str, Any] | None = msgspec.field(default=None, name="podLabel")
    node: str = ""
    memory: _Amount | None = None
    rootfs: _Amount | None = None
    logs: _Amount | None = None
    volumes: Mapping[str, _Amount] | None = None
    inodes: _Amount | _Inodes | None = None
    pids: _Amount | None = None
    pid_max: _Amount | None = msgspec.field(default=None, name="pidMax")
    nodefs: _Disk | None = None
    imagefs: _Disk | None = None
    unused_images: _Amount | None = msgspec.field(default=None, name="unusedImages")

    def __post_init__(self) -> None:
        if sum((bool(self.pod), self.pod_label is not None, bool(self.node))) != 1:
            raise FieldProblem("pod", self.pod, "one of pod, podLabel and node")
        try:
            if parse_duration(self.at) < 0:
                raise ValueError
        except ValueError:
            raise FieldProblem("at", self.at, "a time such as 60s") from None
        for name in ("memory", "rootfs", "logs", "pids", "pid_max", "unused_images"):
            _check(name, getattr(self, name))
        for name, amount in (self.volumes or {}).items():
            _check(f"volumes.{name}", amount)
        if not isinstance(self.inodes, _Inodes):
            _check("inodes", self.inodes)
        self._check_subject()

    def _check_subject(self) -> None:
        of_node = (self.pid_max, self.nodefs, self.imagefs, self.unused_images)
        if not self.node and any(given is not None for given in of_node):
            raise FieldProblem("node", None, "the name of a node, because disks and pidMax belong to a node")
        if self.node and (self.rootfs is not None or self.logs is not None or self.volumes is not None):
            raise FieldProblem("pod", None, "a pod, because rootfs, logs and volumes belong to a pod")
        if self.inodes is not None and isinstance(self.inodes, _Inodes) != bool(self.node):
            raise FieldProblem("inodes", "of another type", "a number for a pod, {total, used} for a node")


def read_usage(entries: Sequence[Any]) -> tuple[UsageEntry, ...]:
    """Read entries as a user writes them. Raise InvalidObject."""
    if len(entries) > MOST_ENTRIES:
        raise InvalidObject((FieldError("entries", f"{len(entries)} entries", f"at most {MOST_ENTRIES}"),))
    return tuple(_entry(entry, f"entries[{i}]") for i, entry in enumerate(entries))


def _entry(given: Any, path: str) -> UsageEntry:
    entry: _Entry = convert_data(given, _Entry, path)
    pod = entry.pod if "/" in entry.pod or not entry.pod else f"default/{entry.pod}"
    selector = read_selector(entry.pod_label, f"{path}.podLabel")
    return UsageEntry(parse_duration(entry.at), pod, selector, entry.node, tuple(_amounts(entry)))


def _amounts(entry: _Entry) -> Iterator[tuple[str, int]]:
    plain = {
        "memory": entry.memory,
        "rootfs": entry.rootfs,
        "logs": entry.logs,
        "pids": entry.pids,
        "pidMax": entry.pid_max,
        "unusedImages": entry.unused_images,
        **{f"volumes/{name}": amount for name, amount in (entry.volumes or {}).items()},
    }
    if isinstance(entry.inodes, _Inodes):
        plain |= {"inodes.total": entry.inodes.total, "inodes.used": entry.inodes.used}
    else:
        plain["inodes"] = entry.inodes
    for disk, given in (("nodefs", entry.nodefs), ("imagefs", entry.imagefs)):
        if given is not None:
            plain |= {f"{disk}.capacity": given.capacity, f"{disk}.used": given.used}
    for name, amount in plain.items():
        if amount is not None:
            yield name, value(amount)


def _check(name: str, amount: _Amount | None) -> None:
    try:
        if amount is not None and nanos(amount) < 0:
            raise BadQuantity
    except BadQuantity:
        raise FieldProblem(name, amount, "a quantity of 0 or more, such as 500Mi") from None
