"""The binding cycle of a Scheduler: wait on Permit, PreBind, Bind, PostBind; it overlaps with later scheduling cycles.

If a step's plugin takes virtual time, the step begins at once, and the answer follows after that time.

kube: schedule_one.go (bindingCycle, handleBindingCycleError, finishBinding) @ v1.34.1
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scheduler_core.apiserver.kube_events import NORMAL
from scheduler_core.base.trace.journal import Place
from scheduler_core.base.trace.kinds import BindingEnded, BindingStarted, WaitEnded
from scheduler_core.scheduler.core import measure
from scheduler_core.scheduler.core.actions import AdvanceBinding
from scheduler_core.scheduler.core.calls.client import note
from scheduler_core.scheduler.core.cycles.phases import Phase, PhaseResult, PhaseRow
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle, SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import api_calls, extender_binding, journeys, permit
from scheduler_core.scheduler.core.steps.handlers import finish_binding
from scheduler_core.scheduler.core.steps.outcome import explain, forget, handle_failure
from scheduler_core.scheduler.framework import Code, Plugin, PluginStep, Point, Status, error
from scheduler_core.scheduler.framework.cycle_state import PODS_TO_ACTIVATE, CycleState
from scheduler_core.scheduler.framework.events import ASSIGNED_POD_DELETE, ObjectEvent
from scheduler_core.scheduler.framework.runtime import points
from scheduler_core.scheduler.framework.runtime.framework import record_step


def start(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """Start the binding cycle of a pod that is assumed and reserved."""
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
        exchanges=0 if cycle.extension is None else len(cycle.extension.exchanges),
    )
    binding.span = world.record(BindingStarted(cycle.pod.key, node), scheduler.name, cycle.span)
    scheduler.bindings[binding.number] = binding
    delay = _nominate(scheduler, binding, bool(cycle.waits)) if scheduler.features.expect_nominated_node else 0
    if cycle.waits:
        permit.wait(scheduler, binding, cycle.waits)
        return
    journeys.move(scheduler, binding, Place.BINDING, "assumed")
    if delay:
        _push(scheduler, binding, delay)
    else:
        _follow(scheduler, binding, PhaseResult.SUCCESS)


def _nominate(scheduler: Scheduler, binding: BindingCycle, waits: bool) -> int:
    """Set status.nominatedNodeName if the binding takes time: a plugin has work at PreBind, or the pod waits on Permit.

    PreBind skips plugins without work. Return how long (ns) the call delays the binding.

    kube: RunPreBindPreFlights
    """
    plugins = scheduler.profiles[binding.profile].at(Point.PRE_BIND)
    idle = tuple(plugin.name for plugin in plugins if not points.will_pre_bind(plugin, binding))
    if idle:
        binding.state.write(_IDLE, idle)
    if waits or len(idle) < len(plugins):
        return api_calls.patch_status(scheduler, binding.pod, None, binding.node)
    return 0


def activate(scheduler: Scheduler, state: CycleState) -> None:
    """Move the pods that plugins activated to the active queue. kube: PodsToActivate"""
    keys = state.get(PODS_TO_ACTIVATE) or ()
    if not keys:
        return
    state.write(PODS_TO_ACTIVATE, ())
    pods = [pod for key in dict.fromkeys(keys) if (pod := scheduler.live(key)) is not None]
    scheduler.queue.activate(pods, scheduler.world.now)


def advance(scheduler: Scheduler, number: int) -> None:
    """Run the next step of a binding cycle."""
    binding, world = scheduler.bindings[number], scheduler.world
    binding.t, binding.position = world.now, world.position
    _ROWS[binding.phase].run(scheduler, binding)


def _follow(scheduler: Scheduler, binding: BindingCycle, result: PhaseResult) -> None:
    """Enter the next phase."""
    row = _ROWS[_ROWS[binding.phase].then[result]]
    binding.phase, binding.index = row.phase, 0
    binding.entered = binding.since = scheduler.world.now
    row.enter(scheduler, binding)


# WaitOnPermit


def _after_wait(scheduler: Scheduler, binding: BindingCycle) -> None:
    status = binding.decision
    if status is None:  # it waited for an API call, not for Permit
        _follow(scheduler, binding, PhaseResult.SUCCESS)
        return
    scheduler.figures.permit_wait.observe((status.code.kube_name,), scheduler.world.now - binding.started)
    _record(scheduler, binding, points.wait_on_permit(status, binding))
    scheduler.world.record(WaitEnded(binding.pod.key, status.to_json()), scheduler.name, binding.span)
    if status.ok:
        journeys.move(scheduler, binding, Place.BINDING, "permitted")
        _follow(scheduler, binding, PhaseResult.SUCCESS)
    else:
        _fail(scheduler, binding, Point.PERMIT, status)


# PreBind, Bind, PostBind

_IDLE = "PreBindPreFlight/idle"


def not_idle(state: CycleState) -> tuple[str, ...]:
    """all but those with nothing to do (where nominations are expected to last)"""
    return state.get(_IDLE) or ()


def _plugins(scheduler: Scheduler, binding: BindingCycle) -> tuple[Plugin, ...]:
    row = _ROWS[binding.phase]
    assert row.point is not None
    plugins, skipped = scheduler.profiles[binding.profile].at(row.point), row.skips(binding.state)
    return tuple(p for p in plugins if p.name not in skipped) if skipped else plugins


def _begin(scheduler: Scheduler, binding: BindingCycle) -> None:
    """Start the first plugin; pass through a point without plugins."""
    if _plugins(scheduler, binding):
        _push(scheduler, binding, 0)
    else:
        _pass_through(scheduler, binding)


def _begin_pre_bind(scheduler: Scheduler, binding: BindingCycle) -> None:
    # kube: Permit is the last point that can make a pod unschedulable. After it no hint needs the events, so
    # they are freed before the binding, which may be slow.
    scheduler.queue.done(binding.pod.uid)
    _begin(scheduler, binding)


def _begin_extenders(scheduler: Scheduler, binding: BindingCycle) -> None:
    """Call the first extender that binds, if any."""
    binders = extender_binding.binders(scheduler, binding)
    if binding.index < len(binders):
        delay = extender_binding.ask(scheduler, binding, binders[binding.index])
        if delay is not None:
            _push(scheduler, binding, delay)
    else:
        _follow(scheduler, binding, PhaseResult.SUCCESS)


def _run_extender(scheduler: Scheduler, binding: BindingCycle) -> None:
    """Process the answer of an extender."""
    status = extender_binding.take(scheduler, binding)
    if status.ok:
        _complete_bind(scheduler, binding)
        _follow(scheduler, binding, PhaseResult.EXTENDED)
    elif status.code is Code.SKIP:
        binding.index += 1
        _begin_extenders(scheduler, binding)
    else:
        _fail(scheduler, binding, Point.EXTENDER_BIND, status)


def _begin_bind(scheduler: Scheduler, binding: BindingCycle) -> None:
    """Queue the binding call among the calls about the pod."""
    if _plugins(scheduler, binding):
        api_calls.bind(scheduler, binding.pod, binding.number)
    else:
        _pass_through(scheduler, binding)


def _pass_through(scheduler: Scheduler, binding: BindingCycle) -> None:
    scheduler.figures.extension_point.observe((str(binding.phase), measure.OK, binding.profile), 0)
    _follow(scheduler, binding, PhaseResult.SUCCESS)


def _push(scheduler: Scheduler, binding: BindingCycle, delay: int) -> None:
    world = scheduler.world
    world.agenda.push(world.now + delay, AdvanceBinding(scheduler.name, binding.number))


def _run(scheduler: Scheduler, binding: BindingCycle) -> None:
    """Call a plugin, or process its answer after its latency."""
    if binding.done:
        binding.done = False
        _handle_status(scheduler, binding, binding.answer)
    else:
        call = _ROWS[binding.phase].call
        assert call is not None
        step = call(_plugins(scheduler, binding)[binding.index], binding)
        _record(scheduler, binding, step)
        if step.status.code is Code.WAIT:
            _push(scheduler, binding, step.timeout)
        elif step.timeout:
            binding.done, binding.answer = True, step.status
            _push(scheduler, binding, step.timeout)
        else:
            _handle_status(scheduler, binding, step.status)


def _record(scheduler: Scheduler, binding: BindingCycle, step: PluginStep) -> None:
    record_step(scheduler.world, scheduler.name, binding, step)


def _handle_status(scheduler: Scheduler, binding: BindingCycle, status: Status) -> None:
    point = Point(binding.phase.value)
    plugins = _plugins(scheduler, binding)
    last = binding.index + 1 >= len(plugins)
    passed_on = point is Point.BIND and status.code is Code.SKIP
    failed = not status.ok and (last or not passed_on) and point is not Point.POST_BIND
    over = failed or last or (point is Point.BIND and status.ok)
    measure.record_plugin(scheduler, binding, plugins[binding.index].name, status, over)
    if failed:
        _fail(scheduler, binding, point, status)
        return
    binding.index += 1
    if over:
        if point is Point.BIND:
            _complete_bind(scheduler, binding)
        _follow(scheduler, binding, PhaseResult.SUCCESS)
    else:
        _push(scheduler, binding, 0)


def _complete_bind(scheduler: Scheduler, binding: BindingCycle) -> None:
    finish_binding(scheduler, binding.pod)
    text = f"Successfully assigned {binding.pod.key} to {binding.node}"
    note(scheduler, binding.pod, NORMAL, "Scheduled", text, "Binding")
    measure.record_binding(scheduler, binding)


def _finish(scheduler: Scheduler, binding: BindingCycle) -> None:
    del scheduler.bindings[binding.number]
    activate(scheduler, binding.state)
    scheduler.world.record(
        BindingEnded(binding.pod.key, binding.node, "bound", message=""), scheduler.name, binding.span
    )


def cancel_pre_bind(scheduler: Scheduler, binding: BindingCycle) -> bool:
    """Cancel the running PreBind plugin of a preempted pod. Return False if none runs. kube: podInPreBind.CancelPod"""
    plugins = _plugins(scheduler, binding) if binding.phase is Phase.PRE_BIND and not_idle(binding.state) else ()
    if not plugins:
        return False
    plugin, step = plugins[binding.index], AdvanceBinding(scheduler.name, binding.number)
    binding.done, binding.answer = True, Status(Code.ERROR, (plugin.canceled,), plugin.name)
    scheduler.world.agenda.discard(lambda action: action == step)
    _push(scheduler, binding, 0)
    return True


# Failure


def _fail(scheduler: Scheduler, binding: BindingCycle, point: Point, status: Status) -> None:
    """Run Unreserve in reverse order, forget the pod, move the pods that this helps, and requeue."""
    result = PhaseResult.REFUSED if status.rejected else PhaseResult.ERROR
    binding.phase = _ROWS[binding.phase].then[result]
    for plugin in scheduler.profiles[binding.profile].at(Point.UNRESERVE):
        _record(scheduler, binding, points.run_unreserve(plugin, binding))
    scheduler.figures.extension_point.observe(("Unreserve", measure.OK, binding.profile), 0)
    del scheduler.bindings[binding.number]
    was_assumed = scheduler.is_assumed(binding.pod)
    forget(scheduler, binding.pod, binding.span)
    failure, outcome, message = _explain(point, status)
    now, forgotten = scheduler.world.now, ObjectEvent(ASSIGNED_POD_DELETE, binding.pod, None)
    # A pod that failed by an error backs off in any case, so nothing needs to be deferred.
    if was_assumed and not status.rejected:
        scheduler.queue.move_all(forgotten, now)
    scheduler.world.record(BindingEnded(binding.pod.key, binding.node, outcome, message), scheduler.name, binding.span)
    plugins = (status.plugin,) if status.rejected and point is Point.PERMIT and status.plugin else ()
    nomination = None if scheduler.keeps_nomination else ""
    handle_failure(scheduler, binding.queued, failure, message, plugins, binding.popped, nomination)
    # Deferred, and not for the pod itself, as in kube: as an event in flight it would move the refused pod to backoff
    # if its plugin has no hint for deletions.
    if was_assumed and status.rejected:
        scheduler.queue.move_all(forgotten, now, lambda pod: pod.uid != binding.pod.uid)
    scheduler.wake_up()


def _explain(point: Point, status: Status) -> tuple[Status, str, str]:
    """Return the failure's status, outcome, and message. Only rejections on Permit become a FitError; later ones are unchanged."""
    if point is Point.EXTENDER_BIND:
        return status, "error", status.message
    if point is Point.PERMIT and not status.rejected:
        message = f"waiting on permit for pod: {status.message}"
        return error(message), "error", message
    if point is Point.PERMIT or not status.rejected:
        return explain(point, status)
    return status, "unschedulable", status.message


