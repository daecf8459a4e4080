"""The metrics page: charts of the metrics that most people look for, with hints, and every metric with its series."""

from collections.abc import Mapping
from typing import Any, TypedDict

from playground.features.metrics.plots import (
    NONE,
    Chart,
    Families,
    Table,
    build_stacked_bars,
    chart,
    families,
    format_bound,
    mean,
    sum_histogram,
    table,
    total,
)
from playground.presenters import charts as draw
from playground.presenters.amounts import clock, thousands
from playground.presenters.words import gettext_noop
from scheduler_core.analysis.status import BY_NAME, FORMER, METRICS, Metric

# The charts of the metrics page that no other page has: distributions, and what brings pods into a queue.


def charts(families: Families) -> list[Chart]:
    """Return the charts in display order."""
    return [
        _incoming(families),
        _build_histogram(
            "attempt-duration",
            gettext_noop("Duration of an attempt"),
            "scheduler_scheduling_attempt_duration_seconds",
            families,
            "result",
        ),
        _build_histogram(
            "sli",
            gettext_noop("From queue to node, by number of attempts"),
            "scheduler_pod_scheduling_sli_duration_seconds",
            families,
            "attempts",
        ),
        _build_histogram(
            "tries", gettext_noop("Attempts until bound"), "scheduler_pod_scheduling_attempts", families, ""
        ),
        _build_histogram(
            "victims", gettext_noop("Victims of a preemption"), "scheduler_preemption_victims", families, ""
        ),
    ]


def _incoming(families: Families) -> Chart:
    metric = "scheduler_queue_incoming_pods_total"
    cells: dict[str, dict[str, int]] = {}
    for series in families.get(metric, ()):
        queue, event = series["labels"]
        cells.setdefault(event, {})[queue] = series["value"]
    title = gettext_noop("Pods into a queue, by event")
    return build_stacked_bars("incoming", title, gettext_noop("event"), cells, metric=BY_NAME[metric])


def _build_histogram(name: str, title: str, metric: str, families: Families, by: str) -> Chart:
    """A histogram's buckets, from the first to the last that has something in it."""
    series = {key: counts for key, (counts, _) in sum_histogram(families, metric, by).items() if any(counts)}
    used = [i for counts in series.values() for i, n in enumerate(counts) if n]
    if not used:
        return chart(name, title, metric=BY_NAME[metric])
    places = range(max(0, min(used) - 1), min(len(BY_NAME[metric].buckets), max(used) + 1) + 1)
    words = [format_bound(BY_NAME[metric], i) for i in places]
    names = [key or gettext_noop("count") for key in series]
    figure = draw.columns(
        words, {each: [counts[i] for i in places] for each, counts in zip(names, series.values(), strict=True)}
    )
    exact = [(word, [counts[i] for counts in series.values()]) for word, i in zip(words, places, strict=True)]
    lines = [[word, *map(thousands, counts)] for word, counts in exact]
    head = [gettext_noop("bucket"), *names]
    csv = (head, [[word, *counts] for word, counts in exact])
    return chart(name, title, head, lines, figure, csv, metric=BY_NAME[metric])


_ATTEMPTS = "scheduler_schedule_attempts_total"


class Tile(TypedDict):
    title: str
    value: str


class MetricRow(TypedDict):
    metric: Metric
    registered: bool
    series: int
    table: Table
    query: str
    says: str


class MetricsPage(TypedDict):
    position: int
    clock: str
    names: list[str]
    scheduler: str
    tiles: list[Tile]
    empty: bool
    charts: list[Chart]
    metrics: list[MetricRow]
    all: int
    former: Any
    q: str


def present(readings: Mapping[str, Any], q: str) -> MetricsPage:
    """The readings of worker.py, of one scheduler or of none; `q` filters the metrics below the charts."""
    runs = bool(readings["schedulers"])
    scheduler = readings["schedulers"][0] if runs else NONE
    series = families(scheduler)
    return {
        "position": readings["position"],
        "clock": clock(readings["now"]),
        "names": readings["names"],
        "scheduler": scheduler["name"],
        "tiles": _tiles(series) if runs else [],
        "empty": not total(series, _ATTEMPTS),
        "charts": charts(series),
        "metrics": [_metric(metric, series, runs) for metric in METRICS if _matches(metric, q)],
        "all": len(METRICS),
        "former": FORMER,
        "q": q,
    }


def _tiles(series: Families) -> list[Tile]:
    """The few figures that people look at first."""
    pending = total(series, "scheduler_pending_pods")
    return [
        {"title": gettext_noop("pods bound"), "value": thousands(total(series, _ATTEMPTS, result="scheduled"))},
        {"title": gettext_noop("attempts"), "value": thousands(total(series, _ATTEMPTS))},
        {"title": gettext_noop("pods pending"), "value": thousands(pending)},
        {
            "title": gettext_noop("mean attempt"),
            "value": _mean(series, "scheduler_scheduling_attempt_duration_seconds"),
        },
        {
            "title": gettext_noop("mean time to binding"),
            "value": _mean(series, "scheduler_pod_scheduling_sli_duration_seconds"),
        },
        {
            "title": gettext_noop("preemption attempts"),
            "value": thousands(total(series, "scheduler_preemption_attempts_total")),
        },
    ]


def _mean(series: Families, name: str) -> str:
    spreads = sum_histogram(series, name, "").values()
    count = sum(sum(counts) for counts, _ in spreads)
    return mean(BY_NAME[name], count, sum(together for _, together in spreads)) or "–"


def _matches(metric: Metric, q: str) -> bool:
    wanted = q.lower().split()
    text = f"{metric.name} {metric.kind} {metric.stability} {' '.join(metric.labels)} {metric.help}".lower()
    return all(word in text for word in wanted)


