"""Use of the nodes and stranded resources over virtual time, and what both are at this step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.features.metrics.plots import Chart, Curve, over_time
from playground.presenters.amounts import amount
from playground.presenters.words import gettext_noop

Use = Mapping[str, int]
MOST_LINES = 8


def charts(curve: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """Shares in percent, by resource; the most used ones where there are many."""
    uses = [{use[0]: _use(use) for use in point["use"]} for point in curve]
    names = _select_charted_resources(uses[-1]) if uses else []
    return [
        _shares(
            "use",
            gettext_noop("Utilisation, % of allocatable"),
            curve,
            uses,
            names,
            "requested",
            "allocatable",
            gettext_noop(
                "What the pods on the nodes request, assumed pods included, divided by what the nodes can allocate."
                " It is not what they really use."
            ),
        ),
        _shares(
            "stranded",
            gettext_noop("Fragmentation, % of free"),
            curve,
            uses,
            names,
            "stranded",
            "free",
            gettext_noop(
                "What is free on nodes on which the average pod does not fit, divided by all that is free."
                " The average pod requests the mean cpu and memory of the pods on the nodes."
            ),
        ),
    ]


def _use(use: Sequence[Any]) -> Use:
    return dict(zip(("allocatable", "requested", "free", "stranded"), use[1:], strict=True))


def _select_charted_resources(now: Mapping[str, Use]) -> list[str]:
    """cpu, memory and pods first, then by how much of them is asked for."""
    first = [name for name in ("cpu", "memory", "pods") if name in now]
    others = [name for name in now if name not in first]
    others.sort(key=lambda name: (-percent(now[name], "requested", "allocatable"), name))
    return [*first, *others][:MOST_LINES]


def percent(use: Use | None, part: str, whole: str) -> float:
    """Return a percentage with one decimal; 0 of nothing."""
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
    """Exact amounts, a line for each moment and resource."""
    rows = [
        [point["t"], resource, each[part], each[whole]]
        for point, use in zip(curve, uses, strict=True)
        for resource, each in use.items()
    ]
    return ["virtual_time_ns", "resource", part, whole], rows


def amounts_now(curve: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the exact amounts of every resource at this step."""
    return [_row(use[0], _use(use)) for now in curve[-1:] for use in now["use"]]


def _row(resource: str, use: Use) -> dict[str, str]:
    return {
        "resource": resource,
        **{part: amount(resource, value) for part, value in use.items()},
        "used": f"{percent(use, 'requested', 'allocatable'):g} %",
        "share": f"{percent(use, 'stranded', 'free'):g} %",
    }
