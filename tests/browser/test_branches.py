"""A fork, its line at the timeline, and a comparison, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer
from tests.browser.studio import lanes, more, run_to_the_end, start_empty


def begin(page: Page, server: PlaygroundServer) -> str:
    """A session with two nodes and two pods; its address."""
    page.goto(server.url)
    start_empty(page)
    page.wait_for_url("**/s/*/")
    address = page.url
    for room in ("nodes", "pods"):
        page.goto(f"{address}build/{room}")
        page.get_by_role("button", name=re.compile(f"^Create .* {room[:-1]}s?$")).click()
    page.goto(address)
    expect(page.locator(".of-head").first).to_contain_text("2")
    return address


def test_a_fork_is_drawn_opened_and_compared(
    page: Page, server: PlaygroundServer, complaints: Complaints, accessible: Callable[[Page], None]
) -> None:
    complaints.forgive("409")
    address = begin(page, server)
    page.goto(f"{address}build/nodes?at=1")
    page.get_by_label("Count").fill("1")
    page.get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    page.get_by_role("button", name="Apply in a fork from here").click()
    strip = lanes(page).locator("#branches")
    expect(strip.locator("[aria-current]")).to_have_text("branch 1")
    expect(strip.locator(".branch-lines .head")).to_have_count(2)
    accessible(page)
    run_to_the_end(page)
    strip.get_by_role("link", name="compare Empty cluster").click()
    expect(page.get_by_role("heading", name="First difference")).to_be_visible()
    expect(page.get_by_text("share their history up to step 1")).to_be_visible()
    expect(page.locator(".charts .main-svg").first).to_be_visible()
    accessible(page)
    page.locator(".side.b h2 a").click()
    expect(page.locator("#branches [aria-current]")).to_have_text("Empty cluster")
    assert page.url == address
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}branches")
    expect(page.locator(".branch-list tbody tr")).to_have_count(2)
    right = "(all) => Math.max(...all.map((each) => each.getBoundingClientRect().right))"
    assert page.locator(".branch-list :is(a, button, td:not(.none))").evaluate_all(right) <= 390


def test_a_command_is_left_out_and_the_history_made_again_is_another(
    page: Page, server: PlaygroundServer, accessible: Callable[[Page], None]
) -> None:
    begin(page, server)
    page.locator("body[data-connected='1']").wait_for()
    run_to_the_end(page)
    more(page).get_by_role("link", name="Commands").click()
    asked = page.locator(".asked li")
    expect(asked).to_have_count(2)
    accessible(page)
    asked.filter(has_text="creates Node").get_by_role("button", name="Leave out").click()
    page.wait_for_url("**/rerun/*")
    expect(page.get_by_role("heading", level=1)).to_contain_text("without Node node-1 … (3)")
    expect(page.get_by_text("1 later command was repeated at its original time")).to_be_visible()
    accessible(page)
    page.get_by_role("link", name="Compare with the original").click()
    expect(page.locator(".verdict .side.a .good")).to_contain_text("node-")
    expect(page.locator(".verdict .side.b .bad")).to_have_text("unschedulable")
    expect(page.locator("#pods tbody tr")).to_have_count(3)
    page.locator(".side.b h2 a").click()
    expect(page.locator("#branches [aria-current]")).to_have_text("without Node node-1 … (3)")
    expect(page.locator("#queue-backoff")).to_contain_text("web-2")


def test_a_branch_opens_with_the_look_of_the_page(page: Page, server: PlaygroundServer) -> None:
    address = begin(page, server)
    more(page).get_by_role("button", name="Fork").click()
    page.wait_for_url(lambda url: url != address)
    page.locator("#tab-yaml").click()
    page.wait_for_url("**tab=yaml*")
    lanes(page).locator("#branches").get_by_role("link", name="Empty cluster", exact=True).click()
    page.wait_for_url(address + "?tab=yaml")
    expect(page.locator("#tab-yaml")).to_have_attribute("aria-current", "page")
