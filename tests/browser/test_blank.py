"""How much of a stage is blank at 1280x720: a small cluster has larger rows, evidence, and its map."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.blank import BLANK, MOST
from tests.browser.server import PlaygroundServer
from tests.browser.studio import position, start

SETTLED = 400  # ms: the longest movement, twice
SPARSE = {"queue": 50, "prescore": 52, "binding": 43}  # percent: three nodes and four pods have little to say here


def test_the_stages_of_a_placement_on_three_nodes_are_filled(page: Page, server: PlaygroundServer) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    start(page, server, "cluster:small")
    page.locator("#grain").select_option("plugin")
    blank: dict[str, int] = {}
    while "binding" not in blank:
        before = position(page)
        page.keyboard.press("ArrowRight")
        expect(page.locator("#panel-transport")).not_to_have_attribute("data-position", str(before))
        page.wait_for_timeout(SETTLED)
        blank[page.locator("#panel-stage").get_attribute("data-stage") or ""] = page.evaluate(BLANK, "#stage")
    most = dict.fromkeys(blank, MOST) | SPARSE
    assert {stage: share for stage, share in blank.items() if share > most[stage]} == {}
