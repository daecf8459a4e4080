"""heat/: where each node of a large cluster is drawn, what is drawn there, how the map is zoomed, how a node is found, told and opened."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.browser.modules.conftest import Alone

ARRANGE, DATA, HEAT, VIEW, WORDS = (f"heat/{name}.js" for name in ("arrange", "data", "heat", "view", "words"))
UNSEEN, OK, NO, BEST, HERE = range(5)


def encoded(*numbers: int) -> str:
    return base64.b64encode(bytes(numbers)).decode()


# Where the cells are --------------------------------------------------------------------------------------------------------

LAID_OUT = """({ arrange, nodeAt, nodeBeside }, codes, values, blocks, width, room, ask = "null") => {
  const groups = { codes: Uint8Array.from(codes), blocks: blocks && Uint8Array.from(blocks), values, none: "none", all: "all nodes" };
  const layout = arrange(codes.length, groups, width, room);
  const { place, ...rest } = layout;
  return { ...rest, place: [...place], answer: eval(ask) };
}"""


def arranged(
    alone: Alone,
    codes: list[int],
    values: list[str],
    blocks: list[int] | None = None,
    width: int = 400,
    room: int = 300,
    ask: str = "null",
) -> dict[str, Any]:
    alone.show()
    layout: dict[str, Any] = alone.call(ARRANGE, LAID_OUT, codes, values, blocks, width, room, ask)
    return layout


def test_cells_are_as_large_as_the_map_has_room_for(alone: Alone) -> None:
    many = arranged(alone, [0] * 5000, [], width=800, room=600)
    assert 8 < many["pitch"] < 10
    assert many["height"] <= 600
    assert [(heading["text"], heading["count"]) for heading in many["headings"]] == [("all nodes", 5000)]
    assert arranged(alone, [0], [])["pitch"] > 100


def test_what_has_no_room_at_all_reaches_beyond_it(alone: Alone) -> None:
    assert arranged(alone, [0] * 60_000, [])["height"] > 300


def test_groups_stand_in_their_order_and_empty_ones_nowhere(alone: Alone) -> None:
    layout = arranged(alone, [3, 0, 2, 0], ["a", "b", "c"])
    assert [(heading["text"], heading["count"]) for heading in layout["headings"]] == [("a", 2), ("c", 1), ("none", 1)]
    assert layout["order"] == [1, 3, 2, 0]


def test_racks_are_blocks_of_their_group(alone: Alone) -> None:
    layout = arranged(alone, [0] * 20, ["a"], [0, 1] * 10)
    left = layout["place"][0::2]
    assert max(left[0::2]) < min(left[1::2])
    assert layout["order"] == [*range(0, 20, 2), *range(1, 20, 2)]


@pytest.mark.parametrize(
    ("ask", "node"),
    [
        ("nodeAt(layout, place[0] + 1, place[1] + 1)", 0),
        ("nodeAt(layout, place[2] + 1, place[3] + 1)", 1),
        ("nodeAt(layout, 3, 5)", -1),
        ("nodeBeside(layout, -1, 'ArrowRight')", 0),
        ("nodeBeside(layout, 0, 'ArrowRight')", 1),
        ("nodeBeside(layout, 1, 'ArrowLeft')", 0),
        ("nodeBeside(layout, 0, 'ArrowLeft')", 0),
        ("nodeBeside(layout, 0, 'ArrowUp')", 0),
        ("place[2 * nodeBeside(layout, 0, 'ArrowDown') + 1] > place[1]", True),
        ("nodeBeside(layout, 6, 'x') ?? null", None),
    ],
)
def test_a_node_is_found_by_its_place_and_by_arrow_keys(alone: Alone, ask: str, node: int | None) -> None:
    assert arranged(alone, [0] * 7, [], width=250, ask=ask)["answer"] == node


# What is seen of it ---------------------------------------------------------------------------------------------------------

LOOK = """(view, ask) => {
  const layout = { place: Float32Array.from([0, 24, 10, 24, 0, 34, 10, 34]), pitch: 10, width: 380, height: 280, order: [0, 1, 2, 3] };
  const size = { width: 400, height: 300 };
  return eval(ask);
}"""


@pytest.mark.parametrize(
    ("ask", "seen"),
    [
        ("view.zoomed(view.WHOLE, layout, size, 0.5, 200, 150)", {"scale": 1, "x": 0, "y": 0}),
        ("view.zoomed(view.WHOLE, layout, size, 2, 10, 10)", {"scale": 2, "x": 0, "y": 0}),
        ("view.zoomed(view.WHOLE, layout, size, 2, 210, 110)", {"scale": 2, "x": 100, "y": 50}),
        ("view.panned({ scale: 2, x: 0, y: 0 }, layout, size, 40, 20)", {"scale": 2, "x": 20, "y": 10}),
        ("view.panned({ scale: 2, x: 0, y: 0 }, layout, size, -40, 9999)", {"scale": 2, "x": 0, "y": 140}),
        ("view.around(layout, size, [0, 1, 2, 3]).scale", 12.5),
        ("view.around(layout, size, [3]).scale", 11),
        ("view.reaching(view.WHOLE, layout, size, 3) === view.WHOLE", True),
        ("view.reaching({ scale: 20, x: 300, y: 200 }, layout, size, 0).x", 0),
    ],
)
def test_the_view_is_zoomed_moved_and_kept_on_the_map(alone: Alone, ask: str, seen: Any) -> None:
    alone.show()
    assert alone.call(VIEW, LOOK, ask) == seen


# What is told ---------------------------------------------------------------------------------------------------------------

TEXTS = {
    "ok": "feasible",
    "best": "highest",
    "here": "taken",
    "no": "refused",
    "unseen": "not examined",
    "without": "no value",
}
READ = """({ readCells, isFound }, data) => {
  const { mode, state, value, labels, reasons, found } = readCells(data);
  return [mode, [...state], [...value], labels, reasons, found && [0, 1, 2].map((node) => isFound(readCells(data), node))];
}"""


def cells(mode: str = "filter", **more: str) -> dict[str, str]:
    """A node in each state; the third was refused for the second reason."""
    data = {"mode": mode, "state": encoded(UNSEEN, OK, NO, BEST, HERE), "value": "", "labels": ""}
    if mode != "filter":
        data |= {"value": encoded(255, 0, 255, 1, 1), "labels": "0–9\n10–19"}
    return {**data, "reason": encoded(0, 0, 1, 0, 0), "reasons": "✕ too small\n⊘ tainted", **TEXTS, **more}


def test_what_the_panel_brings_is_read(alone: Alone) -> None:
    alone.show()
    state, value = [UNSEEN, OK, NO, BEST, HERE], [255, 0, 255, 1, 1]
    reasons, labels = ["✕ too small", "⊘ tainted"], ["0–9", "10–19"]
    read = alone.call(DATA, READ, cells("score", searched="1", found=encoded(0b01000000)))
    assert read == ["score", state, value, labels, reasons, [False, True, False]]
    assert alone.call(DATA, READ, {}) == ["", [], [], [], [], None]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (cells(), [["– not examined"], ["✓ feasible"], ["⊘ tainted"], ["★ highest"], ["◆ taken"]]),
        (
            cells("score"),
            [
                ["– not examined"],
                ["✓ feasible", "score: 0–9"],
                ["⊘ tainted"],
                ["★ highest", "score: 10–19"],
                ["◆ taken", "score: 10–19"],
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
        (
            cells(),
            [("ok", "feasible"), ("best", "highest"), ("here", "taken"), ("no", "refused"), ("unseen", "not examined")],
        ),
        (cells("cpu"), [("band", "0–9"), ("band", "10–19"), ("no", "refused"), ("unseen", "no value")]),
    ],
)
def test_the_legend_says_what_is_on_the_map_and_how_often(
    alone: Alone, data: dict[str, str], legend: list[tuple[str, str]]
) -> None:
    alone.show()
    script = """async ({ legendOf }, data) => {
      const { readCells } = await import("/static/playground/js/heat/data.js");
      return legendOf(readCells(data));
    }"""
    found = alone.call(WORDS, script, data)
    assert [(item["kind"], item["text"]) for item in found] == legend
    assert sum(item["count"] for item in found) == 5


# The map itself -------------------------------------------------------------------------------------------------------------

TOKENS = {
    "panel": "#ffffff",
    "line": "#111111",
    "ok": "#008800",
    "ok-mark": "#00ff00",
    "no-mark": "#ff0000",
    "no-soft": "#ffeeee",
    "hold-mark": "#0000ff",
    "idle-mark": "#888888",
    "now": "#00aaff",
    "ink": "#000000",
    **{f"m{i}": f"#0{i}0{i}0{i}" for i in range(1, 8)},
}
STYLE = f"""<style>:root {{ {";".join(f"--{name}: {value}" for name, value in TOKENS.items())} }}
body {{ margin: 0 }} #heat-holder {{ width: 200px }}
canvas {{ display: block; width: 100%; height: 160px }} #tip {{ white-space: pre }}</style>"""
CANVAS = f"""{STYLE}<div id="heat-holder" hidden data-heat="heat" data-squares="squares" data-cards="cards" data-pods="pods">
<canvas id="heat" tabindex="0"></canvas><p id="heat-says"></p><p id="heat-legend"></p><output id="heat-level"></output>
<button id="heat-found" data-zoom="found"></button><button id="in" data-zoom="in">+</button><button id="all" data-zoom="all">All</button>
<input id="map-q" value="x"></div><div id="tip"></div>"""
NAMES = '{"names": ["n0", "n1", "n2", "n3", "n4"], "nodes": []}'


