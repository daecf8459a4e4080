"""Every metric that kube-scheduler registers: its name, type, labels, buckets and stability, and where the engine observes it.

kube: metrics/metrics.go, framework/plugins/volumebinding/metrics/metrics.go @ v1.34.1 to v1.37.2
"""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scheduler_core.base.releases import Behavior

# Names that kube-scheduler v1.34 no longer has, with what to ask for now.
#
# kube: CHANGELOG-1.18 to 1.34, pull requests 94884, 95001, 96447, 109546, 128810, 131425


@dataclass(frozen=True, slots=True)
class Former:
    """A name of older releases. `now` are metrics of the catalogue, with the labels that narrow them down to what the old one counted."""

    name: str
    now: tuple[tuple[str, str], ...]
    why: str


_POINT = "scheduler_framework_extension_point_duration_seconds"
_ATTEMPT = "scheduler_scheduling_attempt_duration_seconds"

FORMER: tuple[Former, ...] = (
    Former(
        "scheduler_scheduling_duration_seconds",
        ((_ATTEMPT, ""), (_POINT, "")),
        "A summary of the parts of scheduling by operation, deprecated in v1.18 and then removed. Overviews of the scheduler still "
        "list it as the time from pop to bind: that is the first of these; the second tells the parts.",
    ),
    Former(
        "scheduler_e2e_scheduling_duration_seconds",
        ((_ATTEMPT, ""),),
        "The same measurement under a name that promised more: one attempt is not a pod's whole way. Deprecated in v1.23.",
    ),
    Former(
        "scheduler_binding_duration_seconds",
        ((_POINT, '{extension_point="Bind"}'),),
        "Binding became an extension point like the others. Deprecated in v1.20.",
    ),
    Former(
        "scheduler_scheduling_algorithm_predicate_evaluation_seconds",
        ((_POINT, '{extension_point="Filter"}'),),
        "Predicates became Filter plugins.",
    ),
    Former(
        "scheduler_scheduling_algorithm_priority_evaluation_seconds",
        ((_POINT, '{extension_point="Score"}'),),
        "Priorities became Score plugins.",
    ),
    Former(
        "scheduler_scheduling_algorithm_preemption_evaluation_seconds",
        ((_POINT, '{extension_point="PostFilter"}'),),
        "Preemption became a PostFilter plugin. Deprecated in v1.20.",
    ),
    Former(
        "scheduler_pod_scheduling_duration_seconds",
        (("scheduler_pod_scheduling_sli_duration_seconds", ""),),
        "It counted the time in which scheduling gates held a pod back; the SLI begins when the pod may be scheduled.",
    ),
    Former("scheduler_pod_preemption_victims", (("scheduler_preemption_victims", ""),), "Renamed."),
    Former(
        "scheduler_total_preemption_attempts",
        (("scheduler_preemption_attempts_total", ""),),
        "Renamed: counters end in _total.",
    ),
    Former("scheduler_scheduler_goroutines", (("scheduler_goroutines", ""),), "Renamed."),
    Former(
        "scheduler_scheduler_cache_size",
        (("scheduler_cache_size", ""),),
        "Renamed; deprecated in v1.33, removed in v1.34.",
    ),
)


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

    `behavior`: the behavior of newer releases that brought it.
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
    """Upper bounds, each `factor` times the one before, added up as Prometheus' Go client does it."""
    bounds, bound = [], start
    for _ in range(count):
        bounds.append(bound)
        bound *= factor
    return tuple(bounds)


def _read_metric(row: dict[str, Any]) -> Metric:
    """Read a row of the catalogue: `buckets` are the first bound, the factor, and the number of bounds."""
    kind, time = MetricKind(row.pop("kind")), Time[row.pop("time", "NONE")]
    behavior = Behavior(row.pop("behavior")) if "behavior" in row else None
    buckets = exponential(*row.pop("buckets")) if "buckets" in row else ()
    return Metric(kind=kind, time=time, behavior=behavior, buckets=buckets, labels=tuple(row.pop("labels")), **row)


METRICS: tuple[Metric, ...] = tuple(
    _read_metric(row) for row in json.loads(Path(__file__).with_suffix(".json").read_text())
)

BY_NAME = {metric.name: metric for metric in METRICS}
