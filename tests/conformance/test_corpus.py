"""The corpus in tests/corpus: what kube-scheduler v1.34.1 decided is decided here, too."""

from pathlib import Path

import pytest

from scheduler_core.testing.corpus import Scenario, Verdict, read_corpus, run_scenario

CORPUS = Path(__file__).resolve().parents[1] / "corpus"

# Every scenario of these families passes, but what depends on a preemption.
COMPLETE = (
    "resources",
    "strategies",
    "node_affinity",
    "node_unschedulable",
    "taints",
    "ports",
    "image_locality",
    "gates",
)
# Of these, scenarios that need a plugin that is not built yet, or nominated pods, are not supported yet.
PARTIAL = ("sampling", "profiles", "preemption", "topology_spread")


def family(name: str) -> list[Scenario]:
    return list(read_corpus(CORPUS / "cycle" / f"{name}.json.xz"))


SCENARIOS = [scenario for name in (*COMPLETE, *PARTIAL) for scenario in family(name)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.family}: {s.name}")
def test_the_scenario_decides_as_kube_did(scenario: Scenario) -> None:
    result = run_scenario(scenario)
    assert result.verdict is not Verdict.DIFFERS, result.text


@pytest.mark.parametrize("name", COMPLETE)
def test_only_preemption_is_missing_from_a_complete_family(name: str) -> None:
    reasons = {
        result.reason for result in map(run_scenario, family(name)) if result.verdict is not Verdict.PASSES
    }
    assert reasons == ({"preemption"} if name == "ports" else set())


def test_some_scenarios_of_node_sampling_pass() -> None:
    passed = [result for result in map(run_scenario, family("sampling")) if result.verdict is Verdict.PASSES]
    assert len(passed) == 26


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("queue/permit.json.xz", "timelines of the scheduling queue"),
        ("extenders/extenders.json.xz", "HTTP extenders"),
        ("large/openb-default.json.xz", "a cluster kept in files of its own"),
    ],
)
def test_another_kind_of_corpus_is_recognised_as_not_supported_yet(path: str, reason: str) -> None:
    results = [run_scenario(scenario) for scenario in read_corpus(CORPUS / path)]
    assert {(result.verdict, result.reason) for result in results} == {(Verdict.NOT_SUPPORTED, reason)}