def panel(order: str = "1", mode: str = "filter", **data: str) -> str:
    groups = {"codes": encoded(0, 0, 0, 0, 0), "values": "", "all": "all nodes", "order": order}
    return element("map-groups", groups) + element("map-heat", cells(mode, **data))


def element(id: str, data: dict[str, str]) -> str:
    attributes = " ".join(f'data-{name}="{value}"' for name, value in data.items())
    return f'<div id="{id}" {attributes}></div>'


@pytest.fixture
def heat(alone: Alone) -> Alone:
    alone.show(CANVAS + panel())
    alone.answer("nodes.json", NAMES)
    alone.call(HEAT, "async ({ drawHeat, listenHeat }) => { listenHeat(hear); await drawHeat(); }")
    return alone


def bring(heat: Alone, html: str) -> None:
    """A delta brings fresh data."""
    heat.do("document.querySelectorAll('#map-heat, #map-groups').forEach((old) => old.remove())")
    heat.page.evaluate("(html) => document.body.insertAdjacentHTML('beforeend', html)", html)
    heat.call(HEAT, "({ drawHeat }) => drawHeat()")


def colours(heat: Alone) -> set[str]:
    """All colours on the canvas, once the next frame is painted."""
    script = """async () => {
      await new Promise((after) => requestAnimationFrame(() => requestAnimationFrame(after)));
      const canvas = document.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const found = new Set();
      for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] === 255) found.add("#" + [...data.slice(i, i + 3)].map((part) => part.toString(16).padStart(2, "0")).join(""));
      }
      return [...found];
    }"""
    return set(heat.page.evaluate(script))


