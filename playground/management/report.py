"""The report of an experiment: one HTML file with its charts, which needs neither a server nor a network."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from plotly.graph_objects import Box, Figure, Scatter

Row = Mapping[str, Any]
COLORS = ("#1d55d0", "#d9480f", "#0b7a5b", "#8e3bb0", "#a15c00", "#c2255c")
SHOWN = ("placed", "wait_p99_s", "nodes_used", "cost_per_hour", "fragmentation", "fairness")
# Student's t, two-sided 95 %, by degrees of freedom; beyond the last the normal distribution's.
T95 = (
    12.71,
    4.30,
    3.18,
    2.78,
    2.57,
    2.45,
    2.36,
    2.31,
    2.26,
    2.23,
    2.20,
    2.18,
    2.16,
    2.14,
    2.13,
    2.12,
    2.11,
    2.10,
    2.09,
    2.09,
)
STYLE = (
    "body{font:15px/1.5 system-ui;max-width:1100px;margin:2em auto;padding:0 1em}h1{font-size:1.4em}h2{font-size:1.1em}"
)


def build_report(name: str, rows: Sequence[Row]) -> str:
    """Return the page: of each world the distributions, the paired differences to the first variant, and cost against waiting."""
    parts = [
        f"<!doctype html><meta charset=utf-8><title>{escape(name)}</title><style>{STYLE}</style><h1>{escape(name)}</h1>"
    ]
    script: bool = True  # Plotly itself, which the first chart brings along
    for world in dict.fromkeys(row["world"] for row in rows):
        mine = [row for row in rows if row["world"] == world]
        parts.append(f"<h2>{escape(world)}</h2>")
        for figure in list_figures(mine):
            parts.append(figure.to_html(full_html=False, include_plotlyjs=script, config={"displaylogo": False}))
            script = False
    return "\n".join(parts)


def list_figures(rows: Sequence[Row]) -> Iterator[Figure]:
    """Yield the charts of one world."""
    variants: dict[str, list[Row]] = {}
    for row in rows:
        variants.setdefault(row["variant"], []).append(row)
    colors = {name: COLORS[i % len(COLORS)] for i, name in enumerate(variants)}
    for measure in SHOWN:
        if len({row[measure] for row in rows}) == 1:
            continue
        boxes = [
            Box(y=[row[measure] for row in found], name=name, boxpoints="all", marker_color=colors[name])
            for name, found in variants.items()
        ]
        yield _figure(f"{measure}, by seed", *boxes, showlegend=False)
    first, *others = variants
    if others:
        yield _figure(
            f"Paired differences to {first}, same seeds: mean and 95 % confidence, in parts of {first}'s mean",
            *(_draw_differences(name, variants[first], variants[name], colors[name]) for name in others),
        )
    cost = "cost_per_hour" if any(row["cost_per_hour"] for row in rows) else "nodes_used"
    points = {name: (_mean(found, cost), _mean(found, "wait_p99_s")) for name, found in variants.items()}
    front = sorted(point for point in points.values() if not any(_beats(other, point) for other in points.values()))
    yield _figure(
        f"{cost} against wait_p99_s, means; the line is the Pareto front",
        Scatter(
            x=[x for x, _ in front],
            y=[y for _, y in front],
            mode="lines",
            line={"dash": "dot", "color": "#888"},
            showlegend=False,
        ),
        *(
            Scatter(
                x=[x],
                y=[y],
                mode="markers+text",
                text=[name],
                textposition="middle right",
                marker={"color": colors[name], "size": 11},
                name=name,
            )
            for name, (x, y) in points.items()
        ),
    )


def compare_pairs(first: Sequence[Row], other: Sequence[Row], measure: str) -> tuple[float, float]:
    """Return the mean of the differences of one measure, seed by seed, and half the width of its 95 % confidence interval."""
    before = {row["seed"]: row[measure] for row in first}
    differences = np.array([row[measure] - before[row["seed"]] for row in other if row["seed"] in before])
    if len(differences) < 2:
        return float(differences.mean()) if len(differences) else 0.0, math.inf
    factor = T95[len(differences) - 2] if len(differences) - 2 < len(T95) else 1.96
    return float(differences.mean()), float(factor * differences.std(ddof=1) / math.sqrt(len(differences)))


def _draw_differences(name: str, first: Sequence[Row], other: Sequence[Row], color: str) -> Scatter:
    found = {measure: compare_pairs(first, other, measure) for measure in SHOWN if _mean(first, measure)}
    scale = [abs(_mean(first, measure)) for measure in found]
    return Scatter(
        x=list(found),
        y=[mean / by for (mean, _), by in zip(found.values(), scale, strict=True)],
        error_y={
            "array": [
                half / by if math.isfinite(half) else 0 for (_, half), by in zip(found.values(), scale, strict=True)
            ]
        },
        mode="markers",
        marker={"color": color, "size": 9},
        name=name,
    )


def _mean(rows: Sequence[Row], measure: str) -> float:
    return math.fsum(row[measure] for row in rows) / len(rows)


def _beats(other: tuple[float, float], point: tuple[float, float]) -> bool:
    return other != point and other[0] <= point[0] and other[1] <= point[1]


def _figure(title: str, *traces: Any, **layout: Any) -> Figure:
    return Figure(list(traces), {"title": {"text": title}, "height": 360, "template": "plotly_white", **layout})
