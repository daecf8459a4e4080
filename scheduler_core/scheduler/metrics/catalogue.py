"""All metrics of kube-scheduler: name, type, labels, buckets and stability, and the place where the engine observes the metric.

metrics.json lists them. Its `buckets` are a first bound, a factor, and a count; `time` names a member of Time.

kube: metrics/metrics.go, framework/plugins/volumebinding/metrics/metrics.go @ v1.34.1 to v1.37.2
"""

from __future__ import annotations

import enum
import json
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from scheduler_core.base.releases import Behavior
from scheduler_core.base.state import Copied, State

# Names that kube-scheduler v1.34 no longer has, with their replacements.
# kube: CHANGELOG-1.18 to 1.34, pull requests 94884, 95001, 96447, 109546, 128810, 131425


@dataclass(frozen=True, slots=True)
class Former:
    """A name from older releases. `now` are the current metrics, with the labels that select the values of the old one."""

    name: str
    now: tuple[tuple[str, str], ...]
    why: str


class MetricKind(enum.StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Time(enum.StrEnum):
    """The meaning of a duration in virtual time."""

    NONE = "not a duration"
    PASSES = "virtual time passes"
    STANDS = "always 0: virtual time stands still meanwhile"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `observed`: where and when, in this engine. `gate`: the world's setting without which kube does not register it.

    `behavior`: the behavior of newer releases that introduced it.
    """

    name: str
    kind: MetricKind
    stability: str
    labels: tuple[str, ...]
    help: str
    observed: str
    buckets: tuple[float, ...] = ()
    time: Time = Time.NONE
    gate: str = ""
    behavior: Behavior | None = None


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Return upper bounds, each `factor` times the previous one, multiplied step by step as in Prometheus' Go client."""
    bounds, bound = [], start
    for _ in range(count):
        bounds.append(bound)
        bound *= factor
    return tuple(bounds)


def _read_metric(fields: dict[str, Any]) -> Metric:
    fields |= {"kind": MetricKind(fields["kind"]), "labels": tuple(fields["labels"])}
    fields |= {"buckets": exponential(*fields.get("buckets", (0, 0, 0))), "time": Time[fields.get("time", "NONE")]}
    fields |= {"behavior": Behavior(fields["behavior"]) if "behavior" in fields else None}
    return Metric(**fields)


_DATA = json.loads(Path(__file__).with_name("metrics.json").read_text())
METRICS: tuple[Metric, ...] = tuple(map(_read_metric, _DATA["metrics"]))
BY_NAME = {metric.name: metric for metric in METRICS}
FORMER: tuple[Former, ...] = tuple(
    Former(each["name"], tuple((name, labels) for name, labels in each["now"]), each["why"]) for each in _DATA["former"]
)

# The figures of one scheduler: plain counts, copied with the world. Durations are virtual nanoseconds.
#
# The queue's own counts are in queue/types.py; gauges that can be computed from the world are not stored.

Labels = tuple[str, ...]
K = TypeVar("K")


class Tally(dict[K, int]):
    """Counts with a default of 0. Unlike a Counter, a Tally is copied fast."""

    __slots__ = ()

    def __missing__(self, key: K) -> int:
        return 0

    def copy(self) -> Tally[K]:
        return Tally(self)


SECOND = 1_000_000_000


@dataclass(slots=True)
class Histogram(State):
    """`counts` by labels and number of the bucket (one more than there are bounds), `sums` by labels.

    `unit` is the number of observed units in one unit of the bounds: nanoseconds in a second, or 1.
    """

    bounds: tuple[float, ...]
    unit: int = SECOND
    counts: Copied[Tally[tuple[Labels, int]]] = field(default_factory=Tally)
    sums: Copied[Tally[Labels]] = field(default_factory=Tally)

    def observe(self, labels: Labels, amount: int, times: int = 1) -> None:
        """Observe a value, `times` times."""
        if amount <= 0:
            self.counts[labels, 0] += times
            return
        self.counts[labels, bisect_left(self.bounds, amount / self.unit)] += times
        self.sums[labels] += amount * times


def _seconds(name: str) -> Histogram:
    return Histogram(BY_NAME[f"scheduler_{name}_duration_seconds"].buckets)


def _numbers(name: str) -> Histogram:
    return Histogram(BY_NAME[f"scheduler_{name}"].buckets, 1)


@dataclass(slots=True)
class Figures(State):
    """Counters and histograms by kube's names, without `scheduler_` and `_duration_seconds` or `_total`.

    `calls` counts the plugins of scheduling cycles, which take no virtual time: by profile, extension point and status, then by plugin.
    """

    scheduling_attempt: Copied[Histogram] = field(default_factory=lambda: _seconds("scheduling_attempt"))
    scheduling_algorithm: Copied[Histogram] = field(default_factory=lambda: _seconds("scheduling_algorithm"))
    event_handling: Copied[Histogram] = field(default_factory=lambda: _seconds("event_handling"))
    preemption_victims: Copied[Histogram] = field(default_factory=lambda: _numbers("preemption_victims"))
    preemption_attempts: int = 0
    pod_scheduling_sli: Copied[Histogram] = field(default_factory=lambda: _seconds("pod_scheduling_sli"))
    pod_scheduling_attempts: Copied[Histogram] = field(default_factory=lambda: _numbers("pod_scheduling_attempts"))
    extension_point: Copied[Histogram] = field(default_factory=lambda: _seconds("framework_extension_point"))
    plugin_execution: Copied[Histogram] = field(default_factory=lambda: _seconds("plugin_execution"))
    permit_wait: Copied[Histogram] = field(default_factory=lambda: _seconds("permit_wait"))
    calls: Copied[dict[Labels, Tally[str]]] = field(default_factory=dict)
    queueing_hint: Copied[Histogram] = field(default_factory=lambda: _seconds("queueing_hint_execution"))
    preemption_goroutines: Copied[Histogram] = field(default_factory=lambda: _seconds("preemption_goroutines"))
    async_api_call: Copied[Histogram] = field(default_factory=lambda: _seconds("async_api_call_execution"))
    group_preemptions: Copied[Tally[str]] = field(default_factory=Tally)  # by status
    volume_errors: Copied[Tally[Labels]] = field(default_factory=Tally)

    def calls_at(self, profile: str, point: str, status: str) -> Tally[str]:
        """Return the calls by plugin."""
        key = (profile, point, status)
        tally = self.calls.get(key)
        if tally is None:
            tally = self.calls[key] = Tally()
        return tally
