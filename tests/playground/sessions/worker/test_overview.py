"""What the palette and the timeline ask of a whole world."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from playground.sessions.protocol.looking import FindNames, FoundName
from playground.sessions.worker.answers.objects import find_names, matching, thin_attempts

NAMES = ["default/web-1", "default/my-web", "shop/api-1", "webs/db-1"]


def test_names_that_begin_with_what_was_typed_come_first() -> None:
    assert matching(NAMES, "WEB", 9) == ["default/web-1", "webs/db-1", "default/my-web"]


def test_of_many_names_only_some_are_found() -> None:
    assert matching((f"default/web-{i}" for i in range(10**6)), "web", 2) == ["default/web-0", "default/web-1"]


def test_controllers_are_found_by_their_names() -> None:
    def at(_position: int | None) -> Any:
        yield
        store = SimpleNamespace(nodes=tuple, pods=tuple, list=lambda _kind: ())
        return SimpleNamespace(settings=SimpleNamespace(cluster="modelled"), store=store)

    steps = find_names(SimpleNamespace(at=at), FindNames(q="node-life", most=5, at=3))  # type: ignore[arg-type]
    next(steps)
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value == [FoundName("controller", "node-lifecycle-controller")]


def attempt(position: int, outcome: str = "scheduled", *victims: str) -> Any:
    pod = f"default/{position}"
    return SimpleNamespace(last_position=position, pod=pod, outcome=outcome, victims=victims)


def test_ends_of_attempts_are_spread_over_the_history_and_failures_stay() -> None:
    attempts = [attempt(i, "unschedulable" if i == 503 else "scheduled") for i in range(1000)]
    ends = thin_attempts(attempts, 999, 10)
    assert len(ends) == 10
    assert [end.position for end in ends if not end.scheduled] == [503]


def test_ends_after_the_head_are_not_told() -> None:
    assert [end.position for end in thin_attempts([attempt(3), attempt(9)], 5, 10)] == [3]


def test_of_failures_beside_each_other_the_one_that_preempts_is_told() -> None:
    attempts = [attempt(1, "unschedulable", "default/low"), attempt(2, "unschedulable")]
    assert [(end.position, end.preempts) for end in thin_attempts(attempts, 9, 2)] == [(1, True)]
