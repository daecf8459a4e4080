"""The curves of a scheduler's figures over virtual time."""

from __future__ import annotations

from itertools import pairwise

from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME, ApplyObjects
from scheduler_core.world.scrapes import MOST, Scrapes
from tests.scheduler_core.worlds import node, pod, settle, world

NAME = DEFAULT_SCHEDULER_NAME
MILLISECOND = 1_000_000


def test_a_scrape_holds_what_was_until_time_moved_on() -> None:
    sim = world(node("a"), pod("web"))
    settle(sim)
    curve = sim.scrapes.taken[NAME]
    assert [(one.t, one.active, one.scheduled) for one in curve[:3]] == [
        (0, 0, 0),  # the pod is in flight by the time the clock moves
        (MILLISECOND, 0, 0),
        (6 * MILLISECOND, 0, 1),
    ]


def test_waiting_pods_are_seen() -> None:
    sim = world(node("a"), *(pod(f"p{i}", cpu="100m") for i in range(4)))
    settle(sim)
    assert [one.active for one in sim.scrapes.taken[NAME][:4]] == [3, 2, 1, 0]


def test_a_curve_is_thinned_and_keeps_its_first_point() -> None:
    sim = world(node("a"))
    scrapes = Scrapes()
    schedulers: tuple[Scheduler, ...] = sim.schedulers
    for i in range(5 * MOST):
        if i * MILLISECOND >= scrapes.due:
            scrapes.take(i * MILLISECOND, i, schedulers)
    curve = scrapes.taken[NAME]
    assert MOST // 2 < len(curve) <= MOST
    assert curve[0].t == 0
    assert {later.t - earlier.t for earlier, later in pairwise(curve)} == {8 * MILLISECOND}


def test_a_fork_has_the_same_past_and_a_curve_of_its_own() -> None:
    sim = world(node("a"), pod("web"))
    settle(sim)
    before = list(sim.scrapes.taken[NAME])
    twin = sim.fork()
    twin.apply(ApplyObjects((pod("other"),)))
    settle(twin)
    assert sim.scrapes.taken[NAME] == before
    assert twin.scrapes.taken[NAME][: len(before)] == before
