"""A candidate: its observation of the lock, and the calls of one attempt to acquire or renew it.

One attempt. Each line is a call; its answer decides on the next call.

| call | answer | next |
|---|---|---|
| optimistic update, by a leader whose lease is valid | ok | succeeded |
| | refused | get |
| get | ok, held by another and valid | failed |
| | ok, otherwise | update |
| | NotFound | create |
| | error | failed |
| create, update | ok | succeeded |
| | refused | failed |
| get, to release | ok, it leads | update, to release |
| | ok, it does not lead | succeeded |
| | refused | failed |
| update, to release | ok | succeeded |
| | refused | failed |

A lease is valid for the duration in its spec since this candidate last observed a change, on this candidate's own clock.
All times are ns since 1970 by that clock.

kube: client-go/tools/leaderelection/leaderelection.go tryAcquireOrRenew, release @ v0.34.1
"""

import enum
from dataclasses import dataclass, field, replace

from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.leaderelection.config import ElectionConfig
from scheduler_core.scheduler.leaderelection.lock import (
    NO_RECORD,
    ElectionRecord,
    LeaseAnswer,
    LeaseCall,
    LeaseLock,
    Verb,
    record_of,
)


class PendingCall(enum.Enum):
    """The call that waits for its answer."""

    NOTHING = enum.auto()
    OPTIMISTIC_UPDATE = enum.auto()
    GET = enum.auto()
    CREATE = enum.auto()
    UPDATE = enum.auto()
    RELEASE_GET = enum.auto()
    RELEASE_UPDATE = enum.auto()


_VERBS = {
    PendingCall.OPTIMISTIC_UPDATE: Verb.UPDATE,
    PendingCall.GET: Verb.GET,
    PendingCall.CREATE: Verb.CREATE,
    PendingCall.UPDATE: Verb.UPDATE,
    PendingCall.RELEASE_GET: Verb.GET,
    PendingCall.RELEASE_UPDATE: Verb.UPDATE,
}

Next = LeaseCall | bool  # the call to make, or whether the attempt succeeded


@dataclass(slots=True, eq=False)
class Candidate(State):
    """A candidate. `observed` is the record that it last read or wrote, `observed_time` the time of that.

    `slow_paths` counts renewals that had to read first.
    """

    config: ElectionConfig
    identity: str
    lock: Copied[LeaseLock] = field(init=False)
    observed: ElectionRecord = NO_RECORD
    observed_raw: ElectionRecord | None = None
    observed_time: int = 0
    reported_leader: str = ""
    slow_paths: int = 0
    doing: PendingCall = PendingCall.NOTHING
    began: int = 0
    wanted: ElectionRecord = NO_RECORD

    def __post_init__(self) -> None:
        self.lock = LeaseLock(self.config.namespace, self.config.resource_name, self.identity)

    @property
    def is_leader(self) -> bool:
        """True if the candidate observes itself as the lease's holder."""
        return self.observed.holder == self.identity

    @property
    def valid_until(self) -> int:
        """The time when the observed lease expires and other candidates may take it."""
        return self.observed_time + self.observed.duration_seconds * SECOND

    def new_leader(self) -> str | None:
        """Return the observed leader if not reported yet ("": no leader), else None."""
        if self.observed.holder == self.reported_leader:
            return None
        self.reported_leader = self.observed.holder
        return self.reported_leader

    def try_acquire_or_renew(self, now: int) -> Next:
        """Begin an attempt."""
        self.began = now
        seconds = self.config.lease_duration // SECOND
        self.wanted = ElectionRecord(self.identity, seconds, acquired=now, renewed=now)
        if self.is_leader and now < self.valid_until:
            self._keep_term(self.observed)
            return self._update(PendingCall.OPTIMISTIC_UPDATE) or self._get(PendingCall.GET)
        return self._get(PendingCall.GET)

    def release(self, now: int) -> Next:
        """Begin to release the lease."""
        self.began = now
        return self._get(PendingCall.RELEASE_GET)

    def abandon(self) -> None:
        """Ignore the answer of the pending call."""
        self.doing = PendingCall.NOTHING

    def answer(self, now: int, answer: LeaseAnswer) -> Next:
        """Continue with the API server's answer."""
        doing, self.doing = self.doing, PendingCall.NOTHING
        self.lock.hear(answer, _VERBS[doing])
        if doing is PendingCall.GET:
            return self._read(now, answer)
        if doing is PendingCall.RELEASE_GET:
            if not answer.ok:
                return False
            if not self.is_leader:
                return True
            assert answer.lease is not None
            transitions = record_of(answer.lease.get("spec") or {}).transitions
            self.wanted = ElectionRecord("", 1, acquired=now, renewed=now, transitions=transitions)
            return self._update(PendingCall.RELEASE_UPDATE) or False
        if answer.ok:
            self._observe(now, self.wanted)
            return True
        # As in client-go, a failed optimistic update falls back to the slow path: read, then update.
        return doing is PendingCall.OPTIMISTIC_UPDATE and self._get(PendingCall.GET)

    def _read(self, now: int, answer: LeaseAnswer) -> Next:
        if not answer.ok:
            return answer.reason == "NotFound" and self._create()
        # Observe a Lease that differs from the last one read.
        assert answer.lease is not None
        record = record_of(answer.lease.get("spec") or {})
        if record.by_the_second != self.observed_raw:
            self._observe(now, record)
            self.observed_raw = record.by_the_second
        if record.holder and self.began < self.valid_until and not self.is_leader:
            return False  # another candidate holds a lease that has not expired
        if self.is_leader:
            self._keep_term(record)
            self.slow_paths += 1
        else:
            self.wanted = replace(self.wanted, transitions=record.transitions + 1)
        return self._update(PendingCall.UPDATE) or False

    def _observe(self, now: int, record: ElectionRecord) -> None:
        self.observed = record
        self.observed_time = now

    def _keep_term(self, record: ElectionRecord) -> None:
        self.wanted = replace(self.wanted, acquired=record.acquired, transitions=record.transitions)

    def _get(self, doing: PendingCall) -> LeaseCall:
        self.doing = doing
        return self.lock.get()

    def _create(self) -> LeaseCall:
        self.doing = PendingCall.CREATE
        return self.lock.create(self.wanted)

    def _update(self, doing: PendingCall) -> LeaseCall | None:
        call = self.lock.update(self.wanted)
        if call is not None:
            self.doing = doing
        return call
