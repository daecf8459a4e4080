"""The corpus of validity in tests/corpus: objects are refused and taken as kube-apiserver v1.34.1 does, in its words and order."""

from pathlib import Path

import pytest

from scheduler_core.testing.conformance.corpus import Verdict, read_corpus, run_scenario

VALIDITY = Path(__file__).resolve().parents[1] / "corpus" / "validity"


@pytest.mark.parametrize("family", sorted(VALIDITY.glob("*.json.xz")), ids=lambda path: path.name)
def test_objects_are_judged_as_kube_judges_them(family: Path) -> None:
    results = [run_scenario(scenario) for scenario in read_corpus(family)]
    different = [f"{each.scenario.name}: {each}" for each in results if each.verdict is not Verdict.PASSES]
    assert different == []
    taken = [each for each in results if not each.scenario.data["errors"]]
    assert 0 < len(taken) < len(results)
