"""Around the scheduler, in a real browser: an eviction with its ranking, a budget that is spared, a rollout that is preempted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import nodes, run_to_the_end
from tests.browser.test_actions import NODE

Begin = Callable[[str], str]
Accessible = Callable[[Page], None]
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %(name)s, labels: {app: %(name)s}}
spec: {%(spec)s containers: [{name: c, image: i, resources: {requests: {cpu: "%(cpu)s", memory: %(memory)s}}}]}
---
"""
SMALL = """\
apiVersion: v1
kind: Node
metadata: {name: %s}
status: {capacity: &all {cpu: "2", memory: 8Gi, pods: "110"}, allocatable: *all}
---
"""
URGENT = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
---
"""
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:%d", resources: {requests: {cpu: "1"}}}]}
"""


@pytest.fixture
def begin(page: Page, server: PlaygroundServer) -> Begin:
    """Begins a session with these objects; its address."""

    def begin(manifests: str) -> str:
        page.goto(server.url)
        page.get_by_role("button", name="Empty").first.click()
        expect(page.locator("body")).to_have_attribute("data-connected", "1")
        url = page.url.partition("?")[0]
        apply(page, url, manifests)
        return url

    return begin


def apply(page: Page, url: str, manifests: str) -> None:
    """Gives objects as YAML, and goes back to the studio."""
    page.goto(f"{url}yaml")
    page.locator("textarea[name='text']").fill(manifests)
    page.get_by_role("button", name="Create or replace").click()
    expect(page.get_by_text("applied")).to_be_visible()
    page.goto(url)
    expect(page.locator("body")).to_have_attribute("data-connected", "1")


def test_a_pod_that_uses_too_much_memory_is_evicted_and_its_node_says_in_which_ranking(
    page: Page, begin: Begin, accessible: Accessible
) -> None:
    pods = [{"name": name, "spec": "", "cpu": "100m", "memory": "1Gi"} for name in ("modest", "greedy")]
    url = begin(NODE % {"name": "n1"} + "".join(POD % each for each in pods))
    run_to_the_end(page)
    page.goto(f"{url}act/use?kind=Pod&namespace=default&name=greedy")
    page.get_by_label("Memory").fill("8100Mi")
    page.get_by_role("button", name="Set usage").click()
    expect(page.get_by_text("Usage of greedy set.")).to_be_visible()
    page.goto(url)
    run_to_the_end(page)
    page.goto(f"{url}cluster?part=nodes&name=n1")
    expect(page.get_by_text("default/greedy was evicted")).to_be_visible()
    ranking = page.get_by_role("region", name="Ranking").get_by_role("row")
    expect(ranking.nth(1)).to_contain_text("default/greedy")
    expect(ranking.nth(1)).to_contain_text("yes")
    expect(ranking.nth(2)).to_contain_text("default/modest")
    accessible(page)


def test_a_budget_turns_preemption_to_another_node(page: Page, begin: Begin) -> None:
    budget = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: keep}
spec: {minAvailable: 1, selector: {matchLabels: {app: kept}}}
"""
    kept = POD % {"name": "kept", "spec": "nodeName: a,", "cpu": "2", "memory": "1Gi"}
    free = POD % {"name": "free", "spec": "nodeName: b,", "cpu": "2", "memory": "1Gi"}
    url = begin(SMALL % "a" + SMALL % "b" + URGENT + kept + free + budget)
    run_to_the_end(page)
    page.goto(f"{url}cluster?part=budgets")
    expect(page.get_by_text("no pod can be evicted")).to_be_visible()
    apply(page, url, POD % {"name": "high", "spec": "priorityClassName: urgent,", "cpu": "2", "memory": "1Gi"})
    run_to_the_end(page)
    page.goto(f"{url}?stage=preemption&pod=default/high")
    expect(nodes(page).get_by_text("kept").first).to_be_visible()
    expect(nodes(page).get_by_text("high").first).to_be_visible()
    page.goto(f"{url}objects?kind=Pod")
    expect(page.get_by_role("link", name="kept", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="free", exact=True)).to_have_count(0)


def test_a_rollout_whose_pods_are_preempted_replaces_them(page: Page, begin: Begin, accessible: Accessible) -> None:
    url = begin(SMALL % "a" + SMALL % "b" + URGENT + WEB % 1)
    run_to_the_end(page)
    high = POD % {"name": "high", "spec": "priorityClassName: urgent,", "cpu": "1", "memory": "1Gi"}
    apply(page, url, WEB % 2 + "---\n" + high)
    run_to_the_end(page)
    page.goto(f"{url}cluster?part=rollouts")
    card = page.locator(".plot-card")
    expect(card.get_by_text("4 desired, 1 updated, 3 available")).to_be_visible()
    expect(card.get_by_text("3 old pods stay: at least 3 of 4 must be available", exact=False)).to_be_visible()
    accessible(page)
    page.goto(f"{url}act/delete-pod?kind=Pod&namespace=default&name=high")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("high deleted.")).to_be_visible()
    page.goto(url)
    run_to_the_end(page)
    page.goto(f"{url}cluster?part=rollouts")
    expect(card.get_by_text("4 desired, 4 updated, 4 available")).to_be_visible()
    expect(card.locator(".plot svg").first).to_be_visible()
