"""What Jupyter shows of a cluster, with the rules that its pages have for tables of results."""

from __future__ import annotations

from playwright.sync_api import Page

from scheduler_core import Cluster, make_node, make_pod

JUPYTER = """<style>
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr
  { text-align: right; vertical-align: middle; padding: .5em; max-width: none; border: none; }
.jp-RenderedHTMLCommon table { font-size: 12px; table-layout: fixed; margin-left: auto; }
</style><div class="jp-RenderedHTMLCommon">%s</div>"""
ALIGNED = """() => [...document.querySelectorAll("td, th")].map((cell) =>
  [cell.className.includes("number") ? "number" : "text", getComputedStyle(cell).textAlign])"""


def test_texts_begin_at_the_left_and_numbers_end_at_the_right(page: Page) -> None:
    nodes = [make_node(name).capacity(cpu="4", memory="8Gi") for name in "ab"]
    cluster = Cluster(*nodes, make_pod("web").requests(cpu="1"))
    attempt = cluster.schedule("web")
    assert attempt.scores is not None
    shown = [one._repr_html_() for one in (cluster, attempt, attempt.scores)]
    page.set_content(JUPYTER % "".join(shown))
    aligned = {tuple(cell) for cell in page.evaluate(ALIGNED)}
    assert aligned == {("text", "left"), ("number", "right")}
