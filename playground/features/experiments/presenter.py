"""The results of an experiment in words and colors of the page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from playground.presenters.words import format_message, gettext_noop, message
from scheduler_core.analysis.experiments import COLORS, SUMMARIZED, Figure, list_figures, summarize

MEASURES = {
    "placed": gettext_noop("pods with a node"),
    "pending": gettext_noop("pods that wait"),
    "wait_p50_s": gettext_noop("wait, median (s)"),
    "wait_p99_s": gettext_noop("wait, 99th percentile (s)"),
    "nodes_used": gettext_noop("nodes in use"),
    "cost_per_hour": gettext_noop("cost per hour"),
    "fragmentation": gettext_noop("fragmentation"),
    "preemptions": gettext_noop("preemptions"),
    "fairness": gettext_noop("fairness by namespace"),
}
_TITLES = {
    "distribution": gettext_noop("%(measure)s, by seed"),
    "differences": gettext_noop("Differences from %(first)s with the same seeds"),
    "front": gettext_noop("%(y)s, by %(x)s"),
    "sensitivity": gettext_noop("%(measure)s, by weight"),
}
_NOTES = {
    "distribution": gettext_noop("Each point is a run."),
    "differences": gettext_noop("Relative to the mean of %(first)s, with 95 %% confidence intervals."),
    "front": gettext_noop(
        "Means. The line is the Pareto front: no variant is better in both measures than a variant on the line."
    ),
    "sensitivity": gettext_noop("The difference from %(first)s with the same seeds, with 95 %% confidence intervals."),
}
TOKENS = ("--p1", "--p4", "--p3", "--p6", "--p5", "--p2")  # the page's colors for COLORS
Say = Callable[[str], str]
"""Finds the words of the reader's language."""


def present(rows: Sequence[Mapping[str, Any]], say: Say) -> list[dict[str, Any]]:
    """Return each world with its table of means and its charts."""
    worlds = []
    for number, world in enumerate(dict.fromkeys(row["world"] for row in rows)):
        mine = [row for row in rows if row["world"] == world]
        means = summarize(mine)
        charts = [{"id": f"{number}-{i}", **_chart(figure, say)} for i, figure in enumerate(list_figures(mine))]
        shown = [name for name in SUMMARIZED if name != "cost_per_hour" or any(row[name] for row in mine)]
        lines = [{"name": name, "values": [f"{found[m]:.4g}" for m in shown]} for name, found in means.items()]
        heads = [say(MEASURES[name]) for name in shown]
        worlds.append({"name": world, "heads": heads, "variants": list(means), "lines": lines, "charts": charts})
    return worlds


def _chart(figure: Figure, say: Say) -> dict[str, Any]:
    def name_of(measure: Any) -> Any:
        return say(MEASURES[measure]) if measure in MEASURES else measure

    words = {key: word if key == "first" else name_of(word) for key, word in figure.words.items()}
    traces = []
    for trace in figure.traces:
        token = TOKENS[COLORS.index(trace["color"])] if trace["color"] in COLORS else "--edge"
        traces.append({**trace, "token": token, "y": [name_of(each) for each in trace["y"]]})
    layout = {
        axis: {**value, "title": {"text": name_of(value["title"]["text"])}}
        if axis.endswith("axis") and "title" in value
        else value
        for axis, value in figure.layout.items()
    }
    title, note = (format_message(message(texts[figure.kind], **words), say) for texts in (_TITLES, _NOTES))
    return {"title": title, "note": note, "figure": {"data": traces, "layout": layout}}
