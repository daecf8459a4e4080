"""studio/paint.js and studio/rings.js: a delta's fragments are put into the page, and pods are seen to move."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.modules.conftest import Alone

PAINT = "studio/paint.js"
PAINTED = "({ paint }, html, moved) => paint(html, moved, () => hear('after'))"
OOB = 'hx-swap-oob="true"'
# The pictures that travel: from where, relative to where they arrive; and whether the pod itself is hidden meanwhile.
TRAVELLING = """[...document.querySelectorAll(".travelling")].map((picture) => [
  picture.innerText,
  new DOMMatrix(picture.getAnimations()[0].effect.getKeyframes()[0].transform).f,
])"""
PLACES = "['here', 'there'].map((id) => document.getElementById(id)?.getBoundingClientRect().y)"


def chip(id: str, pod: str = "a/b") -> str:
    return f'<span class="pod" id="{id}"><a data-pod="{pod}">{pod}</a></span>'


def queue(*chips: str) -> str:
    return f'<div class="queue" id="active" {OOB}>{"".join(chips)}</div>'


def node(*chips: str) -> str:
    return f'<div class="node" id="n1" {OOB}>{"".join(chips)}</div>'


@pytest.fixture
def page(alone: Alone) -> Alone:
    alone.show(queue(chip("here")) + '<p id="other">other</p>' + node())
    return alone


def paint(page: Alone, html: str, *moved: str) -> list[Any]:
    """What was heard while a delta was painted."""
    page.call(PAINT, PAINTED, html, list(moved))
    return page.heard


def test_fragments_take_the_places_of_their_ids_and_nothing_else_is_touched(page: Alone) -> None:
    page.do("void (globalThis.kept = [by('other'), by('n1')])".replace("by(", "document.getElementById("))
    assert paint(page, queue(chip("one"), chip("two", "a/c"))) == ["after"]
    assert page.page.locator("#active .pod").all_inner_texts() == ["a/b", "a/c"]
    assert page.do("kept.every((element) => element.isConnected)")
    assert page.page.locator("#active").count() == 1


def test_a_field_that_is_painted_anew_keeps_the_focus_and_what_is_selected_in_it(alone: Alone) -> None:
    alone.show('<form id="form"><input id="q" value="web-1"></form>')
    alone.do("q.focus(), q.setSelectionRange(1, 3)")
    paint(alone, f'<form id="form" {OOB}><input id="q" value="web-1"><b>new</b></form>')
    assert alone.page.locator("#form b").count() == 1
    assert alone.do("[document.activeElement.id, q.selectionStart, q.selectionEnd]") == ["q", 1, 3]


def test_a_delta_without_fragments_still_tells_that_it_came(page: Alone) -> None:
    assert paint(page, "") == ["after"]


def test_a_pod_is_seen_to_move_from_its_queue_to_its_node(page: Alone) -> None:
    begin = page.do(PLACES)[0]
    assert paint(page, queue() + node(chip("there")), "a/b") == ["after"]
    end = page.do(PLACES)[1]
    assert begin != end
    assert page.do(TRAVELLING) == [["a/b", begin - end]]
    assert page.do("getComputedStyle(there).opacity") == "0"
    page.do("document.getAnimations().forEach((animation) => animation.finish())")
    page.page.locator(".travelling").wait_for(state="detached")
    assert page.do("getComputedStyle(there).opacity") == "1"


def pools(active: str, flight: str, where: str) -> str:
    """Two pools: of the rail, or of the stage."""
    boxes = (("active", active), ("flight", flight))
    return "".join(f'<div class="queue" id="{where}-{name}" {OOB}>{chips}</div>' for name, chips in boxes)


def test_a_pod_moves_in_the_rail_and_on_the_stage_by_itself(alone: Alone) -> None:
    one = chip("rail-chip"), chip("stage-chip")
    alone.show(f'<div id="rail">{pools(one[0], "", "rail")}</div>{pools(one[1], "", "stage")}')
    paint(alone, pools("", one[0], "rail") + pools("", one[1], "stage"), "a/b")
    ends = "[...document.querySelectorAll('.travelling')].map((picture) => parseFloat(picture.style.top))"
    arrived = "['rail-chip', 'stage-chip'].map((id) => document.getElementById(id).getBoundingClientRect().y)"
    assert alone.do(ends) == alone.do(arrived)


def test_a_picture_has_no_id_and_cannot_be_reached(page: Alone) -> None:
    paint(page, queue() + node(chip("there")), "a/b")
    assert page.do("document.querySelectorAll('#there').length") == 1
    assert page.do("document.querySelector('.travelling').inert") is True
    assert page.do("document.querySelector('.travelling').ariaHidden") == "true"


def test_a_pod_that_only_left_travels_nowhere(page: Alone) -> None:
    paint(page, queue(), "a/b")
    assert page.do(TRAVELLING) == []


def test_deltas_that_come_while_a_pod_travels_are_shown_at_once(page: Alone) -> None:
    paint(page, queue() + node(chip("there")), "a/b")
    page.do("document.getAnimations().forEach((animation) => animation.pause())")
    for text in ("second", "third"):
        assert paint(page, f'<p id="other" {OOB}>{text}</p>')[-1] == "after"
        assert page.page.inner_text("#other") == text
    assert len(page.do(TRAVELLING)) == 1


@pytest.mark.parametrize("moved", [[], ["a/nobody"], [f"a/{i}" for i in range(24)] + ["a/b"]])
def test_what_nobody_could_follow_is_shown_at_once(page: Alone, moved: list[str]) -> None:
    assert paint(page, queue() + node(chip("there")), *moved) == ["after"]
    assert page.do(TRAVELLING) == []


def test_who_wants_no_motion_sees_none(page: Alone) -> None:
    page.page.emulate_media(reduced_motion="reduce")
    assert paint(page, queue() + node(chip("there")), "a/b") == ["after"]
    assert page.do(TRAVELLING) == []


def ring(dash: str) -> str:
    svg = f'<svg class="ring"><circle r="1"/><circle r="5" stroke-dasharray="{dash}"/></svg>'
    return queue(f'<span class="pod"><a data-pod="a/b">b</a>{svg}</span>')


@pytest.mark.parametrize(("now", "turns"), [("10 90", [["50, 50", "10, 90"]]), ("50 50", [])])
def test_a_ring_turns_from_what_it_showed(alone: Alone, now: str, turns: list[list[str]]) -> None:
    alone.show(ring("50 50"))
    paint(alone, ring(now))
    assert turns == alone.do(
        """[...document.querySelectorAll("circle")].flatMap((circle) => circle.getAnimations())
        .map((turn) => turn.effect.getKeyframes().map((frame) => frame.strokeDasharray))"""
    )


# What moves, as the browser's own animations, read as soon as the page is painted: nothing is measured by a clock.

MOVES = """({ paint }, html, [moved, way]) => {
  paint(html, moved, () => {}, way);
  const frame = ({ transform, width }) => transform ? new DOMMatrix(transform).f : width ?? null;
  return document.getAnimations().map(({ effect }) => {
    const { duration, easing, direction } = effect.getTiming();
    return [duration, easing, direction, ...effect.getKeyframes().map(frame)];
  }).filter(([, , , from]) => from !== null);
}"""


def bars(width: int) -> str:
    bar = f'<a data-node="n1" data-plugin="Fit"><svg x="0%" width="{width}%"></svg></a>'
    return f'<div id="panel-stage" data-about="a/b" {OOB}><svg class="score-stack">{bar}</svg></div>'


def test_what_moved_on_moves_back_reversed_and_lasts_180_ms(page: Alone) -> None:
    (on,) = page.call(PAINT, MOVES, queue() + node(chip("there")), [["a/b"], "on"])
    page.do("document.getAnimations().forEach((animation) => animation.finish())")
    page.page.locator(".travelling").wait_for(state="detached")
    (back,) = page.call(PAINT, MOVES, queue(chip("here")) + node(), [[], "back"])
    assert on[:3] == [180, "ease-out", "normal"]
    assert back[:3] == [180, "ease-out", "reverse"]
    assert (on[3] < 0, on[4]) == (True, 0)
    assert back[3:] == [0, -on[3]]


def test_only_bars_whose_points_changed_move(alone: Alone) -> None:
    alone.show(bars(30))
    assert alone.call(PAINT, MOVES, bars(30), [[], "on"]) == []
    assert alone.call(PAINT, MOVES, bars(40), [[], "on"]) == [[180, "ease-out", "normal", "30%", "40%"]]


def test_while_the_rail_is_dragged_nothing_moves(page: Alone) -> None:
    assert page.call("studio/motion.js", "({ wayTo }) => wayTo(5, 60, null, true)") == "still"


def test_at_more_than_five_steps_a_second_nothing_moves(page: Alone) -> None:
    ways = """({ wayTo }, running) => {
      let now = 0;
      performance.now = () => now;
      return [1000, 1100, 1400].map((at) => {
        now = at;
        return wayTo(5, 6, running);
      });
    }"""
    assert page.call("studio/motion.js", ways, None) == ["on", "still", "on"]  # a key that is held down
    play = {"kind": "play", "rate": 5}
    assert page.call("studio/motion.js", ways, play) == ["on", "on", "on"]
    assert page.call("studio/motion.js", ways, {**play, "rate": 10}) == ["still"] * 3
    assert page.call(PAINT, MOVES, queue() + node(chip("there")), [["a/b"], "still"]) == []
    page.page.emulate_media(reduced_motion="reduce")
    assert page.call(PAINT, MOVES, queue(chip("here")) + node(), [[], "back"]) == []
