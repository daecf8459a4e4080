"""heat/: where each node of a large cluster is drawn, what is drawn there, and how a node is found, told and opened."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.browser.modules.conftest import Alone

ARRANGE, DATA, HEAT, WORDS = "heat/arrange.js", "heat/data.js", "heat/heat.js", "heat/words.js"
UNSEEN, OK, NO, BEST, HERE = range(5)


def encoded(*numbers: int) -> str:
    return base64.b64encode(bytes(numbers)).decode()


# Where the squares are ------------------------------------------------------------------------------------------------------

LAID_OUT = """({ arrange, nodeAt, nodeBeside }, codes, values, width, ask = "null") => {
  const groups = { codes: Uint8Array.from(codes), values, none: "none", all: "all nodes" };
  const layout = arrange(codes.length, groups, width);
  const { place, ...rest } = layout;
  return { ...rest, place: [...place], answer: eval(ask) };
}"""


def arranged(
    alone: Alone, codes: list[int], values: list[str], width: int = 100, ask: str = "null"
) -> dict[str, Any]:
    alone.show()
    layout: dict[str, Any] = alone.call(ARRANGE, LAID_OUT, codes, values, width, ask)
    return layout


def test_a_large_cluster_has_small_squares_in_rows_as_wide_as_there_is_room(alone: Alone) -> None:
    layout = arranged(alone, [0] * 1000, [], 800)
    assert (layout["side"], layout["columns"], layout["width"]) == (11, 61, 800)
    assert layout["place"][:4] == [0, 20, 13, 20]
    assert layout["place"][61 * 2 : 61 * 2 + 2] == [0, 33]
    assert layout["headings"] == [{"text": "all nodes", "count": 1000, "y": 13}]


@pytest.mark.parametrize(("nodes", "side"), [(1, 16), (100_000, 6)])
def test_squares_are_neither_too_small_nor_too_large(alone: Alone, nodes: int, side: int) -> None:
    assert arranged(alone, [0] * nodes, [])["side"] == side


def test_groups_stand_one_under_the_other_and_empty_ones_nowhere(alone: Alone) -> None:
    layout = arranged(alone, [3, 0, 2, 0], ["a", "b", "c"])
    assert [(heading["text"], heading["count"]) for heading in layout["headings"]] == [
        ("a", 2),
        ("c", 1),
        ("none", 1),
    ]
    assert layout["order"] == [1, 3, 2, 0]
    tops = layout["place"][1::2]
    assert tops[1] == tops[3] < tops[2] < tops[0] < layout["height"]


@pytest.mark.parametrize(
    ("ask", "node"),
    [
        ("nodeAt(layout, 3, 24)", 0),
        ("nodeAt(layout, 20, 24)", 1),
        ("nodeAt(layout, 3, 5)", -1),
        ("nodeAt(layout, 99, 99)", -1),
        ("nodeBeside(layout, -1, 'ArrowRight')", 0),
        ("nodeBeside(layout, 0, 'ArrowRight')", 1),
        ("nodeBeside(layout, 0, 'ArrowDown')", 5),
        ("nodeBeside(layout, 5, 'ArrowUp')", 0),
        ("nodeBeside(layout, 0, 'ArrowLeft')", 0),
        ("nodeBeside(layout, 6, 'ArrowDown')", 6),
        ("nodeBeside(layout, 6, 'x') ?? null", None),
    ],
)
def test_a_node_is_found_by_its_place_and_by_arrow_keys(alone: Alone, ask: str, node: int | None) -> None:
    assert arranged(alone, [0] * 7, [], 100, ask)["answer"] == node


# What is told ---------------------------------------------------------------------------------------------------------------

TEXTS = {"ok": "feasible", "best": "highest", "here": "taken", "unseen": "not reached", "used": "in use"}
READ = """({ readCells }, data) => {
  const { mode, state, value, reasons, scores } = readCells(data);
  return [mode, [...state], [...value], reasons, scores];
}"""


def cells(mode: str, **more: str) -> dict[str, str]:
    """A node in each state; the third was refused for the second reason."""
    states = encoded(UNSEEN, OK, NO, BEST, HERE)
    data = {"mode": mode, "state": states, "value": encoded(0, 51, 0, 255, 255)}
    return {**data, "reason": encoded(0, 0, 1, 0, 0), "reasons": "too small\ntainted", **TEXTS, **more}


def test_what_the_panel_brings_is_read(alone: Alone) -> None:
    alone.show()
    state = [UNSEEN, OK, NO, BEST, HERE]
    value = [0, 51, 0, 255, 255]
    reasons = ["too small", "tainted"]
    assert alone.call(DATA, READ, cells("score", scores="10 60")) == [
        "score",
        state,
        value,
        reasons,
        [10, 60],
    ]
    assert alone.call(DATA, READ, {}) == ["", [], [], [], None]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (cells("filter"), [["not reached"], ["feasible"], ["tainted"], ["highest"], ["taken"]]),
        (
            cells("score", scores="10 60"),
            [["not reached"], ["feasible", "≈ 20"], ["tainted"], ["highest", "≈ 60"], ["taken", "≈ 60"]],
        ),
        (
            cells("utilisation"),
            [
                ["not reached", "0 % in use"],
                ["feasible", "20 % in use"],
                ["tainted", "0 % in use"],
                ["highest", "100 % in use"],
                ["taken", "100 % in use"],
            ],
        ),
    ],
)
def test_every_node_is_told_in_words(alone: Alone, data: dict[str, str], told: list[list[str]]) -> None:
    alone.show()
    script = """async ({ wordsOf }, data) => {
      const { readCells } = await import("/static/playground/js/heat/data.js");
      return [0, 1, 2, 3, 4].map((node) => wordsOf(readCells(data), node));
    }"""
    assert alone.call(WORDS, script, data) == told


@pytest.mark.parametrize(
    ("data", "legend"),
    [
        (cells("filter"), [["--ok-mark", "feasible"], ["--best-mark", "highest"], ["--accent", "taken"]]),
        (
            cells("score", scores="10 60"),
            [["--accent-soft", "10"], ["--accent", "60"], ["--best-mark", "highest"], ["--ok-mark", "taken"]],
        ),
        (cells("utilisation"), []),
    ],
)
def test_the_legend_says_what_the_colours_mean(
    alone: Alone, data: dict[str, str], legend: list[list[str]]
) -> None:
    alone.show()
    script = """async ({ legendOf }, data) => {
      const { readCells } = await import("/static/playground/js/heat/data.js");
      return legendOf(readCells(data));
    }"""
    assert alone.call(WORDS, script, data) == legend


# The map itself -------------------------------------------------------------------------------------------------------------

TOKENS = {
    "line": "#111111",
    "ok-mark": "#00ff00",
    "no-mark": "#ff0000",
    "best-mark": "#ffff00",
    "accent": "#0000ff",
}
STYLE = f"""<style>:root {{ {";".join(f"--{name}: {value}" for name, value in TOKENS.items())} }}
body {{ margin: 0 }} #heat-holder {{ width: 200px }} canvas {{ display: block; width: 100% }} #tip {{ white-space: pre }}</style>"""
CANVAS = f'{STYLE}<div id="heat-holder" hidden><canvas id="heat" tabindex="0"></canvas><p id="heat-says"></p></div><div id="tip"></div>'


