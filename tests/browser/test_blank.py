"""How much of a stage is blank at 1280x720: a small cluster has larger rows, evidence, and its map."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.blank import BLANK, MOST
from tests.browser.server import PlaygroundServer
from tests.browser.studio import position, start

SETTLED = 400  # ms: the longest movement, twice
# Percent: three nodes and four pods have little to say here.
SPARSE = {"prescore": 43}


def measure(page: Page, server: PlaygroundServer, what: str, last: str) -> dict[str, int]:
    """The share of each stage from the first screen to that of a name, by the emptiest moment of each."""
    page.set_viewport_size({"width": 1280, "height": 720})
    start(page, server, what)
    page.locator("#grain").select_option("plugin")
    blank: dict[str, int] = {}
    while True:
        page.wait_for_timeout(SETTLED)
        stage = page.locator("#panel-stage").get_attribute("data-stage") or ""
        blank[stage] = max(blank.get(stage, 0), page.evaluate(BLANK, "#stage"))
        if last in blank:
            return blank
        before = position(page)
        page.keyboard.press("ArrowRight")
        expect(page.locator("#panel-transport")).not_to_have_attribute("data-position", str(before))


def list_empty(blank: dict[str, int]) -> dict[str, int]:
    most = dict.fromkeys(blank, MOST) | SPARSE
    return {stage: share for stage, share in blank.items() if share > most[stage]}


def test_the_stages_of_a_placement_on_three_nodes_are_filled(page: Page, server: PlaygroundServer) -> None:
    assert list_empty(measure(page, server, "cluster:small", "binding")) == {}


def test_six_nodes_fill_the_stage_before_the_first_step_and_below_the_filters(
    page: Page, server: PlaygroundServer
) -> None:
    assert list_empty(measure(page, server, "cluster:zones", "filter")) == {}


def test_a_lessons_evidence_fills_its_stage(page: Page, server: PlaygroundServer) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    start(page, server, "story:preemption")
    expect(page.locator("#stage .given")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    assert list_empty({"lesson": page.evaluate(BLANK, "#stage")}) == {}
    expect(page.locator("#stage .given-pods pre").last).to_be_in_viewport(ratio=1)
    expect(page.locator("#stage .given-terms dt").first).to_be_in_viewport(ratio=1)
    assert page.locator("#stage").evaluate("(stage) => stage.scrollHeight <= stage.clientHeight")
