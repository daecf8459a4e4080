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
        "template": {"metadata": {"labels": {"app": "shop"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
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


def test_many_nodes_are_acted_on_from_the_headings_and_the_search_of_the_map(
    page: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    zone = "topology.kubernetes.io/zone"
    many = [node(f"n-{i:02}", cpu="2" if i % 3 else "500m", labels={zone: f"z{i % 2}"}) for i in range(62)]
    begin(page, server, *many, pod("huge", cpu="64"))
    nodes(page)
    groups = page.locator("#heat-groups button")
    expect(groups).to_have_count(2)
    groups.nth(1).focus()
    page.keyboard.press("a")
    expect(page.locator("#menu-title")).to_have_text("31 nodes: z1")
    page.keyboard.press("t")
    expect(page.locator(".drawer")).to_contain_text("31 × Node")
    page.keyboard.press("Escape")
    page.locator("#map-q").fill("n-01")
    found = page.locator(".found .act-on-many").first
    expect(found).to_have_attribute("data-of", "1 node: n-01")
    found.press("a")
    expect(page.locator("#menu-title")).to_contain_text("n-01")
    page.keyboard.press("Escape")
    page.locator("#map-q").fill("")
    heat = page.locator("#heat")
    heat.focus()
    page.keyboard.press("ArrowRight")
    expect(heat).to_have_attribute("data-node", "n-00")
    page.keyboard.press("w")
    why = page.locator(".drawer h1")
    expect(why).to_have_text("Why is huge not on n-00?")
    page.keyboard.press("Escape")
    expect(why).to_be_hidden()
    page.drag_and_drop("#rail .pod a", "#heat", target_position={"x": 24, "y": 48})
    expect(why).to_be_visible()
    expect(why).to_contain_text("Why is huge not on n-")
    page.keyboard.press("Escape")
    expect(why).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-list [role=group]").first).to_contain_text("huge")
    accessible(page)