def panel(order: str = "1", chosen: str = "", **data: str) -> str:
    groups = {"codes": encoded(0, 0, 0, 0, 0), "values": "", "all": "all nodes", "order": order}
    heat = cells("filter", **data) | ({"chosen": chosen} if chosen else {})
    return element("map-groups", groups) + element("map-heat", heat)


def element(id: str, data: dict[str, str]) -> str:
    attributes = " ".join(f'data-{name}="{value}"' for name, value in data.items())
    return f'<div id="{id}" {attributes}></div>'


NAMES = '{"names": ["n0", "n1", "n2", "n3", "n4"]}'


@pytest.fixture
def heat(alone: Alone) -> Alone:
    alone.show(CANVAS + panel())
    alone.answer("nodes.json", NAMES)
    alone.call(HEAT, "async ({ drawHeat, listenHeat }) => { listenHeat(hear); await drawHeat(); }")
    return alone


def colour(heat: Alone, node: int) -> str:
    """The middle of a node's square."""
    script = """(x, y) => {
      const { data } = document.querySelector("canvas").getContext("2d").getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1);
      return [...data].map((part) => part.toString(16).padStart(2, "0")).join("");
    }"""
    found: str = heat.do(f"({script})({node * 18 + 8}, 28)")
    return f"#{found}"


