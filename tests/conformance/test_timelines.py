"""The queue's corpus in tests/corpus: what kube-scheduler v1.34.1's queue did over time is done here, too.

corners.json.xz holds short timelines of the same format beside it, each of something that was once done otherwise.
"""

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.testing.conformance.corpus import Scenario, Verdict, judge, read_corpus, run_scenario
from scheduler_core.testing.conformance.timelines import run_timeline
from tests.oracle.timelines import find_difference, make_timeline

QUEUE = Path(__file__).resolve().parents[1] / "corpus" / "queue"

TIMELINES = list(read_corpus(QUEUE))

CORNERS = list(read_corpus(Path(__file__).with_name("corners.json.xz")))


def timeline(family: str, name: str) -> Scenario:
    return next(s for s in TIMELINES if s.family == f"queue/{family}" and name in s.name)


@pytest.mark.parametrize("scenario", [*TIMELINES, *CORNERS], ids=lambda s: f"{s.family}: {s.name}"[:90])
def test_the_timeline_runs_as_kube_ran_it(scenario: Scenario) -> None:
    result = run_scenario(scenario)
    assert result.verdict is Verdict.PASSES, result.text


def keys_of_expectations() -> list[str]:
    untold = ("t", "errorsLogged")
    return sorted({key for s in TIMELINES for step in s.data["steps"] for key in step["expect"]} - set(untold))


@pytest.mark.parametrize("key", keys_of_expectations())
def test_a_key_that_is_expected_otherwise_is_noticed(key: str) -> None:
    found = next(s for s in TIMELINES if any(key in step["expect"] for step in s.data["steps"]))
    data: dict[str, Any] = copy.deepcopy(dict(found.data))
    number = next(i for i, step in enumerate(data["steps"]) if key in step["expect"])
    data["steps"][number]["expect"][key] = "something else"
    difference = run_timeline(data)
    assert difference is not None
    assert difference.facts["path"] == f"steps[{number}].{key}"


def test_a_key_that_is_not_expected_is_noticed() -> None:
    data: dict[str, Any] = copy.deepcopy(dict(timeline("queue-basics", "FIFO among equals").data))
    del data["steps"][1]["expect"]["activeQ"]
    assert "steps[1].activeQ: expected nothing, received [{" in str(run_timeline(data))


def test_a_time_may_differ_by_a_millisecond_and_no_more() -> None:
    data: dict[str, Any] = copy.deepcopy(dict(timeline("queue-basics", "FIFO among equals").data))
    entry = data["steps"][1]["expect"]["activeQ"][0]
    entry["timestamp"] += 0.001
    assert run_timeline(data) is None
    entry["timestamp"] += 0.001
    difference = run_timeline(data)
    assert difference is not None
    assert difference.facts["where"] == "activeQ[0].timestamp"


def test_a_timeline_that_stops_with_an_exception_differs() -> None:
    data = {"name": "broken", "config": None, "steps": [{"op": "create", "object": {}, "expect": {}}]}
    result = judge(Scenario("queue/broken", "broken", data))
    assert result.verdict is Verdict.DIFFERS
    assert "KeyError" in result.text


@pytest.mark.parametrize(
    ("field", "empty"), [("holderIdentity", ""), ("leaseDurationSeconds", 0), ("renewTime", 0), ("leaseTransitions", 0)]
)
def test_a_lease_is_shown_with_all_fields_of_its_record(field: str, empty: Any) -> None:
    data: dict[str, Any] = copy.deepcopy(dict(timeline("leader-election", "").data))
    first = next(i for i, step in enumerate(data["steps"]) if step["expect"].get("lease"))
    lease = {**data["steps"][first]["expect"]["lease"], field: empty}
    expect = {**data["steps"][first]["expect"], "lease": lease}
    for silent in ("log", "result"):
        expect.pop(silent, None)
    edit = {"op": "editLease", "set": {field: None}, "expect": expect}
    data["steps"] = [*data["steps"][: first + 1], edit]
    assert run_timeline(data) is None
    del edit["expect"]["lease"][field]
    assert f"steps[{first + 1}].lease.{field}: expected nothing" in str(run_timeline(data))


def test_a_random_timeline_is_compared_from_its_first_step_on() -> None:
    timeline = make_timeline(1, "1.36.3")
    seen = [{"metrics": {}} for _ in timeline["steps"]]
    assert (find_difference(timeline, seen, "1.36.3", Counter()) or "").startswith(f"{timeline['name']}: steps[0]")
