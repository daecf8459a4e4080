"""Sessions with plugins of one's own: what is wrong with one ends its cycles, and neither the session nor its past."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from playground.presenters import Look
from playground.sessions.protocol.looking import View
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.world import Grain
from scheduler_core.scheduler.framework import guard
from scheduler_core.scheduler.framework.guard import guard_plugin
from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.plugins.registry import with_plugins
from tests.playground.sessions.worker.test_engine import finish, made
from tests.playground.sessions.worlds import cluster


class Loops(Plugin):
    """Its Filter never returns."""

    name = "Loops"

    def filter(self, *args: Any) -> Any:
        for _ in itertools.count():
            pass


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An installed plugin that loops, in the profile of a session with pods."""
    monkeypatch.setattr(guard, "LINES", 2_000)
    profile = {"plugins": {"filter": {"enabled": [{"name": "Loops"}]}}}
    manifest = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    with with_plugins(guard_plugin(Loops)):
        yield made({"kind": "SetConfiguration", "configuration": manifest}, cluster(3, 2))


def why(engine: Engine, at: int) -> str:
    """How the first pod's attempt has ended, as the stage says it."""
    look = Look(pod="default/p1", stage="filter")
    view = finish(engine.view(View(at=at, look=look, panels=["stage"])))
    return str(view.panels["stage"].cards["filter-notes"]["message"])


def test_a_plugin_that_never_returns_fails_its_cycles_and_the_session_goes_on(engine: Engine) -> None:
    finish(engine.step(Grain.POD, times=2))
    attempts = engine.world.journal.attempts
    assert [attempt.outcome for attempt in attempts] == ["error", "error"]
    said = 'running "Loops" filter plugin: has not returned after 2,000 lines of Python'
    assert {attempt.message for attempt in attempts} == {said}
    moved = finish(engine.run(0.2, most=2_000))
    assert moved.to > moved.at


def test_its_past_is_computed_again_to_the_same(engine: Engine) -> None:
    finish(engine.step(Grain.POD, times=2))
    head = engine.world.position
    seen = [record.to_json() for record in finish(engine.own(head)).last]
    assert seen == [record.to_json() for record in engine.world.last]
    assert "has not returned after" in why(engine, head)