# The table


def _nothing(scheduler: Scheduler, binding: BindingCycle) -> None:
    """Do nothing: the phase has no work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingPhase(PhaseRow):
    """`enter` runs first, `run` is one step, `call` runs one plugin. An ended binding cycle is removed at once."""

    enter: Callable[[Scheduler, BindingCycle], None] = _nothing
    run: Callable[[Scheduler, BindingCycle], None] = _run
    call: Callable[[Plugin, BindingCycle], PluginStep] | None = None


_FAILURE = {PhaseResult.REFUSED: Phase.FAILED, PhaseResult.ERROR: Phase.FAILED}
BINDING = (
    BindingPhase(phase=Phase.WAIT_ON_PERMIT, run=_after_wait, then={PhaseResult.SUCCESS: Phase.PRE_BIND, **_FAILURE}),
    BindingPhase(
        phase=Phase.PRE_BIND,
        point=Point.PRE_BIND,
        skips=not_idle,
        enter=_begin_pre_bind,
        call=points.run_pre_bind,
        then={PhaseResult.SUCCESS: Phase.EXTENDER_BIND, **_FAILURE},
    ),
    BindingPhase(
        phase=Phase.EXTENDER_BIND,
        enter=_begin_extenders,
        run=_run_extender,
        then={PhaseResult.SUCCESS: Phase.BIND, PhaseResult.EXTENDED: Phase.POST_BIND, **_FAILURE},
    ),
    BindingPhase(
        phase=Phase.BIND,
        point=Point.BIND,
        enter=_begin_bind,
        call=points.run_bind,
        then={PhaseResult.SUCCESS: Phase.POST_BIND, **_FAILURE},
    ),
    BindingPhase(
        phase=Phase.POST_BIND,
        point=Point.POST_BIND,
        enter=_begin,
        call=points.run_post_bind,
        then={PhaseResult.SUCCESS: Phase.DONE},
    ),
    BindingPhase(phase=Phase.DONE, enter=_finish, run=_nothing, then={}),
    BindingPhase(phase=Phase.FAILED, run=_nothing, then={}),
)
_ROWS: Mapping[Phase, BindingPhase] = {row.phase: row for row in BINDING}
