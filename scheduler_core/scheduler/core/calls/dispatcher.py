"""The calls about pods that wait or run: one at a time per pod, a newer one replaces a waiting one.

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
    """Sets a condition and the nomination (None leaves it, "" clears it) where they differ from `base`, the status as last seen."""

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
        """A patch for the nomination's sake takes along a generation that the condition has seen since. kube: syncStatus"""
        if self.condition is None or not self.changes_nomination:
            return self.changes_condition
        return condition_differs(self.base, self.condition, (*_COMPARED, "observedGeneration"))

    @property
    def idle(self) -> bool:
        """True if the patch changes nothing."""
        return not self.changes_nomination and not self.changes_condition

    def after(self, old: StatusPatch) -> StatusPatch:
        """This call with what a call that it replaces wanted besides."""
        return replace(
            self,
            nomination=old.nomination if self.nomination is None else self.nomination,
            condition=old.condition if self.condition is None else self.condition,
        )


@dataclass(frozen=True, slots=True)
class Binding:
    """The call that a binding cycle waits for."""

    verb: ClassVar[str] = BIND
    kind: ClassVar[str] = BINDING
    uid: str
    key: str
    number: int


Call = StatusPatch | Binding


_COMPARED = ("status", "reason", "message")


def condition_differs(status: Status, condition: Mapping[str, Any], fields: tuple[str, ...] = _COMPARED) -> bool:
    """kube: conditionNeedsUpdate"""
    for old in status.get("conditions") or ():
        if old.get("type") == condition["type"]:
            return any((old.get(f) or "") != (condition.get(f) or "") for f in fields)
    return True


@dataclass(slots=True, eq=False)
class Dispatcher(State):
    """Calls by the pod's UID: `calls` those that wait or run (a newer one may wait behind one that runs), `queue` whose turn is next.

    `retries`: how often a running call has been made again, by its number; `sent`: when it was sent first (ns).
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
        """Keeps a call for its turn; dropped where it would change nothing, or where the pod is being bound."""
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
        """A newer version of a pod has been seen: its waiting call's changes are relative to that."""
        call = self.calls.get(pod.uid)
        if not isinstance(call, StatusPatch) or self.numbers[pod.uid] in self.running:
            return
        call = self.calls[pod.uid] = replace(call, base=pod.manifest.get("status") or {})
        if call.idle and not self.in_flight(pod.uid):
            self._drop(pod.uid)

    def next(self) -> tuple[int, Call] | None:
        """The call whose turn it is, which then runs; None where there is none or no more may run at once."""
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
        """A call that waits for nobody."""
        self.serial += 1
        self.running[self.serial] = call
        return self.serial

    def _drop(self, uid: str) -> None:
        if uid in self.calls and not self.in_flight(uid):
            del self.calls[uid], self.numbers[uid]
            self.queue.remove(uid)
