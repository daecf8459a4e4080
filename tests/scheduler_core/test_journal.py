"""The journal: where each pod was and why it came there."""

from __future__ import annotations

from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.trace.journal import Move, Place
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, settle, world

BIG = "default/big"


def refused() -> Simulation:
    """A pod that the only node has no room for."""
    sim = world(node("small", cpu="1"), pod("big", cpu="4"))
    sim.run(until=lambda w: w.journal.place(BIG) == Place.UNSCHEDULABLE)
    return sim


def moves_to(sim: Simulation, place: str) -> list[Move]:
    return [move for move in sim.journal.lane(BIG) if move.place == place]


def test_a_move_tells_the_event_the_plugin_and_the_hint() -> None:
    sim = refused()
    sim.apply(ApplyObjects((node("large", cpu="8"),)))
    woken = sim.journal.lane(BIG)[-1]
    assert woken.why[:2] == ("NodeAdd", "NodeResourcesFit")
    assert woken.why[2]


def test_a_move_without_an_event_has_no_reason() -> None:
    assert [move.why for move in refused().journal.lane(BIG)] == [(), (), ()]


def test_a_move_to_the_backoff_queue_tells_when_the_backoff_ends() -> None:
    sim = refused()
    sim.apply(ApplyObjects((node("large", cpu="8"),)))
    assert [move.until for move in moves_to(sim, Place.BACKOFF)] == [SECOND]


def test_an_attempt_tells_the_plugins_that_refused_the_pod() -> None:
    attempt = refused().journal.attempts_of(BIG)[0]
    assert (attempt.plugins, attempt.nominated, attempt.victims) == (("NodeResourcesFit",), "", ())


def test_an_attempt_tells_whom_preemption_sends_away() -> None:
    sim = world(node("only", cpu="4"), pod("low", cpu="3"))
    settle(sim)
    sim.apply(ApplyObjects((pod("big", cpu="3", priority=100),)))
    sim.run(until=lambda w: bool(w.journal.attempts_of(BIG)))
    attempt = sim.journal.attempts_of(BIG)[0]
    assert (attempt.nominated, attempt.victims) == ("only", ("default/low",))


def test_a_pod_that_no_scheduler_is_for_is_listed_until_it_goes() -> None:
    sim = world(node("n"), pod("alone", schedulerName="nobody"))
    assert list(sim.journal.ignored) == ["default/alone"]
    assert list(sim.fork().journal.ignored) == ["default/alone"]
