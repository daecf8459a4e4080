"""The whole page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.features.metrics.plots import QUEUES, Chart, over_time
from playground.features.metrics.series import NONE, families
from playground.features.statistics import plugins, refusals, resources
from playground.presenters.amounts import clock, duration
from playground.presenters.words import gettext_noop
from scheduler_core.analysis.status import BY_NAME

_RESULTS = {"scheduled": "scheduled", "unschedulable": "refused", "error": "errors"}


def present(readings: Mapping[str, Any]) -> dict[str, Any]:
    """The readings of sessions/worker/answers/metrics.py, of one scheduler or of none."""
    scheduler = next(iter(readings["schedulers"]), NONE)
    curve, series = scheduler["curve"], families(scheduler)
    use, stranded = resources.charts(curve)
    refused = refusals.charts(scheduler["refusals"], [point["t"] for point in curve])
    return {
        "position": readings["position"],
        "clock": clock(readings["now"]),
        "names": readings["names"],
        "scheduler": scheduler["name"],
        "points": len(curve),
        "every": duration(readings["every"]),
        "empty": not any(now[field] for now in curve[-1:] for field in _RESULTS.values()),
        "amounts": resources.amounts_now(curve),
        "charts": [use, stranded, *_pods(curve), *refused, *plugins.charts(series)],
    }


def _pods(curve: Sequence[Mapping[str, Any]]) -> list[Chart]:
    return [
        over_time(
            "pending",
            gettext_noop("Pending pods by queue"),
            curve,
            {name: name for name in QUEUES},
            stacked=True,
            metric=BY_NAME["scheduler_pending_pods"],
        ),
        over_time(
            "attempts",
            gettext_noop("Attempts by result"),
            curve,
            _RESULTS,
            metric=BY_NAME["scheduler_schedule_attempts_total"],
        ),
    ]
