"""A history made again without some of its commands: when the others come, and what is left out."""

from __future__ import annotations

import zlib
from collections.abc import Generator
from typing import Any

import orjson
import pytest

from playground.presenters.words import in_english
from playground.sessions.protocol.comparing import RerunResult
from playground.sessions.protocol.errors import LimitReached, SessionError
from playground.sessions.worker.answers.rerun import Rerun
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import TimeSlice
from tests.playground.sessions.worlds import applying, node, pod

MOST_OBJECTS, MOST_STEPS = 1000, 100_000


def finish(steps: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


class Story:
    """An engine that is result commands and runs to rest, or for some steps, between them."""

    def __init__(self, seed: int = 0) -> None:
        self.slice = TimeSlice()
        self.slice.start(60)
        self.engine = Engine(seed, self.slice)

    def apply(self, command: dict[str, Any]) -> int:
        """Where it was applied."""
        at = self.engine.world.position
        self.engine.apply_data(orjson.dumps({"command": command}), MOST_OBJECTS)
        return at

    def rest(self) -> None:
        while not self.engine.world.idle:
            self.engine.world.advance()

    def steps(self, number: int) -> None:
        for _ in range(number):
            self.engine.world.advance()

    def without(self, *skip: int, steps: int = MOST_STEPS) -> tuple[RerunResult, Any]:
        """What the re-run came to, and the world of the log that it makes."""
        head = self.engine.world.position
        result = finish(Rerun(self.engine, head, skip, MOST_OBJECTS, steps).work(60)).result
        return result, self.world(result)

    def world(self, result: RerunResult, seed: int = 0) -> Any:
        other = Engine(seed, self.slice)
        other.commands = {at: one for at, one in self.engine.commands.items() if at < result.first}  # type: ignore[assignment]
        other.commands |= {new: self.engine.commands[old] for old, new in result.kept}  # type: ignore[operator]
        while other.world.position < result.head:
            other.replay(other.world)
        assert other.stuck is None
        return other.world


def delete(kind: str, name: str) -> dict[str, Any]:
    ref = {"kind": kind, "namespace": "" if kind == "Node" else "default", "name": name}
    return {"kind": "DeleteObjects", "refs": [ref]}


def placed(world: Any) -> dict[str, str]:
    return {one.name: one.node_name for one in world.store.pods()}


def test_what_if_that_node_had_not_been_added() -> None:
    story = Story()
    story.apply(applying(node("small", cpu="1")))
    late = story.apply(applying(node("large", cpu="8")))
    story.apply(applying(pod("p", cpu="4")))
    story.rest()
    result, world = story.without(late)
    assert placed(story.engine.world) == {"p": "large"}
    assert placed(world) == {"p": ""}
    assert (result.first, result.left, result.complete) == (late, [], True)


def tied_world(seed: int) -> Story:
    """Eight nodes that are alike, and ten pods in two commands."""
    story = Story(seed)
    story.apply(applying(*(node(f"n{i}") for i in range(8)), *(pod(f"p{i}") for i in range(5))))
    story.rest()
    story.apply(applying(*(pod(f"q{i}") for i in range(5))))
    story.rest()
    return story


def test_with_another_seed_the_history_is_the_one_that_a_world_with_that_seed_has() -> None:
    story, other = tied_world(0), tied_world(7)
    head = story.engine.world.position
    result = finish(Rerun(story.engine, head, [], MOST_OBJECTS, MOST_STEPS, seed=7).work(60)).result
    assert placed(story.engine.world) != placed(other.engine.world)
    assert placed(story.world(result, 7)) == placed(other.engine.world)
    assert [new for _old, new in result.kept] == list(other.engine.commands)
    assert (result.first, result.left, result.complete) == (0, [], True)


def test_the_seed_that_a_history_has_is_no_other_one() -> None:
    story = tied_world(3)
    with pytest.raises(SessionError, match="This history already has seed 3"):
        Rerun(story.engine, story.engine.world.position, [], MOST_OBJECTS, MOST_STEPS, seed=3)


def test_nothing_changes_without_a_command_that_did_not_matter() -> None:
    story = Story()
    story.apply(applying(node("a")))
    idle = story.apply(delete("Node", "a"))
    story.apply(applying(node("b"), pod("p")))
    story.rest()
    _, world = story.without(idle)
    assert set(placed(world)) == {"p"}


def test_a_command_comes_when_the_world_has_come_to_rest_as_it_had() -> None:
    story = Story()
    story.apply(applying(node("a"), pod("p0")))
    skipped = story.apply(applying(pod("p1")))
    story.rest()
    when = story.engine.world.now
    story.apply(applying(pod("p2")))
    story.rest()
    result, world = story.without(skipped)
    came, rested = world.journal.lane("default/p2")[0].t, world.journal.lane("default/p0")[-1].t
    assert (came, came <= when) == (rested, True)
    assert result.kept[0][1] < result.kept[0][0]


def test_a_command_waits_for_its_virtual_time_while_something_happens() -> None:
    story = Story()
    skipped = story.apply(applying(node("a", cpu="1")))
    story.apply(applying(pod("p"), node("b", cpu="50m")))
    story.steps(40)
    story.apply(applying(pod("q")))
    when = story.engine.world.now
    _, world = story.without(skipped)
    assert world.journal.lane("default/p")[-1].t <= when
    assert len([one for one in world.journal.attempts if one.pod == "default/p"]) == 1


def test_a_command_in_the_middle_of_a_cycle_comes_in_the_middle() -> None:
    story = Story()
    skipped = story.apply(applying(node("b")))
    story.apply(applying(node("a"), pod("p")))
    story.steps(7)
    story.apply(applying(pod("q")))
    story.rest()
    result, _ = story.without(skipped)
    assert [new for _, new in result.kept] == [0, 8]


def test_commands_that_came_together_stay_together() -> None:
    story = Story()
    first = story.apply(applying(node("a"), pod("p")))
    story.apply(applying(node("b")))
    story.apply(applying(pod("q")))
    story.rest()
    result, _ = story.without(first)
    assert [new for _, new in result.kept] == [0, 1]


def test_a_command_that_no_longer_applies_is_left_out_with_its_error() -> None:
    story = Story()
    added = story.apply(applying(node("a")))
    story.apply(applying(node("b")))
    patch = {
        "kind": "PatchObject",
        "ref": {"kind": "Node", "namespace": "", "name": "a"},
        "patch": {"spec": {"unschedulable": True}},
    }
    patched = story.apply(patch)
    story.apply(applying(pod("p")))
    story.rest()
    result, world = story.without(added)
    assert [one.at for one in result.left] == [patched]
    assert '"a" not found' in in_english(result.left[0].said)
    assert placed(world) == {"p": "b"}


def test_an_undo_of_a_skipped_command_is_left_out() -> None:
    story = Story()
    story.apply(applying(node("a")))
    skipped = story.apply(applying(node("b")))
    undone = story.apply({"kind": "Undo"})
    again = story.apply({"kind": "Redo"})
    result, world = story.without(skipped)
    assert [one.at for one in result.left] == [undone, again]
    assert [one.name for one in world.store.nodes()] == ["a"]


def test_an_undo_of_another_command_stays() -> None:
    story = Story()
    skipped = story.apply(applying(node("a")))
    story.apply(applying(node("b")))
    story.apply({"kind": "Undo"})
    result, world = story.without(skipped)
    assert result.left == []
    assert list(world.store.nodes()) == []


def test_several_commands_are_skipped_at_once() -> None:
    story = Story()
    story.apply(applying(node("a")))
    skipped = [story.apply(applying(node(name))) for name in "bc"]
    story.apply(applying(node("d")))
    _, world = story.without(*skipped)
    assert [one.name for one in world.store.nodes()] == ["a", "d"]


def test_a_rerun_that_has_no_end_says_that_it_was_cut() -> None:
    story = Story()
    story.apply(applying(node("a")))
    skipped = story.apply(applying(pod("p")))
    story.apply(applying(*(pod(f"q{i}") for i in range(5))))
    story.rest()
    result, _ = story.without(skipped, steps=100)
    assert not result.complete


def test_a_rerun_that_never_comes_to_the_next_command_is_stopped() -> None:
    story = Story()
    skipped = story.apply(applying(node("b")))
    story.apply(applying(node("a"), pod("p")))
    story.rest()
    story.apply(applying(pod("q")))
    with pytest.raises(LimitReached, match="far more steps"):
        story.without(skipped, steps=5)


@pytest.mark.parametrize("skip", [[], [1], [99]])
def test_only_commands_can_be_skipped(skip: list[int]) -> None:
    story = Story()
    story.apply(applying(node("a"), pod("p")))
    story.rest()
    with pytest.raises(SessionError, match="no such command"):
        Rerun(story.engine, story.engine.world.position, skip, MOST_OBJECTS, MOST_STEPS)


def test_a_rerun_is_the_same_every_time() -> None:
    story = Story()
    story.apply(applying(node("a"), node("b"), *(pod(f"p{i}") for i in range(4))))
    skipped = story.apply(applying(node("c")))
    story.rest()
    assert story.without(skipped)[0] == story.without(skipped)[0]


def test_a_log_that_another_engine_made_is_made_again_as_far_as_it_goes() -> None:
    story = Story()
    story.apply(applying(node("a")))
    skipped = story.apply(applying(node("b")))
    story.engine.commands.add(2, zlib.compress(orjson.dumps({"command": {"kind": "Redo"}})))
    story.engine.replay(story.engine.world)
    result = finish(Rerun(story.engine, 3, [skipped], MOST_OBJECTS, MOST_STEPS).work(60)).result
    assert story.engine.stuck
    assert [one.at for one in result.left] == [2]
