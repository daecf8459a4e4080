"""Preemption and Fix in a real browser: stepped, applied, shown in a fork, and what axe says of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import nodes
from tests.playground.preemption_world import objects
from tests.scheduler_core.worlds import node, pod

Accessible = Callable[[Page], None]


def begin(page: Page, server: PlaygroundServer, *manifests: dict) -> None:
    """A session with these objects, at the end of its first attempt."""
    page.goto(server.url)
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)})
    page.get_by_label("Paste what kubectl prints").fill(text)
    page.get_by_role("button", name="Show what is Pending").click()
    page.get_by_role("button", name=re.compile("Import .* objects")).click()
    expect(page.locator("body")).to_have_attribute("data-connected", "1")
    page.keyboard.press("n")
    expect(page.locator(".sentence")).to_contain_text("is unschedulable")


def test_a_preemption_is_stepped_and_its_table_builds_up(
    page: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    begin(page, server, *objects())
    expect(page.locator("#stage")).to_have_attribute("data-stage", "preemption")
    expect(page.locator(".theatre thead th.candidate")).to_have_count(3)
    expect(page.locator(".theatre .nominated")).to_contain_text("batch-7")
    accessible(page)
    page.get_by_role("link", name="Step through the dry run").click()
    expect(page.locator(".dry-said")).to_contain_text("remove all pods below priority 2000")
    expect(page.locator(".theatre thead th.ahead")).to_have_count(2)
    for number in range(2, 15):
        page.locator(".dry-cursor a[rel=next]").click()
        expect(page.locator(".dry-cursor .at")).to_contain_text(f"{number} / 14")
    expect(page.locator(".theatre thead th.best")).to_contain_text("node-b2")
    page.get_by_role("link", name="Table", exact=True).click()
    expect(page.locator(".ladder tbody tr")).to_have_count(3)
    expect(page.locator(".ladder tr.best")).to_contain_text("node-b2")
    page.reload()
    expect(page.locator(".dry-cursor .at")).to_contain_text("14 / 14")
    nodes(page)
    expect(page.locator("#node-node-b2 .chip.victim")).to_have_count(2)
    expect(page.locator("#node-node-b2 .chip.ghost")).to_contain_text("ml-train-0")


def test_chosen_pods_are_shown_in_their_attempts_and_the_browser_walks_the_choices(
    page: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    begin(page, server, *objects(), pod("late", cpu="1"))
    page.keyboard.press("n")
    stage = page.locator("#stage")
    expect(page.locator("#panel-stage h2")).not_to_contain_text("ml-train-0")
    page.locator("#rail a", has_text="ml-train-0").first.click()
    expect(stage).to_have_attribute("data-stage", "preemption")
    expect(page.locator("#panel-stage .past")).to_contain_text("ml-train-0, 1st attempt")
    expect(page.locator(".lands")).to_contain_text("batch-7")
    accessible(page)
    page.locator(".lands .victims a", has_text="batch-7").click()
    expect(page.locator("#panel-inspector")).to_contain_text("make room for ml-train-0")
    page.go_back()
    expect(page.locator("#panel-stage .past")).to_contain_text("ml-train-0, 1st attempt")
    page.go_forward()
    expect(page.locator("#panel-inspector")).to_contain_text("make room for ml-train-0")
    page.go_back()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel-stage .past")).to_have_count(0)


def test_a_chosen_node_shows_the_figures_of_the_plugin_that_refused_it(
    page: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    begin(page, server, *objects())
    nodes(page).locator("#node-node-b2 header a").click()
    expect(page.locator(".figures tr.bad").first).to_contain_text("cpu")
    accessible(page)


def small() -> tuple[dict, ...]:
    return node("a", cpu="2"), pod("q", nodeName="a"), pod("p", cpu="1500m")


def find(page: Page) -> None:
    page.locator("#tab-fix").click()
    expect(page.locator("#tab-fix")).to_have_attribute(
        "aria-current", "page"
    )  # until then the button is that of the summary
    page.get_by_role("button", name="Find fixes").click()
    expect(page.locator(".fixes > li").first).to_be_in_viewport()


def test_a_fix_is_found_and_applied_here(page: Page, server: PlaygroundServer, accessible: Accessible) -> None:
    begin(page, server, *small())
    find(page)
    accessible(page)
    lowered = page.locator(
        ".fixes > li", has_text=re.compile(r"Lower the cpu request of the container .* from 1\.5 to 1")
    )
    lowered.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator(".sentence")).to_contain_text("p is assumed on a")  # without another press


def test_a_fix_in_the_past_is_applied_in_a_fork(page: Page, server: PlaygroundServer) -> None:
    begin(page, server, *small())
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#standing")).to_be_visible()
    find(page)
    before = page.url.partition("?")[0]
    page.get_by_role("button", name="Apply in a fork").first.click()
    page.wait_for_url(lambda url: url.partition("?")[0] != before)
    expect(page.locator("#panel-transport")).to_be_visible()


def test_where_a_fix_lands_is_shown_in_a_fork(page: Page, server: PlaygroundServer) -> None:
    begin(page, server, *small())
    find(page)
    lowered = page.locator(".fixes > li", has_text="Lower the cpu request of the container")
    before = page.url.partition("?")[0]
    lowered.get_by_role("button", name="Show where it lands").click()
    page.wait_for_url(lambda url: url.partition("?")[0] != before)
    expect(page.locator("#node-a .chip", has_text="p")).to_have_count(1)
    page.goto(f"{page.url.partition('?')[0]}?stage=filter&pod=default/p")
    expect(page.locator("#panel-stage")).to_contain_text("chosen")


def test_the_conformance_page_is_linked_and_readable(
    page: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    page.goto(server.url)
    page.get_by_role("link", name="verified against kube-scheduler").click()
    expect(page.get_by_role("heading", name="The same decisions, measured")).to_be_visible()
    accessible(page)
