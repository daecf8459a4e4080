"""A scheduler's current metrics: every metric of the catalogue with its series."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework.events import ObjectEvent
from scheduler_core.scheduler.metrics.catalogue import METRICS, Figures, Histogram, Labels, Metric, MetricKind

Counts = Mapping[Labels, int]

POPPED = "PodPopped"
_SKIP = "Skip"
_EVALUATED = ("PreFilter", "Filter", "PreScore", "Score")
_CALLS = ("pod_binding", "pod_status_patch")


@dataclass(frozen=True, slots=True)
class Value:
    """One series of a counter or a gauge."""

    labels: Labels
    value: int

    def to_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "value": self.value}


@dataclass(frozen=True, slots=True)
class Spread:
    """One series of a histogram: the count of each bucket (not cumulative; the last bucket has no bound), and the sum."""

    labels: Labels
    counts: tuple[int, ...]
    sum: float

    def to_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "counts": list(self.counts), "sum": self.sum}


@dataclass(frozen=True, slots=True)
class Family:
    """A metric with its series, sorted by labels. No series: nothing has been counted yet."""

    metric: Metric
    series: tuple[Value | Spread, ...]

    def to_json(self) -> dict[str, Any]:
        return {"name": self.metric.name, "series": [each.to_json() for each in self.series]}


def read_families(scheduler: Scheduler) -> list[Family]:
    """Return the metrics that kube registers under the scheduler's gates."""
    numbers = _numbers(scheduler)
    spreads = {
        "scheduler_scheduling_attempt_duration_seconds": scheduler.figures.scheduling_attempt,
        "scheduler_scheduling_algorithm_duration_seconds": scheduler.figures.scheduling_algorithm,
        "scheduler_event_handling_duration_seconds": scheduler.figures.event_handling,
        "scheduler_preemption_victims": scheduler.figures.preemption_victims,
        "scheduler_pod_scheduling_sli_duration_seconds": scheduler.figures.pod_scheduling_sli,
        "scheduler_pod_scheduling_attempts": scheduler.figures.pod_scheduling_attempts,
        "scheduler_framework_extension_point_duration_seconds": scheduler.figures.extension_point,
        "scheduler_plugin_execution_duration_seconds": _executions(scheduler.figures),
        "scheduler_permit_wait_duration_seconds": scheduler.figures.permit_wait,
        "scheduler_queueing_hint_execution_duration_seconds": scheduler.figures.queueing_hint,
        "scheduler_preemption_goroutines_duration_seconds": scheduler.figures.preemption_goroutines,
        "scheduler_async_api_call_execution_duration_seconds": scheduler.figures.async_api_call,
    }
    return [
        Family(metric, tuple(_build_spreads(metric, spreads[metric.name])))
        if metric.kind is MetricKind.HISTOGRAM
        else Family(metric, tuple(_values(metric, numbers.get(metric.name, {}))))
        for metric in METRICS
        if (not metric.gate or getattr(scheduler.features, metric.gate))
        and (metric.behavior is None or metric.behavior in scheduler.features.behaviors)
    ]


def _values(metric: Metric, counts: Mapping[Labels, int]) -> Iterator[Value]:
    for labels, value in sorted(counts.items()):
        yield Value(labels, value)
    # Prometheus' client exposes a metric without labels from its registration on, and one with labels from its first value on.
    if not metric.labels and not counts:
        yield Value((), 0)


def _build_spreads(metric: Metric, histogram: Histogram) -> Iterator[Spread]:
    names = dict.fromkeys(labels for labels, _ in histogram.counts)
    for labels in sorted(names) or ([()] if not metric.labels else []):
        counts = [histogram.counts.get((labels, i), 0) for i in range(len(histogram.bounds) + 1)]
        yield Spread(labels, tuple(counts), histogram.sums.get(labels, 0) / histogram.unit)


