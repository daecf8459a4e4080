"""The statistics page: charts of pods, refusals, calls, times, and the utilization of the nodes up to a step."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from playground.features.metrics.plots import (
    NONE,
    POINTS,
    QUEUES,
    Chart,
    Curve,
    Families,
    build_stacked_bars,
    chart,
    families,
    over_time,
    seconds,
    sum_histogram,
)
from playground.presenters import charts as draw
from playground.presenters.words import amount, clock, duration, gettext_noop, thousands
from scheduler_core.analysis.status import BY_NAME

_RESULTS = {"scheduled": "scheduled", "unschedulable": "refused", "error": "errors"}


class StatisticsPage(TypedDict):
    position: int
    clock: str
    names: list[str]
    scheduler: str
    points: int
    every: str
    empty: bool
    amounts: "list[AmountRow]"
    charts: list[Chart]


def present(readings: Mapping[str, Any]) -> StatisticsPage:
    """Return the page for the data of worker.py, of one scheduler or none."""
    scheduler = next(iter(readings["schedulers"]), NONE)
    curve, series = scheduler["curve"], families(scheduler)
    use, stranded = use_charts(curve)
    refusals = scheduler["refusals"]
    refused = [_by_plugin(refusals["plugins"], [point["t"] for point in curve]), _by_reason(refusals["reasons"])]
    return {
        "position": readings["position"],
        "clock": clock(readings["now"]),
        "names": readings["names"],
        "scheduler": scheduler["name"],
        "points": len(curve),
        "every": duration(readings["every"]),
        "empty": not any(now[field] for now in curve[-1:] for field in _RESULTS.values()),
        "amounts": [_row(use[0], _use(use)) for now in curve[-1:] for use in now["use"]],
        "charts": [use, stranded, *_pods(curve), *refused, *[_calls(series), _answers(series), _times(series)]],
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


_EXECUTION = "scheduler_plugin_execution_duration_seconds"
_POINT = "scheduler_framework_extension_point_duration_seconds"


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
    """Return a row for each plugin, extension point, and status. The chart omits Success and Skip."""
    counted = sorted(_executions(families), key=lambda row: (row[0], _order(row[1]), row[2]))
    name, title = "answers", gettext_noop("Results other than Success and Skip, by plugin")
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
        note=gettext_noop("The table lists every result. Filter and Score run once per examined node."),
    )
    head = [
        gettext_noop("plugin"),
        gettext_noop("extension point"),
        gettext_noop("status"),
        gettext_noop("calls"),
        gettext_noop("virtual time"),
    ]
    rows = [[plugin, point, status, thousands(calls), seconds(took)] for plugin, point, status, calls, took in counted]
    names = ["plugin", "extension_point", "status", "calls", "virtual_time_seconds"]
    return {**drawn, "head": head, "rows": rows, "csv": (names, counted), "words": 3}


def _executions(families: Families) -> list[list[Any]]:
    return [[*series["labels"], sum(series["counts"]), series["sum"]] for series in families.get(_EXECUTION, ())]


def _order(point: str) -> tuple[int, str]:
    return (POINTS.index(point) if point in POINTS else len(POINTS), point)


def _times(families: Families) -> Chart:
    """Return a chart of virtual time by extension point, without points that spend none."""
    name, title, metric = "times", gettext_noop("Virtual time by extension point"), BY_NAME[_POINT]
    spent = [(point, took) for point, (_, took) in sum_histogram(families, _POINT, "extension_point").items() if took]
    if not spent:
        return chart(name, title, metric=metric)
    spent.sort(key=lambda point: (-point[1], point[0]))
    figure = draw.rows([point for point, _ in spent], {"s": [took for _, took in spent]})
    figure["layout"]["unit"] = "s"
    head = [gettext_noop("extension point"), gettext_noop("virtual time")]
    rows = [[point, seconds(took)] for point, took in spent]
    return chart(name, title, head, rows, figure, (["extension_point", "seconds"], spent), metric=metric)


MOST_LINES = 8
MOST_BARS = 20


def _by_plugin(plugins: Mapping[str, list[int]], times: list[int]) -> Chart:
    ordered = sorted(plugins, key=lambda name: (-plugins[name][-1], name))
    points = [{"t": t, **{name: plugins[name][i] for name in ordered}} for i, t in enumerate(times)]
    name, title = "refused", gettext_noop("Attempts refused, by plugin")
    drawn = over_time(
        name,
        title,
        points,
        {each: each for each in ordered[:MOST_LINES]},
        note=gettext_noop("An attempt refused by several plugins counts for each of them."),
    )
    if not drawn["figure"]:
        return drawn
    exact = [list(point.values()) for point in points]
    return {**drawn, "csv": (["virtual_time_ns", *ordered], exact)}


def _by_reason(reasons: list[list[Any]]) -> Chart:
    """Return a chart of kube's reasons, unchanged. The table and the CSV also have those that are not drawn."""
    title = gettext_noop("Refusals of nodes by reason")
    word = gettext_noop("reason")
    drawn = build_stacked_bars(
        "reasons",
        title,
        word,
        {text: {"nodes": nodes} for text, nodes in reasons[:MOST_BARS]},
        note=gettext_noop(
            "Number of refused nodes per reason, over all attempts that found no node. A node counts once per attempt."
        ),
    )
    return {**drawn, "csv": (["reason", "nodes"], reasons)} if drawn["figure"] else drawn


