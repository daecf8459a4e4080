"""frame/roving.js: a long list of links is one stop of the Tab key."""

from __future__ import annotations

import pytest

from tests.browser.modules.conftest import Alone

ROVING = "frame/roving.js"
LIST = """<a id="before" href="#">before</a><div data-roving><p><a id="a" href="#">a</a></p><p class="chosen"><a id="b" href="#">b</a></p>
<p><a id="c" href="#">c</a></p></div><a id="after" href="#">after</a>"""


@pytest.fixture
def roving(alone: Alone) -> Alone:
    alone.show(LIST)
    alone.call(ROVING, "({ rove, listenRoving }) => { listenRoving(); rove(); }")
    return alone


def focused(alone: Alone) -> str:
    found: str = alone.do("document.activeElement.id")
    return found


def test_tab_stops_at_the_chosen_row_alone(roving: Alone) -> None:
    roving.page.focus("#before")
    stops = []
    for _ in range(2):
        roving.page.keyboard.press("Tab")
        stops.append(focused(roving))
    assert stops == ["b", "after"]


def test_arrow_keys_go_on_from_there_and_tab_comes_back_to_it(roving: Alone) -> None:
    roving.page.focus("#b")
    roving.page.keyboard.press("ArrowDown")
    roving.page.keyboard.press("ArrowDown")
    assert focused(roving) == "c"
    roving.page.keyboard.press("Shift+Tab")
    assert focused(roving) == "before"
