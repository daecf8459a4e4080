"""Calls to the API server about pods that do not hold up the scheduler: one at a time per pod, a newer one replaces a waiting one.

With the gate SchedulerAsyncAPICalls off a call is made at once by whoever wants it.

kube: backend/api_dispatcher/{api_dispatcher,call_queue}.go, framework/api_calls/{pod_status_patch,pod_binding}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from scheduler_core.api.faults import BIND, STATUS, Fault, take
from scheduler_core.api.status import DONE, Answer
from scheduler_core.framework.plugin import Point
from scheduler_core.objects.pod import Pod
from scheduler_core.scheduler import client, measure

if TYPE_CHECKING:
    from scheduler_core.scheduler.scheduler import Scheduler

Status = Mapping[str, Any]
PATCH = "pod_status_patch"  # kube's names of the two kinds of calls
BINDING = "pod_binding"


@dataclass(frozen=True, slots=True)
class StatusPatch:
    """Sets a condition and the nomination (None leaves it, "" clears it) where they differ from `base`, the status as last seen."""

    verb: ClassVar[str] = STATUS
    uid: str
    key: str
    base: Status
    condition: Mapping[str, Any] | None = None
    nomination: str | None = None

    @property
    def kind(self) -> str:
        return PATCH

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
        """Whether it would change nothing."""
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
    uid: str
    key: str
    number: int

    @property
    def kind(self) -> str:
        return BINDING


Call = StatusPatch | Binding


_COMPARED = ("status", "reason", "message")


def condition_differs(
    status: Status, condition: Mapping[str, Any], fields: tuple[str, ...] = _COMPARED
) -> bool:
    """kube: conditionNeedsUpdate"""
    for old in status.get("conditions") or ():
        if old.get("type") == condition["type"]:
            return any((old.get(f) or "") != (condition.get(f) or "") for f in fields)
    return True


class Dispatcher:
    """Calls by the pod's UID: `calls` those that wait or run (a newer one may wait behind one that runs), `queue` whose turn is next.

    `retries`: how often a running call has been made again, by its number; `sent`: when it was sent first (ns).
    """

    __slots__ = ("calls", "limit", "numbers", "queue", "retries", "running", "sent", "serial")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.serial = 0
        self.calls: dict[str, Call] = {}
        self.numbers: dict[str, int] = {}  # uid -> number of the call in `calls`
        self.queue: list[str] = []
        self.running: dict[int, Call] = {}
        self.retries: dict[int, int] = {}
        self.sent: dict[int, int] = {}

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
        """A newer version of a pod has been seen: what its waiting call changes is told from that."""
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

    def copy(self) -> Dispatcher:
        twin = Dispatcher(self.limit)
        twin.serial = self.serial
        twin.calls = dict(self.calls)
        twin.numbers = dict(self.numbers)
        twin.queue = list(self.queue)
        twin.running = dict(self.running)
        twin.retries = dict(self.retries)
        twin.sent = dict(self.sent)
        return twin

    def _drop(self, uid: str) -> None:
        if uid in self.calls and not self.in_flight(uid):
            del self.calls[uid], self.numbers[uid]
            self.queue.remove(uid)


def patch_status(
    scheduler: Scheduler, pod: Pod, condition: Mapping[str, Any] | None, nomination: str | None
) -> int:
    """Asks for a change of a pod's status; returns how long (ns) the caller is held up."""
    call = StatusPatch(pod.uid, pod.key, pod.manifest.get("status") or {}, condition, nomination)
    settings = scheduler.world.settings
    if settings.async_api_calls:
        scheduler.calls.add(call)
        pump(scheduler)
        return 0
    if call.idle:
        return 0
    return _send(scheduler, scheduler.calls.run_now(call), call)


def bind(scheduler: Scheduler, pod: Pod, number: int) -> None:
    """Asks for the turn of a binding cycle's call."""
    call = Binding(pod.uid, pod.key, number)
    if scheduler.world.settings.async_api_calls:
        scheduler.calls.add(call)
        pump(scheduler)
    else:
        _send(scheduler, scheduler.calls.run_now(call), call)


def pump(scheduler: Scheduler) -> None:
    """Sends the calls whose turn it is."""
    while (found := scheduler.calls.next()) is not None:
        number, call = found
        if isinstance(call, StatusPatch) and call.idle:
            scheduler.calls.finish(number)
            measure.called(scheduler, PATCH, True, 0)
        else:
            _send(scheduler, number, call)


