"""The plugin Priority, and validation of priority classes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduler_core.apiserver.cluster.requests import api_server, pod, priority_class, refusal


def test_of_several_defaults_that_a_race_left_the_lowest_counts() -> None:
    api = api_server(priority_class("a", 30, globalDefault=True), priority_class("b", 10))
    api.store.replace({**api.found(("PriorityClass", "", "b")), "globalDefault": True}, "PriorityClass")
    assert api.create(pod())["spec"]["priorityClassName"] == "b"


def test_a_default_class_may_be_updated_and_stay_the_default() -> None:
    api = api_server(priority_class("a", 30, globalDefault=True))
    api.patch(("PriorityClass", "", "a"), {"description": "x"})
    assert api.found(("PriorityClass", "", "a"))["globalDefault"] is True


def test_an_update_that_leaves_the_priority_out_keeps_it() -> None:
    api = api_server(priority_class("a", 30), pod(priorityClassName="a"))
    api.patch(("Pod", "default", "p"), {"spec": {"priority": None, "preemptionPolicy": None}})
    assert api.found(("Pod", "default", "p"))["spec"]["priority"] == 30


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": "system-foo", "value": 1}, "system-foo is not a known system priority class"),
        (
            {"name": "system-node-critical", "value": 7},
            "value of system-node-critical PriorityClass must be 2000001000",
        ),
        ({"name": "fine", "value": 1_000_000_001}, "maximum allowed value of a user defined priority is 1000000000"),
        (
            {"name": "fine", "value": 1, "preemptionPolicy": "Sometimes"},
            'supported values: "PreemptLowerPriority", "Never"',
        ),
    ],
)
def test_a_class_that_kube_refuses(fields: dict[str, Any], problem: str) -> None:
    answer = refusal(lambda: api_server().create(priority_class(**fields)))
    assert (answer.code, problem in answer.message) == (422, True)
