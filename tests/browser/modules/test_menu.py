"""studio/menu.js: the menu on a pod, a node or an extension point."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.modules.conftest import Alone

MENU = "studio/menu.js"
PAGE = """<main><a href="#pod" data-pod="ns/web" id="pod">web</a><div data-node="n1" id="node" style="width: 90px">n1</div>
<div class="point" id="point"><button data-menu="point" data-of="Filter" class="stop" id="stop">Filter</button>
<i data-plugin="NodeName"></i><i data-plugin="NodePorts"></i></div><p id="plain">plain</p></main>
<div id="menu" role="menu" hidden data-set="Set: %s" data-deleted="Deleted: %s" style="position: fixed; width: 100px">
<p id="menu-title"></p>
<div data-for="pod"><button role="menuitem" data-yaml="Pod">YAML</button><button role="menuitem" data-delete="Pod">Delete</button>
<button role="menuitem" data-calls>Calls</button><button role="menuitem" data-point='{"pod": "%s", "kind": "bound"}'> Bound </button></div>
<div data-for="node"><button role="menuitem" data-yaml="Node">YAML</button><button role="menuitem" data-more>More</button>
<button role="menuitem" data-commands>Commands</button>
<button role="menuitem" data-seek="back" data-point='{"node": "%s"}'>Last</button></div>
<div data-for="point"><button role="menuitem" data-point='{"point": "%s"}'>Here</button>
<button role="menuitem" data-each data-point='{"plugin": "%p", "point": "%s"}'>At %p</button></div></div>
<dialog id="drawer"><div id="workbench"></div></dialog>"""


@pytest.fixture
def menu(alone: Alone) -> Alone:
    alone.show(PAGE, query="?at=5")
    alone.hear_requests()
    alone.call(
        MENU,
        "({ listenMenu }) => listenMenu((...what) => hear('seek', ...what), (text) => hear('say', text))",
    )
    return alone


def items(menu: Alone) -> list[str]:
    return [text.strip() for text in menu.page.locator("[role=menuitem]:visible").all_inner_texts()]


def opened(menu: Alone, on: str) -> list[str]:
    menu.page.click(on, button="right")
    return items(menu)


def test_each_kind_of_subject_has_its_items(menu: Alone) -> None:
    assert opened(menu, "#pod") == ["YAML", "Delete", "Calls", "Bound"]
    assert menu.page.inner_text("#menu-title") == "ns/web"
    menu.page.keyboard.press("Escape")
    assert opened(menu, "#node") == ["YAML", "More", "Commands", "Last"]
    menu.page.keyboard.press("Escape")
    assert opened(menu, "#point") == ["Here", "At NodeName", "At NodePorts"]
    menu.page.keyboard.press("Escape")
    menu.page.click("#stop")
    assert items(menu) == ["Here", "At NodeName", "At NodePorts"]


def test_what_has_no_menu_keeps_the_browsers(menu: Alone) -> None:
    menu.do(
        "void addEventListener('contextmenu', (event) => (hear(event.defaultPrevented), event.preventDefault()))"
    )
    assert opened(menu, "#plain") == []
    assert menu.heard == [False]


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
    assert focused == ["Delete", "YAML", "Bound", "YAML", "Bound", "YAML"]
    menu.page.keyboard.press("Escape")
    assert (items(menu), menu.do("document.activeElement.id")) == ([], "pod")


def test_a_click_elsewhere_closes_it(menu: Alone) -> None:
    opened(menu, "#pod")
    menu.page.click("#plain")
    assert items(menu) == []


def drawer(query: str) -> list[Any]:
    asking = {"target": "#workbench", "swap": "outerHTML", "headers": {"X-Drawer": "1"}}
    return ["GET", f"/s/key/{query}&at=5", asking]


def post(path: str, **values: str) -> list[Any]:
    return ["POST", f"/s/key/{path}", {"swap": "none", "values": values}]


@pytest.mark.parametrize(
    ("on", "item", "heard"),
    [
        ("#pod", "YAML", drawer("yaml?kind=Pod&namespace=ns&name=web")),
        ("#pod", "Calls", drawer("calls?pod=ns%2Fweb")),
        ("#pod", "Bound", post("breakpoints", pod="ns/web", kind="bound")),
        ("#pod", "Delete", post("objects/delete", kind="Pod", namespace="ns", name="web", at="5")),
        ("#node", "YAML", drawer("yaml?kind=Node&namespace=&name=n1")),
        ("#node", "More", drawer("breakpoints?node=n1")),
        ("#node", "Commands", drawer("commands?q=n1")),
        ("#node", "Last", ["seek", True, {"node": "n1"}]),
        ("#stop", "Here", post("breakpoints", point="Filter")),
        ("#stop", "At NodePorts", post("breakpoints", plugin="NodePorts", point="Filter")),
    ],
)
def test_an_item_does_what_it_says(menu: Alone, on: str, item: str, heard: list[Any]) -> None:
    opened(menu, on)
    menu.page.get_by_role("menuitem", name=item, exact=True).click()
    assert menu.heard == [heard]
    assert items(menu) == []


@pytest.mark.parametrize(
    ("item", "status", "said"),
    [
        ("Bound", 204, [["say", "Set: ns/web · Bound"]]),
        ("Delete", 204, [["say", "Deleted: ns/web"]]),
        ("Delete", 400, []),
    ],
)
def test_what_was_done_is_said_and_what_was_not_is_not(
    menu: Alone, item: str, status: int, said: list[Any]
) -> None:
    opened(menu, "#pod")
    menu.page.get_by_role("menuitem", name=item, exact=True).click()
    assert len(menu.heard) == 1
    detail = f"{{ detail: {{ xhr: {{ status: {status} }} }} }}"
    menu.do(f"document.querySelector('#menu').dispatchEvent(new CustomEvent('htmx:afterRequest', {detail}))")
    assert menu.heard == said


def test_a_key_opens_it_for_what_has_the_focus(menu: Alone) -> None:
    asked = "({{ openMenuFor }}) => openMenuFor(document.querySelector('{}'))"
    assert menu.call(MENU, asked.format("#plain")) is False
    assert menu.call(MENU, asked.format("#pod")) is True
    assert items(menu) == ["YAML", "Delete", "Calls", "Bound"]
