"""Figures of an experiment as Plotly data, for the page, the report, and notebooks."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Row = Mapping[str, Any]
Kind = Literal["distribution", "differences", "front", "sensitivity"]
COLORS = ("#1d55d0", "#d9480f", "#0b7a5b", "#8e3bb0", "#a15c00", "#c2255c")
SHOWN = ("placed", "wait_p99_s", "nodes_used", "cost_per_hour", "fragmentation", "preemptions", "fairness")
SUMMARIZED = ("placed", "pending", "wait_p50_s", *SHOWN[1:])
_SWEPT = re.compile(r"^(\w+)=(\d+)$")  # the name of a variant of a sweep: plugin and weight
# Student's t, two-sided 95 %, by degrees of freedom. Beyond the last, the normal distribution applies.
_T95 = "12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13 2.12 2.11 2.10 2.09 2.09"
T95 = [float(each) for each in _T95.split()]


@dataclass(frozen=True)
class Figure:
    """`words`: the words of the title, such as the measure, the first variant, or the two axes. `traces` and `layout` are Plotly's."""

    kind: Kind
    words: dict[str, str]
    traces: list[dict[str, Any]]
    layout: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title in English."""
        return _TITLES[self.kind].format(**self.words)

    def as_plotly(self) -> dict[str, Any]:
        """Return the figure in Plotly's form: `plotly.graph_objects.Figure(figure.as_plotly())`."""
        plain = [{name: value for name, value in trace.items() if name != "color"} for trace in self.traces]
        data = [
            {**trace, "marker": {"color": each["color"], "size": 9}}
            for trace, each in zip(plain, self.traces, strict=True)
        ]
        return {"data": data, "layout": {"title": {"text": self.title}, "height": 360, **self.layout}}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"application/vnd.plotly.v1+json": self.as_plotly(), "text/plain": self.title}


_TITLES = {
    "distribution": "{measure} by seed",
    "differences": "Differences to {first} with the same seeds, in parts of its mean, with 95 % confidence intervals",
    "front": "{y} by {x}: means; the line is the Pareto front",
    "sensitivity": "{measure} by weight: difference to {first} with the same seeds, with 95 % confidence intervals",
}


def list_figures(rows: Sequence[Row]) -> Iterator[Figure]:
    """Yield the figures of one world."""
    variants = group_by_variant(rows)
    colors = {name: COLORS[i % len(COLORS)] for i, name in enumerate(variants)}
    varying = [measure for measure in SHOWN if len({row[measure] for row in rows}) > 1]
    for measure in varying:
        boxes = [
            {
                "type": "box",
                "y": [row[measure] for row in found],
                "name": name,
                "boxpoints": "all",
                "color": colors[name],
            }
            for name, found in variants.items()
            if not _SWEPT.match(name)
        ]
        yield Figure("distribution", {"measure": measure}, boxes, {"showlegend": False})
    first, *others = variants
    if plain := [name for name in others if not _SWEPT.match(name)]:
        drawn = [_draw_differences(name, variants[first], variants[name], colors[name]) for name in plain]
        layout = {"xaxis": {"tickformat": "+.0%", "nticks": 4, "zeroline": True}, "yaxis": {"autorange": "reversed"}}
        yield Figure("differences", {"first": first}, drawn, {**layout, "showlegend": True})
    yield from _draw_sweep(variants, varying)
    if len(variants) > 1:
        yield _draw_front(variants, colors)


def group_by_variant(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows by variant, in the order of the file."""
    variants: dict[str, list[Row]] = {}
    for row in rows:
        variants.setdefault(row["variant"], []).append(row)
    return variants


def summarize(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return the mean of each shown measure, by variant."""
    return {
        name: {measure: find_mean(found, measure) for measure in SUMMARIZED if measure in found[0]}
        for name, found in group_by_variant(rows).items()
    }


def compare_pairs(first: Sequence[Row], other: Sequence[Row], measure: str) -> tuple[float, float]:
    """Return the mean of the differences of a measure, paired by seed, and half the width of its 95 % confidence interval."""
    before = {row["seed"]: row[measure] for row in first}
    differences = np.array([row[measure] - before[row["seed"]] for row in other if row["seed"] in before])
    if len(differences) < 2:
        return float(differences.mean()) if len(differences) else 0.0, math.inf
    factor = T95[len(differences) - 2] if len(differences) - 2 < len(T95) else 1.96
    return float(differences.mean()), float(factor * differences.std(ddof=1) / math.sqrt(len(differences)))


def find_mean(rows: Sequence[Row], measure: str) -> float:
    """Return the mean of one measure."""
    return math.fsum(row[measure] for row in rows) / len(rows)


def _draw_differences(name: str, first: Sequence[Row], other: Sequence[Row], color: str) -> dict[str, Any]:
    found = {measure: compare_pairs(first, other, measure) for measure in SHOWN if find_mean(first, measure)}
    scale = {measure: abs(find_mean(first, measure)) for measure in found}
    return {
        "type": "scatter",
        "x": [mean / scale[measure] for measure, (mean, _) in found.items()],
        "y": list(found),
        "error_x": {"type": "data", "array": [_finite(half) / scale[measure] for measure, (_, half) in found.items()]},
        "mode": "markers",
        "name": name,
        "color": color,
    }


def _draw_sweep(variants: Mapping[str, Sequence[Row]], measures: Sequence[str]) -> Iterator[Figure]:
    """Yield a figure for each measure, with one line for each plugin with varied weights."""
    first = next(iter(variants))
    swept: dict[str, list[tuple[int, str]]] = {}
    for name in variants:
        if (match := _SWEPT.match(name)) is not None:
            swept.setdefault(match[1], []).append((int(match[2]), name))
    for measure in measures if swept else ():
        lines = []
        for number, (plugin, points) in enumerate(swept.items()):
            found = [compare_pairs(variants[first], variants[name], measure) for _, name in sorted(points)]
            lines.append(
                {
                    "type": "scatter",
                    "x": [weight for weight, _ in sorted(points)],
                    "y": [mean for mean, _ in found],
                    "error_y": {"type": "data", "array": [_finite(half) for _, half in found]},
                    "mode": "lines+markers",
                    "name": plugin,
                    "color": COLORS[number % len(COLORS)],
                }
            )
        yield Figure(
            "sensitivity",
            {"measure": measure, "first": first},
            lines,
            {"yaxis": {"zeroline": True}, "showlegend": True},
        )


def _draw_front(variants: Mapping[str, Sequence[Row]], colors: Mapping[str, str]) -> Figure:
    cost = (
        "cost_per_hour" if any(row["cost_per_hour"] for found in variants.values() for row in found) else "nodes_used"
    )
    points = {name: (find_mean(found, cost), find_mean(found, "wait_p99_s")) for name, found in variants.items()}
    front = sorted({point for point in points.values() if not any(_beats(other, point) for other in points.values())})
    x, y = [a for a, _ in front], [b for _, b in front]
    line = {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"dash": "dot"},
        "showlegend": False,
        "color": "#888888",
    }
    marks = [
        {"type": "scatter", "x": [x], "y": [y], "mode": "markers", "name": name, "color": colors[name]}
        for name, (x, y) in points.items()
    ]
    return Figure("front", {"x": cost, "y": "wait_p99_s"}, [line, *marks], {"xaxis": {"title": {"text": cost}}})


def _finite(half: float) -> float:
    return half if math.isfinite(half) else 0.0


def _beats(other: tuple[float, float], point: tuple[float, float]) -> bool:
    return other != point and other[0] <= point[0] and other[1] <= point[1]
