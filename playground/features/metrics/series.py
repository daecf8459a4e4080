"""Series of a metric as numbers to draw and rows to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from playground.presenters.amounts import SECOND, duration, thousands
from scheduler_core.analysis.status import BY_NAME, Metric, MetricKind

Series = Mapping[str, Any]
Families = Mapping[str, Sequence[Series]]
Table = dict[str, Any]

MOST_ROWS = 60
# The readings of a scheduler where none runs.
NONE: Mapping[str, Any] = {
    "name": "",
    "families": [],
    "curve": [],
    "refusals": {"plugins": {}, "reasons": []},
}


def families(scheduler: Mapping[str, Any]) -> Families:
    """Name -> series, of one scheduler."""
    return {family["name"]: family["series"] for family in scheduler["families"]}


def total(families: Families, name: str, **wanted: str) -> int:
    """The sum of a counter's or gauge's series that have these labels."""
    labels = BY_NAME[name].labels
    picked = [labels.index(label) for label in wanted]
    return sum(
        series["value"]
        for series in families.get(name, ())
        if [series["labels"][i] for i in picked] == list(wanted.values())
    )


def sum_histogram(families: Families, name: str, by: str) -> dict[str, tuple[list[int], float]]:
    """Return a histogram's (counts by bucket, sum), aggregated by one label, in the label's order."""
    metric = BY_NAME[name]
    place = metric.labels.index(by) if by else None
    out: dict[str, tuple[list[int], float]] = {}
    for series in families.get(name, ()):
        key = "" if place is None else str(series["labels"][place])
        counts, together = out.get(key, ([0] * len(series["counts"]), 0.0))
        out[key] = ([a + b for a, b in zip(counts, series["counts"], strict=True)], together + series["sum"])
    return out


def format_bound(metric: Metric, i: int) -> str:
    """A bucket's upper bound as people read it; the last one has none."""
    if i >= len(metric.buckets):
        return f"> {_amount(metric, metric.buckets[-1])}"
    return f"≤ {_amount(metric, metric.buckets[i])}"


def _amount(metric: Metric, value: float) -> str:
    return duration(round(value * SECOND)) if metric.name.endswith("_seconds") else thousands(round(value))


def seconds(value: float) -> str:
    """A sum of durations, which the catalogue has in seconds."""
    return duration(round(value * SECOND))


def mean(metric: Metric, count: int, together: float) -> str:
    if not count:
        return ""
    average = together / count
    return seconds(average) if metric.name.endswith("_seconds") else f"{average:.2f}".rstrip("0").rstrip(".")


def table(metric: Metric, series: Iterable[Series]) -> Table:
    """Every series with its labels: its value, or how many, their sum and their mean."""
    lines = [_line(metric, row) for row in series]
    head = ["count", "sum", "mean"] if metric.kind is MetricKind.HISTOGRAM else ["value"]
    return {
        "labels": list(metric.labels),
        "head": head,
        "rows": lines[:MOST_ROWS],
        "more": max(0, len(lines) - MOST_ROWS),
    }


def _line(metric: Metric, series: Series) -> dict[str, Any]:
    if metric.kind is not MetricKind.HISTOGRAM:
        return {"labels": series["labels"], "cells": [thousands(series["value"])]}
    count, together = sum(series["counts"]), series["sum"]
    whole = seconds(together) if metric.name.endswith("_seconds") else thousands(round(together))
    return {"labels": series["labels"], "cells": [thousands(count), whole, mean(metric, count, together)]}
