"""The metrics page and the statistics in a real browser: charts that follow the session, the filter, and what axe says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import more
from tests.scheduler_core.worlds import node, pod

Accessible = Callable[[Page], None]


def test_the_charts_fill_as_the_session_runs(page: Page, server: PlaygroundServer, accessible: Accessible) -> None:
    page.goto(server.url)
    items = [node("a"), node("b"), *(pod(f"p{i}", cpu="100m") for i in range(5)), pod("big", cpu="9")]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    page.get_by_label("Paste what kubectl prints").fill(text)
    page.get_by_role("button", name="Show what is Pending").click()
    page.get_by_role("button", name=re.compile("Import .* objects")).click()
    expect(page.locator("body")).to_have_attribute("data-connected", "1")
    with page.expect_navigation():
        more(page).get_by_role("link", name="Metrics").click()
    metrics = page
    expect(metrics.locator("#metrics-live")).to_contain_text("No pod has been tried yet")
    studio = page.context.new_page()
    studio.goto(metrics.url.replace("/metrics", "/"))
    expect(studio.locator("body")).to_have_attribute("data-connected", "1")
    studio.keyboard.press("r")
    expect(metrics.locator(".tiles")).to_contain_text("5")
    expect(metrics.locator('.plot[data-name="incoming"] svg.main-svg').first).to_be_visible()
    metrics.locator("#d-incoming summary").click()
    expect(metrics.locator("#d-incoming tbody tr").first).to_be_visible()
    metrics.locator("#metrics-q").fill("preemption_victims")
    expect(metrics.locator("#metrics-all details")).to_have_count(1)
    accessible(metrics)
    statistics(metrics, accessible)


def statistics(page: Page, accessible: Accessible) -> None:
    """The page beside, at a phone's width too: charts, their tables and files."""
    page.get_by_role("link", name="Statistics").click()
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.locator(".plot svg.main-svg").first).to_be_visible()
    page.locator("#d-use summary").click()
    expect(page.locator("#d-use tbody tr").first).to_be_visible()
    with page.expect_download() as file:
        page.get_by_role("link", name="CSV Attempts by result").click()
    assert file.value.path().read_text().splitlines()[-1].endswith(",5,1,0,1.37.2")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    accessible(page)
