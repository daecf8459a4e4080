"""The charts of the metrics page, each with the table that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.charts import metrics as draw
from playground.presenters.amounts import SECOND, clock, thousands
from playground.presenters.metrics.series import Families, added, bound_words, seconds
from playground.presenters.words import gettext_noop
from scheduler_core.readings import BY_NAME

Chart = dict[str, Any]
Curve = Sequence[Mapping[str, int]]

MOST_TIMES = 20
_QUEUES = ("active", "backoff", "unschedulable", "gated")
_POINTS = ("PreFilter", "Filter", "PreScore", "Score")
_RESULTS = {"scheduled": "scheduled", "unschedulable": "refused", "error": "errors"}


def charts(families: Families, curve: Curve) -> list[Chart]:
    """In the order in which they stand."""
    return [
        _over_time(
            "pending",
            gettext_noop("Pending pods by queue"),
            "scheduler_pending_pods",
            curve,
            {name: name for name in _QUEUES},
            True,
        ),
        _over_time(
            "attempts",
            gettext_noop("Attempts by result"),
            "scheduler_schedule_attempts_total",
            curve,
            _RESULTS,
            False,
        ),
        _incoming(families),
        _spread(
            "attempt-duration",
            gettext_noop("Duration of an attempt"),
            "scheduler_scheduling_attempt_duration_seconds",
            families,
            "result",
        ),
        _spread(
            "sli",
            gettext_noop("From the queue to the node, by attempts"),
            "scheduler_pod_scheduling_sli_duration_seconds",
            families,
            "attempts",
        ),
        _spread(
            "tries",
            gettext_noop("Attempts until bound"),
            "scheduler_pod_scheduling_attempts",
            families,
            "",
        ),
        _evaluations(families),
        _times(families),
        _spread(
            "victims",
            gettext_noop("Victims of a preemption"),
            "scheduler_preemption_victims",
            families,
            "",
        ),
    ]


def _chart(
    name: str, title: str, metric: str, figure: draw.Figure | None, head: list[str], lines: list[list[str]]
) -> Chart:
    """`figure` is None where there is nothing to draw yet."""
    return {
        "id": name,
        "title": title,
        "metric": BY_NAME[metric],
        "figure": figure,
        "head": head,
        "rows": lines,
        "tall": len(lines) if figure and figure["data"][0].get("orientation") == "h" else 0,
    }


# Over virtual time


def _over_time(
    name: str, title: str, metric: str, curve: Curve, lines: Mapping[str, str], stacked: bool
) -> Chart:
    """`lines`: name on the screen -> field of a scrape."""
    if not any(scrape[field] for scrape in curve for field in lines.values()):
        return _chart(name, title, metric, None, [], [])
    curve = _moving(curve, list(lines.values()))
    last = curve[-1]["t"]
    unit, scale = ("s", SECOND) if last >= SECOND else ("ms", 1_000_000)
    figure = draw.curves(
        [scrape["t"] / scale for scrape in curve],
        unit,
        {word: [scrape[field] for scrape in curve] for word, field in lines.items()},
        stacked,
    )
    head = [gettext_noop("virtual time"), *lines]
    rows = [
        [clock(scrape["t"]), *(thousands(scrape[field]) for field in lines.values())]
        for scrape in _some(curve)
    ]
    return _chart(name, title, metric, figure, head, rows)


def _moving(curve: Curve, fields: list[str]) -> Curve:
    """The curve up to its last change and a little further: what follows is a straight line."""
    now = {field: curve[-1][field] for field in fields}
    end = len(curve) - 1
    while end > 0 and all(curve[end - 1][field] == now[field] for field in fields):
        end -= 1
    little = curve[end]["t"] + max(curve[end]["t"] // 10, 1_000_000)
    return [*curve[: end + 1], {**curve[-1], "t": min(little, max(curve[-1]["t"], curve[end]["t"]))}]


def _some(curve: Curve) -> Curve:
    """Evenly spread points of a curve, the last one among them."""
    every = -(-len(curve) // MOST_TIMES)
    return list(reversed(list(reversed(curve))[::every]))


# Distributions


def _spread(name: str, title: str, metric: str, families: Families, by: str) -> Chart:
    """A histogram's buckets, from the first to the last that has something in it."""
    series = {key: counts for key, (counts, _) in added(families, metric, by).items() if any(counts)}
    used = [i for counts in series.values() for i, n in enumerate(counts) if n]
    if not used:
        return _chart(name, title, metric, None, [], [])
    places = range(max(0, min(used) - 1), min(len(BY_NAME[metric].buckets), max(used) + 1) + 1)
    words = [bound_words(BY_NAME[metric], i) for i in places]
    names = {key: key or gettext_noop("count") for key in series}
    figure = draw.columns(words, {names[key]: [counts[i] for i in places] for key, counts in series.items()})
    lines = [
        [word, *(thousands(counts[i]) for counts in series.values())]
        for word, i in zip(words, places, strict=True)
    ]
    return _chart(name, title, metric, figure, [gettext_noop("bucket"), *names.values()], lines)


# By label


def _stacked(name: str, title: str, metric: str, first: str, cells: Mapping[str, Mapping[str, int]]) -> Chart:
    """Bars by category, the longest first: category -> part -> amount."""
    if not cells:
        return _chart(name, title, metric, None, [], [])
    ordered = sorted(cells, key=lambda category: (-sum(cells[category].values()), category))
    parts = list(dict.fromkeys(part for category in ordered for part in cells[category]))
    order = [*_QUEUES, *_POINTS]
    parts.sort(key=lambda part: order.index(part) if part in order else len(order))
    figure = draw.rows(ordered, {p: [cells[category].get(p, 0) for category in ordered] for p in parts})
    lines = [[category, *(thousands(cells[category].get(p, 0)) for p in parts)] for category in ordered]
    return _chart(name, title, metric, figure, [first, *parts], lines)


def _incoming(families: Families) -> Chart:
    metric = "scheduler_queue_incoming_pods_total"
    cells: dict[str, dict[str, int]] = {}
    for series in families.get(metric, ()):
        queue, event = series["labels"]
        cells.setdefault(event, {})[queue] = series["value"]
    return _stacked(
        "incoming", gettext_noop("Pods into a queue, by event"), metric, gettext_noop("event"), cells
    )


def _evaluations(families: Families) -> Chart:
    metric = "scheduler_plugin_evaluation_total"
    cells: dict[str, dict[str, int]] = {}
    for series in families.get(metric, ()):
        plugin, point, _ = series["labels"]
        mine = cells.setdefault(plugin, {})
        mine[point] = mine.get(point, 0) + series["value"]
    return _stacked(
        "evaluations", gettext_noop("Calls of each plugin"), metric, gettext_noop("plugin"), cells
    )


def _times(families: Families) -> Chart:
    """Virtual time by extension point, of those at which any passes."""
    name, title = "times", gettext_noop("Virtual time by extension point")
    metric = "scheduler_framework_extension_point_duration_seconds"
    spent = [(point, took) for point, (_, took) in added(families, metric, "extension_point").items() if took]
    if not spent:
        return _chart(name, title, metric, None, [], [])
    spent.sort(key=lambda point: (-point[1], point[0]))
    figure = draw.rows([point for point, _ in spent], {"s": [took for _, took in spent]})
    lines = [[point, seconds(took)] for point, took in spent]
    return _chart(
        name, title, metric, figure, [gettext_noop("extension point"), gettext_noop("virtual time")], lines
    )
