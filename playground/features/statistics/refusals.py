"""Who refused pods over virtual time, and for which reasons nodes were refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.features.metrics.plots import Chart, build_stacked_bars, over_time
from playground.presenters.words import gettext_noop

MOST_LINES = 8
MOST_BARS = 20


def charts(refusals: Mapping[str, Any], times: list[int]) -> list[Chart]:
    """`refusals` as sessions/worker/answers/metrics.py counts them; the plugins that refused most are drawn."""
    return [_by_plugin(refusals["plugins"], times), _by_reason(refusals["reasons"])]


def _by_plugin(plugins: Mapping[str, list[int]], times: list[int]) -> Chart:
    ordered = sorted(plugins, key=lambda name: (-plugins[name][-1], name))
    points = [{"t": t, **{name: plugins[name][i] for name in ordered}} for i, t in enumerate(times)]
    name, title = "refused", gettext_noop("Attempts that a plugin refused, added up")
    drawn = over_time(
        name,
        title,
        points,
        {each: each for each in ordered[:MOST_LINES]},
        note=gettext_noop("An attempt that several plugins refused counts for each of them."),
    )
    if not drawn["figure"]:
        return drawn
    exact = [list(point.values()) for point in points]
    return {**drawn, "csv": (["virtual_time_ns", *ordered], exact)}


def _by_reason(reasons: list[list[Any]]) -> Chart:
    """kube's own words, as they are; the table and the CSV have those that are not drawn."""
    title = gettext_noop("Refusals of nodes by reason")
    word = gettext_noop("reason")
    drawn = build_stacked_bars(
        "reasons",
        title,
        word,
        {text: {"nodes": nodes} for text, nodes in reasons[:MOST_BARS]},
        note=gettext_noop(
            "How many nodes were refused for each reason, over all attempts that found no node. A node counts once in each of them."
        ),
    )
    return {**drawn, "csv": (["reason", "nodes"], reasons)} if drawn["figure"] else drawn
