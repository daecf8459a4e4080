"""Charts over virtual time and by label, each with the table that says the same and the numbers of its CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.presenters.amounts import SECOND, clock, thousands
from playground.presenters.charts import metrics as draw
from playground.presenters.words import gettext_noop

Chart = dict[str, Any]
Curve = Sequence[Mapping[str, Any]]
Lines = Sequence[Sequence[Any]]

MOST_TIMES = 20
QUEUES = ("active", "backoff", "unschedulable", "gated")
POINTS = ("PreFilter", "Filter", "PreScore", "Score")


def chart(
    name: str,
    title: str,
    head: Sequence[str] = (),
    rows: Lines = (),
    figure: draw.Figure | None = None,
    csv: tuple[Sequence[str], Lines] = ((), ()),
    **more: Any,
) -> Chart:
    """`figure` is None where there is nothing to draw yet; `csv` has plain names and numbers, and all of them; `words` is how
    many columns of the table are texts.
    """
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
        **more,
    }


def over_time(
    name: str,
    title: str,
    curve: Curve,
    lines: Mapping[str, str],
    stacked: bool = False,
    zeros: bool = False,
    **more: Any,
) -> Chart:
    """`lines`: name on the screen -> field of a point of the curve, which has its time as `t`. `zeros`: draws them, too."""
    if not lines or not (zeros or any(point[field] for point in curve for field in lines.values())):
        return chart(name, title, **more)
    moving = _moving(curve, list(lines.values()))
    unit, scale = ("s", SECOND) if moving[-1]["t"] >= SECOND else ("ms", 1_000_000)
    figure = draw.curves(
        [point["t"] / scale for point in moving],
        unit,
        {word: [point[field] for point in moving] for word, field in lines.items()},
        stacked,
    )
    head = [gettext_noop("virtual time"), *lines]
    rows = [
        [clock(point["t"]), *(thousands(point[field]) for field in lines.values())] for point in some(moving)
    ]
    exact = [[point["t"], *(point[field] for field in lines.values())] for point in curve]
    return chart(name, title, head, rows, figure, (["virtual_time_ns", *lines], exact), **more)


def _moving(curve: Curve, fields: list[str]) -> Curve:
    """The curve up to its last change and a little further: what follows is a straight line."""
    now = {field: curve[-1][field] for field in fields}
    end = len(curve) - 1
    while end > 0 and all(curve[end - 1][field] == now[field] for field in fields):
        end -= 1
    little = curve[end]["t"] + max(curve[end]["t"] // 10, 1_000_000)
    return [*curve[: end + 1], {**curve[-1], "t": min(little, max(curve[-1]["t"], curve[end]["t"]))}]


def some(curve: Curve) -> Curve:
    """Evenly spread points of a curve, the last one among them."""
    every = -(-len(curve) // MOST_TIMES)
    return list(reversed(list(reversed(curve))[::every]))


def build_stacked_bars(
    name: str, title: str, first: str, cells: Mapping[str, Mapping[str, Any]], **more: Any
) -> Chart:
    """Bars by category, the longest first: category -> part -> amount."""
    if not cells:
        return chart(name, title, **more)
    ordered = sorted(cells, key=lambda category: (-sum(cells[category].values()), category))
    parts = list(dict.fromkeys(part for category in ordered for part in cells[category]))
    order = [*QUEUES, *POINTS]
    parts.sort(key=lambda part: order.index(part) if part in order else len(order))
    figure = draw.rows(ordered, {p: [cells[category].get(p, 0) for category in ordered] for p in parts})
    exact = [[category, *(cells[category].get(p, 0) for p in parts)] for category in ordered]
    rows = [[category, *map(thousands, amounts)] for category, *amounts in exact]
    head = [first, *parts]
    return chart(name, title, head, rows, figure, (head, exact), **more)
