"""studio/menu.js: the menu on a pod, a node, a plugin or an extension point."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.browser.modules.conftest import Alone, Answer

MENU = "studio/menu.js"
PAGE = """<main><a href="#pod" data-pod="ns/web" id="pod">web</a><div data-node="n1" id="node" style="width: 90px">n1</div>
<div class="point" id="point"><button data-menu="point" data-of="Filter" class="stop" id="stop">Filter</button>
<i data-plugin="NodeName"></i><i data-plugin="NodePorts"></i></div><p id="plain" data-pod="">plain</p>
<table data-point="Score"><tr><th data-plugin="NodeResourcesFit" id="plugin">NodeResourcesFit</th></tr></table>
<b data-object="PodDisruptionBudget/ns/keep" id="budget">keep</b></main>
<div id="menu" hidden style="position: fixed; width: 100px"><b id="menu-title"></b><i id="menu-kind"></i>
<div id="menu-items" role="menu"></div></div>
<dialog id="drawer"><div id="workbench"></div></dialog>"""


def entry(words: str, letter: str = "", **data: object) -> str:
    return f"<button role='menuitem' data-entry='{json.dumps(data)}' aria-keyshortcuts='{letter}'>{words}</button>"


ITEMS = f"""<div data-sheet="main">
{entry("Taint", "t", page="act/taint?name=n1")}
{entry("Cordon", "c", send="act/cordon", fields={"name": "n1"}, said="It is cordoned.")}
<button role="menuitem" data-to="travel">Break</button></div>
<div data-sheet="travel" hidden><button role="menuitem" data-to="main" class="back">Break</button>
{entry("Here", send="breakpoints", fields={"node": "n1"}, said="Set.")}
{entry("Last", seek="back", fields={"node": "n1"})}</div>"""


@pytest.fixture
def menu(alone: Alone) -> Alone:
    alone.show(PAGE, query="?at=5")
    alone.site.answers["menu"] = Answer(ITEMS)
    alone.hear_requests()
    alone.call(MENU, "({ listenMenu }) => listenMenu((...what) => hear('seek', ...what), (text) => hear('say', text))")
    return alone


def items(menu: Alone) -> list[str]:
    return [text.strip() for text in menu.page.locator("[role=menuitem]:visible").all_inner_texts()]


def opened(menu: Alone, on: str) -> str:
    """What the menu was asked about."""
    with menu.page.expect_response("**/menu?*") as asked:
        menu.page.click(on, button="right")
    menu.page.locator("#menu").wait_for()
    return asked.value.url.partition("menu?")[2]


@pytest.mark.parametrize(
    ("on", "query"),
    [
        ("#pod", "kind=Pod&namespace=ns&name=web&at=5"),
        ("#node", "kind=Node&namespace=&name=n1&at=5"),
        ("#point", "kind=Point&namespace=&name=Filter&plugin=NodeName&plugin=NodePorts&at=5"),
        ("#plugin", "kind=Plugin&namespace=&name=NodeResourcesFit&point=Score&at=5"),
        ("#budget", "kind=PodDisruptionBudget&namespace=ns&name=keep&at=5"),
    ],
)
def test_the_server_is_asked_what_there_is_to_do(menu: Alone, on: str, query: str) -> None:
    assert opened(menu, on) == query
    assert items(menu) == ["Taint", "Cordon", "Break"]


def test_it_says_what_it_is_about(menu: Alone) -> None:
    opened(menu, "#pod")
    assert menu.page.inner_text("#menu-title") == "web"
    assert menu.page.inner_text("#menu-kind") == "Pod · ns"


def test_what_has_no_menu_keeps_the_browsers(menu: Alone) -> None:
    menu.do("void addEventListener('contextmenu', (event) => (hear(event.defaultPrevented), event.preventDefault()))")
    menu.page.click("#plain", button="right")
    assert (items(menu), menu.heard) == ([], [False])


def test_the_menu_stays_on_the_screen(menu: Alone) -> None:
    menu.do("void (document.querySelector('#node').style.cssText = 'position: fixed; right: 0; bottom: 0')")
    opened(menu, "#node")
    box = menu.page.locator("#menu").bounding_box() or {}
    assert (box["x"] + box["width"], box["y"] + box["height"]) == (994, 694)


def test_keys_go_round_the_items_and_escape_goes_back(menu: Alone) -> None:
    opened(menu, "#pod")
    focused = []
    for key in ("ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "End", "Home"):
        menu.page.keyboard.press(key)
        focused.append(menu.do("document.activeElement.textContent.trim()"))
    assert focused == ["Cordon", "Taint", "Break", "Taint", "Break", "Taint"]
    menu.page.keyboard.press("Escape")
    assert (items(menu), menu.do("document.activeElement.id")) == ([], "pod")


def test_an_arrow_opens_a_sheet_and_another_closes_it(menu: Alone) -> None:
    opened(menu, "#node")
    menu.page.keyboard.press("End")
    menu.page.keyboard.press("ArrowRight")
    assert items(menu) == ["Break", "Here", "Last"]
    assert menu.do("document.activeElement.textContent") == "Here"
    menu.page.keyboard.press("ArrowLeft")
    assert items(menu) == ["Taint", "Cordon", "Break"]


def test_a_click_elsewhere_closes_it(menu: Alone) -> None:
    opened(menu, "#pod")
    menu.page.click("#plain")
    assert items(menu) == []


def test_a_long_press_opens_it_and_is_no_click(menu: Alone) -> None:
    menu.do("void addEventListener('hashchange', () => hear('clicked'))")
    press = (
        "document.querySelector('#pod').dispatchEvent(new PointerEvent('{}', {{bubbles: true, pointerType: 'touch'}}))"
    )
    with menu.page.expect_response("**/menu?*"):
        menu.do(press.format("pointerdown"))
        menu.do("tick(600)")
    menu.do(press.format("pointerup"))
    menu.page.locator("#menu").wait_for()
    menu.do("document.querySelector('#pod').click()")
    assert menu.heard == []


def drawer(query: str) -> list[Any]:
    asking = {"target": "#workbench", "swap": "outerHTML", "headers": {"X-Drawer": "1"}}
    return ["GET", f"/s/key/{query}&at=5", asking]


def post(path: str, **values: str) -> list[Any]:
    return ["POST", f"/s/key/{path}", {"swap": "none", "values": values}]


@pytest.mark.parametrize(
    ("keys", "heard"),
    [
        (["t"], drawer("act/taint?name=n1")),
        (["c"], post("act/cordon", name="n1", at="5")),
        (["End", "ArrowRight", "Enter"], post("breakpoints", node="n1")),
        (["End", "ArrowRight", "ArrowDown", "Enter"], ["seek", True, {"node": "n1"}]),
    ],
)
def test_an_item_does_what_it_says(menu: Alone, keys: list[str], heard: list[Any]) -> None:
    opened(menu, "#node")
    for key in keys:
        menu.page.keyboard.press(key)
    assert menu.heard == [heard]
    assert items(menu) == []


@pytest.mark.parametrize(("status", "said"), [(204, [["say", "It is cordoned."]]), (409, [])])
def test_what_was_done_is_said_and_what_was_refused_is_not(menu: Alone, status: int, said: list[Any]) -> None:
    opened(menu, "#node")
    menu.page.keyboard.press("c")
    assert len(menu.heard) == 1
    detail = f"{{ detail: {{ xhr: {{ status: {status} }} }} }}"
    menu.do(f"document.querySelector('#menu').dispatchEvent(new CustomEvent('htmx:afterRequest', {detail}))")
    assert menu.heard == said


def test_a_key_opens_it_for_what_has_the_focus(menu: Alone) -> None:
    asked = "({{ openMenuFor }}) => openMenuFor(document.querySelector('{}'))"
    assert menu.call(MENU, asked.format("#plain")) is False
    assert menu.call(MENU, asked.format("#pod")) is True
    menu.page.locator("#menu").wait_for()
    assert items(menu) == ["Taint", "Cordon", "Break"]
