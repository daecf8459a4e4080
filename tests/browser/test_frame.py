"""The studio's frame: palette, presenter, panes, the sheet of narrow screens, sizes of type, and how far Tab has to go."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.legible import LEAST, SMALL
from tests.browser.server import PlaygroundServer
from tests.browser.studio import position

Accessible = Callable[[Page], None]


@pytest.fixture(scope="module")
def address(server: PlaygroundServer, browser: object) -> str:
    """A session in the middle of a Filter, for all tests of this module: none of them moves it."""
    page = browser.new_page()  # type: ignore[attr-defined]
    page.goto(f"{server.url}/lessons/")
    page.locator("button[name=start][value='story:taints']").first.click()
    expect(page.locator("body")).to_have_attribute("data-connected", "1")
    for _ in range(60):
        if page.locator("#stage[data-stage=filter]").count():
            break
        before = position(page)
        page.keyboard.press("ArrowRight")
        expect(page.locator("#panel-transport")).not_to_have_attribute("data-position", str(before))
    url = str(page.url).split("?")[0]
    page.close()
    return url


def studio(page: Page, url: str, width: int = 1280, height: int = 720) -> Page:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(url)
    expect(page.locator("body")).to_have_attribute("data-connected", "1")
    return page


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 720), (1920, 1080)])
def test_no_text_is_smaller_than_13_px(page: Page, address: str, width: int, height: int) -> None:
    studio(page, address, width, height)
    assert page.evaluate(SMALL, LEAST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_stage_has_its_share_and_the_bar_holds_all_it_has(page: Page, address: str) -> None:
    studio(page, address)
    page.locator("#session-name").fill(
        "A name that is much longer than any bar could ever show in full, again and again"
    )
    assert page.locator("#stage").evaluate("({ clientHeight }) => clientHeight") >= 0.6 * 720
    end = page.locator("#more > summary").bounding_box()
    clock = page.locator(".readouts").bounding_box()
    find = page.locator("#palette-open").bounding_box()
    assert end and clock and find
    assert end["x"] + end["width"] <= 1280
    assert clock["x"] + clock["width"] <= find["x"]


def test_all_points_are_named_side_by_side(page: Page, address: str) -> None:
    studio(page, address)
    boxes = page.locator("#points .stop").evaluate_all(
        "(stops) => stops.map((stop) => [stop.getBoundingClientRect().left, stop.getBoundingClientRect().right])"
    )
    assert len(boxes) == 14
    assert all(right <= left + 0.5 for (_, right), (left, _) in itertools.pairwise(boxes))
    assert boxes[-1][1] <= 1280
    assert (
        page.locator("#points .stop b").evaluate_all(
            "(names) => names.filter((n) => n.scrollWidth > n.clientWidth + 1).length"
        )
        == 0
    )


def test_the_palette_finds_an_object_lights_it_up_and_goes_there_by_keys_alone(
    page: Page, address: str, accessible: Accessible
) -> None:
    studio(page, address)
    name = page.locator("#stage [data-node]:visible").first.get_attribute("data-node") or ""
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-q")).to_be_focused()
    accessible(page)
    page.keyboard.type(name)
    option = page.locator("#palette [role=option]", has_text="node").first
    expect(option).to_contain_text(name)
    while page.locator("#palette [aria-selected=true]").inner_text() != option.inner_text():
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.locator(".lit").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#palette")).to_be_hidden()
    assert f"node={name}" in page.url


def test_what_was_chosen_lately_is_offered_first(page: Page, address: str) -> None:
    studio(page, address)
    page.keyboard.press("Control+k")
    page.keyboard.type("list the keys")
    page.keyboard.press("Enter")
    expect(page.locator("#keys-dialog")).to_be_visible()
    assert page.locator("#keys-dialog").evaluate("(keys) => keys.scrollHeight <= keys.clientHeight")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette [role=option]").first).to_contain_text("List the keys")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_the_presenter_shows_the_stage_and_one_sentence_large(
    page: Page, address: str, accessible: Accessible, width: int, height: int
) -> None:
    studio(page, address, width, height)
    page.keyboard.press("p")
    expect(page.locator("#caption-says")).to_have_text(page.locator("#panel-narrator .sentence").text_content() or "")
    for gone in ("#rail", "#narrator", "#timeline"):
        expect(page.locator(gone)).to_be_hidden()
    assert page.evaluate(SMALL, 16) == []
    assert "presenter=1" in page.url
    accessible(page)
    page.keyboard.press("Escape")
    expect(page.locator("#narrator")).to_be_visible()


def test_panes_are_resized_by_keys_remembered_and_given_back(page: Page, address: str) -> None:
    studio(page, address)
    before = page.locator("#rail").bounding_box()
    page.locator(".rail-grip").press("ArrowRight")
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-connected", "1")
    after = page.locator("#rail").bounding_box()
    assert before and after and after["width"] == before["width"] + 16
    page.locator(".rail-grip").press("Home")
    expect(page.locator("#rail")).to_be_hidden()
    page.locator(".rail-grip").dblclick(force=True)
    expect(page.locator("#rail")).to_be_visible()


def test_tab_reaches_every_part_within_twenty_presses(page: Page, address: str, accessible: Accessible) -> None:
    studio(page, address)
    accessible(page)
    for skip, part in enumerate(("stage", "rail", "narrator", "timeline"), start=1):
        page.goto(address)  # without the fragment of the link that was followed before
        expect(page.locator("body")).to_have_attribute("data-connected", "1")
        for _ in range(skip):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        for _ in range(20 - skip):
            page.keyboard.press("Tab")
            if page.evaluate("(part) => Boolean(document.activeElement.closest(`#${part}`))", part):
                break
        assert page.evaluate("(part) => Boolean(document.activeElement.closest(`#${part}`))", part), part


def test_a_term_says_what_it_means_to_pointer_and_keys_and_leaves_with_escape(
    page: Page, address: str, accessible: Accessible
) -> None:
    studio(page, address)
    tip = page.locator("#term-tip")
    for label in (".queues-empty .term >> nth=0", "#panel-narrator .term >> nth=0"):
        page.locator(label).hover()
        expect(tip).to_be_visible()
        box = tip.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 1280
        assert box["y"] >= 0 and box["y"] + box["height"] <= 720
        page.keyboard.press("Escape")
        expect(tip).to_be_hidden()
    link = page.locator("#stage summary:has(.term)").first
    link.focus()
    expect(tip).to_be_visible()
    expect(link).to_have_attribute("aria-describedby", "term-tip-text")
    accessible(page)
    page.get_by_role("button", name="Terms on this page").press("Enter")
    expect(page.locator("#terms-here")).to_contain_text("TaintToleration")
    accessible(page)


def test_rows_of_the_stage_are_walked_and_chosen_by_keys(page: Page, address: str) -> None:
    studio(page, address)
    page.keyboard.press("j")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.textContent") != first
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&](node|pod)="))


def test_keys_of_one_character_can_be_switched_off(page: Page, address: str) -> None:
    studio(page, address)
    page.keyboard.press("?")
    page.locator("#single-keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.locator("#lanes")).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_visible()


def test_the_lanes_take_a_fifth_of_the_height(page: Page, address: str, accessible: Accessible) -> None:
    studio(page, address)
    page.keyboard.press("t")
    box = page.locator("#lanes").bounding_box()
    assert box and box["height"] <= 0.2 * 720
    accessible(page)
    page.keyboard.press("Escape")
    expect(page.locator("#lanes")).to_be_hidden()


def test_on_a_phone_a_sheet_has_three_heights_and_tabs(page: Page, address: str, accessible: Accessible) -> None:
    studio(page, address, 390, 844)
    expect(page.locator("#panel-narrator")).to_be_visible()
    accessible(page)
    page.get_by_role("button", name="Queues").click()
    expect(page.locator("#panel-queues")).to_be_visible()
    expect(page.locator("#narrator")).to_be_hidden()
    heights = []
    for _ in range(3):
        page.locator("#sheet-grip").click()
        heights.append(page.locator("#rail").evaluate("({ clientHeight }) => clientHeight"))
    assert len(set(heights)) == 3


def test_the_tour_is_offered_once_and_walked_by_keys(page: Page, address: str, accessible: Accessible) -> None:
    studio(page, address)
    page.locator("#tour-offer").focus()
    page.keyboard.press("Enter")
    titles = []
    while page.locator("#tour").is_visible():
        expect(page.locator("#tour-next")).to_be_focused()
        titles.append(page.locator("#tour-title").inner_text())
        box = page.locator("#tour").bounding_box()
        assert box and box["x"] >= 0 and box["y"] >= 0 and box["y"] + box["height"] <= 720
        if len(titles) == 3:
            accessible(page)
        page.keyboard.press("Enter")
    assert len(titles) == 8
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-connected", "1")
    expect(page.locator("#tour-offer")).to_be_hidden()
    page.locator("#more > summary").click()
    page.get_by_role("button", name="Two-minute tour").click()
    expect(page.locator("#more:not([open])")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#tour")).to_be_hidden()


def test_paper_has_the_stage_and_the_narrator(page: Page, address: str) -> None:
    studio(page, address)
    page.emulate_media(media="print")
    for part in ("#stage", "#panel-narrator"):
        expect(page.locator(part)).to_be_visible()
    for gone in ("#rail", "#timeline", "#bar .controls"):
        expect(page.locator(gone)).to_be_hidden()
