"""Names as real clusters have them: long, alike at their beginning, told apart by their ends. In a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected, press_until

NODES = [f"gke-production-default-pool-3f5c1a2b-x{i}k2" for i in range(3)] + [
    f"ip-10-0-{i}-20.eu-west-1.compute.internal" for i in range(3)
]
NODES += [f"aks-nodepool{i}-12345678-vmss00000{i}" for i in (1, 2)]
PODS = [f"checkout-service-9559cc468-a{i}cd" for i in range(4)]
SIZES = (4, 5, 6, 8, 12, 24, 40, 64)  # none of which scores as another
NODE = """apiVersion: v1
kind: Node
metadata: {name: %s}
status: {allocatable: {cpu: "%s", memory: "%sGi", pods: "110"}}
---
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers: [{name: main, image: shop/checkout:v1, resources: {requests: {cpu: 500m, memory: 1Gi}}}]
---
"""

# The names as they are seen: whole or in their short forms, with room for all of it.
TABLE_FITS = """() => [...document.querySelectorAll("#stage .matrix-scroll")].every((one) => one.scrollWidth <= one.clientWidth + 1)"""
SHOWN = """(selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility()).map((one) => {
  const short = one.querySelector(".apart");
  const name = one.textContent.trim();
  return { name, seen: short?.dataset.short ?? name, inSight: one.scrollWidth <= one.clientWidth + 1 };
})"""
BESIDE = """() => [...document.querySelectorAll("#stage .ask > *")].every((one) =>
  one.getBoundingClientRect().right <= document.querySelector("#stage").getBoundingClientRect().right)"""


@pytest.fixture
def studio(page: Page, server: PlaygroundServer) -> Page:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(server.url)
    text = "".join(NODE % (name, size, size) for name, size in zip(NODES, SIZES, strict=True)) + "".join(
        POD % name for name in PODS
    )
    page.locator("textarea[name=text]").fill(text)
    page.get_by_role("button", name="Show what is Pending").click()
    page.get_by_role("button", name="Import").first.click()
    connected(page)
    return page


def are_told_apart(page: Page, selector: str, names: list[str]) -> None:
    shown = page.evaluate(SHOWN, selector)
    assert {one["name"] for one in shown} <= set(names)
    assert shown
    assert all(one["inSight"] for one in shown), shown
    assert len({one["seen"] for one in shown}) == len({one["name"] for one in shown})


def test_pods_in_the_queues_and_nodes_on_the_stages_are_told_apart(studio: Page) -> None:
    are_told_apart(studio, "#rail .pod b", PODS)
    are_told_apart(studio, "#stage .node header a", NODES)
    press_until(studio, "from the active queue")
    are_told_apart(studio, "#stage .pool .pod b", PODS)
    press_until(studio, "NodeResourcesFit passes all")
    are_told_apart(studio, "#stage .track .who a", NODES)
    assert studio.evaluate(BESIDE)
    press_until(studio, "highest total score")
    are_told_apart(studio, "#stage .score-node .whole", NODES)
    assert studio.evaluate(BESIDE)
    press_until(studio, "to reserve")
    are_told_apart(studio, "#stage .lane-row .who b", PODS)


def test_a_table_of_long_names_has_room_for_its_columns(studio: Page) -> None:
    press_until(studio, "highest total score")
    for form, table in (("table", "table.scores:not(.lined)"), ("lined", "table.scores.lined")):
        studio.locator(f"#stage .forms [data-form={form}]").click()
        expect(studio.locator(f"#stage {table}")).to_be_visible()
        are_told_apart(studio, f"#stage {table} .score-node .whole", NODES)
        assert studio.evaluate(TABLE_FITS)
    press_until(studio, "to reserve")
    studio.locator("#stage .forms [data-form=table]").click()
    expect(studio.locator("#stage .bind-table")).to_be_visible()
    are_told_apart(studio, "#stage .bind-table th .whole", PODS)
    are_told_apart(studio, "#stage .bind-table td .whole", NODES)
