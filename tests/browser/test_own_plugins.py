"""A Score plugin of one's own, written in CEL in the studio, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer
from tests.browser.studio import lanes, run_to_the_end


@pytest.fixture
def studio(page: Page, server: PlaygroundServer) -> Page:
    """The studio of three nodes and four pods."""
    page.goto(server.url)
    page.get_by_role("button", name="Three nodes", exact=True).click()
    page.wait_for_url("**/s/*/")
    return page


def test_a_score_plugin_is_written_tried_kept_and_decides(
    studio: Page, accessible: Callable[[Page], None], complaints: Complaints
) -> None:
    complaints.forgive("422")
    base = studio.url
    studio.goto(f"{base}plugins")
    studio.get_by_label("Name", exact=True).fill("Favourite")
    score = studio.get_by_label("Score", exact=True)
    score.fill("node.metadata.nam == 'node-3' ?\n 100 : nothing")
    studio.get_by_role("button", name="Save", exact=True).click()
    expect(studio.get_by_text("line 2, column 8: undeclared reference to 'nothing'")).to_be_visible()
    expect(score).to_be_focused()
    assert score.evaluate("area => area.selectionStart") == 39
    score.fill("node.metadata.name == 'node-3' ? 100 : 0")
    studio.get_by_label("Weight").fill("50")
    studio.get_by_role("button", name="Try", exact=True).click()
    tried = studio.locator("#tried")
    expect(tried.get_by_role("row", name="node-3").get_by_text("100")).to_be_visible()
    tried.get_by_role("row", name="node-3").get_by_text("how").click()
    expect(tried.get_by_text('"node-3"')).to_be_visible()
    accessible(studio)
    studio.get_by_role("button", name="Save", exact=True).click()
    expect(studio.get_by_text("Plugin Favourite saved in this session.")).to_be_visible()
    studio.get_by_role("button", name="Add to the profile Favourite").click()
    expect(studio.get_by_text("Favourite added to the profile default-scheduler")).to_be_visible()
    studio.get_by_role("link", name="Open the studio").click()
    run_to_the_end(studio)
    expect(studio.locator("#panel-pipeline")).to_contain_text("Favourite")
    studio.goto(f"{base}?pod=default/web-4&node=node-3&stage=score")
    expect(studio.locator("#panel-stage").get_by_text("Favourite").first).to_be_visible()
    timeline = lanes(studio)
    for i in range(1, 5):
        pod = timeline.get_by_role("group", name=f"web-{i}")
        expect(pod.get_by_role("link", name="node-3", exact=False)).to_have_count(1)
