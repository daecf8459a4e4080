"""metrics.js, compare.js and shared/plotly.js: what Plotly is asked to draw, and when."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from tests.browser.modules.conftest import Alone

STYLE = "<style>:root { --p1: #111111; --p3: #333333; --p5: #555555; --line: #dddddd }</style>"
PLOTLY = """globalThis.Plotly = {
  purge: () => {},
  react: async (holder, data, layout) => hear(holder.id || holder.className, data, layout),
};"""


def shown(alone: Alone, body: str) -> None:
    """A page, with a Plotly that only says what it was asked to draw."""
    alone.answer("plotly.js", PLOTLY, kind="text/javascript")
    alone.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    alone.show(STYLE + body)
    alone.do("localStorage.clear()")


def test_the_library_is_fetched_once(alone: Alone) -> None:
    shown(alone, "")
    same = """async ({ plotly }) => {
      const [one, other] = await Promise.all([plotly("plotly.js"), plotly("plotly.js")]);
      return [one === other, document.querySelectorAll("head script[src='plotly.js']").length];
    }"""
    assert alone.call("shared/plotly.js", same) == [True, 1]


def test_a_comparisons_charts_are_shown_once_they_can_be_drawn(alone: Alone) -> None:
    figure = escape(json.dumps({"data": [{"line": {}}, {"line": {}}], "layout": {"xaxis": {"title": "t"}}}))
    shown(alone, f'<figure hidden data-plotly="plotly.js" data-chart="{figure}"><div class="drawing"></div></figure>')
    alone.call("compare.js", "() => {}")
    ((where, data, layout),) = alone.heard
    lines = [(trace["line"]["color"], trace["line"]["dash"]) for trace in data]
    assert (where, lines) == ("drawing", [("#111111", "solid"), ("#555555", "dot")])
    assert layout["xaxis"]["title"] == "t"
    assert not alone.page.locator("figure").evaluate("(figure) => figure.hidden")


def metric(name: str, figure: dict[str, Any]) -> str:
    data = f'data-plot="{name}" data-rows="2" data-time="virtual time" data-figure="{escape(json.dumps(figure))}"'
    return f'<div class="plot" data-name="{name}"></div><div {data} data-title="{name}"></div>'


BARS = {"data": [{"type": "bar", "token": "--p1", "x": [1]}], "layout": {}}
LINES = {"data": [{"type": "scatter", "token": "--p3", "stackgroup": "a", "x": [1]}], "layout": {"unit": "s"}}
DETAILS = '<details id="more"><summary>more</summary></details><details id="rest"><summary>rest</summary></details>'


def test_metrics_are_drawn_and_stay_while_the_part_around_them_is_swapped(alone: Alone) -> None:
    shown(
        alone,
        f'<main data-plotly="plotly.js" id="part">{metric("queue", BARS)}{metric("lines", LINES)}{DETAILS}</main>',
    )
    alone.call("metrics.js", "() => {}")
    alone.page.wait_for_function("heard.length === 2")
    (_, bars, _), (_, lines, layout) = alone.heard
    assert (bars[0]["marker"]["color"], lines[0]["line"]["color"]) == ("#111111", "#333333")
    assert lines[0]["fillcolor"] == "color-mix(in srgb, #333333 45%, transparent)"
    assert layout["xaxis"]["title"]["text"] == "virtual time (s)"
    alone.page.click("text=more")
    alone.page.evaluate(
        """(html) => {
          globalThis.kept = document.querySelector(".plot");
          document.body.dispatchEvent(new CustomEvent("htmx:beforeSwap", { bubbles: true }));
          document.querySelector("#part").innerHTML = html;
          document.body.dispatchEvent(new CustomEvent("htmx:afterSwap", { bubbles: true }));
        }""",
        metric("queue", BARS) + metric("lines", BARS) + DETAILS,
    )
    alone.page.wait_for_function("heard.length")
    assert [(where, bars[0]["marker"]) for where, bars, _ in alone.heard] == [("plot", {"color": "#111111"})]
    assert alone.do("kept.isConnected && document.querySelectorAll('.plot').length") == 2
    assert alone.do("[...document.querySelectorAll('details[open]')].map(({ id }) => id)") == ["more"]


def test_a_chart_is_drawn_anew_in_another_width(alone: Alone) -> None:
    """Plotly keeps the room that a legend had before: in a wider window it would lie over the bars."""
    shown(alone, f'<main data-plotly="plotly.js">{metric("queue", BARS)}</main>')
    alone.do("void (globalThis.purged = 0)")
    alone.call("metrics.js", "() => {}")
    alone.page.wait_for_function("heard.length === 1")
    alone.page.evaluate("Plotly.purge = () => { purged += 1 }")
    alone.page.set_viewport_size({"width": 700, "height": 500})
    alone.page.wait_for_function("heard.length >= 1 && purged === 1")


def test_a_link_to_a_metric_opens_it(alone: Alone) -> None:
    shown(alone, DETAILS)
    alone.call("metrics.js", "() => {}")
    alone.do("void (location.hash = 'rest')")
    alone.page.wait_for_selector("#rest[open]")
    assert alone.page.locator("#more[open]").count() == 0
