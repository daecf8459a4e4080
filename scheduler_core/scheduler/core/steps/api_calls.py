"""API calls about pods that do not block the scheduler: at most one call per pod runs, and a newer call replaces a waiting one.

With the gate SchedulerAsyncAPICalls off, each call is sent at once.

kube: backend/api_dispatcher/{api_dispatcher,call_queue}.go, framework/api_calls/{pod_status_patch,pod_binding}.go @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.faults import STATUS, Fault
from scheduler_core.apiserver.status import DONE, Answer
from scheduler_core.base.clock.agenda import Action
from scheduler_core.base.trace.kinds import ApiCall
from scheduler_core.scheduler.core import measure
from scheduler_core.scheduler.core.actions import AdvanceCycle, AnswerCall
from scheduler_core.scheduler.core.calls import client
from scheduler_core.scheduler.core.calls.dispatcher import PATCH, Binding, Call, StatusPatch
from scheduler_core.scheduler.core.scheduler import Scheduler


def patch_status(scheduler: Scheduler, pod: Pod, condition: Mapping[str, Any] | None, nomination: str | None) -> int:
    """Request a change of a pod's status. Return how long (ns) the caller waits for it."""
    call = StatusPatch(pod.uid, pod.key, pod.manifest.get("status") or {}, condition, nomination)
    if scheduler.features.async_api_calls:
        scheduler.calls.add(call)
        pump(scheduler)
        return 0
    if call.idle:
        return 0
    return _send(scheduler, scheduler.calls.run_now(call), call)


def bind(scheduler: Scheduler, pod: Pod, number: int) -> None:
    """Request the binding call of a binding cycle."""
    call = Binding(pod.uid, pod.key, number)
    if scheduler.features.async_api_calls:
        scheduler.calls.add(call)
        pump(scheduler)
    else:
        _send(scheduler, scheduler.calls.run_now(call), call)


def pump(scheduler: Scheduler) -> None:
    """Send the queued calls that may run now."""
    while (turn := scheduler.calls.next()) is not None:
        number, call = turn
        if isinstance(call, StatusPatch) and call.idle:
            scheduler.calls.finish(number)
            measure.record_api_call(scheduler, PATCH, True, 0)
        else:
            _send(scheduler, number, call)


def _send(scheduler: Scheduler, number: int, call: Call) -> int:
    """Push the call's answer onto the agenda. Return the time (ns) until then."""
    world = scheduler.world
    usual = world.settings.patch_cost if isinstance(call, StatusPatch) else world.settings.bind_cost
    cost = client.latency(scheduler, call.verb, call.key, usual) + client.throttle(scheduler, call.verb, call.key)
    scheduler.calls.sent[number] = world.now
    world.agenda.push(world.now + cost, AnswerCall(scheduler.name, number))
    return cost


def retime(scheduler: Scheduler, fault: Fault) -> None:
    """Change the remaining latency of a pending call to the fault's latency, if it has one."""
    if fault.latency is None:
        return
    world, running = scheduler.world, scheduler.calls.running.items()
    for number in [n for n, call in running if (call.verb, call.key) == fault.key]:
        _answer_at(scheduler, number, world.now + fault.latency)


def _answer_at(scheduler: Scheduler, number: int, at: int) -> None:
    """Move the answer of a running call to another time, with the scheduling cycle that waits for it."""
    agenda, call, cycle = scheduler.world.agenda, scheduler.calls.running[number], scheduler.cycle
    moved: list[Action] = [AnswerCall(scheduler.name, number)]
    if cycle is not None and cycle.held_up and cycle.pod.uid == call.uid:
        moved.append(AdvanceCycle(scheduler.name))
    agenda.discard(lambda action: action in moved)
    for action in moved:
        agenda.push(at, action)


def retry_call(scheduler: Scheduler, number: int) -> bool:
    """Retry a failed call after a pause, if the client retries such a fault. Return whether it does."""
    world, calls = scheduler.world, scheduler.calls
    call, tries = calls.running[number], calls.retries.get(number, 0)
    fault = client.fault_of(scheduler, call.verb, call.key)
    pause = None if fault is None else client.pause(fault, tries)
    if fault is None or pause is None:
        return False
    client.take_fault(scheduler, call.verb, call.key)
    calls.retries[number] = tries + 1
    verb = "PATCH" if isinstance(call, StatusPatch) else "BIND"
    scheduler.called(ApiCall(verb, call.key, fault=fault.answer().message, again_after=pause))
    cost = client.setting(world, call.verb) if fault.latency is None else fault.latency
    cost += client.throttle(scheduler, call.verb, call.key)
    _answer_at(scheduler, number, world.now + pause + cost)
    return True


def patch(scheduler: Scheduler, call: StatusPatch) -> Answer:
    world = scheduler.world
    fault = client.take_fault(scheduler, STATUS, call.key)
    condition = _merge_condition(world.store.pod_at(call.key), call) if call.sends_condition else None
    nomination = call.nomination if call.changes_nomination else None
    fields = ["nominatedNodeName"] if nomination is not None else []
    fields += ["conditions"] if condition is not None else []
    answer = DONE if fault is None else fault.answer()
    scheduler.called(ApiCall("PATCH", call.key, status=fields, fault="" if answer.ok else answer.message))
    if not answer.ok and fault is not None and not fault.after_write:
        return answer
    written = world.store.patch_pod_status(call.key, world.now, condition=condition, nominated_node_name=nomination)
    return written if answer.ok else answer


def _merge_condition(live: Pod | None, call: StatusPatch) -> Mapping[str, Any]:
    """Return the condition after the strategic merge patch: fields that differ from the base are set, all others are unchanged."""
    assert call.condition is not None
    kind = call.condition["type"]
    base = next((c for c in call.base.get("conditions") or () if c.get("type") == kind), None)
    now = None if live is None else live.condition(kind)
    if base is None:
        kept = {} if now is None else {name: value for name, value in now.items() if name != "lastTransitionTime"}
        return {**kept, **call.condition}
    changed = {name: value for name, value in call.condition.items() if base.get(name) != value}
    kept = {"type": kind} if now is None else dict(now)  # None: the pod was recreated with the same name
    if "status" in changed:
        kept.pop("lastTransitionTime", None)
    return {**kept, **changed}
