"""Presses of Step at the default size: few for a placement, and each of them changes the stage."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from playground.lessons import lesson_of, play
from playground.lessons.play import begin_lesson
from playground.presenters import Look, present
from playground.presenters.panels import PanelChange
from playground.sessions.web.publisher import render_delta
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import TimeSlice
from scheduler_core.base.trace.journal import Place
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import pod, three_nodes

MOST = 12


def picture(sim: Simulation) -> object:
    """The stage as it is rendered, without what changes at each step."""
    return render_delta([PanelChange("stage", present("stage", sim, Look()), {})])


def press(sim: Simulation, story: str = "") -> None:
    """Step as a session with this lesson does."""
    engine = Engine(sim.seed, TimeSlice(), story)
    sim.step(Grain.PLUGIN, engine.stops(Grain.PLUGIN, sim))


def presses(sim: Simulation, over: Callable[[Simulation], bool], story: str = "") -> int:
    """Press Step until a condition holds; each press has to change the picture. Return the number of presses."""
    before, count = picture(sim), 0
    while not over(sim):
        press(sim, story)
        count += 1
        after = picture(sim)
        assert after != before, f"press {count} (to step {sim.position}) changes nothing"
        before = after
    return count


def has_place(key: str, *places: Place) -> Callable[[Simulation], bool]:
    return lambda sim: sim.journal.place(key) in places


def test_a_placement_in_the_first_lesson_takes_at_most_12_presses() -> None:
    lesson = lesson_of("first-placement")
    assert lesson is not None
    sim, _ = begin_lesson(lesson)
    assert presses(sim, has_place("default/web-1", Place.BINDING, Place.BOUND), "first-placement") <= MOST


def test_a_placement_of_one_pod_takes_at_most_12_presses_until_it_is_bound() -> None:
    assert presses(three_nodes(pod("web-1", cpu="500m")), has_place("default/web-1", Place.BOUND)) <= MOST


def test_in_a_lesson_a_press_stops_at_each_card_that_asks() -> None:
    lesson = lesson_of("first-placement")
    assert lesson is not None
    sim, _ = begin_lesson(lesson)
    ends = []
    while not has_place("default/web-1", Place.BINDING)(sim):
        press(sim, "first-placement")
        ends.append(sim.position)
    positions = play(lesson).positions
    asking = {positions[card.id] for card in lesson.plan.cards if card.question is not None} & set(range(ends[-1]))
    assert len(asking) >= 2
    assert asking <= set(ends)


@pytest.mark.parametrize("story", ["read-pending", "permit-and-bind", "preemption"])
def test_each_press_changes_the_stage_in_other_lessons(story: str) -> None:
    lesson = lesson_of(story)
    assert lesson is not None
    sim, _ = begin_lesson(lesson)
    assert presses(sim, lambda w: len(w.journal.attempts) >= 2 or w.idle, story) > 3
