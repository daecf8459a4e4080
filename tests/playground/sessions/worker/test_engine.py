"""An engine: one session's world inside a worker, with the real scheduler."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from playground.presenters import Look
from playground.presenters.panel import Delta, SeenPage
from playground.sessions.protocol.errors import CommandRefused, LimitReached
from playground.sessions.protocol.looking import Compare, View
from playground.sessions.protocol.moving import APIWrite, Back, Forward, Write
from playground.sessions.protocol.opening import LogRow
from playground.sessions.worker import handlers
from playground.sessions.worker.answers import serving
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import TimeSlice
from playground.sessions.worker.world import Grain
from scheduler_core.apiserver.door import JSON, Call
from tests.playground.sessions.worlds import applying, cluster, node, pod

LOOK = Look()


class Short(TimeSlice):
    """Slices that end after twenty questions whether they have, whatever the clock says."""

    asked = 0

    def over(self) -> bool:
        self.asked += 1
        return self.asked % 20 == 0


def made(*commands: dict[str, Any]) -> Engine:
    engine = Engine(0, Short())
    for command in commands:
        apply(engine, command)
    return engine


def apply(engine: Engine, command: dict[str, Any], objects: int = 1000) -> bytes:
    return engine.apply_data(orjson.dumps({"command": command}), objects).payload


def finish(steps: Iterator[Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def shown(engine: Engine, at: int) -> bytes:
    view = finish(engine.view(View(at=at, look=LOOK)))
    return orjson.dumps(view.panels, option=orjson.OPT_SERIALIZE_NUMPY)


def delta(engine: Engine, at: int, before: int, look: Look = LOOK) -> Delta:
    """What differs at a position for who saw another one."""
    return finish(engine.compare(Compare(at=at, look=LOOK, before=SeenPage(before, look))))


def forward(engine: Engine, at: int, grain: Grain) -> int:
    return finish(handlers.forward(engine, Forward(at=at, grain=grain, head=engine.world.position)))


def back(engine: Engine, at: int, grain: Grain) -> int:
    return finish(handlers.back(engine, Back(at=at, grain=grain, head=engine.world.position)))


def test_a_past_position_looks_as_it_looked_when_it_was_the_head() -> None:
    engine = made(cluster(3, 4))
    seen = {}
    while not finish(engine.step(Grain.CALL)).reason:
        seen[engine.world.position] = shown(engine, engine.world.position)
    engine.history._worlds.clear()
    assert len(seen) > 60
    assert {at: shown(engine, at) for at in reversed(seen)} == seen


def command_row(at: int, command: dict[str, Any]) -> LogRow:
    return LogRow(0, "command", at, at + 1, zlib.compress(orjson.dumps({"command": command})))


def test_commands_between_steps_are_replayed_where_they_were_applied() -> None:
    engine = made(cluster(1, 2))
    log = [command_row(0, cluster(1, 2))]
    for name in ("a", "b"):
        at = engine.world.position
        finish(engine.step(Grain.POINT, 3))
        log.append(LogRow(0, "step", at, engine.world.position, b""))
        log.append(command_row(engine.world.position, applying(pod(name))))
        apply(engine, applying(pod(name)))
    head = engine.world.position
    other = Engine(0, Short())
    finish(other.follow(log, head))
    assert other.world.position == head
    assert shown(other, head) == shown(engine, head)


def test_a_refused_command_changes_nothing() -> None:
    engine = made(cluster(2, 2))
    before = shown(engine, 1)
    bad = node("bad")
    bad["status"]["allocatable"]["cpu"] = "10x"
    with pytest.raises(CommandRefused) as refused:
        apply(engine, applying(node("good"), bad))
    assert engine.world.position == 1
    assert shown(engine, 1) == before
    assert refused.value.errors[0].path == "status.allocatable[cpu]"


def test_a_command_over_the_limit_of_objects_changes_nothing() -> None:
    engine = made(cluster(2, 2))
    with pytest.raises(LimitReached, match=r"6 objects\. The limit is 5"):
        apply(engine, applying(pod("x"), pod("y")), objects=5)
    assert engine.world.position == 1
    assert engine.world.store.count("Pod") == 2


def test_data_that_is_no_command_is_refused() -> None:
    with pytest.raises(CommandRefused, match="kind"):
        apply(made(), {"kind": "DropEverything"})


def test_a_run_can_be_interrupted_and_gone_on_with() -> None:
    engine = made(cluster(3, 30))
    steps = engine.run(60)
    next(steps)
    engine.interrupted = True
    first = finish(steps)
    assert first.reason == ""
    last = finish(engine.run(60))
    assert last.reason == "idle"
    assert last.after.decided == 30


def test_writes_of_clients_give_way_to_who_came_before_their_first_turn() -> None:
    engine = made(cluster(1, 1))
    calls = [
        APIWrite(
            call=Call("POST", "/api/v1/namespaces"),
            body=orjson.dumps({"metadata": {"name": name}}),
            content_type=JSON,
            agent="a client",
            manager="me",
            wall=0,
        )
        for name in ("a", "b", "c")
    ]
    writes = serving.write(engine, Write(calls=calls, max_objects=1000))
    engine.interrupted = True
    first = finish(writes)
    rest = finish(serving.write(engine, Write(calls=calls[1:], max_objects=1000)))
    assert [[each.status for each in written.answers] for written in (first, rest)] == [[201], [201, 201]]


def test_a_step_where_nothing_is_left_goes_nowhere() -> None:
    result = finish(made().step(Grain.CALL))
    assert (result.reason, result.to) == ("idle", 0)


@pytest.mark.parametrize("grain", list(Grain))
def test_back_then_forward_leads_to_where_one_was(grain: Grain) -> None:
    engine = made(cluster(2, 3))
    finish(engine.run(60))
    head, at = engine.world.position, 1
    stops = [at]
    while at < head:
        at = forward(engine, at, grain)
        stops.append(at)
    backs = [back(engine, stop, grain) for stop in stops[1:]]
    assert [forward(engine, start, grain) for start in backs] == stops[1:]
    assert all(start < stop for start, stop in zip(backs, stops[1:], strict=True))


def test_a_command_is_a_step_of_its_own_at_any_grain() -> None:
    engine = made(cluster(2, 1))
    finish(engine.step(Grain.CALL, 2))
    apply(engine, applying(pod("late")))
    finish(engine.run(60))
    assert forward(engine, 1, Grain.POD) == 3
    assert forward(engine, 3, Grain.POD) == 4


def test_a_delta_holds_what_changed_and_nothing_else() -> None:
    engine = made(cluster(3, 2))
    shown(engine, 1)
    finish(engine.step(Grain.CALL, 2))
    assert delta(engine, 1, 1).panels == []
    # Step 2 is a component's of the cluster, and leaves the queues alone; step 3 takes a pod from them.
    assert "queues" not in {change.name for change in delta(engine, 2, 1).panels}
    assert {change.name for change in delta(engine, 3, 2).panels} >= {"transport", "queues"}
    assert delta(engine, 3, 3).panels == []


def test_a_delta_from_what_is_not_known_any_more_is_everything() -> None:
    engine = made(cluster(3, 2))
    changes = delta(engine, 1, 0, LOOK.but(about="node")).panels
    assert [change.panel is None for change in changes] == 9 * [False]


def test_a_delta_names_the_pods_that_came_to_a_node() -> None:
    engine = made(cluster(3, 2))
    finish(engine.run(60))
    head = engine.world.position
    assert sorted(delta(engine, head, 1).moved) == ["default/p0", "default/p1"]
    assert delta(engine, head, head).moved == []


def test_a_fork_shares_the_past_and_goes_its_own_way() -> None:
    engine = made(cluster(2, 3))
    finish(engine.run(60))
    head = engine.world.position
    twin = finish(engine.twin(10))
    assert shown(twin, 10) == shown(engine, 10)
    apply(twin, applying(pod("only-here")))
    assert engine.world.position == head
    assert engine.world.store.pod("default", "only-here") is None


def test_a_step_that_this_engine_cannot_make_is_told_and_nothing_happens_there() -> None:
    engine = made(cluster(1, 1))
    finish(engine.run(60))
    end = engine.world.position
    log = [command_row(0, cluster(1, 1)), LogRow(0, "run", 1, end + 5, b"")]
    other = Engine(0, Short())
    finish(other.follow(log, end + 5))
    assert other.world.position == end + 5
    assert other.stuck == (end, "nothing is left to do")
