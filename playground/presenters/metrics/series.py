"""Series of a metric as numbers to draw and rows to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from playground.presenters.amounts import SECOND, duration, thousands
from scheduler_core.readings import BY_NAME, Metric, MetricKind

Series = Mapping[str, Any]
Families = Mapping[str, Sequence[Series]]
Table = dict[str, Any]

MOST_ROWS = 60


def families(found: Mapping[str, Any]) -> Families:
    """Name -> series, of one scheduler."""
    return {one["name"]: one["series"] for one in found["families"]}


def total(found: Families, name: str, **wanted: str) -> int:
    """The sum of a counter's or gauge's series that have these labels."""
    labels = BY_NAME[name].labels
    picked = [labels.index(label) for label in wanted]
    return sum(
        one["value"]
        for one in found.get(name, ())
        if [one["labels"][i] for i in picked] == list(wanted.values())
    )


def added(found: Families, name: str, by: str) -> dict[str, tuple[list[int], float]]:
    """Of a histogram: (counts by bucket, sum), added up by one label, in its order."""
    metric = BY_NAME[name]
    place = metric.labels.index(by) if by else None
    out: dict[str, tuple[list[int], float]] = {}
    for one in found.get(name, ()):
        key = "" if place is None else str(one["labels"][place])
        counts, together = out.get(key, ([0] * len(one["counts"]), 0.0))
        out[key] = ([a + b for a, b in zip(counts, one["counts"], strict=True)], together + one["sum"])
    return out


def bound_words(metric: Metric, i: int) -> str:
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
    each = together / count
    return seconds(each) if metric.name.endswith("_seconds") else f"{each:.2f}".rstrip("0").rstrip(".")


def table(metric: Metric, series: Iterable[Series]) -> Table:
    """Every series with its labels: its value, or how many, their sum and their mean."""
    lines = [_line(metric, one) for one in series]
    head = ["count", "sum", "mean"] if metric.kind is MetricKind.HISTOGRAM else ["value"]
    return {
        "labels": list(metric.labels),
        "head": head,
        "rows": lines[:MOST_ROWS],
        "more": max(0, len(lines) - MOST_ROWS),
    }


def _line(metric: Metric, one: Series) -> dict[str, Any]:
    if metric.kind is not MetricKind.HISTOGRAM:
        return {"labels": one["labels"], "cells": [thousands(one["value"])]}
    count, together = sum(one["counts"]), one["sum"]
    whole = seconds(together) if metric.name.endswith("_seconds") else thousands(round(together))
    return {"labels": one["labels"], "cells": [thousands(count), whole, mean(metric, count, together)]}
