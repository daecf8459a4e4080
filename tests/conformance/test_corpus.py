"""The corpus in tests/corpus: what kube-scheduler v1.34.1 decided is decided here, too."""

from pathlib import Path

import pytest

from scheduler_core.testing.conformance.corpus import Scenario, Verdict, read_corpus, run_scenario

CORPUS = Path(__file__).resolve().parents[1] / "corpus"

FAMILIES = sorted(path.name.removesuffix(".json.xz") for path in (CORPUS / "cycle").glob("*.json.xz"))


def family(name: str) -> list[Scenario]:
    return list(read_corpus(CORPUS / "cycle" / f"{name}.json.xz"))


SCENARIOS = [scenario for name in FAMILIES for scenario in family(name)]
EXTENDED = list(read_corpus(CORPUS / "extenders"))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.family}: {s.name}")
def test_the_scenario_decides_as_kube_did(scenario: Scenario) -> None:
    result = run_scenario(scenario)
    assert result.verdict is Verdict.PASSES, result.text


@pytest.mark.parametrize("scenario", EXTENDED, ids=lambda s: s.name)
def test_the_scenario_asks_its_extenders_as_kube_did(scenario: Scenario) -> None:
    result = run_scenario(scenario)
    assert result.verdict is Verdict.PASSES, result.text


DEVICES = [scenario for path in sorted((CORPUS / "dra").glob("*.json.xz")) for scenario in read_corpus(path)]


@pytest.mark.parametrize("scenario", DEVICES, ids=lambda s: f"{s.family}: {s.name}")
def test_devices_are_allocated_as_kube_did(scenario: Scenario) -> None:
    result = run_scenario(scenario)
    assert result.verdict is Verdict.PASSES, result.text


def test_a_real_cluster_is_filled_as_kube_filled_it() -> None:
    (result,) = map(run_scenario, read_corpus(CORPUS / "large"))
    assert result.verdict is Verdict.PASSES, result.text


def test_another_kind_of_corpus_is_recognised_as_not_supported_yet() -> None:
    result = run_scenario(Scenario("other", "a song", {"lines": []}))
    assert (result.verdict, result.reason) == (Verdict.NOT_SUPPORTED, "another kind of corpus")
