"""Charts as Plotly figures: plain data, without colours; the browser takes those from the page's tokens."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from scheduler_core.formats.export import harmless

# The figures of the metrics page: curves over virtual time, distributions over buckets, bars by label.
#
# A trace names the colour token that it is drawn in (`token`); static/playground/js/metrics.js looks the token up.

# Two histories laid side by side: what both have comes level, and where a step leads to from there.

GRAINS = ("plugin", "point", "pod", "event")


class TakenStep(Protocol):
    """A step: the position after it, the extension point that ran ("" where none did), and what it is aligned by."""

    @property
    def position(self) -> int: ...

    @property
    def point(self) -> str: ...

    @property
    def print(self) -> str: ...


class Stretch(Protocol):
    """The steps that an attempt is reached and made by, and the position before them."""

    @property
    def start(self) -> int: ...

    @property
    def steps(self) -> Sequence[TakenStep]: ...


class Row(NamedTuple):
    """The positions after a step that both sessions make, or only one. `point` is the extension point that ran, "" if none did."""

    at: tuple[int, int]
    point: str


def align_rows(ours: Stretch, theirs: Stretch) -> list[Row]:
    """The steps of two stretches: what both did is one row; what only one did goes beside what only the other did, as far as it lasts."""
    pairs = align_sequences(
        [step.print.encode() for step in ours.steps], [step.print.encode() for step in theirs.steps]
    )
    out = [Row((ours.start, theirs.start), "")]
    i = j = 0
    for next_i, next_j in [*pairs, (len(ours.steps), len(theirs.steps))]:
        while i < next_i or j < next_j:
            mine, other = ours.steps[i:next_i][:1], theirs.steps[j:next_j][:1]
            out.append(_row(out[-1], mine, other))
            i, j = i + len(mine), j + len(other)
        if i < len(ours.steps) and j < len(theirs.steps):
            out.append(_row(out[-1], ours.steps[i : i + 1], theirs.steps[j : j + 1]))
            i, j = i + 1, j + 1
    return out


def _row(before: Row, mine: Sequence[TakenStep], other: Sequence[TakenStep]) -> Row:
    at = tuple(steps[0].position if steps else stayed for steps, stayed in zip((mine, other), before.at, strict=True))
    return Row((at[0], at[1]), (mine or other)[0].point)


def place_of(steps: Sequence[Row], at: tuple[int, int | None]) -> int:
    """The index of the last row that neither is beyond; for a second position of None only the first one counts."""
    ours, theirs = at
    known = [i for i, row in enumerate(steps) if row.at[0] <= ours and (theirs is None or row.at[1] <= theirs)]
    return known[-1] if known else 0


def forward(steps: Sequence[Row], i: int, following: Sequence[Row], grain: str) -> tuple[int, int]:
    """Return the positions after one step of a grain from row `i`; `following` are the next attempt's rows."""
    left = [*steps[i + 1 :], *following[1:]]
    if not left:
        return steps[i].at
    if grain == "pod":
        return (steps if i + 1 < len(steps) else following)[-1].at
    if grain == "plugin":
        return left[0].at
    met = (row for before, row in zip([steps[i], *left], left, strict=False) if _begins(before, row, grain))
    return next(met, left[-1]).at


def back(steps: Sequence[Row], i: int, grain: str) -> tuple[int, int]:
    """Return the positions after one step back, at most to the end of the attempt before."""
    if grain == "plugin" or i < 2:
        return steps[max(0, i - 1)].at
    if grain == "pod":
        return steps[0].at
    met = (j for j in range(i - 1, 0, -1) if _begins(steps[j - 1], steps[j], grain))
    return steps[next(met, 0)].at


def _begins(before: Row, row: Row, grain: str) -> bool:
    """Return whether a step of this grain ends at a row: at another extension point, or, for events, at a step without a plugin."""
    return not row.point if grain == "event" else row.point not in ("", before.point)


def align_sequences(ours: Sequence[bytes], theirs: Sequence[bytes]) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence, in order. Quick also where the same few come again and again, as undo and redo do.

    Hyyrö, Bit-parallel LCS-length computation revisited (2004): a row of the table is one whole number, a bit for each of `theirs`, and
    the bit is 0 where one more of them is matched.
    """
    places: dict[bytes, int] = {}
    for j, one in enumerate(theirs):
        places[one] = places.get(one, 0) | 1 << j
    full = (1 << len(theirs)) - 1
    align_rows = [full]
    for one in ours:
        row, met = align_rows[-1], align_rows[-1] & places.get(one, 0)
        align_rows.append(((row + met) | (row - met)) & full)
    pairs, i, j = [], len(ours), len(theirs)
    while i and j:
        if align_rows[i] >> j - 1 & 1:
            j -= 1
        elif align_rows[i - 1] >> j - 1 & 1:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        else:
            i -= 1
    return pairs[::-1]


# A chart's numbers as CSV (RFC 4180).

CONTENT_TYPE = "text/csv; charset=utf-8"


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A heading and rows; no cell is a formula (harmless)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([harmless(name) for name in head])
    writer.writerows([harmless(value) for value in row] for row in rows)
    return out.getvalue()


Figure = dict[str, Any]
Bars = Mapping[str, Sequence[float]]
"""Name of a trace -> its values, one for each category."""

TOKENS = ("--p1", "--p3", "--p6", "--p5", "--p4", "--p2")
MEANINGS = {
    "active": "--p1",
    "backoff": "--wait-mark",
    "unschedulable": "--no-mark",
    "gated": "--p2",
    "scheduled": "--ok-mark",
    "error": "--p4",
}


def curves(times: Sequence[float], unit: str, lines: Bars, stacked: bool) -> Figure:
    """Steps over virtual time in `unit`; `stacked` ones fill what is below them."""
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": list(times),
            "y": list(values),
            "line": {"shape": "hv", "width": 1.5 if stacked else 2},
            "token": _token(name, i),
            **({"stackgroup": "one"} if stacked else {}),
        }
        for i, (name, values) in enumerate(lines.items())
    ]
    return {"data": traces, "layout": {"unit": unit, "yaxis": {"rangemode": "tozero"}}}


def columns(categories: Sequence[str], bars: Bars) -> Figure:
    """Stacked columns, one for each category."""
    traces = [
        {"type": "bar", "name": name, "x": list(categories), "y": list(values), "token": _token(name, i)}
        for i, (name, values) in enumerate(bars.items())
    ]
    return {"data": traces, "layout": {"barmode": "stack", "xaxis": {"type": "category"}}}


def rows(categories: Sequence[str], bars: Bars) -> Figure:
    """Stacked bars, the first category at the top."""
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": list(categories),
            "x": list(values),
            "token": _token(name, i),
        }
        for i, (name, values) in enumerate(bars.items())
    ]
    layout = {"barmode": "stack", "yaxis": {"autorange": "reversed", "type": "category"}}
    return {"data": traces, "layout": layout}


def _token(name: str, i: int) -> str:
    return MEANINGS.get(name, TOKENS[i % len(TOKENS)])
