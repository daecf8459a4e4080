"""What a viewer's hands are on: the rail, the lanes, forms, the session's name, the share dialog, and leaving."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.modules.conftest import Alone

RAIL, LANES, FORMS, SHARE = "studio/rail.js", "studio/lanes.js", "studio/forms.js", "studio/share.js"
TOASTS = '<div id="toasts"></div>'

SCRUB = '<input type="range" id="scrub" min="0" max="10" value="2"><output id="scrub-says"></output>'
SHOW = "({ showRail }, position, head) => showRail(position, head)"


@pytest.fixture
def rail(alone: Alone) -> Alone:
    alone.show(SCRUB)
    alone.call(RAIL, "({ listenRail }) => listenRail(hear)")
    return alone


def test_the_rail_shows_where_the_viewer_stands(rail: Alone) -> None:
    rail.call(RAIL, SHOW, 1500, 2000)
    assert rail.do("[scrub.value, scrub.max]") == ["1500", "2000"]
    assert rail.page.inner_text("#scrub-says") == "1,500 / 2,000"


def test_a_drag_goes_along_a_few_times_a_second_and_to_where_it_ends(rail: Alone) -> None:
    box = rail.page.locator("#scrub").bounding_box() or {}
    rail.page.mouse.move(box["x"] + 2, box["y"] + 5)
    rail.page.mouse.down()
    rail.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 5)
    assert rail.heard == []
    rail.do("tick(90)")
    assert rail.heard == [5]
    rail.call(RAIL, SHOW, 9, 10)  # a delta that came meanwhile does not take the rail away
    assert rail.do("scrub.value") == "5"
    rail.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 5)
    rail.page.mouse.up()
    assert rail.heard == [10]
    rail.do("tick(1000)")
    assert rail.heard == []
    rail.call(RAIL, SHOW, 9, 10)
    assert rail.do("scrub.value") == "9"


LANE = """<style>.lane-rows { width: 710px; height: 80px }</style><section id="lanes">
<div id="panel-timeline" data-from="100" data-to="200"><div class="lane-rows" tabindex="0"><div class="lane"><svg>
<a href="#1" id="a1"><text y="20">1</text></a><a href="#2" id="a2"><text y="20" x="30">2</text></a></svg></div></div></div></section>"""
LISTEN = """({ listenLanes }) => {
  globalThis.act = listenLanes(({ start, span }) => hear(start, span));
}"""


@pytest.fixture
def lanes(alone: Alone) -> Alone:
    alone.show(LANE)
    alone.call(LANES, LISTEN)
    return alone


@pytest.mark.parametrize(
    ("keys", "window"),
    [
        (["closer"], [115, 70]),
        (["wider"], [79, 143]),
        (["left"], [75, 100]),
        (["right"], [125, 100]),
        (["right", "right"], [150, 100]),
        (["left"] * 9, [0, 100]),
    ],
)
def test_keys_zoom_and_move_the_lanes_in_one_request(lanes: Alone, keys: list[str], window: list[int]) -> None:
    for key in keys:
        lanes.do(f"act.{key}()")
    assert lanes.heard == []
    lanes.do("tick(60)")
    assert lanes.heard == [window]


def test_the_wheel_moves_sideways_and_with_control_zooms_where_the_mouse_is(lanes: Alone) -> None:
    box = lanes.page.locator(".lane-rows").bounding_box() or {}
    lanes.page.mouse.move(box["x"] + 110, box["y"] + 70)
    lanes.page.mouse.wheel(71, 0)
    lanes.page.wait_for_function("timers.size")
    lanes.do("tick(60)")
    assert lanes.heard == [[110, 100]]
    lanes.page.keyboard.down("Control")
    lanes.page.mouse.wheel(0, -10)
    lanes.page.keyboard.up("Control")
    lanes.page.wait_for_function("timers.size")
    lanes.do("tick(60)")
    assert lanes.heard == [[100, 70]]


def test_lanes_follow_a_drag_which_is_no_click(lanes: Alone) -> None:
    lanes.do("void document.addEventListener('click', () => hear('click'))")
    box = lanes.page.locator(".lane-rows").bounding_box() or {}
    lanes.page.mouse.move(box["x"] + 400, box["y"] + 70)
    lanes.page.mouse.down()
    lanes.page.mouse.move(box["x"] + 403, box["y"] + 70)
    assert lanes.do("timers.size") == 0
    lanes.page.mouse.move(box["x"] + 340, box["y"] + 70)
    lanes.page.mouse.up()
    lanes.do("tick(60)")
    assert lanes.heard == [[110, 100]]
    lanes.page.mouse.click(box["x"] + 400, box["y"] + 70)
    assert lanes.heard == ["click"]


def test_arrow_keys_go_along_a_lanes_segments(lanes: Alone) -> None:
    for key, at in [("ArrowRight", "a2"), ("Home", "a1"), ("End", "a2"), ("ArrowRight", "a2"), ("ArrowLeft", "a1")]:
        lanes.page.press(":focus" if key != "ArrowRight" or at != "a2" else "#a1", key)
        assert lanes.do("document.activeElement.id") == at


FORM = """<details id="until" open><summary>until</summary><form data-run id="run" action="#run">
<input name="csrfmiddlewaretoken" value="token"><input name="until" value="idle"><button>go</button></form></details>
<form data-search id="search" action="#search"><input name="only" value="3"><button name="direction" value="back">back</button></form>
<form role="search" id="filter" action="#filter"><input name="q"></form>"""


@pytest.mark.parametrize("open", [True, False])
def test_forms_go_over_the_stream_or_are_left_to_the_browser(alone: Alone, open: bool) -> None:
    alone.show(TOASTS + FORM)
    alone.call(FORMS, "({ listenForms }, open) => listenForms((message) => (hear(message), open))", open)
    alone.do("void addEventListener('submit', (event) => (hear(event.defaultPrevented), event.preventDefault()))")
    alone.page.click("#run button")
    assert alone.heard == [{"type": "run", "until": "idle"}, open]
    assert alone.do("document.querySelector('#until').open") is not open
    alone.page.click("#search button")
    assert alone.heard == [{"type": "search", "back": True, "only": 3}, open]
    alone.page.press("#filter input", "Enter")
    assert alone.heard == [True]


def test_forms_that_came_with_the_stream_carry_the_pages_token(alone: Alone) -> None:
    alone.show(TOASTS + FORM)
    alone.call(FORMS, "({ listenTokens }) => listenTokens()")
    event = "new CustomEvent('htmx:configRequest', { detail, bubbles: true })"
    headers = alone.do(
        f"(() => {{ const detail = {{ headers: {{}} }}; document.body.dispatchEvent({event}); return detail.headers; }})()"
    )
    assert headers == {"X-CSRFToken": "token"}


def test_a_form_without_a_token_is_sent_with_the_pages(alone: Alone) -> None:
    alone.show(
        TOASTS
        + FORM
        + "<form id='next' method='post' action='#next'><button name='start' value='x'>next</button></form>"
    )
    alone.call(FORMS, "({ listenTokens }) => listenTokens()")
    alone.do(
        "void addEventListener('submit', (event) => (hear([...new FormData(event.target).values()]), event.preventDefault()))"
    )
    alone.page.click("#next button")
    alone.page.click("#search button")
    assert alone.heard == [["token"], ["3"]]


REFUSED = "<html><body><main class='refusal'><h2> Not allowed </h2></main></body></html>"


@pytest.mark.parametrize(("text", "said"), [(REFUSED, ["Not allowed"]), ("oops", ["Bad Request"])])
def test_a_refused_form_says_why(alone: Alone, text: str, said: list[str]) -> None:
    alone.show(TOASTS)
    alone.call(FORMS, "({ listenRefusals }) => listenRefusals()")
    refuse = """(text) => document.body.dispatchEvent(new CustomEvent("htmx:responseError", {
      bubbles: true, detail: { xhr: { responseText: text, statusText: "Bad Request" } } }))"""
    alone.page.evaluate(refuse, text)
    assert alone.page.locator(".toast").all_inner_texts() == said


RENAME = '<form class="rename" action="/s/key/rename"><input id="session-name" name="name" value="old"></form>'


@pytest.mark.parametrize(("status", "said"), [(200, []), (400, ["Not allowed"])])
def test_a_name_is_saved_when_its_field_is_left(alone: Alone, status: int, said: list[str]) -> None:
    alone.show(TOASTS + RENAME)
    alone.call(FORMS, "({ listenRename }) => listenRename()")
    alone.answer("rename", REFUSED, status)
    alone.page.fill("#session-name", "new")
    with alone.page.expect_response("**/rename") as answer:
        alone.page.press("#session-name", "Tab")
    assert "new" in (answer.value.request.post_data or "")
    if said:
        alone.page.wait_for_selector(".toast")
    assert alone.page.locator(".toast").all_inner_texts() == said


def test_a_server_that_cannot_be_reached_is_told(alone: Alone) -> None:
    alone.show(TOASTS.replace("<div ", "<div data-unreachable='out of reach' ", 1) + RENAME)
    alone.call(FORMS, "({ listenRename, listenRefusals }) => (listenRename(), listenRefusals())")
    alone.page.route("**/rename", lambda route: route.abort())
    alone.page.fill("#session-name", "new")
    alone.page.press("#session-name", "Tab")
    alone.page.wait_for_selector(".toast:text('out of reach')")
    alone.page.unroute("**/rename")
    alone.do("document.querySelector('.toast').remove()")
    alone.do("void document.body.dispatchEvent(new CustomEvent('htmx:sendError', { bubbles: true }))")
    alone.page.wait_for_selector(".toast:text('out of reach')")


def leaving(alone: Alone) -> bool:
    """Whether the reader is asked before the page is left."""
    asked: bool = alone.do(
        "(() => { const event = new Event('beforeunload', { cancelable: true }); dispatchEvent(event); return event.defaultPrevented; })()"
    )
    return asked


def test_a_page_that_may_not_be_found_again_is_not_left_by_mistake(alone: Alone) -> None:
    alone.show(TOASTS + '<nav class="top-nav"><button id="nav">n</button></nav><button id="other">o</button>')
    alone.call(FORMS, "({ listenLeaving }) => listenLeaving(() => globalThis.isLost)")
    assert not leaving(alone)
    alone.do("void (globalThis.isLost = true)")
    assert leaving(alone)
    alone.page.click("#nav")
    assert not leaving(alone)
    alone.page.click("#other")
    assert leaving(alone)


DIALOG = """<div id="keep">Keep the link <button data-copy="edit" id="copy-edit">copy</button><button id="keep-close">close</button></div>
<button id="share-open">share</button><dialog id="share-dialog"><input type="checkbox" id="share-step">
<input id="edit-link" value="/s/edit/"><input id="view-link" value="/s/view/"><button data-copy="view" id="copy-view">copy</button>
<p id="copied" data-copied="Copied."></p></dialog>"""
COPIED = (
    "void (navigator.clipboard.writeText = async (text) => { hear(text); if (globalThis.refuse) throw new Error(); })"
)


@pytest.fixture
def share(alone: Alone) -> Alone:
    alone.show(DIALOG)
    alone.do("localStorage.clear()")
    alone.do(COPIED)
    return alone


def listen(share: Alone) -> None:
    share.call(SHARE, "({ listenShare }) => listenShare('key', () => '?at=12&stage=score')")


def unkept(share: Alone) -> Any:
    return share.call(SHARE, "({ unkept }) => unkept()")


def test_who_has_kept_the_edit_link_is_not_asked_to_again(share: Alone) -> None:
    listen(share)
    assert unkept(share)
    share.page.click("#copy-edit")
    assert (share.heard, unkept(share)) == ([f"{share.site.origin}/s/edit/"], False)
    share.show(DIALOG)
    listen(share)
    assert not unkept(share)


def test_a_link_may_lead_to_what_is_shown_at_the_present_step(share: Alone) -> None:
    listen(share)
    share.page.click("#share-open")
    share.page.check("#share-step")
    share.page.click("#copy-view")
    assert share.heard == [f"{share.site.origin}/s/view/?at=12&stage=score"]
    assert share.page.inner_text("#copied") == "Copied."
    assert unkept(share)


def test_a_link_that_cannot_be_copied_is_there_to_select(share: Alone) -> None:
    listen(share)
    share.do("void (globalThis.refuse = true)")
    share.page.click("#copy-edit")
    assert share.do("document.activeElement.id") == "edit-link"
    assert unkept(share)


def test_the_reminder_can_be_put_away_even_where_nothing_can_be_stored(share: Alone) -> None:
    share.do("void (Storage.prototype.setItem = () => { throw new Error('no storage'); })")
    listen(share)
    share.page.click("#keep-close")
    assert not unkept(share)
