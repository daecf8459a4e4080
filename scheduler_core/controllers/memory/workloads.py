"""What the controllers of workloads remember between two looks at the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from scheduler_core.apimachinery.objects.labels import IN, Labels, LabelSelector
from scheduler_core.apimachinery.objects.times import SECOND
from scheduler_core.base.state import Copied, Derived, State

_FIRST, _LONGEST = SECOND, 15 * 60 * SECOND


class Backoff(NamedTuple):
    """The delay after a failure, and the time of the failure (virtual ns)."""

    delay: int
    since: int


class Failures(NamedTuple):
    """Failures of a Job's pods in a row, and when the last one was (ns since 1970)."""

    number: int = 0
    last: int = 0


class Selectors:
    """The selectors of one kind's workloads, found by a label that they demand."""

    def __init__(self, workloads: Iterable[tuple[str, str, LabelSelector]]) -> None:
        """`workloads`: namespace, key and selector."""
        self._demanding: dict[tuple[str, str, str], list[tuple[str, LabelSelector]]] = {}
        self._others: dict[str, list[tuple[str, LabelSelector]]] = {}
        for namespace, key, selector in workloads:
            demand = next((one for one in selector.requirements if one.op == IN and len(one.values) == 1), None)
            if demand is not None:
                place = (namespace, demand.key, demand.values[0])
                self._demanding.setdefault(place, []).append((key, selector))
            elif not selector.empty:
                self._others.setdefault(namespace, []).append((key, selector))

    def matching(self, namespace: str, labels: Labels) -> list[str]:
        """Keys of the workloads of a namespace that select these labels, sorted; those that select everything are left out."""
        found = list(self._others.get(namespace, ()))
        for name, value in labels.items():
            found += self._demanding.get((namespace, name, value), ())
        return sorted(key for key, selector in found if selector.matches(labels))


@dataclass(slots=True)
class WorkloadsMemory(State):
    """Back-offs of failed daemon pods, by DaemonSet's uid, observed generation and node; failures of Jobs by their keys.

    kube: client-go/util/flowcontrol/backoff.go, from 1 s to 15 min; pkg/controller/job/backoff_utils.go @ v1.34.1
    """

    daemons: Copied[dict[str, Backoff]] = field(default_factory=dict)
    jobs: Copied[dict[str, Failures]] = field(default_factory=dict)
    selectors: Derived[dict[str, Selectors]] = field(default_factory=dict)  # by kind, once they are asked for
    schedules: Copied[dict[str, int]] = field(default_factory=dict)  # when a CronJob is looked at next (ns), by key

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
