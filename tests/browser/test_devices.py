"""Devices in a real browser: a search with an undo, a claim that two pods share, a claim that PostFilter takes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import run_to_the_end
from tests.browser.test_cluster import apply
from tests.scheduler_core.worlds import node, pod
from tests.support.devices import claim, claiming, device, device_class, gpus, request

Begin = Callable[..., str]
Accessible = Callable[[Page], None]
LINK = "gpu.example.com/nvlink"
A100 = 'device.attributes["gpu.example.com"].model == "a100"'


@pytest.fixture
def begin(page: Page, server: PlaygroundServer) -> Begin:
    """Begins a session with these objects and runs it; its address."""

    def begin(*objects: dict[str, Any]) -> str:
        page.goto(server.url)
        page.get_by_role("button", name="Empty").first.click()
        expect(page.locator("body")).to_have_attribute("data-connected", "1")
        url = page.url.partition("?")[0]
        apply(page, url, yaml.safe_dump_all(objects))
        run_to_the_end(page)
        return url

    return begin


def gpu(index: int, nvlink: int, model: str = "a100") -> dict[str, Any]:
    return device(f"gpu-{index}", attributes={"nvlink": nvlink, "model": model})


def allocated(name: str, to: str, device: str) -> dict[str, Any]:
    """A claim that has a device of a node, and that nobody uses."""
    result = {"request": "r", "driver": "gpu.example.com", "pool": to, "device": device}
    field = {"key": "metadata.name", "operator": "In", "values": [to]}
    selector = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    allocation = {"devices": {"results": [result]}, "nodeSelector": selector}
    return claim(name) | {"status": {"allocation": allocation}}


def test_a_search_is_walked_device_by_device_with_what_was_undone(
    page: Page, begin: Begin, accessible: Accessible
) -> None:
    pair = request("pair", count=2, selectors=[{"cel": {"expression": A100}}])
    same = [{"requests": ["pair"], "matchAttribute": LINK}]
    url = begin(
        node("n1"),
        device_class("gpu"),
        gpus("n1", devices=[gpu(0, 0), gpu(1, 1, "t4"), gpu(2, 1), gpu(3, 1)]),
        claim("c", pair, constraints=same),
        claiming(pod("train"), "c"),
    )
    page.goto(f"{url}?pod=default/train&node=n1&stage=filter")
    page.get_by_role("link", name="Walk through the search for devices").click()
    search = page.locator("#drawer .search-tree")
    undone = search.locator("details.undone > summary").first
    expect(undone).to_contain_text("gpu-0 chosen, then undone")
    inner = search.locator(".search-inner")
    expect(inner).to_contain_text("gpu.example.com/nvlink is 1, not 0")
    refused = search.locator("details.refused > summary", has_text="gpu-1").first
    refused.press("Enter")
    values = refused.locator("..").locator(".cel-parts").last
    expect(values).to_contain_text('"t4"')
    expect(search.locator("details.found > summary")).to_have_text(["gpu-2 chosen", "gpu-3 chosen"])
    accessible(page)


def test_a_claim_is_shared_by_two_pods(page: Page, begin: Begin, accessible: Accessible) -> None:
    pods = [claiming(pod(name), "one") for name in ("web-0", "web-1")]
    url = begin(node("n1"), device_class("gpu"), gpus("n1", 2), claim("one"), *pods)
    card = page.locator("#node-n1")
    expect(card.locator(".dev.taken")).to_have_attribute("title", "gpu-0: in use, one")
    expect(card).to_contain_text("1/2 free")
    page.goto(f"{url}?node=n1")
    holder = page.locator("#panel-inspector .holder")
    expect(holder).to_contain_text("one web-0 web-1")
    accessible(page)
    holder.get_by_role("link", name="one").click()
    life = page.locator("#drawer .claim-life")
    expect(life).to_contain_text("gpu-0 on n1 allocated. Reserved for web-0")
    expect(life).to_contain_text("Reserved for web-1")
    page.goto(f"{url}cluster?part=claims")
    row = page.get_by_role("row", name="one")
    expect(row).to_contain_text("in use")
    expect(row.get_by_role("link", name="web-1")).to_be_visible()
    accessible(page)


def test_post_filter_takes_a_claim_back_that_keeps_its_pod_from_the_nodes_with_room(
    page: Page, begin: Begin, accessible: Accessible
) -> None:
    url = begin(
        node("full", cpu="1"),
        node("roomy", cpu="8"),
        device_class("gpu"),
        gpus("full", 1),
        gpus("roomy", 1),
        allocated("c", "full", "gpu-0"),
        claiming(pod("big", cpu="4"), "c"),
    )
    page.goto(f"{url}cluster?part=claims&name=default/c")
    life = page.locator(".claim-life li")
    expect(life.nth(1)).to_contain_text("Deallocated. The devices are free again.")
    expect(life.nth(2)).to_contain_text("gpu-0 on roomy allocated.")
    accessible(page)
    life.nth(1).get_by_role("link").click()
    expect(page.locator("#panel-pipeline")).to_contain_text("PostFilter")
    expect(page.locator("#panel-narrator")).to_contain_text("DynamicResources")
    page.goto(f"{url}records?pod=default/big&kind=api_call")
    expect(page.get_by_text("is deallocated before a new allocation for big")).to_be_visible()
    page.goto(f"{url}cluster?part=devices")
    expect(page.get_by_role("row", name="full")).to_contain_text("1 free")
    expect(page.get_by_role("row", name="roomy")).to_contain_text("1 in use")
    accessible(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_in_the_studio_a_taken_device_is_filled_and_its_gauge_has_a_color(page: Page, begin: Begin, theme: str) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    begin(
        node("few"),
        node("many", cpu="1"),
        device_class("gpu"),
        gpus("few", 8),
        gpus("many", 40),
        *(claim(f"of-{i}") for i in range(4)),
        *(claiming(pod(f"job-{i}"), f"of-{i}") for i in range(4)),
    )
    has = "(mark, of) => getComputedStyle(mark)[of]"
    bar = page.locator("body").evaluate(
        """(body) => {
          const probe = body.appendChild(document.createElement("i"));
          probe.style.color = "var(--bar)";
          return getComputedStyle(probe).color;
        }"""
    )
    taken, free = page.locator("#node-few .dev.taken").first, page.locator("#node-few .dev.free").first
    gauge = page.locator("#node-many .gauge rect")
    assert bar == {"light": "rgb(59, 134, 200)", "dark": "rgb(88, 166, 232)"}[theme]
    assert [taken.evaluate(has, name) for name in ("backgroundColor", "borderTopColor")] == [bar, bar]
    assert free.evaluate(has, "backgroundColor") != bar
    assert gauge.evaluate(has, "fill") == bar
