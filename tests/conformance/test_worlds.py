"""The corpus of worlds in tests/corpus: what happens around the scheduler in Kubernetes v1.34.1 happens here, too."""

from pathlib import Path

import pytest

from scheduler_core.testing.conformance.corpus import Scenario, Verdict, read_corpus, run_scenario

WORLDS = Path(__file__).resolve().parents[1] / "corpus" / "worlds"


@pytest.mark.parametrize("scenario", list(read_corpus(WORLDS)), ids=lambda s: f"{s.family}: {s.name}"[:90])
def test_the_world_goes_as_kube_has_it(scenario: Scenario) -> None:
    result = run_scenario(scenario)
    assert result.verdict is Verdict.PASSES, result.text