def test_every_verdict_has_its_look(heat: Alone) -> None:
    assert {TOKENS[name] for name in ("ok", "ok-mark", "no-soft", "hold-mark", "idle-mark")} <= colours(heat)


def test_legend_and_cells_have_the_same_colours(heat: Alone) -> None:
    bring(heat, panel(mode="score"))
    swatches = heat.do("[...document.querySelectorAll('#heat-legend .band')].map((mark) => mark.style.background)")
    assert swatches == ["rgb(7, 7, 7)", "rgb(1, 1, 1)"]
    assert {TOKENS["m7"], TOKENS["m1"]} <= colours(heat)
    said = heat.do("[...document.querySelectorAll('#heat-legend span')].map((item) => item.textContent)")
    assert said == ["0–9 1", "10–19 2", "refused 1", "no value 1"]


def test_a_small_cluster_has_no_canvas(heat: Alone) -> None:
    bring(heat, "")
    assert heat.page.is_hidden("#heat-holder")


def test_what_the_search_means_is_ringed_and_zoomed_to(heat: Alone) -> None:
    assert TOKENS["now"] not in colours(heat)
    bring(heat, panel(searched="1", found=encoded(0b01000000)))
    assert TOKENS["now"] in colours(heat)
    before = heat.page.inner_text("#heat-level")
    heat.page.press("#map-q", "Enter")
    colours(heat)
    assert (before, heat.page.inner_text("#heat-level")) == ("squares", "cards")
    heat.page.click("#all")
    colours(heat)
    assert heat.page.inner_text("#heat-level") == "squares"


