"""The binding cycle of a Scheduler: wait on Permit, PreBind, Bind, PostBind; it overlaps with later scheduling cycles.

A step whose plugin takes virtual time is entered at once and answered when that time has passed.

kube: schedule_one.go (bindingCycle, handleBindingCycleError, finishBinding) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.api.kube_events import NORMAL
from scheduler_core.framework.cycle_state import PODS_TO_ACTIVATE, CycleState
from scheduler_core.framework.events import ASSIGNED_POD_DELETE, ObjectEvent
from scheduler_core.framework.plugin import CallResult, Plugin, Point
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.step import PluginStep
from scheduler_core.objects.pod import Pod
from scheduler_core.scheduler import measure
from scheduler_core.scheduler.actions import AdvanceBinding, TimeOutPermit
from scheduler_core.scheduler.cycles.binding_cycle import BindingCycle
from scheduler_core.scheduler.cycles.phases import Phase
from scheduler_core.scheduler.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.scheduler import Scheduler
from scheduler_core.scheduler.steps import api_calls, expiry
from scheduler_core.scheduler.steps.outcome import explain, forget, handle_failure, note
from scheduler_core.trace.journal import Place


def start(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """Begins the binding cycle of a pod that has been assumed and reserved."""
    world = scheduler.world
    node = cycle.node
    binding = BindingCycle(
        cycle.number,
        scheduler.name,
        cycle.profile,
        cycle.queued,
        cycle.pod.bound_to(node),
        node,
        cycle.state.copy(),
        world.now,
        cycle.started,
    )
    binding.span = world.record(
        "binding_started", {"pod": cycle.pod.key, "node": node}, scheduler.name, cycle.span
    )
    scheduler.bindings[binding.number] = binding
    if world.settings.expect_nominated_node:
        _tell_nomination(scheduler, binding, bool(cycle.waits))
    if cycle.waits:
        _wait(scheduler, binding, cycle.waits)
    else:
        _move(scheduler, binding, Place.BINDING, "assumed")
        _enter(scheduler, binding, Phase.PRE_BIND)


def _move(scheduler: Scheduler, binding: BindingCycle, place: str, cause: str) -> None:
    live = scheduler.world.store.pod_at(binding.pod.key)
    there = live is not None and live.uid == binding.pod.uid
    scheduler.move(binding.pod.key, place, cause, kept=there)


def note_place(scheduler: Scheduler, pod: Pod) -> None:
    """A pod was popped and passed over. Where it is being bound (it was queued once more when the attempt of a deleted pod of its name
    failed), the journey goes on there.
    """
    for binding in scheduler.bindings.values():
        if binding.pod.uid == pod.uid:
            _move(scheduler, binding, Place.WAITING if binding.waiting else Place.BINDING, "already assumed")


def _tell_nomination(scheduler: Scheduler, binding: BindingCycle, waits: bool) -> None:
    """A binding that will take its time is told of in status.nominatedNodeName; PreBind passes over plugins with nothing to do.

    kube: RunPreBindPreFlights
    """
    plugins = scheduler.profiles[binding.profile].at(Point.PRE_BIND)
    idle = tuple(p.name for p in plugins if not p.will_pre_bind(binding.state, binding.pod, binding.node))
    if idle:
        binding.state.write(_IDLE, idle)
    if waits or len(idle) < len(plugins):
        api_calls.patch_status(scheduler, binding.pod, None, binding.node)


def activate(scheduler: Scheduler, state: CycleState) -> None:
    """Moves the pods that plugins asked for to the active queue. kube: PodsToActivate"""
    keys = state.get(PODS_TO_ACTIVATE) or ()
    if not keys:
        return
    state.write(PODS_TO_ACTIVATE, ())
    pods = [pod for key in dict.fromkeys(keys) if (pod := scheduler.live(key)) is not None]
    scheduler.queue.activate(pods, scheduler.world.now)


def advance(scheduler: Scheduler, number: int) -> None:
    """Runs the next step of a binding cycle."""
    binding = scheduler.bindings[number]
    if binding.phase is Phase.WAIT_ON_PERMIT:
        _after_wait(scheduler, binding)
    elif binding.done:
        binding.done = False
        _answered(scheduler, binding, binding.answer)
    else:
        _call(scheduler, binding)


# Waiting on Permit


def _wait(scheduler: Scheduler, binding: BindingCycle, waits: tuple[tuple[str, int], ...]) -> None:
    world = scheduler.world
    binding.waiting = {plugin: world.now + timeout for plugin, timeout in waits}
    world.record(
        "pod_waits",
        {"pod": binding.pod.key, "node": binding.node, "timeouts": dict(waits)},
        scheduler.name,
        binding.span,
    )
    _move(scheduler, binding, Place.WAITING, "Permit")
    for plugin, deadline in binding.waiting.items():
        world.agenda.push(deadline, TimeOutPermit(scheduler.name, binding.number, plugin))


def allow(scheduler: Scheduler, binding: BindingCycle, plugin: str) -> None:
    """One plugin approves; the pod goes on when none is left to wait for."""
    binding.waiting.pop(plugin, None)
    if not binding.waiting:
        _decide(scheduler, binding, SUCCESS)


def reject(scheduler: Scheduler, binding: BindingCycle, plugin: str, message: str) -> None:
    """A plugin (or the deletion of the pod) rejects the waiting pod."""
    binding.waiting.clear()
    _decide(scheduler, binding, Status(Code.UNSCHEDULABLE, (message,), plugin))


def time_out(scheduler: Scheduler, number: int, plugin: str) -> None:
    """The wait for a plugin took too long."""
    binding = scheduler.bindings[number]
    waited = binding.waiting[plugin] - binding.started
    text = f"rejected due to timeout after waiting {go_duration(waited)} at plugin {plugin}"
    reject(scheduler, binding, plugin, text)


def _decide(scheduler: Scheduler, binding: BindingCycle, status: Status) -> None:
    binding.decision = status
    scheduler.world.agenda.push(scheduler.world.now, AdvanceBinding(scheduler.name, binding.number))


def _after_wait(scheduler: Scheduler, binding: BindingCycle) -> None:
    status = binding.decision
    assert status is not None
    measure.waited(scheduler, binding, status)
    _did(scheduler, binding, Point.WAIT_ON_PERMIT, status.plugin, status)
    scheduler.world.record(
        "wait_ended", {"pod": binding.pod.key, "status": status.to_json()}, scheduler.name, binding.span
    )
    if status.ok:
        _move(scheduler, binding, Place.BINDING, "permitted")
        _enter(scheduler, binding, Phase.PRE_BIND)
    else:
        _fail(scheduler, binding, Point.PERMIT, status)


# PreBind, Bind, PostBind

_IDLE = "PreBindPreFlight/idle"
_NEXT = {Phase.PRE_BIND: Phase.BIND, Phase.BIND: Phase.POST_BIND, Phase.POST_BIND: Phase.DONE}


def _plugins(scheduler: Scheduler, binding: BindingCycle) -> tuple[Plugin, ...]:
    plugins = scheduler.profiles[binding.profile].at(Point(binding.phase.value))
    idle = binding.state.get(_IDLE) if binding.phase is Phase.PRE_BIND else None
    return tuple(p for p in plugins if p.name not in idle) if idle else plugins


def _enter(scheduler: Scheduler, binding: BindingCycle, phase: Phase) -> None:
    binding.phase, binding.index = phase, 0
    binding.entered = binding.since = scheduler.world.now
    if phase is Phase.PRE_BIND:
        scheduler.queue.done(binding.pod.uid)
    if phase is Phase.DONE:
        _finish(scheduler, binding)
    elif not _plugins(scheduler, binding):
        measure.passed_through(scheduler, binding)
        _enter(scheduler, binding, _NEXT[phase])
    elif phase is Phase.BIND:
        api_calls.bind(scheduler, binding.pod, binding.number)
    else:
        _push(scheduler, binding, 0)


def _push(scheduler: Scheduler, binding: BindingCycle, delay: int) -> None:
    world = scheduler.world
    world.agenda.push(world.now + delay, AdvanceBinding(scheduler.name, binding.number))


def _call(scheduler: Scheduler, binding: BindingCycle) -> None:
    plugin = _plugins(scheduler, binding)[binding.index]
    point = Point(binding.phase.value)
    result = _run(plugin, point, binding)
    status = result.status.by(plugin.name)
    _did(scheduler, binding, point, plugin.name, status, result.latency or 0)
    if status.code is Code.WAIT:
        _push(scheduler, binding, result.latency or 0)
    elif result.latency:
        binding.done, binding.answer = True, status
        _push(scheduler, binding, result.latency)
    else:
        _answered(scheduler, binding, status)


def _run(plugin: Plugin, point: Point, binding: BindingCycle) -> CallResult:
    if point is Point.PRE_BIND:
        return plugin.pre_bind(binding.state, binding.pod, binding.node)
    if point is Point.BIND:
        return plugin.bind(binding.state, binding.pod, binding.node)
    plugin.post_bind(binding.state, binding.pod, binding.node)
    said = binding.state.get(f"{Point.POST_BIND}{plugin.name}")
    return CallResult(Status(reasons=(said,)) if isinstance(said, str) else SUCCESS)


def _answered(scheduler: Scheduler, binding: BindingCycle, status: Status) -> None:
    point = Point(binding.phase.value)
    plugins = _plugins(scheduler, binding)
    last = binding.index + 1 >= len(plugins)
    passed_on = point is Point.BIND and status.code is Code.SKIP
    failed = not status.ok and (last or not passed_on)
    over = failed or last or (point is Point.BIND and status.ok)
    measure.answered(scheduler, binding, plugins[binding.index].name, status, over)
    if failed:
        _fail(scheduler, binding, point, status)
        return
    binding.index += 1
    if over:
        if point is Point.BIND:
            _bound(scheduler, binding)
        _enter(scheduler, binding, _NEXT[binding.phase])
    else:
        _push(scheduler, binding, 0)


def _bound(scheduler: Scheduler, binding: BindingCycle) -> None:
    expiry.finish_binding(scheduler, binding.pod)
    text = f"Successfully assigned {binding.pod.key} to {binding.node}"
    note(scheduler, binding.pod, NORMAL, "Scheduled", text, "Binding")
    measure.bound(scheduler, binding)


def _finish(scheduler: Scheduler, binding: BindingCycle) -> None:
    del scheduler.bindings[binding.number]
    activate(scheduler, binding.state)
    scheduler.world.record(
        "binding_ended",
        {"pod": binding.pod.key, "node": binding.node, "outcome": "bound", "message": ""},
        scheduler.name,
        binding.span,
    )


# Failure


def _fail(scheduler: Scheduler, binding: BindingCycle, point: Point, status: Status) -> None:
    """Unreserve in reverse order, forget, tell the queue, requeue."""
    for plugin in scheduler.profiles[binding.profile].at(Point.UNRESERVE):
        plugin.unreserve(binding.state, binding.pod, binding.node)
        _did(scheduler, binding, Point.UNRESERVE, plugin.name, SUCCESS)
    measure.unreserved(scheduler, binding)
    del scheduler.bindings[binding.number]
    was_assumed = scheduler.is_assumed(binding.pod)
    forget(scheduler, binding.pod, binding.span)
    failure, outcome, message = _explain(point, status)
    now, forgotten = scheduler.world.now, ObjectEvent(ASSIGNED_POD_DELETE, binding.pod, None)
    if was_assumed and not status.rejected:
        scheduler.queue.move_all(forgotten, now)
    scheduler.world.record(
        "binding_ended",
        {"pod": binding.pod.key, "node": binding.node, "outcome": outcome, "message": message},
        scheduler.name,
        binding.span,
    )
    plugins = (status.plugin,) if status.rejected and point is Point.PERMIT and status.plugin else ()
    nomination = None if scheduler.world.settings.expect_nominated_node else ""
    handle_failure(scheduler, binding.queued, failure, message, plugins, binding.popped, nomination)
    if was_assumed and status.rejected:
        scheduler.queue.move_all(forgotten, now, lambda pod: pod.uid != binding.pod.uid)
    scheduler.wake_up()


def _explain(point: Point, status: Status) -> tuple[Status, str, str]:
    """Only a rejection on Permit becomes a FitError; later points' answers stand as they are."""
    if point is Point.PERMIT or not status.rejected:
        return explain(point, status)
    return status, "unschedulable", status.message


def _did(
    scheduler: Scheduler, binding: BindingCycle, point: Point, plugin: str, status: Status, latency: int = 0
) -> None:
    world = scheduler.world
    if not binding.steps or binding.steps[-1].point is not point:
        binding.point_span = world.record(
            "point_started", {"point": point.value, "pod": binding.pod.key}, scheduler.name, binding.span
        )
    step = PluginStep(point, plugin, status, world.now, world.position, timeout=latency)
    binding.steps.append(step)
    world.record("plugin_ran", step.summary(binding.pod.key), scheduler.name, binding.point_span)


def go_duration(nanoseconds: int) -> str:
    """A duration as Go prints it, such as 1m30s, 2.5s or 300ms."""
    if nanoseconds == 0:
        return "0s"
    if nanoseconds < 1_000_000_000:
        for unit, size in (("ms", 1_000_000), ("µs", 1_000), ("ns", 1)):
            if nanoseconds >= size:
                return f"{_decimal(nanoseconds, size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, 1_000_000_000)}s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = str(rest + unit)[1:].rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
