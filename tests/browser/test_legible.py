"""What stands on the stage can be read: nothing lies over something else, and no name is broken within a word."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from scripts.pictures import states
from scripts.pictures.session import Session
from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected

Begin = Callable[..., Session]
OUTSIDE = """boxes => boxes.flatMap((box) => [...box.children].filter((child) => {
  const [outer, inner] = [box.getBoundingClientRect(), child.getBoundingClientRect()];
  return inner.left < outer.left - 1 || inner.right > outer.right + 1;
}).map((child) => child.textContent.trim()))"""
CUT = """pills => pills.filter((pill) => {
  const holder = pill.querySelector("summary") ?? pill;
  return pill.scrollWidth > pill.clientWidth || holder.scrollWidth > holder.clientWidth;
}).map((pill) => pill.textContent.trim())"""
LINES = "names => names.map((name) => [name.textContent.trim(), name.getClientRects().length])"


@pytest.fixture
def begin(new_context: Callable[..., BrowserContext], server: PlaygroundServer) -> Begin:
    making = new_context()
    return lambda start="empty", name="": Session(making, server.url, start, name)


def shown(page: Page, world: Iterator[states.State], name: str, width: int, height: int) -> None:
    """Look at a state of a world in a window of this size."""
    state = next(state for state in world if state.name == name)
    page.set_viewport_size({"width": width, "height": height})
    page.goto(state.url)
    connected(page)


def test_the_counts_of_each_filter_plugin_stay_in_its_column(page: Page, begin: Begin) -> None:
    world = states.shop(begin)
    shown(page, world, "filter", 660, 844)
    heads = page.locator("#panel-stage .heads .head")
    assert heads.count() == 6
    assert heads.evaluate_all(OUTSIDE) == []


def test_a_feasible_node_says_so_on_its_own_line(page: Page, begin: Begin) -> None:
    shown(page, states.shop(begin), "filter", 1440, 900)
    middles = page.locator("#panel-stage .track.ok").evaluate_all(
        "rows => rows.map((row) => [row, row.querySelector('.verdict')].map((part) => part.getBoundingClientRect()))"
        ".map(([row, verdict]) => Math.abs(row.top + row.height / 2 - verdict.top - verdict.height / 2))"
    )
    assert middles
    assert max(middles) <= 1.5


def test_the_names_of_what_is_ahead_of_a_binding_stand_in_one_line(page: Page, begin: Begin) -> None:
    shown(page, states.binding(begin), "binding", 1280, 720)
    ahead = page.locator("#panel-stage .step.ahead b span")
    assert [name for name, lines in ahead.evaluate_all(LINES) if lines > 1] == []
    assert "WaitOnPermit" in ahead.all_inner_texts()


def test_pills_that_have_a_short_form_are_whole_beside_a_long_one(page: Page, begin: Begin) -> None:
    shown(page, states.binding(begin), "binding", 1280, 720)
    assert page.locator(".notices .told").is_visible()
    pills = page.locator(".notices > :has(.short)").filter(visible=True)
    assert pills.count() > 0
    assert pills.evaluate_all(CUT) == []


@pytest.mark.parametrize(
    ("name", "width", "height"), [("score", 390, 844), ("presenter", 390, 844), ("score", 1280, 720)]
)
def test_the_points_stand_within_their_bars(page: Page, begin: Begin, name: str, width: int, height: int) -> None:
    shown(page, states.shop(begin), name, width, height)
    if name == "presenter":
        page.keyboard.press("p")
        page.locator("body[data-presenter]").wait_for()
    bars = page.locator("#panel-stage .score-stack a > svg")
    over = bars.evaluate_all(
        "bars => bars.map((bar) => [bar, bar.querySelector('text')]).filter(([, text]) => text)"
        ".filter(([bar, text]) => text.getBBox().width > bar.querySelector('rect').getBBox().width)"
        ".map(([, text]) => text.textContent)"
    )
    assert bars.count() > 12
    assert over == []


def test_on_a_phone_the_verdicts_fade_where_more_of_them_stand_beside(page: Page, begin: Begin) -> None:
    """The fading lies over the last one in sight; at the end it lies over none."""
    shown(page, states.shop(begin), "filter", 390, 844)
    sums = page.locator("#panel-stage .sums").first
    assert sums.evaluate("sums => sums.scrollWidth > sums.clientWidth")
    fading = "sums => Number.parseFloat(getComputedStyle(sums, '::after').width)"
    wide = sums.evaluate(fading)
    assert wide >= 24
    left = sums.evaluate(
        "sums => { sums.scrollLeft = sums.scrollWidth;"
        " return sums.getBoundingClientRect().right - sums.lastElementChild.getBoundingClientRect().right }"
    )
    assert left >= wide - 1


def test_on_a_phone_the_extension_points_fade_where_more_of_them_stand_beside(page: Page, begin: Begin) -> None:
    """The fading lies over the last one in sight; at the end it lies over none."""
    shown(page, states.shop(begin), "filter", 390, 844)
    points = page.locator("#points")
    assert points.evaluate("points => points.scrollWidth > points.clientWidth")
    wide = points.evaluate("points => Number.parseFloat(getComputedStyle(points, '::after').width)")
    assert wide >= 24
    left = points.evaluate(
        "points => { points.scrollLeft = points.scrollWidth; const last = [...points.querySelectorAll('.point')].at(-1);"
        " return points.getBoundingClientRect().right - last.getBoundingClientRect().right }"
    )
    assert left >= wide - 1
    assert points.evaluate("points => points.getBoundingClientRect().width") == 390


def test_on_a_phone_a_node_is_in_sight_above_the_sheet(page: Page, begin: Begin) -> None:
    """The plugins are listed above the nodes, for their columns have no room. A refused node names the plugin that refused it."""
    shown(page, states.shop(begin), "filter", 390, 844)
    heads = page.locator("#panel-stage .heads .head").filter(visible=True)
    columns = page.locator("#panel-stage .tracks").get_attribute("data-columns")
    assert heads.count() == int(columns or 0) > 0
    assert heads.evaluate_all("heads => Math.max(...heads.map((head) => head.getBoundingClientRect().right))") <= 390
    assert page.locator("#panel-stage .track:not(.heads) i").filter(visible=True).count() == 0
    assert page.locator("#panel-stage .track.no .by").first.inner_text() == "InterPodAffinity"
    sheet = page.locator(".sheet-handle").evaluate("sheet => sheet.getBoundingClientRect().top")
    bottoms = page.locator("#panel-stage .track:not(.heads)").evaluate_all(
        "rows => rows.map((row) => row.getBoundingClientRect().bottom)"
    )
    assert min(bottoms) <= sheet


def test_on_a_phone_nothing_lies_over_the_button_that_leads_to_the_newest_step(page: Page, begin: Begin) -> None:
    shown(page, states.shop(begin), "filter", 390, 844)
    page.keyboard.press("ArrowLeft")
    button = page.locator(".follow button")
    expect(button).to_be_visible()
    assert (
        button.evaluate(
            "button => [...document.querySelectorAll('.notices > *, #points, .make a')].filter((other) => {"
            " const [one, two] = [button, other].map((part) => part.getBoundingClientRect());"
            " return two.width && one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom"
            "}).length"
        )
        == 0
    )


def test_on_a_phone_the_best_node_of_a_score_is_in_sight_above_the_sheet(page: Page, begin: Begin) -> None:
    shown(page, states.shop(begin), "score", 390, 844)
    sheet = page.locator(".sheet-handle").evaluate("sheet => sheet.getBoundingClientRect().top")
    best = page.locator("#panel-stage .score-stack a > svg").first
    assert best.evaluate("bar => bar.getBoundingClientRect().bottom") <= sheet


def test_on_a_phone_the_map_of_a_large_cluster_is_in_sight_above_the_sheet(page: Page, begin: Begin) -> None:
    """Also beneath what a run said where it ended, and the pill that asks to keep the link."""
    shown(page, states.large(begin), "large", 390, 844)
    expect(page.locator(".notices > :visible")).not_to_have_count(0)
    sheet = page.locator(".sheet-handle").evaluate("sheet => sheet.getBoundingClientRect().top")
    map_ = page.locator(".heat-field")
    assert sheet - map_.evaluate("map => map.getBoundingClientRect().top") >= 100
    for tool in ("#map-mode", "#map-group"):
        expect(page.locator(tool)).to_be_in_viewport()


def test_on_a_phone_the_latest_extension_point_is_in_sight_between_two_of_them(page: Page, begin: Begin) -> None:
    """The node is selected: Score is over, Reserve has not begun."""
    shown(page, states.shop(begin), "score", 390, 844)
    expect(page.locator("#points .point.now")).to_have_count(0)
    expect(page.locator("#points .line:not(.branch) .point.done").last).to_be_in_viewport(ratio=1)
