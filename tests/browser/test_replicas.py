"""Replicas of a scheduler in a real browser: they are started by forms, and a lost lease leaves two leaders for a while."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import start_empty

Accessible = Callable[[Page], None]


def start(page: Page, cluster: str, name: str, rate: str = "1") -> None:
    """Starts a scheduler by its form."""
    page.goto(cluster)
    page.get_by_role("link", name="Start a scheduler").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Clock rate").fill(rate)
    page.get_by_role("button", name="Start a scheduler").click()
    expect(page.get_by_text("Process started.")).to_be_visible()


def run_to(page: Page, studio: str, seconds: int) -> None:
    """Runs until so many seconds of virtual time."""
    page.goto(studio)
    expect(page.locator("body")).to_have_attribute("data-connected", "1")
    page.keyboard.press("u")
    page.get_by_label("virtual time, in seconds").fill(str(seconds))
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("The run stopped:")


def test_a_leader_that_is_cut_off_and_whose_clock_is_slow_leads_beside_the_next_one(
    page: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    page.goto(server.url)
    start_empty(page)
    expect(page.locator("body")).to_have_attribute("data-connected", "1")
    studio = page.url.partition("?")[0]
    cluster = f"{studio}cluster?part=replicas"
    start(page, cluster, "slow", "0.4")
    run_to(page, studio, 5)
    start(page, cluster, "next")
    run_to(page, studio, 10)
    page.goto(cluster)
    expect(page.locator("#replica-slow")).to_contain_text("leading")
    expect(page.locator("#replica-next")).to_contain_text("considers slow the leader")
    page.locator("#replica-slow").get_by_role("link", name="Actions").click()
    page.get_by_role("button", name="Partition from API server").first.click()
    run_to(page, studio, 33)
    page.goto(cluster)
    for name in ("slow", "next"):
        expect(page.locator(f"#replica-{name} .state")).to_have_text("leading")
    expect(page.locator("#replica-slow")).to_contain_text("partitioned from the API server")
    expect(page.locator("#replica-slow")).to_contain_text("led at the same time as another leader")
    expect(page.locator("#replica-next .lane .doubled").first).to_be_attached()
    accessible(page)
    run_to(page, studio, 60)
    page.goto(cluster)
    expect(page.locator("#replica-slow .state")).to_have_text("ended")
    expect(page.locator("#replica-slow")).to_contain_text("exit code")
    expect(page.locator("#replica-next .state")).to_have_text("leading")