def test_every_state_has_its_colour(heat: Alone) -> None:
    colours = [colour(heat, node) for node in range(5)]
    assert colours[:2] + colours[3:] == ["#111111ff", "#00ff00ff", "#ffff00ff", "#0000ffff"]
    assert colours[2].startswith("#ff0000") and colours[2][-2:] in ("7f", "80")


def bring(heat: Alone, html: str) -> None:
    """A delta brings fresh data."""
    heat.do("document.querySelectorAll('#map-heat, #map-groups').forEach((old) => old.remove())")
    heat.page.evaluate("(html) => document.body.insertAdjacentHTML('beforeend', html)", html)
    heat.call(HEAT, "({ drawHeat }) => drawHeat()")


def test_a_fresh_panel_is_drawn_and_a_small_cluster_has_no_canvas(heat: Alone) -> None:
    bring(heat, panel(state=encoded(NO, NO, NO, NO, OK)))
    assert colour(heat, 4) == "#00ff00ff"
    bring(heat, "")
    assert heat.page.is_hidden("#heat-holder")


def test_the_mouse_tells_a_node_and_opens_it(heat: Alone) -> None:
    heat.page.mouse.move(2 * 18 + 8, 28)
    assert heat.page.inner_text("#tip") == "n2\ntainted"
    heat.page.mouse.click(3 * 18 + 8, 28)
    assert heat.heard == ["n3"]
    heat.page.mouse.move(900, 600)
    assert heat.page.is_hidden("#tip")


def test_keys_move_along_the_squares_and_say_each_node(heat: Alone) -> None:
    for key, said in (
        ("ArrowRight", "n0 not reached"),
        ("ArrowRight", "n1 feasible"),
        ("ArrowLeft", "n0 not reached"),
    ):
        heat.page.press("canvas", key)
        assert heat.page.inner_text("#heat-says") == said
    heat.page.press("canvas", "Enter")
    assert heat.heard == ["n0"]
    heat.do("document.activeElement.blur()")
    assert "feasible" in heat.page.inner_text("#heat-says")


def test_names_are_fetched_once_for_each_order_of_the_nodes(heat: Alone) -> None:
    heat.do(
        "void (globalThis.fetch = async (url) => (hear(url), { ok: true, json: async () => ({ names: ['m0'] }) }))"
    )
    for order in ("1", "2", "2"):
        bring(heat, panel(order))
    assert heat.heard == ["nodes.json"]
    heat.page.mouse.move(8, 28)
    assert heat.page.inner_text("#tip") == "m0\nnot reached"


def test_the_squares_are_arranged_anew_when_the_room_changes(heat: Alone) -> None:
    assert colour(heat, 4) == "#0000ffff"
    heat.do("void (document.querySelector('#heat-holder').style.width = '40px')")
    heat.page.wait_for_function(
        "document.querySelector('canvas').width === Math.round(40 * devicePixelRatio)"
    )
    assert heat.do("document.querySelector('canvas').clientHeight") > 60


def test_a_key_that_is_quicker_than_the_names_is_answered_with_the_name_when_it_is_known(heat: Alone) -> None:
    heat.do(
        "void (globalThis.fetch = () => new Promise((answer) => { globalThis.come = () => answer("
        "{ ok: true, json: async () => ({ names: ['m0'] }) }); }))"
    )
    heat.do("document.querySelectorAll('#map-heat, #map-groups').forEach((old) => old.remove())")
    heat.page.evaluate("(html) => document.body.insertAdjacentHTML('beforeend', html)", panel("2"))
    heat.call(HEAT, "({ drawHeat }) => { void drawHeat(); }")
    heat.page.press("canvas", "ArrowRight")
    assert heat.page.inner_text("#heat-says") == "… not reached"
    heat.do("void come()")
    heat.page.wait_for_function(
        "document.querySelector('#heat-says').innerText === 'm0 not reached'", timeout=5_000
    )
