"""The report of an experiment: one HTML file with its charts, which needs neither a server nor a network."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from plotly.graph_objects import Figure

from scheduler_core.analysis.experiments import list_figures

STYLE = (
    "body{font:15px/1.5 system-ui;max-width:1100px;margin:2em auto;padding:0 1em}h1{font-size:1.4em}h2{font-size:1.1em}"
)


def build_report(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the page: the figures of each world."""
    parts = [
        f"<!doctype html><meta charset=utf-8><title>{escape(name)}</title><style>{STYLE}</style><h1>{escape(name)}</h1>"
    ]
    script: bool = True  # Plotly itself, which the first chart brings along
    for world in dict.fromkeys(row["world"] for row in rows):
        parts.append(f"<h2>{escape(world)}</h2>")
        for drawn in list_figures([row for row in rows if row["world"] == world]):
            figure = Figure(
                {**drawn.as_plotly(), "layout": {**drawn.as_plotly()["layout"], "template": "plotly_white"}}
            )
            parts.append(figure.to_html(full_html=False, include_plotlyjs=script, config={"displaylogo": False}))
            script = False
    return "\n".join(parts)
