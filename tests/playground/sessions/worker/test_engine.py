"""An engine: one session's world inside a worker, with the real scheduler."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from playground.presenters import Look
from playground.sessions.protocol.errors import CommandRefused, LimitReached
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import TimeSlice
from tests.playground.sessions.worlds import applying, cluster, node, pod

ROOM = {"objects": 1000}
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
    return engine.apply(orjson.dumps({"command": command}), {"objects": objects})[1]


def finish(steps: Iterator[Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def shown(engine: Engine, at: int) -> bytes:
    return orjson.dumps(finish(engine.view(at, LOOK, None)), option=orjson.OPT_SERIALIZE_NUMPY)


def test_a_past_position_looks_as_it_looked_when_it_was_the_head() -> None:
    engine = made(cluster(3, 4))
    seen = {}
    while not finish(engine.step("plugin", 1))["idle"]:
        seen[engine.world.position] = shown(engine, engine.world.position)
    engine.history._worlds.clear()
    assert len(seen) > 60
    assert {at: shown(engine, at) for at in reversed(seen)} == seen


def test_commands_between_steps_are_replayed_where_they_were_applied() -> None:
    engine = made(cluster(1, 2))
    log = [["command", 0, 1]]
    payloads = [orjson.dumps({"command": cluster(1, 2)})]
    for name in ("a", "b"):
        at = engine.world.position
        finish(engine.step("point", 3))
        log.append(["step", at, engine.world.position])
        at = engine.world.position
        payloads += [b"{}", orjson.dumps({"command": applying(pod(name))})]
        apply(engine, applying(pod(name)))
        log.append(["command", at, at + 1])
    head = engine.world.position
    other = Engine(0, Short())
    finish(other.follow(log, [zlib.compress(one) for one in payloads], head))
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
    assert refused.value.errors[0]["path"] == "status.allocatable[cpu]"


def test_a_command_over_the_limit_of_objects_changes_nothing() -> None:
    engine = made(cluster(2, 2))
    with pytest.raises(LimitReached, match="6 objects; at most 5"):
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
    assert not first["idle"]
    last = finish(engine.run(60))
    assert last["idle"]
    assert last["progress"]["decided"] == 30


def test_a_step_where_nothing_is_left_goes_nowhere() -> None:
    result = finish(made().step("plugin", 1))
    assert (result["idle"], result["to"]) == (True, 0)


@pytest.mark.parametrize("grain", ["plugin", "point", "pod", "event"])
def test_back_then_forward_leads_to_where_one_was(grain: str) -> None:
    engine = made(cluster(2, 3))
    finish(engine.run(60))
    head, at = engine.world.position, 1
    stops = [at]
    while at < head:
        at = finish(engine.forward(at, grain, head))
        stops.append(at)
    backs = [finish(engine.back(stop, grain, head)) for stop in stops[1:]]
    assert [finish(engine.forward(back, grain, head)) for back in backs] == stops[1:]
    assert all(back < stop for back, stop in zip(backs, stops[1:], strict=True))


def test_a_command_is_a_step_of_its_own_at_any_grain() -> None:
    engine = made(cluster(2, 1))
    finish(engine.step("plugin", 2))
    apply(engine, applying(pod("late")))
    finish(engine.run(60))
    head = engine.world.position
    assert finish(engine.forward(1, "pod", head)) == 3
    assert finish(engine.forward(3, "pod", head)) == 4


def test_a_delta_holds_what_changed_and_nothing_else() -> None:
    engine = made(cluster(3, 2))
    finish(engine.view(1, LOOK, None))
    finish(engine.step("plugin", 1))
    assert finish(engine.delta(1, LOOK, (1, LOOK)))["panels"] == []
    changed = finish(engine.delta(2, LOOK, (1, LOOK)))["panels"]
    assert {panel["name"] for panel in changed} >= {"transport", "queues"}
    assert finish(engine.delta(2, LOOK, (2, LOOK)))["panels"] == []


def test_a_delta_from_what_is_not_known_any_more_is_everything() -> None:
    engine = made(cluster(3, 2))
    panels = finish(engine.delta(1, LOOK, (0, LOOK.but(tab="node"))))["panels"]
    assert all("cards" in panel for panel in panels)
    assert len(panels) == 7


def test_a_delta_names_the_pods_that_came_to_a_node() -> None:
    engine = made(cluster(3, 2))
    finish(engine.run(60))
    head = engine.world.position
    assert sorted(finish(engine.delta(head, LOOK, (1, LOOK)))["moved"]) == ["default/p0", "default/p1"]
    assert finish(engine.delta(head, LOOK, (head, LOOK)))["moved"] == []


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
    log = [["command", 0, 1], ["run", 1, end + 5]]
    other = Engine(0, Short())
    payload = zlib.compress(orjson.dumps({"command": cluster(1, 1)}))
    finish(other.follow(log, [payload, zlib.compress(b"{}")], end + 5))
    assert other.world.position == end + 5
    assert other.stuck == (end, "nothing is left to do")
