"""A newcomer's path: from the first page to three nodes with a taint, a pod, and why it is Pending, in 8 clicks and without YAML."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.server import PlaygroundServer

MOST = 8


def test_why_a_pod_is_pending_takes_eight_clicks(page: Page, server: PlaygroundServer) -> None:
    clicks: list[str] = []

    def click(what: Locator) -> None:
        clicks.append(what.inner_text().strip())
        what.click()

    page.goto(server.url)
    click(page.get_by_role("button", name="Start empty"))
    expect(page.locator("body[data-connected='1']")).to_be_attached()
    click(page.get_by_role("link", name="Build a cluster").first)
    click(page.get_by_label("Taints"))
    page.keyboard.type("dedicated=infra:NoSchedule")
    click(page.get_by_role("button", name="Create the nodes"))
    expect(page.locator("#workbench")).to_contain_text("3 nodes created")
    click(page.locator("#workbench").get_by_role("link", name="Pods", exact=True))
    click(page.get_by_role("button", name="Create the pods"))
    expect(page.locator("#workbench")).to_contain_text("pods created")
    click(page.locator("[data-drawer-close]").first)
    click(page.get_by_role("button", name="Run", exact=True).first)
    expect(page.locator("main")).to_contain_text("untolerated taint {dedicated: infra}")
    assert len(clicks) <= MOST, clicks


def test_a_taint_put_on_a_node_by_its_menu_is_the_reason_that_why_not_tells(
    page: Page, server: PlaygroundServer
) -> None:
    page.goto(server.url)
    page.get_by_role("button", name="Start empty").click()
    expect(page.locator("body[data-connected='1']")).to_be_attached()
    page.get_by_role("link", name="Build a cluster").first.click()
    page.get_by_role("button", name="Create the nodes").click()
    expect(page.locator("#workbench")).to_contain_text("3 nodes created")
    page.locator("#workbench").get_by_role("link", name="Pods", exact=True).click()
    page.get_by_role("button", name="Create the pods").click()
    expect(page.locator("#workbench")).to_contain_text("pods created")
    page.locator("[data-drawer-close]").first.click()
    page.goto(f"{page.url.partition('?')[0]}?stage=filter&form=nodes")
    page.locator("#stage [data-node='node-1']").first.click(button="right")
    expect(page.get_by_role("menuitem", name="Taint…")).to_be_visible()
    page.keyboard.press("t")
    page.get_by_label("Key").fill("dedicated")
    page.locator("#workbench").get_by_role("button", name="Taint", exact=True).click()
    expect(page.locator("#workbench .present")).to_contain_text("dedicated:NoSchedule")
    page.locator("[data-drawer-close]").first.click()
    pod, node = page.locator("#rail [data-pod]").first, page.locator("#stage [data-node='node-1']").first
    pod.drag_to(node)
    expect(page.locator("#workbench .why-sum")).to_contain_text("TaintToleration refuses the node")
    expect(page.locator("#workbench h1")).to_contain_text("not on node-1")
