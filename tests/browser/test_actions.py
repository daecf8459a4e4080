"""Actions on objects, in a real browser: a drain that a budget holds up, and a taint that evicts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected, run_to_the_end, step

NODE = """\
apiVersion: v1
kind: Node
metadata: {name: %(name)s}
status: {capacity: &all {cpu: "4", memory: 8Gi, pods: "110"}, allocatable: *all}
---
"""
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
"""
BUDGET = """\
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: keep}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""
LARGE = """\
apiVersion: v1
kind: Pod
metadata: {name: large}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "64"}}}]}
---
"""
NEW = "from playground.sessions.database import log; print('KEY', log.create('cluster', '', '').edit_key)"


@pytest.fixture
def begin(page: Page, server: PlaygroundServer) -> Callable[[str], str]:
    """Begins a session with these objects; returns its address."""

    def begin(manifests: str) -> str:
        key = server.manage("shell", "-c", NEW).rpartition("KEY ")[2].split()[0]
        page.goto(f"{server.url}/s/{key}/yaml")
        page.locator("textarea[name='text']").fill(manifests)
        page.get_by_role("button", name="Create", exact=True).click()
        expect(page.get_by_text("applied")).to_be_visible()
        return f"{server.url}/s/{key}/"

    return begin


def until(page: Page, pods: Locator, count: int, most: int = 60) -> None:
    """Step until a node has so many pods: one that waits for a node is tried again for ever, so nothing may come to an end."""
    for _ in range(most):
        if pods.count() == count:
            return
        step(page, "event")
    expect(pods).to_have_count(count)


def node_summary(page: Page, url: str, node: str) -> Locator:
    page.goto(f"{url}?about=node&node={node}")
    return page.locator("#panel-inspector")


def test_a_budget_holds_up_a_drain_until_there_is_one_more_pod(
    page: Page, begin: Callable[[str], str], accessible: Callable[[Page], None]
) -> None:
    url = begin(NODE % {"name": "n1"} + WEB + BUDGET)
    inspector = node_summary(page, url, "n1")
    run_to_the_end(page)
    inspector.get_by_role("link", name="Drain…").click()
    drawer = page.locator("#drawer")
    drawer.get_by_role("button", name="Drain", exact=True).click()
    expect(drawer.get_by_text("n1 is being drained.")).to_be_visible()
    accessible(page)
    page.keyboard.press("Escape")
    expect(inspector.get_by_text("Draining: 1 of 1 pods left.")).to_be_visible()
    for _ in range(6):
        step(page, "event")
    expect(inspector.get_by_text("429")).to_be_visible()
    expect(inspector.get_by_text("Cannot evict pod as it would violate", exact=False)).to_be_visible()
    accessible(page)

    page.goto(f"{url}yaml")
    page.locator("textarea[name='text']").fill(NODE % {"name": "n2"})
    page.get_by_role("button", name="Create", exact=True).click()
    page.goto(f"{url}act/scale?kind=Deployment&namespace=default&name=web")
    page.get_by_label("Replicas").fill("2")
    page.get_by_role("button", name="Scale", exact=True).click()
    expect(page.get_by_text("web scaled.")).to_be_visible()
    accessible(page)
    inspector = node_summary(page, url, "n1")
    run_to_the_end(page)
    expect(inspector.get_by_text("The node is drained.")).to_be_visible()


def test_a_taint_evicts_the_pods_that_do_not_tolerate_it(
    page: Page, begin: Callable[[str], str], accessible: Callable[[Page], None]
) -> None:
    url = begin(NODE % {"name": "n1"} + WEB)
    inspector = node_summary(page, url, "n1")
    run_to_the_end(page)
    chips = inspector.locator(".chips a")
    expect(chips).to_have_count(1)
    inspector.get_by_role("link", name="Taint…", exact=True).click()
    drawer = page.locator("#drawer")
    drawer.get_by_label("Key").fill("broken")
    drawer.get_by_label("Effect").select_option("NoExecute")
    drawer.get_by_role("button", name="Taint", exact=True).click()
    expect(drawer.get_by_text("Taint added to n1.")).to_be_visible()
    accessible(page)
    page.keyboard.press("Escape")
    expect(inspector.get_by_text("broken:NoExecute")).to_be_visible()
    until(page, chips, 0)
    inspector.get_by_role("link", name="Untaint…").click()
    drawer.get_by_role("button", name="Untaint", exact=True).click()
    page.keyboard.press("Escape")
    until(page, chips, 1)


def test_a_pod_that_is_dragged_onto_a_node_asks_why_it_is_not_there(
    page: Page, begin: Callable[[str], str], accessible: Callable[[Page], None]
) -> None:
    url = begin(NODE % {"name": "n1"} + NODE % {"name": "n2"} + LARGE)
    page.goto(f"{url}?stage=queue")
    connected(page)
    run_to_the_end(page)
    page.locator("#rail .pod [data-pod='default/large']").first.drag_to(
        page.locator("#panel-map [data-node='n2']").first
    )
    drawer = page.locator("#drawer")
    expect(drawer.get_by_role("heading", level=1)).to_contain_text("large")
    expect(drawer).to_contain_text("n2")
    expect(drawer).to_contain_text("Insufficient cpu")
    accessible(page)
