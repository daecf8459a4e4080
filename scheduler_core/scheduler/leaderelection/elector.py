"""The election loop of a process: it acquires the lease, renews it while it leads, and then stops for good.

| phase | what happens | then |
|---|---|---|
| IDLE | run | ACQUIRING |
| ACQUIRING | an attempt succeeds | RENEWING; it leads, and renews at once |
| | an attempt fails | retry after retryPeriod plus a random time of up to 1.2 times retryPeriod |
| | cancel | STOPPED |
| RENEWING | a round succeeds | the next round begins after retryPeriod |
| | an attempt of the round fails | retry at the next multiple of retryPeriod since the round began |
| | the round is renewDeadline old | lost: RELEASING, or STOPPED without release on cancel |
| | cancel | RELEASING, or STOPPED without release on cancel |
| RELEASING | the lease is released, or that failed, or renewDeadline is over | STOPPED |
| STOPPED | | |

A step takes the time on the process' own clock (ns since 1970), and returns reports, and at most one call, which comes last.
`wake_at` is the time of the next turn, unless a call is answered before. A call that exceeds the client's timeout has failed.
DEVIATION: if an attempt and the deadline of its round fall together, kube takes either; here the deadline.

kube: client-go/tools/leaderelection/leaderelection.go Run, acquire, renew; apimachinery/pkg/util/wait @ v0.34.1
"""

import enum
from dataclasses import dataclass, field

from scheduler_core.base.clock.agenda import Stream
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.leaderelection.candidate import Candidate, Next
from scheduler_core.scheduler.leaderelection.config import ElectionConfig
from scheduler_core.scheduler.leaderelection.lock import LeaseAnswer, LeaseCall

TIMED_OUT = LeaseAnswer(reason="Timeout", message="context deadline exceeded")


class Phase(enum.Enum):
    IDLE = "idle"
    ACQUIRING = "acquiring"
    RENEWING = "renewing"
    RELEASING = "releasing"
    STOPPED = "stopped"


class ReportKind(enum.StrEnum):
    """A step's report. The first three are kube's callbacks."""

    NEW_LEADER = "OnNewLeader"
    STARTED_LEADING = "OnStartedLeading"
    STOPPED_LEADING = "OnStoppedLeading"
    ACQUIRED = "acquired"
    NOT_ACQUIRED = "not acquired"
    RENEWED = "renewed"
    NOT_RENEWED = "not renewed"
    LOST = "lost"
    RELEASED = "released"
    NOT_RELEASED = "not released"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class Report:
    """A report. `text`: the leader for NEW_LEADER, the message for EVENT."""

    what: ReportKind
    text: str = ""


Steps = list[Report | LeaseCall]


