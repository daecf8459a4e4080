"""Charts as Plotly figures: plain data without colors. The browser takes the colors from the page's tokens."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.formats.export import harmless

# The figures of the metrics page: curves over virtual time, distributions over buckets, bars by label.
#
# A trace names the colour token that it is drawn in (`token`); static/playground/js/metrics.js looks the token up.


def align_sequences(ours: Sequence[bytes], theirs: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return index pairs of a longest common subsequence, in order. Fast even if few distinct items repeat, as with undo and redo.

    Hyyrö, Bit-parallel LCS-length computation revisited (2004): each row of the table is one integer with a bit for each of `theirs`. A
    bit is 0 where the common subsequence grows by one.
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
    """Format a heading and rows as CSV. `harmless` prevents cells from being read as formulas."""
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
    """Return step curves over virtual time in `unit`. Stacked curves fill the area below them."""
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
    """Return stacked columns, one for each category."""
    traces = [
        {"type": "bar", "name": name, "x": list(categories), "y": list(values), "token": _token(name, i)}
        for i, (name, values) in enumerate(bars.items())
    ]
    return {"data": traces, "layout": {"barmode": "stack", "xaxis": {"type": "category"}}}


def rows(categories: Sequence[str], bars: Bars) -> Figure:
    """Return stacked bars, with the first category at the top."""
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
