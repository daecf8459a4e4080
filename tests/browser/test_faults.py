"""Faults that people found in the studio, each in a real browser: what stays in its place, in sight, and without a complaint."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import position, press_until, start, step_is

NewContext = Callable[..., BrowserContext]
OUT_OF_SIGHT = """() => [...document.querySelectorAll(".point-tip")].filter((tip) => {
  const { left, right, top, bottom } = tip.getBoundingClientRect();
  return right > left && (left < 0 || right > innerWidth || top < 0 || bottom > innerHeight);
}).map((tip) => tip.id)"""

PLACES = """() => ["#bar", "#points", "#stage", "#stage h2", "#rail", "#narrator", "#timeline", "#panel-map"].map((part) => {
  const { x, y, width } = document.querySelector(part).getBoundingClientRect();
  return [part, Math.round(x), Math.round(y), Math.round(width)];
})"""


def test_arrow_keys_step_after_a_click_on_a_tab_of_the_inspector(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    before = position(page)
    page.locator("#tab-yaml").click()
    expect(page.locator("#tab-yaml")).to_have_attribute("aria-current", "page")
    page.keyboard.press("ArrowRight")
    step_is(page, before + 1)


def test_every_tip_of_an_extension_point_is_in_sight(new_context: NewContext, server: PlaygroundServer) -> None:
    page = start(new_context(viewport={"width": 1280, "height": 720}).new_page(), server)
    press_until(page, "refuses 1 of 3 nodes")
    for stop in page.locator("#points .stop").all():
        stop.focus()
        assert page.evaluate(OUT_OF_SIGHT) == []


def test_what_runs_covers_neither_the_sentence_nor_the_stage(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    page.locator("#until summary").click()
    page.locator("#rate").select_option("1")
    page.keyboard.press("Escape")
    page.locator("#play").click()
    expect(page.locator("#job")).to_be_visible()
    job = page.locator("#job").bounding_box()
    for part in ("#stage", "#panel-narrator"):
        box = page.locator(part).bounding_box()
        assert job is not None
        assert box is not None
        assert job["y"] >= box["y"] + box["height"] or job["y"] + job["height"] <= box["y"]


def test_nothing_jumps_on_the_way_back(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    press_until(page, "refuses 1 of 3 nodes")
    here, before = position(page), page.evaluate(PLACES)
    page.keyboard.press("ArrowLeft")
    step_is(page, here - 1)
    expect(page.locator("#standing")).to_be_visible()
    assert page.evaluate(PLACES) == before
    page.keyboard.press("ArrowRight")
    step_is(page, here)
    assert page.evaluate(PLACES) == before


def test_the_conformance_page_fits_a_phone(new_context: NewContext, server: PlaygroundServer) -> None:
    page = new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(f"{server.url}/conformance")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_text_box_made_larger_stays_without_a_complaint_when_the_drawer_shows_something_else(
    page: Page, server: PlaygroundServer
) -> None:
    start(page, server)
    page.locator("#more summary").click()
    page.locator("#more").get_by_role("link", name="Nodes", exact=True).click()
    drawer = page.locator("#drawer")
    rooms = drawer.get_by_role("navigation", name="Edit the cluster")
    rooms.get_by_role("link", name="YAML", exact=True).click()
    area = drawer.locator("textarea").first
    expect(area).to_be_visible()
    area.evaluate("(area) => area.style.height = '400px'")  # as pulling its corner does
    page.locator("#more summary").click()
    page.locator("#more").get_by_role("link", name="Configuration").click()
    expect(drawer.get_by_role("heading", name="Scheduler configuration")).to_be_visible()


def test_lanes_of_pods_with_long_names_are_told_apart(new_context: NewContext, server: PlaygroundServer) -> None:
    page = new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(server.url)
    pods = "---\n".join(
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: frontend-5d4f8c7b9-x{end}}}, "
        "spec: {containers: [{name: c, image: i}]}}\n"
        for end in ("2k4q", "9fjw")
    )
    page.locator("#import textarea").fill(pods)
    page.get_by_role("button", name="Show what is Pending").click()
    page.locator("form[action$='import/apply'] button").first.click()
    page.locator("#lanes-open").click()
    ends = page.locator(".lane > a .apart")
    expect(ends).to_have_count(2)
    for end, shown in zip(ends.all(), ("frontend…x2k4q", "frontend…x9fjw"), strict=True):
        expect(end).to_have_attribute("data-short", shown)
        assert end.evaluate(
            "(end) => end.getBoundingClientRect().right <= end.closest('a').getBoundingClientRect().right"
        )
