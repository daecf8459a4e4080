"""Differences: the first path that differs, and both values there, however deep and however long."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.testing.conformance.corpus import Scenario, read_corpus, run_scenario
from scheduler_core.testing.differences import describe, first_place

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
LONG = "x" * 2000


@pytest.mark.parametrize(
    ("expected", "received", "place"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": None}, {}, None),
        ({"a": 1}, {}, (".a", 1, None)),
        ({}, {"a": 1}, (".a", None, 1)),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, (".a[1].b", 2, 3)),
        ([1, 2], [1], ("[1]", 2, None)),
        ([1], [1, 2], ("[1]", None, 2)),
        ({"b": 1, "a": 1}, {"a": 2, "b": 2}, (".b", 1, 2)),
        ({"a": {"b": 1}}, {"a": []}, (".a", {"b": 1}, [])),
    ],
)
def test_the_first_place_is_found(expected: Any, received: Any, place: Any) -> None:
    assert first_place(expected, received) == place


def test_both_values_are_shown_in_full() -> None:
    text = describe("attempts[0].message", LONG, None, "pod default/p")
    assert text == f'attempts[0].message: expected "{LONG}", received nothing (pod default/p)'


def changed(name: str, *path: Any) -> tuple[Scenario, Any]:
    """The first scenario of a file with something at a path of its data, which is expected to be longer there; and what it was."""
    for scenario in read_corpus(CORPUS / name):
        data: Any = copy.deepcopy(dict(scenario.data))
        holder = data
        try:
            for key in path[:-1]:
                holder = holder[key]
            was = holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
        holder[path[-1]] = f"{was}-other"
        return Scenario(scenario.family, scenario.name, data), was
    raise LookupError(path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (
            "extenders/extenders.json.xz",
            ("expect", "attempts", 0, "extenders", 0, "request", "Pod", "spec", "containers", 0, "name"),
        ),
        ("cycle/preemption.json.xz", ("expect", "attempts", 0, "preemption", "candidates", 0, "victims", 0)),
        ("queue/leader-election.json.xz", ("steps", 0, "expect", "lease", "holderIdentity")),
    ],
)
def test_a_difference_deep_within_is_told_by_its_path(name: str, path: tuple[Any, ...]) -> None:
    scenario, was = changed(name, *path)
    told = [key for key in path if key != "expect"]
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in told)[1:]
    assert run_scenario(scenario).text.startswith(
        f"{where}: expected {json.dumps(f'{was}-other')}, received {json.dumps(was)} ("
    )


def test_an_object_of_a_world_is_told_by_the_field_that_differs() -> None:
    found = next(read_corpus(CORPUS / "worlds/replicaset_deployment.json.xz"))
    data: dict[str, Any] = copy.deepcopy(dict(found.data))
    item = {"object": "Node/n1", "path": "status.capacity", "is": {"cpu": "77"}}
    data["objects"] = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": {"cpu": "4"}}}
    ]
    data["steps"] = [{"at": "0s", "expect": [item]}]
    text = run_scenario(Scenario("f", "s", data)).text
    assert text.startswith("steps[0].expect[0] (at 0s): expected ")
    assert text.endswith('received a difference at .cpu: expected "77", received "4"')
