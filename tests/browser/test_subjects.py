"""What is chosen, and what is done to it: one subject for all panels, many at once, and what moves on the way there."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import nodes
from tests.browser.test_preemption import begin
from tests.scheduler_core.worlds import node, pod

Accessible = Callable[[Page], None]
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "shop"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "shop"}},
        "template": {
            "metadata": {"labels": {"app": "shop"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    },
}


def test_nodes_and_controllers_are_shown_in_what_they_did_last_and_the_browser_walks_the_choices(
    page: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    begin(page, server, node("a"), node("b"), pod("huge", cpu="64"), DEPLOYMENT)
    stage, inspected = page.locator("#stage"), page.locator("#inspected")
    at = page.locator("#panel-transport").get_attribute("data-position")
    page.goto(f"{page.url.split('?')[0]}?controller=deployment-controller&at={at}")
    expect(stage).to_have_attribute("data-stage", "controller")
    expect(page.locator("#panel-stage h2")).to_have_text("What did deployment-controller do last?")
    expect(page.locator("#panel-stage .actor, #panel-stage .empty-note")).to_have_count(1)
    accessible(page)
    nodes(page).locator("#node-b header a").click()
    expect(stage).to_have_attribute("data-stage", "filter")
    expect(page.locator(".track.chosen").first).to_contain_text("b")
    expect(inspected).to_contain_text("b")
    assert "node=b" in page.url
    page.go_back()
    expect(stage).to_have_attribute("data-stage", "controller")
    page.go_forward()
    expect(page.locator(".track.chosen")).to_contain_text("Insufficient cpu")
