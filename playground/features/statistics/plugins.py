"""How often each plugin was called, what it answered, and where virtual time passed."""

from __future__ import annotations

from typing import Any

from playground.features.metrics.plots import POINTS, Chart, build_stacked_bars, chart
from playground.features.metrics.series import Families, seconds, sum_histogram
from playground.presenters.amounts import thousands
from playground.presenters.charts import metrics as draw
from playground.presenters.words import gettext_noop
from scheduler_core.analysis.status import BY_NAME

_EXECUTION = "scheduler_plugin_execution_duration_seconds"
_POINT = "scheduler_framework_extension_point_duration_seconds"


def charts(families: Families) -> list[Chart]:
    """Calls, answers and times; of all that was counted up to the step."""
    return [_calls(families), _answers(families), _times(families)]


def _calls(families: Families) -> Chart:
    metric = "scheduler_plugin_evaluation_total"
    cells: dict[str, dict[str, int]] = {}
    for series in families.get(metric, ()):
        plugin, point, _ = series["labels"]
        mine = cells.setdefault(plugin, {})
        mine[point] = mine.get(point, 0) + series["value"]
    title = gettext_noop("Calls of each plugin")
    return build_stacked_bars("evaluations", title, gettext_noop("plugin"), cells, metric=BY_NAME[metric])


def _answers(families: Families) -> Chart:
    """A row for each plugin, extension point and status; drawn are all but Success and Skip."""
    counted = sorted(_executions(families), key=lambda row: (row[0], _order(row[1]), row[2]))
    name, title = "answers", gettext_noop("Answers other than Success and Skip, by plugin")
    cells: dict[str, dict[str, int]] = {}
    for plugin, _, status, calls, _ in counted:
        if status not in ("Success", "Skip"):
            mine = cells.setdefault(plugin, {})
            mine[status] = mine.get(status, 0) + calls
    drawn = build_stacked_bars(
        name,
        title,
        "",
        cells,
        metric=BY_NAME[_EXECUTION],
        note=gettext_noop(
            "The table has every answer. Filter and Score are called once for each node that is looked at."
        ),
    )
    head = [
        gettext_noop("plugin"),
        gettext_noop("extension point"),
        gettext_noop("status"),
        gettext_noop("calls"),
        gettext_noop("virtual time"),
    ]
    rows = [
        [plugin, point, status, thousands(calls), seconds(took)]
        for plugin, point, status, calls, took in counted
    ]
    names = ["plugin", "extension_point", "status", "calls", "virtual_time_seconds"]
    return {**drawn, "head": head, "rows": rows, "csv": (names, counted), "words": 3}


def _executions(families: Families) -> list[list[Any]]:
    return [
        [*series["labels"], sum(series["counts"]), series["sum"]] for series in families.get(_EXECUTION, ())
    ]


def _order(point: str) -> tuple[int, str]:
    return (POINTS.index(point) if point in POINTS else len(POINTS), point)


def _times(families: Families) -> Chart:
    """Virtual time by extension point, of those at which any passes."""
    name, title, metric = "times", gettext_noop("Virtual time by extension point"), BY_NAME[_POINT]
    spent = [
        (point, took)
        for point, (_, took) in sum_histogram(families, _POINT, "extension_point").items()
        if took
    ]
    if not spent:
        return chart(name, title, metric=metric)
    spent.sort(key=lambda point: (-point[1], point[0]))
    figure = draw.rows([point for point, _ in spent], {"s": [took for _, took in spent]})
    figure["layout"]["unit"] = "s"
    head = [gettext_noop("extension point"), gettext_noop("virtual time")]
    rows = [[point, seconds(took)] for point, took in spent]
    return chart(name, title, head, rows, figure, (["extension_point", "seconds"], spent), metric=metric)
