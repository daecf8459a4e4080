"""What the controllers of workloads remember between two looks at the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from scheduler_core.objects.times import SECOND
from scheduler_core.state import Copied, State

_FIRST, _LONGEST = SECOND, 15 * 60 * SECOND


class Backoff(NamedTuple):
    """How long to wait after something failed, and when it did (virtual ns)."""

    delay: int
    since: int


class Failures(NamedTuple):
    """Failures of a Job's pods in a row, and when the last one was (ns since 1970)."""

    number: int = 0
    last: int = 0


@dataclass(slots=True)
class WorkloadsMemory(State):
    """Back-offs of failed daemon pods, by DaemonSet's uid, observed generation and node; failures of Jobs by their keys.

    kube: client-go/util/flowcontrol/backoff.go, from 1 s to 15 min; pkg/controller/job/backoff_utils.go @ v1.34.1
    """

    daemons: Copied[dict[str, Backoff]] = field(default_factory=dict)
    jobs: Copied[dict[str, Failures]] = field(default_factory=dict)
    schedules: Copied[dict[str, int]] = field(
        default_factory=dict
    )  # when a CronJob is looked at next (ns), by key

    def waits_until(self, key: str, now: int) -> int | None:
        """Until when a key has to wait still; None: it doesn't."""
        known = self.daemons.get(key)
        if known is None or now - known.since > 2 * _LONGEST or now - known.since >= known.delay:
            return None
        return known.since + known.delay

    def fail(self, key: str, now: int) -> None:
        """Notes a failure: the next one waits twice as long."""
        self.daemons = {k: v for k, v in self.daemons.items() if now - v.since <= 2 * _LONGEST}
        known = self.daemons.get(key)
        delay = _FIRST if known is None else min(2 * known.delay, _LONGEST)
        self.daemons[key] = Backoff(delay, now)