def _send(scheduler: Scheduler, number: int, call: Call) -> int:
    """Puts the answer on the agenda; returns how long (ns) it takes."""
    world = scheduler.world
    usual = world.settings.patch_cost if isinstance(call, StatusPatch) else world.settings.bind_cost
    cost = client.latency(world, call.verb, call.key, usual) + client.throttle(scheduler, call.verb, call.key)
    scheduler.calls.sent[number] = world.now
    world.agenda.push(world.now + cost, ("api_call", scheduler.name, number))
    return cost


def retime(scheduler: Scheduler, fault: Fault) -> None:
    """A call that is on its way already takes, from now on, as long as is asked for."""
    if fault.latency is None:
        return
    world, running = scheduler.world, scheduler.calls.running.items()
    for number in [n for n, call in running if (call.verb, call.key) == fault.key]:
        _answer_at(scheduler, number, world.now + fault.latency)


def _answer_at(scheduler: Scheduler, number: int, at: int) -> None:
    """Has a running call answered at another time; a scheduling cycle that waits for it waits as long."""
    agenda, call, cycle = scheduler.world.agenda, scheduler.calls.running[number], scheduler.cycle
    moved: list[tuple[str | int, ...]] = [("api_call", scheduler.name, number)]
    if cycle is not None and cycle.held_up and cycle.pod.uid == call.uid:
        moved.append(("cycle", scheduler.name))
    agenda.discard(lambda action: action in moved)
    for action in moved:
        agenda.push(at, action)


def finish(scheduler: Scheduler, number: int) -> None:
    """A call reaches the API server and is answered."""
    from scheduler_core.scheduler import binding

    if scheduler.world.faults and _made_again(scheduler, number):
        return
    call = scheduler.calls.finish(number)
    took = scheduler.world.now - scheduler.calls.sent.pop(number)
    if isinstance(call, StatusPatch):
        measure.called(scheduler, PATCH, _patch(scheduler, call).ok, took)
    elif (cycle := scheduler.bindings.get(call.number)) is not None:
        binding.advance(scheduler, call.number)
        ok = any(step.point is Point.BIND and step.status.ok for step in cycle.steps)
        measure.called(scheduler, BINDING, ok, took)
    pump(scheduler)


def _made_again(scheduler: Scheduler, number: int) -> bool:
    """Whether a call fails in a way that has the client make it once more, after a pause."""
    world, calls = scheduler.world, scheduler.calls
    call, tries = calls.running[number], calls.retries.get(number, 0)
    fault = world.faults.get((call.verb, call.key))
    pause = None if fault is None else client.pause(fault, tries)
    if fault is None or pause is None:
        return False
    take(world.faults, *fault.key)
    calls.retries[number] = tries + 1
    what = {"fault": fault.answer().message, "again_after": pause}
    scheduler.called("PATCH" if isinstance(call, StatusPatch) else "BIND", call.key, what)
    cost = client.setting(world, call.verb) if fault.latency is None else fault.latency
    cost += client.throttle(scheduler, call.verb, call.key)
    _answer_at(scheduler, number, world.now + pause + cost)
    return True


def _patch(scheduler: Scheduler, call: StatusPatch) -> Answer:
    world = scheduler.world
    fault = take(world.faults, STATUS, call.key) if world.faults else None
    condition = _merged(world.store.pod_at(call.key), call) if call.sends_condition else None
    nomination = call.nomination if call.changes_nomination else None
    fields = ["nominatedNodeName"] if nomination is not None else []
    fields += ["conditions"] if condition is not None else []
    answer = DONE if fault is None else fault.answer()
    scheduler.called(
        "PATCH", call.key, {"status": fields} if answer.ok else {"status": fields, "fault": answer.message}
    )
    if not answer.ok and fault is not None and not fault.after_write:
        return answer
    written = world.store.patch_pod_status(
        call.key, world.now, condition=condition, nominated_node_name=nomination
    )
    return written if answer.ok else answer


def _merged(live: Pod | None, call: StatusPatch) -> Mapping[str, Any]:
    """The condition as a strategic merge patch leaves it: fields in which it differs from the base are set, the others stay as they are."""
    assert call.condition is not None
    kind = call.condition["type"]
    base = next((c for c in call.base.get("conditions") or () if c.get("type") == kind), None)
    now = None if live is None else live.condition(kind)
    if base is None:
        kept = (
            {}
            if now is None
            else {name: value for name, value in now.items() if name != "lastTransitionTime"}
        )
        return {**kept, **call.condition}
    changed = {name: value for name, value in call.condition.items() if base.get(name) != value}
    kept = {"type": kind} if now is None else dict(now)  # none: the pod was made anew under its name
    if "status" in changed:
        kept.pop("lastTransitionTime", None)
    return {**kept, **changed}
