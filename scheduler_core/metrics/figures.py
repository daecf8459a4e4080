"""The figures of one scheduler: plain counts, copied with the world. Durations are virtual nanoseconds.

What a queue counts by itself is in queue/metrics.py; gauges that can be read off the world are not kept at all.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import TypeVar

from scheduler_core.metrics.catalogue import BY_NAME

Labels = tuple[str, ...]
K = TypeVar("K")


class Tally(dict[K, int]):
    """Counts; what was never counted is 0. A Counter that is copied at once."""

    __slots__ = ()

    def __missing__(self, key: K) -> int:
        return 0

    def copy(self) -> Tally[K]:
        return Tally(self)


SECOND = 1_000_000_000


@dataclass(slots=True)
class Histogram:
    """`counts` by labels and number of the bucket (one more than there are bounds), `sums` by labels.

    `unit` is how many of what is observed make one of what the bounds are in: nanoseconds in a second, or 1.
    """

    bounds: tuple[float, ...]
    unit: int = SECOND
    counts: Tally[tuple[Labels, int]] = field(default_factory=Tally)
    sums: Tally[Labels] = field(default_factory=Tally)

    def observe(self, labels: Labels, amount: int, times: int = 1) -> None:
        """One value, or the same one so many times."""
        if amount <= 0:
            self.counts[labels, 0] += times
            return
        self.counts[labels, bisect_left(self.bounds, amount / self.unit)] += times
        self.sums[labels] += amount * times

    def copy(self) -> Histogram:
        return Histogram(self.bounds, self.unit, self.counts.copy(), self.sums.copy())


def _seconds(name: str) -> Histogram:
    return Histogram(BY_NAME[f"scheduler_{name}_duration_seconds"].buckets)


def _numbers(name: str) -> Histogram:
    return Histogram(BY_NAME[f"scheduler_{name}"].buckets, 1)


@dataclass(slots=True)
class Alike:
    """Scheduling cycles in which the same plugins ran and answered alike, but for their Filters' refusals.

    `points` are (extension point, status), `once` (extension point, status, plugin); `filters` and `scores` are called once for
    each node of `filtered` and `scored`.
    """

    points: tuple[Labels, ...]
    once: tuple[Labels, ...]
    filters: Labels
    scores: Labels
    cycles: int = 0
    filtered: int = 0
    scored: int = 0


@dataclass(slots=True)
class Figures:
    """Counters and histograms by the name that kube has for them, without `scheduler_` and `_duration_seconds` or `_total`.

    `calls` counts the plugins of scheduling cycles, which take no virtual time: by profile, extension point and status, then by plugin.
    `alike` counts what cycles that went alike have in common, by a key of the caller's. The extension points and plugins of
    scheduling cycles are told from both.
    """

    scheduling_attempt: Histogram = field(default_factory=lambda: _seconds("scheduling_attempt"))
    scheduling_algorithm: Histogram = field(default_factory=lambda: _seconds("scheduling_algorithm"))
    event_handling: Histogram = field(default_factory=lambda: _seconds("event_handling"))
    preemption_victims: Histogram = field(default_factory=lambda: _numbers("preemption_victims"))
    preemption_attempts: int = 0
    pod_scheduling_sli: Histogram = field(default_factory=lambda: _seconds("pod_scheduling_sli"))
    pod_scheduling_attempts: Histogram = field(default_factory=lambda: _numbers("pod_scheduling_attempts"))
    extension_point: Histogram = field(default_factory=lambda: _seconds("framework_extension_point"))
    plugin_execution: Histogram = field(default_factory=lambda: _seconds("plugin_execution"))
    permit_wait: Histogram = field(default_factory=lambda: _seconds("permit_wait"))
    calls: dict[Labels, Tally[str]] = field(default_factory=dict)
    alike: dict[tuple[str, Labels, Labels], Alike] = field(default_factory=dict)
    queueing_hint: Histogram = field(default_factory=lambda: _seconds("queueing_hint_execution"))
    preemption_goroutines: Histogram = field(default_factory=lambda: _seconds("preemption_goroutines"))
    async_api_call: Histogram = field(default_factory=lambda: _seconds("async_api_call_execution"))
    volume_errors: Tally[Labels] = field(default_factory=Tally)

    def calls_at(self, profile: str, point: str, status: str) -> Tally[str]:
        """Calls by plugin."""
        key = (profile, point, status)
        tally = self.calls.get(key)
        if tally is None:
            tally = self.calls[key] = Tally()
        return tally

    def copy(self) -> Figures:
        return Figures(
            self.scheduling_attempt.copy(),
            self.scheduling_algorithm.copy(),
            self.event_handling.copy(),
            self.preemption_victims.copy(),
            self.preemption_attempts,
            self.pod_scheduling_sli.copy(),
            self.pod_scheduling_attempts.copy(),
            self.extension_point.copy(),
            self.plugin_execution.copy(),
            self.permit_wait.copy(),
            {key: tally.copy() for key, tally in self.calls.items()},
            {key: replace(alike) for key, alike in self.alike.items()},
            self.queueing_hint.copy(),
            self.preemption_goroutines.copy(),
            self.async_api_call.copy(),
            self.volume_errors.copy(),
        )
