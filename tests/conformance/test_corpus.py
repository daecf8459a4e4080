"""The corpus in tests/corpus: what kube-scheduler v1.34.1 decided is decided here, too."""

from pathlib import Path

import pytest

from scheduler_core.testing.corpus import Scenario, Verdict, read_corpus, run_scenario

CORPUS = Path(__file__).resolve().parents[1] / "corpus"

FAMILIES = sorted(path.name.removesuffix(".json.xz") for path in (CORPUS / "cycle").glob("*.json.xz"))
# Families that still wait for a plugin that is not built.
WAITING = (
    "interpod_affinity",
    "kitchen_sink",
    "preemption",
    "profiles",
    "rollouts",
    "topology_spread",
    "volumes",
)


def family(name: str) -> list[Scenario]:
    return list(read_corpus(CORPUS / "cycle" / f"{name}.json.xz"))


SCENARIOS = [scenario for name in FAMILIES for scenario in family(name)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.family}: {s.name}")
def test_the_scenario_decides_as_kube_did(scenario: Scenario) -> None:
    result = run_scenario(scenario)
    assert result.verdict is not Verdict.DIFFERS, result.text


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in WAITING])
def test_nothing_is_missing_from_a_family_that_waits_for_no_plugin(name: str) -> None:
    assert {run_scenario(scenario).verdict for scenario in family(name)} == {Verdict.PASSES}


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("queue/permit.json.xz", "timelines of the scheduling queue"),
        ("extenders/extenders.json.xz", "HTTP extenders"),
    ],
)
def test_another_kind_of_corpus_is_recognised_as_not_supported_yet(path: str, reason: str) -> None:
    results = [run_scenario(scenario) for scenario in read_corpus(CORPUS / path)]
    assert {(result.verdict, result.reason) for result in results} == {(Verdict.NOT_SUPPORTED, reason)}
