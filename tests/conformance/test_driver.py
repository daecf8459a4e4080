"""The corpus' driver: that it notices, that it says what, and that it never calls passed what it can't judge."""

import copy
import gzip
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.testing.conformance.corpus import (
    CorpusError,
    Result,
    Scenario,
    Verdict,
    judge,
    read_corpus,
    run_scenario,
)
from scheduler_core.testing.conformance.corpus.compare import FIELDS

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "cycle"

# Say what came later, or are told as a count of what stands elsewhere.
NOT_COMPARED = ("preemption", "message", "n", "pod")


def scenario_of(family: str, **wanted: Any) -> Scenario:
    """The first scenario of a family with an attempt that has these fields."""
    for scenario in read_corpus(CORPUS / f"{family}.json.xz"):
        for attempt in scenario.attempts:
            if all(attempt.get(field) == value for field, value in wanted.items()):
                return scenario
    raise LookupError(f"{family}: no attempt with {wanted}")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in an attempt that is neither an object nor a list with entries."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for i, item in enumerate(value):
            yield from leaves(item, (*path, i))
    else:
        yield path


def other(value: Any) -> Any:
    """Something else of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}x"
        case list():
            return [*value, "x"]
    return {"plugin": "x", "code": "Unschedulable", "reasons": ["x"]}


def changed(scenario: Scenario, number: int, path: tuple[Any, ...]) -> Scenario:
    """The scenario expecting something else at one place of one attempt."""
    data = copy.deepcopy(dict(scenario.data))
    holder = data["expect"]["attempts"][number]
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = other(holder[path[-1]])
    return Scenario(scenario.family, scenario.name, data)


def judged(scenario: Scenario) -> Iterator[tuple[int, tuple[Any, ...]]]:
    for number, attempt in enumerate(scenario.attempts):
        for path in leaves(attempt):
            if path[0] not in NOT_COMPARED and path[:2] not in UNNAMED:
                yield number, path


# Names of plugins that are not built are left out of these lists: a name "...x" is one.
UNNAMED = (
    ("preFilter", "skippedFilters"),
    ("preFilter", "nodePlugins"),
    ("skippedScores", 0),
    ("unschedulablePlugins", 0),
)

CASES = [
    scenario_of("taints", scored=True),
    scenario_of("resources", errorKind="FitError"),
    scenario_of("gates", scored=True),
    scenario_of("node_affinity", errorKind="FitError"),
]


@pytest.mark.parametrize("scenario", CASES, ids=lambda s: s.family)
def test_whatever_is_expected_otherwise_is_noticed(scenario: Scenario) -> None:
    assert run_scenario(scenario).verdict is Verdict.PASSES
    unnoticed = [
        (number, path)
        for number, path in judged(scenario)
        if path[0] != "skippedScores" and judge(changed(scenario, number, path)).verdict is Verdict.PASSES
    ]
    assert unnoticed == []


def test_what_was_not_expected_at_all_is_noticed() -> None:
    scenario, passed = CASES[0], []
    compared = scenario.attempts[0].keys() & set(FIELDS) - {"nodeOrder", "nominatedNodeAfter"}
    said = sorted(field for field in compared if scenario.attempts[0][field] not in (None, [], {}, False))
    assert len(said) > 3
    for field in said:
        data = copy.deepcopy(dict(scenario.data))
        del data["expect"]["attempts"][0][field]
        if judge(Scenario("f", "s", data)).verdict is Verdict.PASSES:
            passed.append(field)
    assert passed == []


def first_difference(scenario: Scenario, number: int, *path: Any) -> str:
    return run_scenario(changed(scenario, number, path)).text


def test_a_differing_score_is_told_with_node_and_plugin() -> None:
    scenario = scenario_of("taints", scored=True)
    attempt = scenario.attempts[0]
    node = next(iter(attempt["scores"]["nodes"]))
    value = attempt["scores"]["nodes"][node]["raw"][0]
    assert first_difference(scenario, 0, "scores", "nodes", node, "raw", 0) == (
        f"attempts[0].scores.nodes.{node}.raw.{attempt['scores']['plugins'][0]}: "
        f"expected {value + 1}, received {value} (pod {attempt['pod']})"
    )


def test_a_differing_refusal_is_told_with_both_statuses() -> None:
    scenario = scenario_of("taints", scored=True)
    attempt = scenario.attempts[0]
    node = next(node for node, status in attempt["filter"].items() if status is None)
    assert first_difference(scenario, 0, "filter", node) == (
        f"attempts[0].filter.{node}: "
        'expected {"plugin": "x", "code": "Unschedulable", "reasons": ["x"]}, received "passes"'
        f" (pod {attempt['pod']})"
    )


def test_a_run_that_breaks_down_differs_and_says_how() -> None:
    scenario = CASES[0]
    broken = Scenario("f", "s", {**scenario.data, "objects": [{"kind": "Node", "metadata": 3}]})
    result = judge(broken)
    assert result.verdict is Verdict.DIFFERS
    assert result.text.startswith("stopped with ")


def verdict_with(change: Any) -> Result:
    """Of a passing scenario whose first attempt is changed."""
    data = copy.deepcopy(dict(CASES[0].data))
    change(data, data["expect"]["attempts"][0])
    return judge(Scenario("f", "s", data))


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)])
def test_corpus_files_may_be_plain_or_compressed(tmp_path: Path, suffix: str, pack: Any) -> None:
    data = json.dumps({"family": "f", "scenarios": [{"name": "s"}]}).encode()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / f"f.json{suffix}").write_bytes(pack(data))
    (tmp_path / "README.md").write_text("not a corpus")
    assert [(s.family, s.name) for s in read_corpus(tmp_path)] == [("f", "s")]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("f.json", b"{", "can't be read"),
        ("f.json", b"[]", "not a corpus file"),
        ("f.json", b'{"family": "f"}', "has neither `scenarios` nor `timelines`"),
        ("f.json", b'{"family": "f", "scenarios": [1]}', "scenario 0 is not an object"),
        ("f.json.xz", b"{}", "can't be read"),
        ("f.json.gz", b"{}", "can't be read"),
        ("f.txt", b"{}", "holds no .json"),
    ],
)
def test_what_is_no_corpus_is_refused_by_name(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=expected):
        list(read_corpus(tmp_path))