@dataclass(slots=True, eq=False)
class LeaderElector(State):
    """Run() as data. `deadline` ends a round of renewals, or the release; `round` is when the round began."""

    candidate: Copied[Candidate]
    phase: Phase = Phase.IDLE
    wake_at: int | None = None
    deadline: int | None = None
    round: int = 0
    calls: int = 0
    cancelled: bool = False
    jitter: Copied[Stream] = field(default_factory=lambda: Stream(0))

    @property
    def config(self) -> ElectionConfig:
        return self.candidate.config

    @property
    def calling(self) -> bool:
        """True if a call awaits its answer; `calls` is its number."""
        return self.candidate.doing.name != "NOTHING"

    @property
    def leads(self) -> bool:
        """True if the process acts as leader, regardless of the lease's holder."""
        return self.phase is Phase.RENEWING

    def run(self, now: int) -> Steps:
        """Start to acquire the lease."""
        self.phase, self.cancelled = Phase.ACQUIRING, False
        return self._attempt(now)

    def wake(self, now: int) -> Steps:
        """Run the turn at `wake_at`: a call has timed out, a round is over, or an attempt is due."""
        self.wake_at = None
        if self.deadline is not None and now >= self.deadline:
            self.candidate.abandon()
            return self._release(now, False) if self.phase is Phase.RELEASING else self._lose(now)
        if self.calling:
            return self._go_on(now, self.candidate.answer(now, TIMED_OUT))
        if self.phase is Phase.RENEWING and self.deadline is None:
            return self._begin_round(now)
        return self._attempt(now) if self.phase in (Phase.ACQUIRING, Phase.RENEWING) else []

    def answer(self, now: int, answer: LeaseAnswer) -> Steps:
        """Process the answer of the pending call."""
        return self._go_on(now, self.candidate.answer(now, answer))

    def cancel(self, now: int) -> Steps:
        """Handle the process' termination: stop, or release the lease first."""
        self.cancelled = True
        self.candidate.abandon()
        if self.phase is Phase.ACQUIRING:
            return [*self._new_leader(), *self._stop()]
        if self.phase is not Phase.RENEWING:
            return []
        reports = [] if self.deadline is None else self._new_leader()
        return [*reports, *self._give_up(now)]

    # attempts

    def _attempt(self, now: int) -> Steps:
        return self._go_on(now, self.candidate.try_acquire_or_renew(now))

    def _go_on(self, now: int, following: Next) -> Steps:
        if isinstance(following, LeaseCall):
            self.calls += 1
            timeout = now + self.config.call_timeout
            self.wake_at = timeout if self.deadline is None else min(timeout, self.deadline)
            return [following]
        if self.phase is Phase.ACQUIRING:
            return self._acquire(now) if following else self._not_acquired(now)
        if self.phase is Phase.RENEWING:
            return self._renew(now) if following else self._not_renewed(now)
        return self._release(now, following)

    def _acquire(self, now: int) -> Steps:
        steps: Steps = [*self._new_leader(), self._event("became leader"), Report(ReportKind.ACQUIRED)]
        self.phase = Phase.RENEWING
        return [*steps, Report(ReportKind.STARTED_LEADING), *self._begin_round(now)]

    def _not_acquired(self, now: int) -> Steps:
        self.wake_at = now + (
            self.config.retry_period + ((self.jitter.next() >> 11) * 12 * self.config.retry_period // 10 >> 53)
        )
        return [*self._new_leader(), Report(ReportKind.NOT_ACQUIRED)]

    def _begin_round(self, now: int) -> Steps:
        self.round, self.deadline = now, now + self.config.renew_deadline
        return self._attempt(now)

    def _renew(self, now: int) -> Steps:
        self.deadline, self.wake_at = None, now + self.config.retry_period
        return [*self._new_leader(), Report(ReportKind.RENEWED)]

    def _not_renewed(self, now: int) -> Steps:
        """Schedule the next attempt. A round's ticks continue during a long attempt; one missed tick is made up for."""
        assert self.deadline is not None
        period = self.config.retry_period
        ticks = (self.candidate.began - self.round) // period + 1
        self.wake_at = min(max(now, self.round + ticks * period), self.deadline)
        return [Report(ReportKind.NOT_RENEWED)]

    # the end

    def _lose(self, now: int) -> Steps:
        return [*self._new_leader(), Report(ReportKind.LOST), *self._give_up(now)]

    def _give_up(self, now: int) -> Steps:
        if not self.config.release_on_cancel:
            return self._end()
        self.phase, self.deadline = Phase.RELEASING, now + self.config.renew_deadline
        return self._go_on(now, self.candidate.release(now))

    def _release(self, now: int, done: bool) -> Steps:
        """End the release. `done` is also true if another candidate holds the lease by now."""
        what = ReportKind.RELEASED if done and not self.candidate.observed.holder else ReportKind.NOT_RELEASED
        return [Report(what), *self._end()]

    def _end(self) -> Steps:
        return [self._event("stopped leading"), *self._stop()]

    def _stop(self) -> Steps:
        self.phase, self.wake_at, self.deadline = Phase.STOPPED, None, None
        return [Report(ReportKind.STOPPED_LEADING)]

    # reports

    def _new_leader(self) -> Steps:
        leader = self.candidate.new_leader()
        return [] if leader is None else [Report(ReportKind.NEW_LEADER, leader)]

    def _event(self, what: str) -> Report:
        return Report(ReportKind.EVENT, f"{self.candidate.identity} {what}")
