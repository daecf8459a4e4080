"""The waiting and running API calls about pods: at most one call per pod runs, and a newer call replaces a waiting one.

kube: backend/api_dispatcher/{api_dispatcher,call_queue}.go, framework/api_calls/{pod_status_patch,pod_binding}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.faults import BIND, STATUS
from scheduler_core.base.state import Copied, State

Status = Mapping[str, Any]
PATCH = "pod_status_patch"  # kube's names of the two kinds of calls
BINDING = "pod_binding"


@dataclass(frozen=True, slots=True)
class StatusPatch:
    """A patch of a condition and the nomination (None keeps it, "" clears it) if they differ from `base`, the last known status."""

    verb: ClassVar[str] = STATUS
    kind: ClassVar[str] = PATCH
    uid: str
    key: str
    base: Status
    condition: Mapping[str, Any] | None = None
    nomination: str | None = None

    @property
    def changes_nomination(self) -> bool:
        return self.nomination is not None and (self.base.get("nominatedNodeName") or "") != self.nomination

    @property
    def changes_condition(self) -> bool:
        return self.condition is not None and condition_differs(self.base, self.condition)

    @property
    def sends_condition(self) -> bool:
        """True if the patch includes the condition: a patch of the nomination also updates an old observedGeneration. kube: syncStatus"""
        if self.condition is None or not self.changes_nomination:
            return self.changes_condition
        return condition_differs(self.base, self.condition, (*_COMPARED, "observedGeneration"))

    @property
    def idle(self) -> bool:
        """True if the patch changes nothing."""
        return not self.changes_nomination and not self.changes_condition

    def after(self, old: StatusPatch) -> StatusPatch:
        """Return this call merged with the changes of the call that it replaces."""
        return replace(
            self,
            nomination=old.nomination if self.nomination is None else self.nomination,
            condition=old.condition if self.condition is None else self.condition,
        )


@dataclass(frozen=True, slots=True)
class Binding:
    """The binding call of a binding cycle."""

    verb: ClassVar[str] = BIND
    kind: ClassVar[str] = BINDING
    uid: str
    key: str
    number: int


Call = StatusPatch | Binding


_COMPARED = ("status", "reason", "message")


def condition_differs(status: Status, condition: Mapping[str, Any], fields: tuple[str, ...] = _COMPARED) -> bool:
    """Return whether a condition differs from the status in one of the fields. kube: conditionNeedsUpdate"""
    for old in status.get("conditions") or ():
        if old.get("type") == condition["type"]:
            return any((old.get(f) or "") != (condition.get(f) or "") for f in fields)
    return True


@dataclass(slots=True, eq=False)
class Dispatcher(State):
    """`calls`: waiting and running calls by the pod's UID (a newer one may wait behind a running one); `queue`: UIDs by turn.

    `retries`: the number of retries of a running call, by its number; `sent`: the time of its first try (ns).
    """

    limit: int
    serial: int = 0
    calls: Copied[dict[str, Call]] = field(default_factory=dict)
    numbers: Copied[dict[str, int]] = field(default_factory=dict)  # uid -> number of the call in `calls`
    queue: Copied[list[str]] = field(default_factory=list)
    running: Copied[dict[int, Call]] = field(default_factory=dict)
    retries: Copied[dict[int, int]] = field(default_factory=dict)
    sent: Copied[dict[int, int]] = field(default_factory=dict)

    def is_running(self, number: int) -> bool:
        return number in self.running

    def in_flight(self, uid: str) -> bool:
        return any(call.uid == uid for call in self.running.values())

    def add(self, call: Call) -> None:
        """Queue a call. Drop a call that would change nothing, or whose pod is being bound."""
        old = self.calls.get(call.uid)
        if isinstance(call, StatusPatch):
            if isinstance(old, Binding):
                return
            if old is not None:
                call = call.after(old)
            if call.idle and not self.in_flight(call.uid):
                self._drop(call.uid)
                return
        self.serial += 1
        self.calls[call.uid], self.numbers[call.uid] = call, self.serial
        if old is None:
            self.queue.append(call.uid)

    def seen(self, pod: Pod) -> None:
        """Rebase the waiting call of a pod onto a newer version of the pod."""
        call = self.calls.get(pod.uid)
        if not isinstance(call, StatusPatch) or self.numbers[pod.uid] in self.running:
            return
        call = self.calls[pod.uid] = replace(call, base=pod.manifest.get("status") or {})
        if call.idle and not self.in_flight(pod.uid):
            self._drop(pod.uid)

    def next(self) -> tuple[int, Call] | None:
        """Start the next call and return it with its number, or None if no call waits or the limit of running calls is reached."""
        if not self.queue or len(self.running) >= self.limit:
            return None
        uid = self.queue.pop(0)
        number = self.numbers[uid]
        self.running[number] = self.calls[uid]
        return number, self.calls[uid]

    def finish(self, number: int) -> Call:
        call = self.running.pop(number)
        self.retries.pop(number, None)
        if self.numbers.get(call.uid) == number:
            del self.calls[call.uid], self.numbers[call.uid]
        elif call.uid in self.calls:
            self.queue.append(call.uid)
        return call

    def run_now(self, call: Call) -> int:
        """Start a call that does not wait in the queue. Return its number."""
        self.serial += 1
        self.running[self.serial] = call
        return self.serial

    def _drop(self, uid: str) -> None:
        if uid in self.calls and not self.in_flight(uid):
            del self.calls[uid], self.numbers[uid]
            self.queue.remove(uid)