def _metric(metric: Metric, series: Families, runs: bool) -> MetricRow:
    query, says = HINTS.get(metric.name, ("", ""))
    return {
        "metric": metric,
        "registered": metric.name in series or not runs,
        "series": len(series.get(metric.name, ())),
        "table": table(metric, series.get(metric.name, ())),
        "query": query,
        "says": says,
    }


def _quantile(name: str, by: str = "") -> str:
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile(0.99, sum by ({labels}) (rate({name}_bucket[5m])))"


def _mean_of(name: str) -> str:
    return f"rate({name}_sum[5m]) / rate({name}_count[5m])"


_S = "scheduler_"
HINTS: dict[str, tuple[str, str]] = {
    _S + "schedule_attempts_total": (
        f"sum by (result) (rate({_S}schedule_attempts_total[5m]))",
        gettext_noop("Attempts per second, by result."),
    ),
    _S + "scheduling_attempt_duration_seconds": (
        _quantile(_S + "scheduling_attempt_duration_seconds", "result"),
        gettext_noop("99th percentile of the duration of attempts, by result."),
    ),
    _S + "scheduling_algorithm_duration_seconds": (
        _quantile(_S + "scheduling_algorithm_duration_seconds"),
        gettext_noop("99th percentile of the duration of decisions, without binding."),
    ),
    _S + "event_handling_duration_seconds": (
        f"sum by (event) (rate({_S}event_handling_duration_seconds_count[5m]))",
        gettext_noop("Cluster events per second that the scheduler receives, by kind."),
    ),
    _S + "preemption_victims": (
        _mean_of(_S + "preemption_victims"),
        gettext_noop("Mean number of victims of a preemption."),
    ),
    _S + "preemption_attempts_total": (
        f"rate({_S}preemption_attempts_total[5m])",
        gettext_noop("How often no node is feasible and preemption looks for victims, a sign of a full cluster."),
    ),
    _S + "pending_pods": (
        f"sum by (queue) ({_S}pending_pods)",
        gettext_noop("Waiting pods, by queue. Investigate pods that stay unschedulable."),
    ),
    _S + "pod_scheduling_sli_duration_seconds": (
        _quantile(_S + "pod_scheduling_sli_duration_seconds"),
        gettext_noop("99th percentile of the time from queue to binding, including all attempts."),
    ),
    _S + "pod_scheduling_attempts": (
        _mean_of(_S + "pod_scheduling_attempts"),
        gettext_noop("Mean number of attempts until a pod is bound."),
    ),
    _S + "framework_extension_point_duration_seconds": (
        f"sum by (extension_point) (rate({_S}framework_extension_point_duration_seconds_sum[5m]))",
        gettext_noop("Time spent by the scheduler in each extension point, in seconds per second."),
    ),
    _S + "plugin_execution_duration_seconds": (
        f"topk(5, sum by (plugin) (rate({_S}plugin_execution_duration_seconds_sum[5m])))",
        gettext_noop("The five plugins that take the most time in the sampled cycles."),
    ),
    _S + "queue_incoming_pods_total": (
        f'sum by (event) (rate({_S}queue_incoming_pods_total{{queue="active"}}[5m]))',
        gettext_noop("The events that move pods to the active queue."),
    ),
    _S + "goroutines": (f'{_S}goroutines{{operation="binding"}}', gettext_noop("Bindings in progress.")),
    _S + "permit_wait_duration_seconds": (
        _mean_of(_S + "permit_wait_duration_seconds"),
        gettext_noop("Mean time that pods wait on Permit."),
    ),
    _S + "cache_size": (
        f'{_S}cache_size{{type="assumed_pods"}}',
        gettext_noop("Pods with a node whose binding the API server has not confirmed yet."),
    ),
    _S + "unschedulable_pods": (
        f"topk(5, sum by (plugin) ({_S}unschedulable_pods))",
        gettext_noop("The plugins that refuse the most pods."),
    ),
    _S + "plugin_evaluation_total": (
        f"topk(5, sum by (plugin) (rate({_S}plugin_evaluation_total[5m])))",
        gettext_noop("The plugins with the most calls."),
    ),
    _S + "queueing_hint_execution_duration_seconds": (
        f"sum by (plugin, hint) (rate({_S}queueing_hint_execution_duration_seconds_count[5m]))",
        gettext_noop("How often queueing hints run, and how often they save a pod a failing attempt (QueueSkip)."),
    ),
    _S + "inflight_events": (
        f'sum({_S}inflight_events{{event!="PodPopped"}})',
        gettext_noop(
            "Events kept for pods in flight. A number that only grows points to a pod that never finishes its attempt."
        ),
    ),
    _S + "preemption_goroutines_execution_total": (
        f"rate({_S}preemption_goroutines_execution_total[5m])",
        gettext_noop("Preemptions per second that run outside the cycles."),
    ),
    _S + "async_api_call_execution_total": (
        f'sum by (call_type) (rate({_S}async_api_call_execution_total{{result="error"}}[5m]))',
        gettext_noop("Failing API server calls, by kind."),
    ),
    _S + "async_api_call_execution_duration_seconds": (
        _quantile(_S + "async_api_call_execution_duration_seconds", "call_type"),
        gettext_noop("99th percentile of the duration of API server calls, by kind."),
    ),
    _S + "pending_async_api_calls": (
        f"sum by (call_type) ({_S}pending_async_api_calls)",
        gettext_noop("Calls waiting to be sent. Their number grows if the API server is slow."),
    ),
    _S + "volume_scheduling_stage_error_total": (
        f"sum by (operation) (rate({_S}volume_scheduling_stage_error_total[5m]))",
        gettext_noop("Errors of volume binding, by stage."),
    ),
}
