"""The score stage in a real browser: from a total to the formula to the field, and sliders."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected
from tests.browser.test_studio import Accessible, press_until, start


def scored(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    press_until(page, "has the highest total")
    expect(page.locator("#stage")).to_have_attribute("data-stage", "score")


def test_every_point_leads_to_its_formula_and_from_there_to_the_field(
    page: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    scored(page, server)
    expect(page.locator(".score-bars li")).to_have_count(2)
    page.locator(".score-bars li").first.locator("a[data-plugin=NodeResourcesFit]").click()
    expect(page.locator("#score-why-h")).to_contain_text("NodeResourcesFit")
    page.locator(".formula .tokens a[data-tab=yaml]").first.click()
    expect(page.locator("#yaml-mark")).to_contain_text("cpu")
    accessible(page)
    page.get_by_role("link", name="Table", exact=True).click()
    expect(page.locator("table.scores tbody tr")).to_have_count(2)
    accessible(page)


def test_w_says_why_a_total_is_what_it_is(page: Page, server: PlaygroundServer) -> None:
    scored(page, server)
    page.locator(".score-total").nth(1).focus()
    node = page.locator(".score-total").nth(1).get_attribute("data-node") or ""
    page.keyboard.press("w")
    expect(page.locator("#score-why-h code")).to_have_text(node)


def test_a_slider_says_who_would_lead_and_a_fork_has_these_weights(page: Page, server: PlaygroundServer) -> None:
    scored(page, server)
    page.get_by_role("slider", name="NodeResourcesFit").fill("5")
    expect(page.locator("#score-verdict")).to_contain_text("→ ×5")
    expect(page).to_have_url(re.compile(r"weights="))
    page.get_by_role("button", name="Fork with these").click()
    page.wait_for_url(lambda url: "weights" not in url)
    connected(page)
    press_until(page, "has the highest total")
    expect(page.locator(".score-keys")).to_contain_text("NodeResourcesFit ×5")
