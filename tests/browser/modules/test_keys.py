"""studio/keys.js and studio/actions.js: what keys ask for, and what is done then."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.modules.conftest import Alone

KEYS, ACTIONS = "studio/keys.js", "studio/actions.js"
LISTEN = "({ listenKeys }, done) => listenKeys((...action) => (hear(action), done))"
PAGE = """<p tabindex="0" id="text">text</p> <input id="word"> <input type="range" id="rail" min="0" max="9" value="5">
<input type="checkbox" id="box"> <button id="button">button</button> <div class="lane-rows" tabindex="0" id="lanes">lanes</div>
<dialog id="dialog">dialog <button>ok</button></dialog> <dialog class="drawer" id="drawer">drawer</dialog>"""


@pytest.fixture
def page(alone: Alone) -> Alone:
    alone.show(PAGE)
    alone.call(KEYS, LISTEN, True)
    return alone


def pressed(page: Alone, key: str, where: str = "#text") -> list[Any]:
    page.page.press(where, key)
    return page.heard


@pytest.mark.parametrize(
    ("key", "action"),
    [
        ("ArrowRight", ["plugin"]),
        ("Shift+ArrowRight", ["point"]),
        ("ArrowLeft", ["back"]),
        ("Shift+ArrowLeft", ["back", "point"]),
        ("Home", ["first"]),
        (" ", ["playpause"]),
        ("b", ["breakNext"]),
        ("Shift+B", ["breakBack"]),
        ("P", ["presenter"]),
        ("Control+k", ["palette"]),
        ("Control+z", ["undo"]),
        ("Control+y", ["redo"]),
        ("Control+Shift+Z", ["redo"]),
        ("j", ["row", 1]),
        ("w", ["why"]),
        ("[", ["speed", -1]),
        ("3", ["form", 2]),
        ("a", ["act"]),
    ],
)
def test_a_key_asks_for_its_action(page: Alone, key: str, action: list[Any]) -> None:
    assert pressed(page, key) == [action]


@pytest.mark.parametrize("key", ["0", "7", "m", "z", "Control+b", "Alt+k", "Meta+m"])
def test_other_keys_are_the_browsers(page: Alone, key: str) -> None:
    assert pressed(page, key) == []


@pytest.mark.parametrize(
    ("where", "key", "heard"),
    [
        ("#word", "b", []),
        ("#word", "Control+z", []),
        ("#word", "Control+k", [["palette"]]),
        ("#word", "ArrowRight", []),
        ("#rail", "ArrowRight", []),
        ("#rail", "b", [["breakNext"]]),
        ("#box", "b", [["breakNext"]]),
        ("#box", " ", []),
        ("#button", " ", []),
        ("#button", "ArrowRight", [["plugin"]]),
        ("#lanes", "a", [["left"]]),
        ("#lanes", "w", [["closer"]]),
        ("#lanes", "b", [["breakNext"]]),
    ],
)
def test_keys_mean_first_what_they_mean_where_the_focus_is(page: Alone, where: str, key: str, heard: list[Any]) -> None:
    assert pressed(page, key, where) == heard


def test_a_dialog_has_the_keys_to_itself_and_the_drawer_has_not(page: Alone) -> None:
    page.do("drawer.show()")
    assert pressed(page, "b") == [["breakNext"]]
    page.do("dialog.showModal()")
    assert pressed(page, "b", "#dialog button") == []


def test_escape_is_heard_in_a_field_too(page: Alone) -> None:
    assert pressed(page, "Escape", "#word") == [["leave"]]


def test_keys_of_one_character_do_nothing_once_they_are_switched_off(page: Alone) -> None:
    page.do("localStorage.setItem('single-keys-off', '1')")
    assert pressed(page, "b") == []
    assert pressed(page, "ArrowRight") == [["plugin"]]
    assert pressed(page, "Control+k") == [["palette"]]
    page.do("localStorage.clear()")


def test_what_runs_is_not_asked_for_again_while_its_key_is_held(page: Alone) -> None:
    repeat = "({ actionOf }, key) => actionOf({ key, shiftKey: false, repeat: true }, false)"
    assert page.call(KEYS, repeat, "ArrowRight") == ["plugin"]
    for key in ("r", " ", "a", "x", "b", "B", "m"):
        assert page.call(KEYS, repeat, key) is None


@pytest.mark.parametrize("done", [True, False])
def test_a_key_is_left_to_the_browser_where_nothing_could_be_done(alone: Alone, done: bool) -> None:
    alone.show(PAGE)
    alone.call(KEYS, LISTEN, done)
    alone.do("void document.addEventListener('keydown', (event) => hear(event.defaultPrevented))")
    assert pressed(alone, "b") == [["breakNext"], done]


ACT = """({ actionsOf }, state, name, ...rest) => {
  const send = (message) => (hear(message), true);
  const look = (changes) => (hear("look", changes), true);
  const done = actionsOf({ look: { at: null }, running: null, mayEdit: true, seen: 4, ...state }, send, look)[name](...rest);
  hear("done", done ?? null);
}"""
CONTROLS = """<select id="rate"><option>1<option selected>5<option>50</select>
<details id="until"><summary>until</summary><button>go</button></details>
<span class="pod"><span class="decide"><button value="allow">first</button></span></span>
<div class="forms"><a href="#one">one</a><a href="#two">two</a></div>
<dialog id="keys-dialog"></dialog>"""


def acted(alone: Alone, name: str, *rest: Any, **state: Any) -> list[Any]:
    alone.call(ACTIONS, ACT, state, name, *rest)
    return alone.heard


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (["plugin"], {"type": "step", "grain": "plugin"}),
        (["back", "point"], {"type": "back", "grain": "point"}),
        (["first"], {"type": "goto", "at": 0}),
        (["follow"], {"type": "goto", "at": None}),
        (["playpause"], {"type": "play", "grain": "plugin", "rate": 5}),
        (["run"], {"type": "run"}),
        (["breakBack"], {"type": "search", "back": True}),
    ],
)
def test_an_action_sends_its_message(alone: Alone, action: list[str], message: dict[str, Any]) -> None:
    alone.show(CONTROLS)
    assert acted(alone, *action) == [message, ["done", True]]


def test_what_goes_on_is_paused_by_the_same_key(alone: Alone) -> None:
    alone.show(CONTROLS)
    assert acted(alone, "playpause", running={"kind": "play"}) == [{"type": "pause"}, ["done", True]]


@pytest.mark.parametrize("name", ["playpause", "run", "bookmark", "undo", "redo", "allow", "reject"])
def test_who_may_only_look_changes_nothing(alone: Alone, name: str) -> None:
    alone.show(CONTROLS)
    alone.hear_requests()
    (done,) = acted(alone, name, mayEdit=False)
    assert done[1] in (False, None)


def test_another_rate_holds_at_once_while_it_plays(alone: Alone) -> None:
    alone.show(CONTROLS)
    playing = {"type": "play", "grain": "plugin", "rate": 50}
    assert acted(alone, "speed", 1, running={"kind": "play"}) == [playing, ["done", None]]
    assert alone.do("rate.value") == "50"
    alone.show(CONTROLS)
    assert acted(alone, "speed", 1, running={"kind": "run"}) == [["done", None]]
    assert alone.do("rate.value") == "50"


def test_a_bookmark_is_set_where_the_viewer_stands(alone: Alone) -> None:
    alone.show(CONTROLS)
    alone.hear_requests()
    bookmark = ["POST", "/s/key/bookmarks", {"swap": "none", "values": {"at": ""}}]
    assert acted(alone, "bookmark")[0] == bookmark
    bookmark[2]["values"]["at"] = 4
    assert acted(alone, "bookmark", look={"at": 4})[0] == bookmark


def test_actions_press_and_focus_what_the_page_has_now(alone: Alone) -> None:
    alone.show(CONTROLS)
    alone.do("void document.addEventListener('click', ({ target }) => hear(target.textContent))")
    assert acted(alone, "form", 1) == ["two", ["done", None]]
    assert acted(alone, "form", 3) == [["done", None]]
    assert acted(alone, "allow")[0] == "first"
    acted(alone, "until")
    assert alone.do("[document.activeElement.textContent, document.querySelector('#until').open]") == ["go", True]
    acted(alone, "keys")
    assert alone.do("document.querySelector('#keys-dialog').open")


def test_the_inspected_pod_is_decided_before_others(alone: Alone) -> None:
    chosen = '<span class="pod chosen"><span class="decide"><button value="allow">chosen</button></span></span>'
    alone.show(CONTROLS + chosen)
    alone.do("void document.addEventListener('click', ({ target }) => hear(target.textContent))")
    assert acted(alone, "allow")[0] == "chosen"
