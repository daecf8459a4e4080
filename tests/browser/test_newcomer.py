"""A newcomer's path: from the first page to three nodes with a taint, a pod, and why it is Pending, in 8 clicks and without YAML."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.server import PlaygroundServer

MOST = 8


def test_why_a_pod_is_pending_takes_eight_clicks(page: Page, server: PlaygroundServer) -> None:
    clicks: list[str] = []

    def click(what: Locator) -> None:
        clicks.append(what.inner_text().strip())
        what.click()

    page.goto(server.url)
    click(page.get_by_role("button", name="Start with an empty cluster"))
    expect(page.locator("body[data-connected='1']")).to_be_attached()
    click(page.get_by_role("link", name="Build a cluster").first)
    click(page.get_by_label("Taints"))
    page.keyboard.type("dedicated=infra:NoSchedule")
    click(page.get_by_role("button", name=re.compile(r"^Create \d+ nodes$")))
    expect(page.locator("#workbench")).to_contain_text("node-4")
    click(page.locator("#workbench").get_by_role("link", name="Pod", exact=True))
    click(page.get_by_role("button", name=re.compile(r"^Create \d+ pods$")))
    expect(page.locator("#workbench")).to_contain_text("web-4")
    click(page.locator("[data-drawer-close]").first)
    click(page.get_by_role("button", name="Run", exact=True).first)
    expect(page.locator("main")).to_contain_text("does not tolerate the taint dedicated=infra")
    assert len(clicks) <= MOST, clicks