def test_keys_and_buttons_zoom(heat: Alone) -> None:
    heat.page.click("#in")
    heat.page.focus("canvas")
    for _ in range(7):
        heat.page.keyboard.press("+")
    colours(heat)
    assert heat.page.inner_text("#heat-level") == "pods"
    heat.page.keyboard.press("0")
    colours(heat)
    assert heat.page.inner_text("#heat-level") == "squares"


def test_the_mouse_points_at_a_node_and_a_click_opens_it(heat: Alone) -> None:
    heat.page.mouse.move(20, 50)
    assert heat.page.inner_text("#tip") == "n0\n– not examined"
    heat.page.mouse.click(20, 50)
    assert heat.heard == ["n0"]
    heat.page.mouse.move(195, 76)
    assert heat.page.is_hidden("#tip")


def test_dragging_opens_nothing(heat: Alone) -> None:
    heat.page.click("#in")
    heat.page.mouse.move(20, 50)
    heat.page.mouse.down()
    heat.page.mouse.move(60, 60, steps=3)
    heat.page.mouse.up()
    assert heat.heard == []


def test_arrow_keys_go_from_node_to_node_and_enter_opens(heat: Alone) -> None:
    heat.page.focus("canvas")
    heat.page.keyboard.press("ArrowRight")
    heat.page.keyboard.press("ArrowRight")
    assert heat.page.inner_text("#heat-says") == "n1 ✓ feasible"
    heat.page.keyboard.press("Enter")
    assert heat.heard == ["n1"]
    assert "feasible" in heat.page.inner_text("#heat-legend")


def test_names_are_fetched_once_for_each_order_of_the_nodes(heat: Alone) -> None:
    heat.do("void (globalThis.fetch = async (url) => (hear(url), { ok: true, json: async () => ({ names: ['m0'] }) }))")
    for order in ("1", "2", "2"):
        bring(heat, panel(order))
    assert heat.heard == ["nodes.json"]


def test_a_key_that_is_quicker_than_the_names_is_answered_with_the_name_when_it_is_known(heat: Alone) -> None:
    heat.do(
        "void (globalThis.fetch = () => new Promise((answer) => { globalThis.come = () => answer("
        "{ ok: true, json: async () => ({ names: ['m0'] }) }); }))"
    )
    heat.do("document.querySelectorAll('#map-heat, #map-groups').forEach((old) => old.remove())")
    heat.page.evaluate("(html) => document.body.insertAdjacentHTML('beforeend', html)", panel("2"))
    heat.call(HEAT, "({ drawHeat }) => { void drawHeat(); }")
    heat.page.press("canvas", "ArrowRight")
    assert heat.page.inner_text("#heat-says") == "… – not examined"
    heat.do("void come()")
    heat.page.wait_for_function("document.querySelector('#heat-says').innerText === 'm0 – not examined'", timeout=5_000)


def test_cards_ask_for_what_they_say_of_the_nodes_on_the_screen(heat: Alone) -> None:
    heat.do("void (globalThis.fetch = async (url) => (hear(url), { ok: true, json: async () => ({ nodes: [] }) }))")
    heat.page.focus("canvas")
    for _ in range(3):
        heat.page.keyboard.press("+")
    colours(heat)
    heat.do("tick(200)")
    (asked,) = heat.heard
    assert asked.startswith("nodes.json?rows=") and asked.endswith("&mode=filter")


def test_what_acts_on_matches_gets_their_names(heat: Alone) -> None:
    bring(heat, panel(searched="1", found=encoded(0b01010000)))
    assert heat.call("heat/matches.js", "({ matchingNodes }) => matchingNodes()") == ["n1", "n3"]
    bring(heat, panel())
    assert heat.call("heat/matches.js", "({ matchingNodes }) => matchingNodes()") == []
