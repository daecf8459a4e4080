"""studio.js: the page that the server rendered, with a stream whose messages come when the test says so."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.modules.conftest import Alone
from tests.browser.server import PlaygroundServer


@pytest.fixture(scope="module")
def html(browser: Browser, server: PlaygroundServer) -> str:
    """The studio of a new session, as it is sent."""
    page = browser.new_page()
    page.goto(server.url)
    page.locator('button[name=start][value="story:first-placement"]').first.click()
    page.wait_for_selector("#panel-transport")
    text: str = page.evaluate("fetch(location.pathname).then((answer) => answer.text())")
    page.close()
    return text


@pytest.fixture
def studio(alone: Alone, html: str) -> Alone:
    alone.page.set_viewport_size({"width": 1280, "height": 720})  # a narrower frame shows one part at a time
    alone.show(html)
    return connect(alone)


def connect(studio: Alone, query: str = "") -> Alone:
    studio.answer("marks", '<svg id="marks" data-bookmarks="[]"></svg>')
    studio.answer("ends.json", '{"ends": []}', kind="application/json")
    studio.call("studio.js", "() => {}")
    studio.do("sockets[0].open()")
    return studio


def delta(studio: Alone, seq: int, head: int, **more: Any) -> None:
    data = {"seq": seq, "head": head, "following": seq == head, "running": None, "html": "", "moved": [], **more}
    studio.page.evaluate("(data) => sockets.at(-1).say(data)", {"type": "delta", **data})


def last_sent(studio: Alone) -> dict[str, Any]:
    message: dict[str, Any] = [what for what in studio.heard if what[0] == "sent"][-1][1]
    return message


def test_the_first_thing_said_is_what_is_looked_at_and_seen(studio: Alone) -> None:
    hello = last_sent(studio)
    seen = int(studio.do("document.body.dataset.seen"))
    assert (hello["type"], hello["seen"], hello["look"]["tab"]) == ("look", seen, "summary")
    assert studio.do("[document.body.dataset.connected, document.querySelector('#offline').hidden]") == ["1", True]


def test_a_delta_is_painted_and_the_place_follows(studio: Alone) -> None:
    transport = '<div id="panel-transport" hx-swap-oob="true" data-profile="p" data-position="3">painted</div>'
    delta(studio, 3, 3, html=transport)
    assert studio.page.inner_text("#panel-transport") == "painted"
    assert studio.page.inner_text("#scrub-says") == "3 / 3"
    assert studio.do("location.search") == ""


def test_who_stands_in_the_past_stays_there_and_who_follows_does_not(studio: Alone) -> None:
    delta(studio, 2, 5, following=False)
    studio.do("tick(100)")
    assert studio.do("location.search") == "?at=2"
    assert studio.page.is_visible("#standing")
    delta(studio, 9, 9)
    studio.do("tick(100)")
    assert (studio.do("location.search"), studio.page.inner_text("#scrub-says")) == ("", "9 / 9")


def test_the_url_says_a_step_once_it_is_painted_and_at_the_latest_when_the_page_is_left(studio: Alone) -> None:
    delta(studio, 2, 5, following=False)
    assert studio.do("location.search") == ""
    studio.do("dispatchEvent(new Event('pagehide'))")
    assert studio.do("location.search") == "?at=2"


def test_while_the_rail_is_dragged_the_url_waits(studio: Alone) -> None:
    studio.do("scrub.dispatchEvent(new PointerEvent('pointerdown'))")
    delta(studio, 2, 5, following=False)
    studio.do("tick(100)")
    assert studio.do("location.search") == ""
    studio.do("scrub.dispatchEvent(new Event('change'))")
    assert studio.do("location.search") == "?at=2"


def test_after_a_gap_it_resumes_from_the_last_step_it_has_painted(studio: Alone) -> None:
    delta(studio, 2, 2)
    delta(studio, 7, 7)
    studio.do("sockets[0].close()")
    assert studio.page.is_visible("#offline")
    studio.do("tick(250), sockets[1].open()")
    assert last_sent(studio)["seen"] == 7
    assert studio.page.is_hidden("#offline")


def test_keys_links_and_the_rail_are_sent(studio: Alone) -> None:
    studio.page.keyboard.press("ArrowRight")
    assert last_sent(studio) == {"type": "step", "grain": "plugin"}
    studio.page.locator(".tabs a").nth(1).click()
    look = last_sent(studio)
    assert (look["type"], look["look"]["tab"]) == ("look", "yaml")
    assert studio.do("location.search") == "?tab=yaml"
    delta(studio, 5, 5)
    for value, at in (("2", 2), ("5", None)):
        studio.page.locator("#scrub").fill(value)
        assert last_sent(studio) == {"type": "goto", "at": at}


def test_what_is_pressed_while_it_is_offline_is_left_to_the_browser(studio: Alone) -> None:
    studio.do("sockets[0].close()")
    studio.do("void addEventListener('click', (event) => (hear(event.defaultPrevented), event.preventDefault()))")
    studio.do("heard.splice(0)")
    studio.page.locator(".tabs a").nth(1).click()
    assert studio.heard == [False]


@pytest.mark.parametrize("kind", ["idle", "ended", "error", "searched"])
def test_messages_are_said(studio: Alone, kind: str) -> None:
    studio.page.evaluate("(type) => sockets[0].say({ type, message: 'some words' })", kind)
    assert studio.page.inner_text("#toasts") == "some words"


def test_a_search_is_shown_until_it_ends_or_the_connection_does(studio: Alone) -> None:
    searching = "sockets.at(-1).say({ type: 'searching', back: true, scanned: 10, of: 40 })"
    studio.do(searching)
    assert "10 / 40" in studio.page.inner_text("#job-says")
    studio.do("sockets[0].say({ type: 'searched', message: '' })")
    assert studio.page.is_hidden("#job")
    studio.do(searching)
    studio.do("sockets[0].close()")
    assert studio.page.is_hidden("#job")


def test_a_session_that_is_gone_says_so_and_stays_closed(studio: Alone) -> None:
    studio.do("sockets[0].say({ type: 'gone' }), sockets[0].close()")
    assert studio.page.inner_text("#toasts") == studio.page.get_attribute("#toasts", "data-gone")
    studio.do("tick(60_000)")
    assert studio.do("sockets.length") == 1


def test_pods_are_seen_to_move_only_at_a_pace_that_can_be_followed(studio: Alone) -> None:
    def queues(*chips: str) -> str:
        return "".join(
            f'<div class="queue" id="queue-{i}" hx-swap-oob="true">{chip}</div>' for i, chip in enumerate(chips)
        )

    pod = '<span class="pod"><a data-pod="ns/x">x</a></span>'
    studio.page.evaluate(
        "(html) => document.querySelector('main').insertAdjacentHTML('beforeend', html)", queues(pod, "")
    )
    studio.do(
        """void new MutationObserver((changes) => changes.flatMap((change) => [...change.addedNodes])
        .filter((node) => node.matches?.(".travelling")).forEach(() => hear("travels")))
        .observe(document.body, { childList: true })"""
    )
    for running in ({"kind": "run", "rate": 1}, {"kind": "play", "rate": 4}):
        delta(studio, 2, 2, moved=["ns/x"], html=queues("", pod), running={"done": 1, **running})
        assert "travels" not in studio.heard
        delta(studio, 2, 2, html=queues(pod, ""), running={"done": 1, **running})
    delta(studio, 3, 3, moved=["ns/x"], html=queues("", pod), running={"kind": "play", "rate": 3, "done": 1})
    assert studio.heard.count("travels") == 1