Use = Mapping[str, int]
MOST_RESOURCES = 8


def use_charts(curve: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """Return charts of utilization in percent, by resource; only the most utilized ones if there are many."""
    uses = [{use[0]: _use(use) for use in point["use"]} for point in curve]
    names = _select_charted_resources(uses[-1]) if uses else []
    return [
        _shares(
            "use",
            gettext_noop("Utilization, percent of allocatable"),
            curve,
            uses,
            names,
            "requested",
            "allocatable",
            gettext_noop(
                "Requests of the pods on the nodes, including assumed pods, divided by the allocatable resources. "
                "Requests, not usage."
            ),
        ),
        _shares(
            "stranded",
            gettext_noop("Fragmentation, percent of free"),
            curve,
            uses,
            names,
            "stranded",
            "free",
            gettext_noop(
                "Free resources on nodes where the average pod does not fit, divided by all free resources. The "
                "average pod requests the mean cpu and memory of the pods on the nodes."
            ),
        ),
    ]


def _use(use: Sequence[Any]) -> Use:
    return dict(zip(("allocatable", "requested", "free", "stranded"), use[1:], strict=True))


def _select_charted_resources(now: Mapping[str, Use]) -> list[str]:
    """Return the names to chart: cpu, memory, and pods, then the others by their utilization."""
    first = [name for name in ("cpu", "memory", "pods") if name in now]
    others = [name for name in now if name not in first]
    others.sort(key=lambda name: (-percent(now[name], "requested", "allocatable"), name))
    return [*first, *others][:MOST_RESOURCES]


def percent(use: Use | None, part: str, whole: str) -> float:
    """Return a percentage with one decimal; 0 without a total."""
    if not use or not use[whole]:
        return 0
    return round(100 * use[part] / use[whole], 1)


def _shares(
    name: str,
    title: str,
    curve: Sequence[Mapping[str, Any]],
    uses: Sequence[Mapping[str, Use]],
    names: Sequence[str],
    part: str,
    whole: str,
    note: str,
) -> Chart:
    points: Curve = [
        {"t": point["t"], **{each: percent(use.get(each), part, whole) for each in names}}
        for point, use in zip(curve, uses, strict=True)
    ]
    drawn = over_time(name, title, points, {each: each for each in names}, zeros=True, note=note)
    return {**drawn, "csv": _amounts(curve, uses, part, whole)} if drawn["figure"] else drawn


def _amounts(
    curve: Sequence[Mapping[str, Any]], uses: Sequence[Mapping[str, Use]], part: str, whole: str
) -> tuple[list[str], list[list[Any]]]:
    """Return exact amounts, one line for each time and resource."""
    rows = [
        [point["t"], resource, each[part], each[whole]]
        for point, use in zip(curve, uses, strict=True)
        for resource, each in use.items()
    ]
    return ["virtual_time_ns", "resource", part, whole], rows


class AmountRow(TypedDict):
    resource: str
    allocatable: str
    requested: str
    free: str
    stranded: str
    used: str
    share: str


def _row(resource: str, use: Use) -> AmountRow:
    return {
        "resource": resource,
        "allocatable": amount(resource, use["allocatable"]),
        "requested": amount(resource, use["requested"]),
        "free": amount(resource, use["free"]),
        "stranded": amount(resource, use["stranded"]),
        "used": f"{percent(use, 'requested', 'allocatable'):g} %",
        "share": f"{percent(use, 'stranded', 'free'):g} %",
    }
