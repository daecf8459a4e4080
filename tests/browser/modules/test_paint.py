"""studio/paint.js and studio/rings.js: a delta's fragments are put into the page, and pods are seen to move."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.modules.conftest import Alone

PAINT = "studio/paint.js"
PAINTED = "({ paint }, html, moved) => paint(html, moved, () => hear('after'))"
OOB = 'hx-swap-oob="true"'
# A transition that begins and ends when the test says so.
TRANSITION = """void (document.startViewTransition = (update) => {
  const [changed, finished] = [Promise.withResolvers(), Promise.withResolvers()];
  hear("begin", names());
  globalThis.begin = async () => {
    update();
    changed.resolve();
    await changed.promise;
  };
  globalThis.end = finished.resolve;
  return {
    updateCallbackDone: changed.promise,
    finished: finished.promise,
    ready: Promise.resolve(),
    skipTransition: () => hear("skipped"),
  };
})"""
NAMES = """globalThis.names = () => Object.fromEntries(
  [...document.querySelectorAll("[style]")].map((e) => [e.id, e.style.viewTransitionName]).filter(([, name]) => name)
)"""


def chip(id: str, pod: str = "a/b") -> str:
    return f'<span class="pod" id="{id}"><a data-pod="{pod}">{pod}</a></span>'


def queue(*chips: str) -> str:
    return f'<div class="queue" id="active" {OOB}>{"".join(chips)}</div>'


def node(*chips: str) -> str:
    return f'<div class="node" id="n1" {OOB}>{"".join(chips)}</div>'


@pytest.fixture
def page(alone: Alone) -> Alone:
    alone.show(queue(chip("here")) + node() + '<p id="other">other</p>')
    alone.do(NAMES)
    alone.do(TRANSITION)
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
    assert paint(page, queue() + node(chip("there")), "a/b") == [["begin", {"here": "pod-0"}]]
    page.do("begin()")
    assert (page.heard, page.do("names()")) == (["after"], {"there": "pod-0"})
    page.do("end()")
    assert page.do("names()") == {}


def test_a_pod_that_only_left_is_named_nowhere(page: Alone) -> None:
    paint(page, queue(), "a/b")
    page.do("begin()")
    assert page.do("names()") == {}


def test_deltas_that_come_while_one_is_about_to_be_shown_follow_it_in_their_order(page: Alone) -> None:
    paint(page, queue() + node(chip("there")), "a/b")
    for text in ("second", "third"):
        assert paint(page, f'<p id="other" {OOB}>{text}</p>', "a/b") == ["skipped"]
    assert page.page.inner_text("#other") == "other"
    page.do("begin()")
    assert (page.heard, page.page.inner_text("#other")) == (["after"] * 3, "third")
    assert paint(page, f'<p id="other" {OOB}>fourth</p>') == ["after"]


@pytest.mark.parametrize("moved", [[], ["a/nobody"], [f"a/{i}" for i in range(24)] + ["a/b"]])
def test_what_nobody_could_follow_is_shown_at_once(page: Alone, moved: list[str]) -> None:
    assert paint(page, queue() + node(chip("there")), *moved) == ["after"]


def test_who_wants_no_motion_sees_none(page: Alone) -> None:
    page.page.emulate_media(reduced_motion="reduce")
    assert paint(page, queue() + node(chip("there")), "a/b") == ["after"]


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
