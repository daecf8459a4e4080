"""A scheduler extender written in CEL, in a real browser: added, wrong at a character, right, and its veto watched."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer
from tests.browser.studio import position

WORLD = """\
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-b}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: i}]}
"""
VETO = "node.metadata.name == 'node-a' ? 'no licence' : ''"


@pytest.fixture
def session(page: Page, server: PlaygroundServer) -> str:
    """The address of an empty session's studio."""
    page.goto(server.url)
    page.locator("button[name='start'][value='empty']").first.click()
    page.wait_for_url("**/s/*/**")
    return page.url.partition("?")[0]


def test_an_extender_written_in_cel_vetoes_a_node(
    page: Page, session: str, accessible: Callable[[Page], None], complaints: Complaints
) -> None:
    complaints.forgive("422")
    page.goto(f"{session}extenders")
    page.get_by_role("button", name="Add to the configuration").click()
    expect(page.get_by_text("Extender added. The scheduler restarted.")).to_be_visible()

    page.locator("textarea[name='filter']").fill("node.metadata.name == nod")
    page.get_by_role("button", name="Set the answers").click()
    expect(page.get_by_text("undeclared reference to 'nod'").first).to_be_visible()
    expect(page.locator(".marked mark")).to_have_text("n")
    accessible(page)

    page.locator("textarea[name='filter']").fill(VETO)
    page.get_by_role("button", name="Set the answers").click()
    expect(page.get_by_text("Extender answers set.")).to_be_visible()

    page.goto(f"{session}yaml")
    page.locator("textarea[name='text']").first.fill(WORLD)
    page.get_by_role("button", name="Create").first.click()
    page.goto(session)
    expect(page.locator("body[data-connected='1']")).to_be_visible()
    station = page.locator("#point-ExtenderFilter")
    expect(station).to_be_visible()
    for _ in range(40):
        if "now" in (station.get_attribute("class") or ""):
            break
        before = position(page)
        page.keyboard.press("ArrowRight")
        expect(page.locator("#panel-transport")).not_to_have_attribute("data-position", str(before))
    expect(station).to_have_attribute("aria-current", "step")
    why = page.locator("#panel-stage")
    expect(why.get_by_text("no licence").first).to_be_visible()
    call = why.locator("details.exchange").first
    call.locator("summary").click()
    expect(call.get_by_text('"NodeNames"').first).to_be_visible()
    accessible(page)
    page.keyboard.press("ArrowLeft")
    expect(station).not_to_have_attribute("aria-current", "step")