def _numbers(scheduler: Scheduler) -> dict[str, Counts]:
    figures, queue, cache = scheduler.figures, scheduler.queue, scheduler.cache
    counted = queue.metrics
    pending: Counts = {
        ("active",): sum(entry.size for entry in queue.active()),
        ("backoff",): sum(entry.size for entry in queue.backoff()),
        ("unschedulable",): counted.waiting["unschedulable"],
        ("gated",): counted.waiting["gated"],
    }
    known: Counts = {("nodes",): len(cache.slots), ("pods",): len(cache.where), ("assumed_pods",): len(cache.assumed)}
    attempts: Counts = {(result, profile): n for (profile, result), n in counted.attempts.items()}
    running: Counts = {("binding",): len(scheduler.bindings)}
    tried: Counts = {(): figures.preemption_attempts}
    return {
        **_election(scheduler),
        **_of_newer_releases(scheduler),
        "scheduler_schedule_attempts_total": attempts,
        "scheduler_preemption_attempts_total": tried,
        "scheduler_pending_pods": pending,
        "scheduler_queue_incoming_pods_total": {(*labels,): n for labels, n in counted.incoming.items()},
        "scheduler_goroutines": running,
        "scheduler_cache_size": known,
        "scheduler_unschedulable_pods": {(*labels,): n for labels, n in counted.unschedulable.items()},
        "scheduler_plugin_evaluation_total": _evaluations(figures),
        "scheduler_inflight_events": _in_flight(scheduler),
        "scheduler_preemption_goroutines_execution_total": _totals(figures.preemption_goroutines),
        "scheduler_async_api_call_execution_total": _totals(figures.async_api_call),
        "scheduler_pending_async_api_calls": _pending_calls(scheduler),
        "scheduler_volume_scheduling_stage_error_total": figures.volume_errors,
    }


def _of_newer_releases(scheduler: Scheduler) -> dict[str, Counts]:
    """Return the counts of batching, and of queued entities: pods and pod groups."""
    queue, batches = scheduler.queue, (scheduler.algorithm_state.batches or {}).items()
    waiting = {
        "active": queue.active(),
        "backoff": queue.backoff(),
        "unschedulable": [entry for entry in queue.unschedulable() if not entry.gated_by],
        "gated": [entry for entry in queue.unschedulable() if entry.gated_by],
    }
    queued: Counter[Labels] = Counter()
    for place, entries in waiting.items():
        queued.update({(place, kind): 0 for kind in ("pod", "podgroup")})
        queued.update((place, "podgroup" if entry.members else "pod") for entry in entries)
    groups: Counts = {(result, profile): n for (profile, result), n in queue.metrics.groups.items()}
    return {
        "scheduler_batch_attempts_total": {(p, result): n for p, b in batches for result, n in b.attempts.items()},
        "scheduler_batch_cache_flushed_total": {(p, why): n for p, b in batches for why, n in b.flushed.items()},
        "scheduler_batch_rescore_attempts_total": {(p,): b.rescored for p, b in batches if b.rescored},
        "scheduler_queue_incoming_entities_total": {(*labels,): n for labels, n in queue.metrics.entities.items()},
        "scheduler_queued_entities": queued,
        "scheduler_podgroup_schedule_attempts_total": groups,
        "scheduler_workload_preemption_attempts_total": {
            (s,): n for s, n in scheduler.figures.group_preemptions.items()
        },
    }


def _election(scheduler: Scheduler) -> dict[str, Counts]:
    """Return the leader election metrics of a process, or nothing if it takes no part in an election."""
    elector = None if scheduler.process is None else scheduler.process.elector
    if elector is None:
        return {}
    name, slow_paths = elector.config.name, elector.candidate.slow_paths
    return {
        "leader_election_master_status": {(name,): int(elector.leads)},
        "leader_election_slowpath_total": {(name,): slow_paths} if slow_paths else {},
    }


def _totals(histogram: Histogram) -> Counter[Labels]:
    totals: Counter[Labels] = Counter()
    for (labels, _), n in histogram.counts.items():
        totals[labels] += n
    return totals


def _in_flight(scheduler: Scheduler) -> Counter[Labels]:
    items = scheduler.queue.flight.items()
    counts: Counter[Labels] = Counter({(POPPED,): 0})
    for item in items:
        counts[(item.event.label if isinstance(item, ObjectEvent) else POPPED,)] += 1
    return counts


def _pending_calls(scheduler: Scheduler) -> dict[Labels, int]:
    calls = scheduler.calls
    counts: dict[Labels, int] = {(kind,): 0 for kind in _CALLS}
    for uid in calls.queue:
        counts[(calls.calls[uid].kind,)] += 1
    return counts


# Sums of the calls of scheduling cycles' plugins


def _executions(figures: Figures) -> Histogram:
    executions = figures.plugin_execution.copy()
    for _, point, status, plugin, times in _calls(figures):
        executions.counts[(plugin, point, status), 0] += times
    return executions


def _evaluations(figures: Figures) -> Counter[Labels]:
    evaluations: Counter[Labels] = Counter()
    for profile, point, status, plugin, times in _calls(figures):
        if point in _EVALUATED and status != _SKIP:
            evaluations[plugin, point, profile] += times
    return evaluations


def _calls(figures: Figures) -> Iterable[tuple[str, str, str, str, int]]:
    """Yield (profile, extension point, status, plugin, calls) of scheduling cycles' plugins. A key can repeat."""
    for (profile, point, status), tally in figures.calls.items():
        for plugin, times in tally.items():
            yield profile, point, status, plugin, times
