"""Attempts that are over: the stage shows them from the world in which they ended."""

from __future__ import annotations

from typing import Any

from playground.presenters import Look
from playground.presenters.panel import SeenPage
from playground.sessions.protocol.looking import Follower, View
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.past import KEPT
from playground.sessions.worker.world import Grain
from tests.playground.sessions.worker.test_engine import finish, made
from tests.playground.sessions.worlds import cluster


def gone_on(pods: int = 4) -> Engine:
    """A session in which every pod's attempt is over."""
    engine = made(cluster(3, pods))
    for _ in range(pods):
        finish(engine.step(Grain.POD))
    return engine


def pods_of(engine: Engine) -> list[str]:
    return [attempt.pod for attempt in engine.world.journal.attempts]


def stage(engine: Engine, look: Look) -> dict[str, Any]:
    view = finish(engine.view(View(at=engine.world.position, look=look, panels=["stage"])))
    context: dict[str, Any] = view.panels["stage"].context
    return context


def test_a_chosen_pods_last_attempt_is_shown_although_others_ran_since() -> None:
    engine = gone_on()
    first = pods_of(engine)[0]
    context = stage(engine, Look(pod=first, stage="filter"))
    assert context["past"]["at"] == engine.world.journal.attempts[0].last_position
    assert stage(engine, Look(pod=first))["past"] is None


def test_only_a_few_worlds_are_kept() -> None:
    engine = gone_on()
    for pod in pods_of(engine):
        stage(engine, Look(pod=pod, stage="filter"))
    assert len(engine.attempts._worlds) <= KEPT


def test_who_follows_with_a_past_attempt_is_not_made_to_wait_for_its_replay() -> None:
    engine = gone_on()
    look = Look(pod=pods_of(engine)[0], stage="filter")
    follower = Follower(SeenPage(engine.world.position, look), look)
    assert finish(engine.step(Grain.CALL, followers=[follower])).deltas == []
    stage(engine, look)
    assert len(finish(engine.step(Grain.CALL, followers=[follower])).deltas) == 1


def test_a_rewind_forgets_attempts_that_come_after_it() -> None:
    engine = gone_on()
    stage(engine, Look(pod=pods_of(engine)[1], stage="filter"))
    finish(engine._rewind(2))
    assert not engine.attempts._worlds
