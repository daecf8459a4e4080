"""A scheduler's elector on the world's agenda: its turns, its calls to the API server, and the effects of its reports.

Both kinds of action have the priority of timers, so that a world in which only leases are renewed counts as idle; a successful renewal
leaves no record. In a process that is cut off, calls fail after a while.

kube: cmd/kube-scheduler/app/{server,options/options}.go @ v1.34.1
"""

from collections.abc import Callable, Mapping, Sequence

from scheduler_core.apiserver.kube_events import NORMAL, KubeEvent
from scheduler_core.base.trace.kinds import LeaderElection
from scheduler_core.scheduler.core.actions import AnswerLease, Elect
from scheduler_core.scheduler.core.calls.client import UNREACHABLE
from scheduler_core.scheduler.core.process import Stage
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import startup
from scheduler_core.scheduler.leaderelection.elector import LeaderElector, Phase, Report, ReportKind, Steps
from scheduler_core.scheduler.leaderelection.lock import LeaseAnswer, LeaseCall, carry_out

REASON = "LeaderElection"
_CUT_OFF = LeaseAnswer(reason="Timeout", message=UNREACHABLE)


def begin(scheduler: Scheduler) -> None:
    """Start the process, and its elector if the process is on standby."""
    startup.begin(scheduler)
    _stand(scheduler)


def advance_start_up(scheduler: Scheduler) -> None:
    """Run the next step of the start, and start the elector when the process is on standby."""
    startup.advance(scheduler)
    _stand(scheduler)


def _stand(scheduler: Scheduler) -> None:
    process = startup.process_of(scheduler)
    elector = process.elector
    if process.stage is Stage.STANDBY and elector is not None and elector.phase is Phase.IDLE:
        _follow(scheduler, elector.run(_clock(scheduler)))


def is_due(scheduler: Scheduler, action: Elect) -> bool:
    """the candidate wants its turn then"""
    return _next_turn(scheduler) == action.due


def take_turn(scheduler: Scheduler) -> None:
    """Run the elector's turn."""
    _follow(scheduler, _elector(scheduler).wake(_clock(scheduler)))


def is_asked(scheduler: Scheduler, action: AnswerLease) -> bool:
    """the call is waited for"""
    process = scheduler.process
    if process is None or process.elector is None or process.call is None:
        return False
    return process.elector.calling and process.elector.calls == action.number


def answer(scheduler: Scheduler) -> None:
    """Deliver the call about the lease to the API server, and process the answer."""
    process = startup.process_of(scheduler)
    call, process.call = process.call, None
    assert call is not None
    reply = _CUT_OFF if process.hang is not None else carry_out(scheduler.world.api, call)
    _follow(scheduler, _elector(scheduler).answer(_clock(scheduler), reply))


def terminate(scheduler: Scheduler) -> None:
    """Handle SIGTERM: start no more cycles, and release the lease."""
    startup.end(scheduler)
    process = startup.process_of(scheduler)
    if process.elector is not None and process.electing:
        _follow(scheduler, process.elector.cancel(_clock(scheduler)))


def may_lead(scheduler: Scheduler, acting: Sequence[Scheduler]) -> bool:
    """Return whether a candidate is about to lead: it calls for the lease, or waits for a holder that is not in `acting`."""
    process = scheduler.process
    if process is None or process.elector is None or process.hang is not None or process.stage is not Stage.STANDBY:
        return False
    candidate = process.elector.candidate
    holder = candidate.observed.holder
    if any(other.process is not None and other.process.identity == holder for other in acting):
        return False
    late = candidate.valid_until + candidate.config.lease_duration  # later, it has had its chance
    return process.elector.calling or (bool(holder) and _clock(scheduler) < late)


def _elector(scheduler: Scheduler) -> LeaderElector:
    process = scheduler.process
    assert process is not None
    assert process.elector is not None
    return process.elector


def _clock(scheduler: Scheduler) -> int:
    """Return the time on the process' clock (ns since 1970)."""
    world = scheduler.world
    return world.store.epoch + startup.process_of(scheduler).clock.at(world.now)


def _next_turn(scheduler: Scheduler) -> int | None:
    """Return the virtual time (ns) of the elector's next turn."""
    process = scheduler.process
    if process is None or process.elector is None or process.elector.wake_at is None:
        return None
    return process.clock.when(process.elector.wake_at - scheduler.world.store.epoch)


def _follow(scheduler: Scheduler, steps: Steps) -> None:
    """Carry out the elector's steps, and push its next turn onto the agenda."""
    process, world = startup.process_of(scheduler), scheduler.world
    turn = _next_turn(scheduler)
    for step in steps:
        if isinstance(step, LeaseCall):
            process.call = step
            _send(scheduler)
        else:
            _REPORTS.get(step.what, _note)(scheduler, step)
    if process.stage is not Stage.ENDED and turn is not None:
        world.agenda.push(turn, Elect(scheduler.name, turn))


def _send(scheduler: Scheduler) -> None:
    process, world = startup.process_of(scheduler), scheduler.world
    latency = process.hang
    if latency is None:
        latency = world.settings.cluster.api_latency
    world.agenda.push(world.now + latency, AnswerLease(scheduler.name, _elector(scheduler).calls))


# reports


def _note(scheduler: Scheduler, report: Report) -> None:
    """Record the report."""
    process = startup.process_of(scheduler)
    leader = _elector(scheduler).candidate.observed.holder
    scheduler.world.record(LeaderElection(report.what.value, process.identity, leader), scheduler.name)
    if report.what is ReportKind.NEW_LEADER:
        startup.note(scheduler)


def _ignore_report(scheduler: Scheduler, report: Report) -> None:
    """Ignore a routine report."""


def _on_renewal(scheduler: Scheduler, report: Report) -> None:
    process = startup.process_of(scheduler)
    if process.renewal_failed:
        process.renewal_failed = False
        _note(scheduler, report)


def _not_renewed(scheduler: Scheduler, report: Report) -> None:
    startup.process_of(scheduler).renewal_failed = True
    _note(scheduler, report)


def _on_start(scheduler: Scheduler, report: Report) -> None:
    _note(scheduler, report)
    startup.lead(scheduler)


def _on_stop(scheduler: Scheduler, report: Report) -> None:
    """End a canceled scheduler when it is done; exit at once if it lost the lease."""
    _note(scheduler, report)
    if _elector(scheduler).cancelled:
        scheduler.wake_up()
    else:
        startup.exit_(scheduler, 1)


def _event(scheduler: Scheduler, report: Report) -> None:
    """Record a Kubernetes Event about the Lease. It is lost if the process is cut off."""
    process, world = startup.process_of(scheduler), scheduler.world
    config = _elector(scheduler).config
    event = KubeEvent(
        world.now, NORMAL, REASON, "Lease", config.namespace, config.resource_name, report.text, process.reporter
    )
    if process.hang is None:
        world.store.record(event)
        world.record(event.facts(), scheduler.name)


_REPORTS: Mapping[ReportKind, Callable[[Scheduler, Report], None]] = {
    ReportKind.STARTED_LEADING: _on_start,
    ReportKind.STOPPED_LEADING: _on_stop,
    ReportKind.EVENT: _event,
    ReportKind.NOT_ACQUIRED: _ignore_report,
    ReportKind.RENEWED: _on_renewal,
    ReportKind.NOT_RENEWED: _not_renewed,
}
