"""What goes wrong in a plugin of one's own ends the cycle as an error, and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.framework.arguments import Arguments
from scheduler_core.scheduler.framework.events import Action, On
from scheduler_core.scheduler.framework.guard import LINES, OutOfBudget, guard_plugin, within
from scheduler_core.scheduler.framework.plugin import (
    METHODS,
    CallResult,
    PermitResult,
    Plugin,
    Point,
    PreFilterResult,
    takes_part,
)
from scheduler_core.scheduler.framework.status import SUCCESS
from scheduler_core.scheduler.plugins.registry import with_plugins
from scheduler_core.world.checkpoint import Archive, decode, encode
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.own.worlds import at_point, profile, world
from tests.scheduler_core.worlds import node, nodes_of, of_kind, pod, settle


def failing(point: Point, how: Callable[..., Any], **members: Any) -> type[Plugin]:
    """A guarded plugin that takes part in one extension point, so."""
    return guard_plugin(
        type("Mine", (Plugin,), {"name": "Mine", METHODS[point]: how, "__module__": __name__, **members})
    )


def boom(self: Plugin, *args: Any) -> Any:
    raise ValueError("boom")


def forever(self: Plugin, *args: Any) -> Any:
    for _ in itertools.count():
        pass


def nonsense(self: Plugin, *args: Any) -> Any:
    return "nonsense"


CYCLE = {
    Point.PRE_FILTER: 'running PreFilter plugin "Mine": ValueError: boom',
    Point.FILTER: 'running "Mine" filter plugin: ValueError: boom',
    Point.PRE_SCORE: 'running PreScore plugin "Mine": ValueError: boom',
    Point.SCORE: 'running Score plugins: plugin "Mine" failed with: ValueError: boom',
    Point.RESERVE: 'running Reserve plugin "Mine": ValueError: boom',
    Point.PERMIT: 'running Permit plugin "Mine": ValueError: boom',
}


def first_attempt() -> Simulation:
    """Up to the end of the first attempt to place a pod that would fit."""
    sim = world(profile("Mine"), node("a"), node("b"), pod("web"))
    sim.run(until=lambda w: bool(w.journal.attempts))
    return sim


@pytest.mark.parametrize("point", CYCLE)
def test_an_exception_ends_the_scheduling_cycle_as_kube_ends_one_with_an_error(point: Point) -> None:
    with with_plugins(failing(point, boom)):
        sim = first_attempt()
        attempt = sim.journal.attempts[0]
    assert (attempt.outcome, attempt.message) == ("error", CYCLE[point])
    assert nodes_of(sim) == {"default/web": ""}


@pytest.mark.parametrize("point", CYCLE)
def test_a_plugin_that_never_returns_is_ended_by_its_budget(point: Point, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler_core.scheduler.framework.guard.LINES", 500)
    with with_plugins(failing(point, forever)):
        attempt = first_attempt().journal.attempts[0]
    assert attempt.message == CYCLE[point].replace("ValueError: boom", "has not returned after 500 lines of Python")


@pytest.mark.parametrize("point", CYCLE)
def test_an_answer_that_is_none_is_an_error_that_says_what_was_expected(point: Point) -> None:
    with with_plugins(failing(point, nonsense)):
        attempt = first_attempt().journal.attempts[0]
    assert attempt.outcome == "error"
    assert "received str as its answer; expected " in attempt.message


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (Point.PRE_BIND, 'running PreBind plugin "Mine": ValueError: boom'),
        (Point.BIND, 'running Bind plugin "Mine": ValueError: boom'),
    ],
)
def test_an_exception_ends_the_binding_cycle(point: Point, said: str) -> None:
    with with_plugins(failing(point, boom)):
        chosen = at_point("Mine", "bind", "DefaultBinder") if point is Point.BIND else profile("Mine")
        sim = world(chosen, node("a"), pod("web"))
        records = sim.run(until=lambda w: any(r.kind == "binding_ended" for r in w.last)).records
    (ended,) = of_kind(records, "binding_ended")
    assert (ended["outcome"], ended["message"]) == ("error", said)


@pytest.mark.parametrize("point", [Point.UNRESERVE, Point.POST_BIND])
def test_where_kube_knows_no_answer_the_error_is_told_and_changes_nothing(point: Point) -> None:
    reserve = {"reserve": lambda self, *args: SUCCESS} if point is Point.UNRESERVE else {}
    refuse = {"permit": lambda self, *args: PermitResult(SUCCESS, 0)} if point is Point.POST_BIND else {"permit": boom}
    with with_plugins(failing(point, boom, **reserve, **refuse)):
        sim = world(profile("Mine"), node("a"), pod("web"))
        records = sim.run(steps=60).records
    statuses = [r["status"] for r in of_kind(records, "plugin_ran") if r["point"] == point and r["plugin"] == "Mine"]
    assert statuses[0] == {"code": "Error", "plugin": "Mine", "reasons": ["ValueError: boom"]}
    assert nodes_of(sim)["default/web"] == ("a" if point is Point.POST_BIND else "")


def test_an_error_at_normalize_is_kubes() -> None:
    scores = {"score": lambda self, state, pod, nodes, rows: np.zeros(len(rows), np.int64)}
    with with_plugins(failing(Point.NORMALIZE_SCORE, boom, **scores)):
        attempt = first_attempt().journal.attempts[0]
    assert attempt.message == 'running Normalize on Score plugins: plugin "Mine" failed with: ValueError: boom'


def test_an_error_at_post_filter_leaves_the_pod_unschedulable() -> None:
    with with_plugins(failing(Point.POST_FILTER, boom)):
        sim = world(at_point("Mine", "postFilter", "*"), node("a", cpu="0"), pod("web"))
        sim.run(until=lambda w: bool(w.journal.attempts))
    attempt = sim.journal.attempts[0]
    assert attempt.outcome == "unschedulable"
    assert attempt.message.endswith("1 Insufficient cpu. ValueError: boom")


def test_a_pod_for_which_pre_enqueue_fails_is_held_back() -> None:
    with with_plugins(failing(Point.PRE_ENQUEUE, boom)):
        sim = world(profile("Mine"), node("a"), pod("web"))
        settle(sim)
    assert sim.journal.place("default/web") == "gated"


def test_a_gate_that_never_returns_is_ended_soon() -> None:
    with with_plugins(failing(Point.PRE_ENQUEUE, forever)):
        sim = world(profile("Mine"), node("a"), *(pod(f"web-{i}") for i in range(5)))
        records = sim.apply(ApplyObjects((pod("last"),)))
    (gated,) = of_kind(records, "plugin_ran")
    assert gated["status"]["reasons"] == ["has not returned after 50,000 lines of Python"]
    assert sim.journal.place("default/last") == "gated"


def test_a_pod_that_has_no_place_in_the_queue_fails_and_others_go_first() -> None:
    def by_number(self: Plugin, pod: Any, timestamp: int) -> tuple[int, ...]:
        return (int(pod.labels["number"]),)

    with with_plugins(failing(Point.QUEUE_SORT, by_number)):
        numbered = pod("numbered")
        numbered["metadata"]["labels"] = {"number": "7"}
        sim = world(at_point("Mine", "queueSort", "PrioritySort"), node("a"), pod("none"), numbered)
        sim.run(until=lambda w: len(w.journal.attempts) == 2)
    first, second = sim.journal.attempts
    assert (first.pod, first.outcome) == ("default/numbered", "scheduled")
    assert (second.pod, second.outcome) == ("default/none", "error")
    assert second.message == "running QueueSort plugin \"Mine\": KeyError: 'number'"


def test_what_a_failing_add_pod_spoils_filter_says() -> None:
    def fine(self: Plugin, *args: Any) -> PreFilterResult:
        return PreFilterResult()

    passing = {"pre_filter": fine, "filter": lambda self, *args: None, "adjust": boom}
    with with_plugins(failing(Point.PRE_FILTER, fine, **passing)):
        sim = world(profile("Mine"), node("a", cpu="1"), pod("small"))
        settle(sim)
        sim.apply(ApplyObjects((pod("big", priority=9),)))
        sim.run(until=lambda w: len(w.journal.attempts) == 2)
    assert sim.journal.attempts[1].outcome != "scheduled"
    assert nodes_of(sim)["default/small"] == "a"  # no victim of a what-if that nobody can judge


def test_a_hint_that_fails_has_the_pod_queued() -> None:
    plugin = failing(Point.FILTER, boom, events=(On("Node", Action.ADD, boom),))
    (on,) = plugin({}, None).registrations()  # type: ignore[arg-type]
    assert on.hint is not None
    assert on.hint(None, None, None, None) is True


def test_a_plugin_that_cannot_be_made_keeps_the_configuration_from_being_applied() -> None:
    def broken(self: Plugin, args: Any, handle: Any) -> None:
        raise KeyError("address")

    with with_plugins(failing(Point.SCORE, boom, __init__=broken)), pytest.raises(Refused) as refused:
        world(profile("Mine"))
    assert "initializing plugin \"Mine\": KeyError: 'address'" in str(refused.value)


def test_arguments_whose_validation_fails_are_refused() -> None:
    def broken(*args: Any) -> Any:
        raise RuntimeError("broken")

    arguments = Arguments({}, validate=broken)
    with with_plugins(failing(Point.SCORE, boom, arguments=arguments)), pytest.raises(Refused) as refused:
        world(profile("Mine"))
    assert "pluginConfig[3].args" in str(refused.value)
    assert "RuntimeError: broken" in str(refused.value)


def test_a_guard_takes_part_where_its_plugin_does() -> None:
    plugin = failing(Point.SCORE, boom)
    assert [point for point in Point if takes_part(plugin, point)] == [Point.SCORE]
    assert plugin.__qualname__ == "Mine"


def test_the_world_goes_on_and_can_be_kept_after_an_error() -> None:
    with with_plugins(failing(Point.FILTER, boom)):
        sim = first_attempt()
        archive = Archive()
        kept = decode(encode(sim.fork(), archive), archive)
        assert [r.to_json() for r in sim.run(steps=40).records] == [r.to_json() for r in kept.run(steps=40).records]


# Budgets


def test_a_budget_counts_lines_of_its_own_package_and_calls_of_others() -> None:
    def busy() -> int:
        return sum(1 for _ in range(100))

    assert within(1_000, "tests", busy) == 100
    with pytest.raises(OutOfBudget):
        within(50, "tests", busy)
    assert within(250, "elsewhere", busy) == 100


def test_a_budget_ends_at_the_same_line_each_time() -> None:
    def counting(seen: list[int]) -> None:
        for i in itertools.count():
            seen[:] = range(i)

    runs: list[list[int]] = [[], []]
    for seen in runs:
        with pytest.raises(OutOfBudget):
            within(1_000, "tests", lambda seen=seen: counting(seen))  # type: ignore[misc]
    assert runs[0] == runs[1]
    assert len(runs[0]) > 100


def test_a_bind_that_says_when_it_answers_is_left_as_it_is() -> None:
    with with_plugins(failing(Point.PRE_BIND, lambda self, *args: CallResult(SUCCESS, 10**9))):
        sim = world(profile("Mine"), node("a"), pod("web"))
        settle(sim)
    assert nodes_of(sim) == {"default/web": "a"}
    assert LINES >= 100_000
