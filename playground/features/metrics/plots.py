"""Charts over virtual time and by label, each with its table and the numbers for CSV."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from playground.presenters import charts as draw
from playground.presenters.words import SECOND, clock, duration, gettext_noop, thousands
from scheduler_core.analysis.status import BY_NAME, Metric, MetricKind

Curve = Sequence[Mapping[str, Any]]
Lines = Sequence[Sequence[Any]]

MOST_TIMES = 20
QUEUES = ("active", "backoff", "unschedulable", "gated")
POINTS = ("PreFilter", "Filter", "PreScore", "Score")


class Chart(TypedDict):
    """`figure` is None if there is no data yet. `csv` has all numbers, with plain names.

    `words` is the number of text columns in the table.
    """

    id: str
    title: str
    figure: draw.Figure | None
    head: Sequence[str]
    rows: Lines
    tall: int
    csv: tuple[Sequence[str], Lines]
    words: int
    metric: Metric | None
    note: str


def chart(
    name: str,
    title: str,
    head: Sequence[str] = (),
    rows: Lines = (),
    figure: draw.Figure | None = None,
    csv: tuple[Sequence[str], Lines] = ((), ()),
    metric: Metric | None = None,
    note: str = "",
) -> Chart:
    bars = figure["data"][0]["y"] if figure and figure["data"][0].get("orientation") == "h" else ()
    return {
        "id": name,
        "title": title,
        "figure": figure,
        "head": head,
        "rows": rows,
        "tall": len(bars),
        "csv": csv,
        "words": 1,
        "metric": metric,
        "note": note,
    }


def over_time(
    name: str,
    title: str,
    curve: Curve,
    lines: Mapping[str, str],
    stacked: bool = False,
    zeros: bool = False,
    metric: Metric | None = None,
    note: str = "",
) -> Chart:
    """Return a chart. `lines`: display name -> field of the curve's points, whose time is `t`. `zeros`: also draw a curve of zeros."""
    if not lines or not (zeros or any(point[field] for point in curve for field in lines.values())):
        return chart(name, title, metric=metric, note=note)
    moving = _moving(curve, list(lines.values()))
    unit, scale = ("s", SECOND) if moving[-1]["t"] >= SECOND else ("ms", 1_000_000)
    figure = draw.curves(
        [point["t"] / scale for point in moving],
        unit,
        {word: [point[field] for point in moving] for word, field in lines.items()},
        stacked,
    )
    head = [gettext_noop("virtual time"), *lines]
    rows = [[clock(point["t"]), *(thousands(point[field]) for field in lines.values())] for point in some(moving)]
    exact = [[point["t"], *(point[field] for field in lines.values())] for point in curve]
    return chart(name, title, head, rows, figure, (["virtual_time_ns", *lines], exact), metric=metric, note=note)


def _moving(curve: Curve, fields: list[str]) -> Curve:
    """Return the curve up to a little after its last change, because the rest is a straight line; its two ends if it never changes."""
    now = {field: curve[-1][field] for field in fields}
    end = len(curve) - 1
    while end > 0 and all(curve[end - 1][field] == now[field] for field in fields):
        end -= 1
    if not end:
        return [curve[0], curve[-1]]
    little = curve[end]["t"] + max(curve[end]["t"] // 10, 1_000_000)
    return [*curve[: end + 1], {**curve[-1], "t": min(little, max(curve[-1]["t"], curve[end]["t"]))}]


def some(curve: Curve) -> Curve:
    """Return evenly spaced points of a curve, including the last."""
    every = -(-len(curve) // MOST_TIMES)
    return list(reversed(list(reversed(curve))[::every]))


def build_stacked_bars(
    name: str,
    title: str,
    first: str,
    cells: Mapping[str, Mapping[str, Any]],
    metric: Metric | None = None,
    note: str = "",
) -> Chart:
    """Return bars by category, longest first. `cells`: category -> part -> amount."""
    if not cells:
        return chart(name, title, metric=metric, note=note)
    ordered = sorted(cells, key=lambda category: (-sum(cells[category].values()), category))
    parts = list(dict.fromkeys(part for category in ordered for part in cells[category]))
    order = [*QUEUES, *POINTS]
    parts.sort(key=lambda part: order.index(part) if part in order else len(order))
    figure = draw.rows(ordered, {p: [cells[category].get(p, 0) for category in ordered] for p in parts})
    exact = [[category, *(cells[category].get(p, 0) for p in parts)] for category in ordered]
    rows = [[category, *map(thousands, amounts)] for category, *amounts in exact]
    head = [first, *parts]
    return chart(name, title, head, rows, figure, (head, exact), metric=metric, note=note)


Series = Mapping[str, Any]
Families = Mapping[str, Sequence[Series]]

MOST_ROWS = 60
# The readings used if no scheduler runs.
NONE: Mapping[str, Any] = {"name": "", "families": [], "curve": [], "refusals": {"plugins": {}, "reasons": []}}


def families(scheduler: Mapping[str, Any]) -> Families:
    """Return the series of one scheduler by metric."""
    return {family["name"]: family["series"] for family in scheduler["families"]}


def total(families: Families, name: str, **wanted: str) -> int:
    """Return the sum of the series of a counter or gauge with these labels."""
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
    """Format a bucket's upper bound. The last bucket has none."""
    if i >= len(metric.buckets):
        return f"> {_amount(metric, metric.buckets[-1])}"
    return f"≤ {_amount(metric, metric.buckets[i])}"


def _amount(metric: Metric, value: float) -> str:
    return duration(round(value * SECOND)) if metric.name.endswith("_seconds") else thousands(round(value))


def seconds(value: float) -> str:
    """Format a sum of durations, which metrics have in seconds."""
    return duration(round(value * SECOND))


def mean(metric: Metric, count: int, together: float) -> str:
    if not count:
        return ""
    average = together / count
    return seconds(average) if metric.name.endswith("_seconds") else f"{average:.2f}".rstrip("0").rstrip(".")


class SeriesLine(TypedDict):
    labels: list[str]
    cells: list[str]


class Table(TypedDict):
    labels: list[str]
    head: list[str]
    rows: list[SeriesLine]
    more: int


def table(metric: Metric, series: Iterable[Series]) -> Table:
    """Return a row for each series with its labels and its value, or count, sum, and mean."""
    lines = [_line(metric, row) for row in series]
    return {
        "labels": list(metric.labels),
        "head": ["count", "sum", "mean"] if metric.kind is MetricKind.HISTOGRAM else ["value"],
        "rows": lines[:MOST_ROWS],
        "more": max(0, len(lines) - MOST_ROWS),
    }


def _line(metric: Metric, series: Series) -> SeriesLine:
    if metric.kind is not MetricKind.HISTOGRAM:
        return {"labels": series["labels"], "cells": [thousands(series["value"])]}
    count, together = sum(series["counts"]), series["sum"]
    whole = seconds(together) if metric.name.endswith("_seconds") else thousands(round(together))
    return {"labels": series["labels"], "cells": [thousands(count), whole, mean(metric, count, together)]}
