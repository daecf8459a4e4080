"""The whole page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.presenters.amounts import clock, thousands
from playground.presenters.metrics.charts import charts
from playground.presenters.metrics.hints import HINTS
from playground.presenters.metrics.series import NONE, Families, families, mean, sum_histogram, table, total
from playground.presenters.words import gettext_noop
from scheduler_core.analysis.status import BY_NAME, FORMER, METRICS, Metric

_ATTEMPTS = "scheduler_schedule_attempts_total"


def present(readings: Mapping[str, Any], q: str) -> dict[str, Any]:
    """The readings of sessions/worker/answers/metrics.py, of one scheduler or of none; `q` filters the metrics below the charts."""
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


def _tiles(series: Families) -> list[dict[str, str]]:
    """The few figures that people look at first."""
    pending = total(series, "scheduler_pending_pods")
    return [
        {
            "title": gettext_noop("pods bound"),
            "value": thousands(total(series, _ATTEMPTS, result="scheduled")),
        },
        {"title": gettext_noop("attempts"), "value": thousands(total(series, _ATTEMPTS))},
        {"title": gettext_noop("pods pending"), "value": thousands(pending)},
        {
            "title": gettext_noop("mean attempt"),
            "value": _mean(series, "scheduler_scheduling_attempt_duration_seconds"),
        },
        {
            "title": gettext_noop("mean time to bound"),
            "value": _mean(series, "scheduler_pod_scheduling_sli_duration_seconds"),
        },
        {
            "title": gettext_noop("preemptions tried"),
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


def _metric(metric: Metric, series: Families, runs: bool) -> dict[str, Any]:
    query, says = HINTS.get(metric.name, ("", ""))
    return {
        "metric": metric,
        "registered": metric.name in series or not runs,
        "series": len(series.get(metric.name, ())),
        "table": table(metric, series.get(metric.name, ())),
        "query": query,
        "says": says,
    }
