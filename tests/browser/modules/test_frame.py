"""frame/ and palette/: what the palette finds first, sizes of panes, and rows of the stage."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.modules.conftest import Alone

ORDER, PANES, ROWS = "palette/order.js", "frame/panes.js", "frame/rows.js"
MATCHING = (
    "({ matching }, labels, text) => matching(labels.map((label) => ({ label })), text).map(({ label }) => label)"
)
LABELS = ["Run to the end", "Set a bookmark", "Step to the end", "Rerun", "Show the scores"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("run", ["Run to the end", "Rerun"]),
        ("THE end", ["Run to the end", "Step to the end"]),
        ("end the", ["Run to the end", "Step to the end"]),
        ("s", ["Set a bookmark", "Step to the end", "Show the scores"]),
        ("nothing", []),
    ],
)
def test_offers_that_begin_with_the_text_come_first(alone: Alone, text: str, found: list[str]) -> None:
    alone.show()
    assert alone.call(ORDER, MATCHING, LABELS, text) == found


def test_what_was_chosen_lately_is_kept_newest_first_and_once(alone: Alone) -> None:
    alone.show()
    alone.do("localStorage.removeItem('palette')")
    for name in ("a", "b", "a"):
        alone.call(ORDER, "({ remember }, id) => remember({ id })", name)
    alone.call(ORDER, "({ remember }) => remember({ id: 'c', momentary: true })")
    assert alone.call(ORDER, "({ recent }) => recent()") == ["a", "b"]


RAIL = """<section id="rail" style="width: var(--rail, 200px); height: 50px"></section>
<div class="grip" role="separator" tabindex="0" data-pane="rail" aria-controls="rail"></div>"""


@pytest.fixture
def panes(alone: Alone) -> Alone:
    alone.show(RAIL)
    alone.do("localStorage.removeItem('panes')")
    alone.call(PANES, "({ listenPanes }) => listenPanes()")
    return alone


@pytest.mark.parametrize(
    ("keys", "width"),
    [
        (["ArrowRight"], 216),
        (["ArrowLeft"], 184),
        (["End", "ArrowRight"], 300),
        (["Home"], 0),
        (["Home", "ArrowRight"], 160),
    ],
)
def test_arrow_keys_resize_a_pane_within_bounds_and_fold_it(panes: Alone, keys: list[str], width: int) -> None:
    for key in keys:
        panes.page.press(".grip", key)
    assert panes.do("document.body.style.getPropertyValue('--rail')") == f"{width}px"
    assert panes.do("document.body.hasAttribute('data-folded')") == (width == 0)


def test_a_double_click_gives_a_pane_its_first_size_and_a_reload_the_chosen_one(panes: Alone) -> None:
    panes.page.press(".grip", "ArrowRight")
    assert panes.do("JSON.parse(localStorage.panes)") == {"rail": 216}
    panes.do("void document.querySelector('.grip').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))")
    assert panes.do("[document.body.style.getPropertyValue('--rail'), localStorage.panes]") == ["", "{}"]


STAGE = """<section id="stage"><table><tr><td><a href="#1" data-node="a">a</a><a href="#2" data-pod="p">p</a></td></tr>
<tr class="chosen"><td><a href="#3" data-node="b">b</a></td></tr><tr><td><a href="#4" data-node="c">c</a></td></tr></table></section>"""


def test_rows_are_walked_from_the_chosen_one_and_not_beyond_the_last(alone: Alone) -> None:
    alone.show(STAGE)
    seen: list[Any] = []
    for by in (1, 1, 1, -1, -1, -1):
        alone.call(ROWS, "({ moveRow }, by) => moveRow(by)", by)
        seen.append(alone.do("document.activeElement.textContent"))
    assert seen == ["b", "c", "c", "b", "a", "a"]
    alone.show("<section id='stage'></section>")
    assert alone.call(ROWS, "({ moveRow }) => moveRow(1)") is False
