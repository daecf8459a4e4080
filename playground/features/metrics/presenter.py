"""The metrics page: charts of the most important metrics, with hints, and every metric with its series."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from playground.common.catalogs import read_yaml
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
from playground.presenters.words import clock, gettext_noop, thousands
from scheduler_core.analysis.status import BY_NAME, FORMER, METRICS, Metric

HINTS = Path(__file__).with_name("hints.yaml")

# Charts that only the metrics page has: distributions, and the events that move pods into a queue.


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
            gettext_noop("Time from queue to node, by number of attempts"),
            "scheduler_pod_scheduling_sli_duration_seconds",
            families,
            "attempts",
        ),
        _build_histogram(
            "tries", gettext_noop("Attempts until bound"), "scheduler_pod_scheduling_attempts", families, ""
        ),
        _build_histogram(
            "victims", gettext_noop("Victims per preemption"), "scheduler_preemption_victims", families, ""
        ),
    ]


def _incoming(families: Families) -> Chart:
    metric = "scheduler_queue_incoming_pods_total"
    cells: dict[str, dict[str, int]] = {}
    for series in families.get(metric, ()):
        queue, event = series["labels"]
        cells.setdefault(event, {})[queue] = series["value"]
    title = gettext_noop("Pods added to a queue, by event")
    return build_stacked_bars("incoming", title, gettext_noop("event"), cells, metric=BY_NAME[metric])


def _build_histogram(name: str, title: str, metric: str, families: Families, by: str) -> Chart:
    """Return a chart of a histogram's buckets, from the first to the last that is not empty."""
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
    """Return the page for the data of worker.py, of one scheduler or none. `q` filters the metrics below the charts."""
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
    """Return the few most important figures."""
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
    ((query, says),) = read_yaml(HINTS).get(metric.name, {"": ""}).items()
    return {
        "metric": metric,
        "registered": metric.name in series or not runs,
        "series": len(series.get(metric.name, ())),
        "table": table(metric, series.get(metric.name, ())),
        "query": query,
        "says": says,
    }
