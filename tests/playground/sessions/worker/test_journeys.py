"""A journey inside a worker: the journal's story, with attempts that were run again to be looked into."""

from __future__ import annotations

from typing import Any

from playground.features.journey import worker as journeys
from playground.features.journey.query import CycleState, Journey
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.world import Grain
from tests.playground.sessions.worker.test_engine import apply, finish, made
from tests.playground.sessions.worlds import applying, cluster, node, pod


def story(engine: Engine, name: str, page: int | None = None) -> dict[str, Any]:
    return journey(engine, engine.world.position, name, page)


def journey(engine: Engine, at: int, name: str, page: int | None = None, seconds: float = 5.0) -> dict[str, Any]:
    return finish(journeys.journey(engine, Journey(at=at, pod=f"default/{name}", page=page, seconds=seconds)))


def cycle_state(engine: Engine) -> Any:
    return finish(journeys.cycle_state(engine, CycleState(at=engine.world.position, pod="default/web")))


def attempts(story: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in story["entries"] if entry["kind"] == "attempt"]


def failing() -> Engine:
    """A pod whose bindings fail, twice by now."""
    engine = made(
        applying(node("n"), pod("web")),
        {"kind": "FailCall", "call": "bind", "pod": "default/web", "code": 409, "times": 2},
    )
    while engine.world.journal.place("default/web") != "running":
        finish(engine.step(Grain.CALL))
    return engine


def test_a_failed_binding_is_looked_into_with_its_rollback() -> None:
    first = attempts(story(failing(), "web"))[0]
    assert [step["point"] for step in first["detail"]["rollback"]] == ["Unreserve", "Unreserve"]
    assert first["undone"]
    assert any("modified" in call["failed"] for call in first["detail"]["calls"])


def test_looking_into_a_journey_changes_nothing() -> None:
    engine = failing()
    before = engine.world.position, len(engine.world.journal.moves)
    first, again = story(engine, "web"), story(engine, "web")
    assert first == again
    assert (engine.world.position, len(engine.world.journal.moves)) == before


def test_a_journey_up_to_an_earlier_step_knows_nothing_of_later() -> None:
    engine = failing()
    early = next(iter(engine.world.journal.attempts_of("default/web"))).last_position
    found = journey(engine, early, "web")
    assert len(attempts(found)) == 1
    assert found["place"] == "binding"


def test_without_time_attempts_are_told_without_detail() -> None:
    engine = failing()
    found = journey(engine, engine.world.position, "web", seconds=0.0)
    assert ["detail" in entry for entry in attempts(found)] == 3 * [False]


def test_a_long_journey_comes_in_parts(monkeypatch: Any) -> None:
    monkeypatch.setattr(journeys, "SHOWN", 4)
    engine = failing()
    parts = [story(engine, "web", page) for page in range(story(engine, "web")["pages"])]
    assert len(parts[-1]["entries"]) == 4
    positions = [entry["at"] for part in parts for entry in part["entries"]]
    assert positions == sorted(set(positions))


def test_an_unknown_pod_has_no_journey() -> None:
    engine = made(cluster(1, 1))
    apply(engine, applying(pod("web")))
    assert story(engine, "nobody") is None


def test_the_cycle_state_of_a_pod_tells_who_wrote_and_who_read() -> None:
    engine = failing()
    found = cycle_state(engine)
    fit = next(key for key in found["keys"] if key["key"] == "PreFilterNodeResourcesFit")
    assert [(w["point"], w["plugin"]) for w in fit["wrote"]] == [("PreFilter", "NodeResourcesFit")]
    assert found["clones"] == [("binding cycle", 1)]
    assert "NodePorts" in found["skip_filter"]


def test_a_pod_without_a_cycle_has_no_cycle_state() -> None:
    engine = made(applying(node("n"), pod("web")))
    assert cycle_state(engine) is None
