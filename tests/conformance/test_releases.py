"""The corpora of newer releases: the scenarios of 1.34.1 under kube 1.35.4, 1.36.3, and 1.37.2, and new behavior of 1.37.2."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from scheduler_core.base.releases import DIFFERENCES, OLDEST, RELEASES, Behavior, behaviors_of, read_release
from scheduler_core.scheduler.config import WorldSettings, asked_gates
from scheduler_core.testing.conformance.corpus import Scenario, Verdict, read_corpus, run_scenario
from scheduler_core.world.commands import Refused, SetSettings
from scheduler_core.world.simulation import Simulation

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
EVERYTHING = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
FILES = sorted((CORPUS / "releases").rglob("*.json.xz"))


def scenarios(file: Path) -> list[Scenario]:
    """Return the scenarios of a file, with those of its family of 1.34.1 that did not change.

    Scenarios that depend on the order of a Go map are left out.
    """
    found = {scenario.name: scenario for scenario in read_corpus(file)}
    base = CORPUS / "cycle" / file.name
    if file.parent.name == "cycle":
        index = json.loads((file.parents[1] / "index.json").read_text())
        left_out = index["families"][file.name.partition(".")[0]].get("orderDependent") or ()
        release = read_release(index["kubeVersion"])
        for scenario in read_corpus(base):
            if scenario.name not in left_out:
                found.setdefault(scenario.name, replace(scenario, release=release))
    return list(found.values())


@pytest.mark.parametrize("file", FILES, ids=lambda file: "/".join(file.parts[-3:]))
def test_a_release_decides_as_kube_did(file: Path) -> None:
    """Each fifth scenario or timeline of 1.34.1, each of the new families; all where tests have many examples (make test-long)."""
    every = scenarios(file)
    chosen = every if EVERYTHING or file.parent.name == "families" else every[::5]
    results = [run_scenario(scenario) for scenario in chosen]
    assert [f"{r.scenario.name}: {r.text}" for r in results if r.verdict is not Verdict.PASSES] == []


def test_each_behavior_is_in_the_table_once_and_comes_with_a_modeled_release() -> None:
    assert [each.behavior for each in DIFFERENCES] == list(dict.fromkeys(each.behavior for each in DIFFERENCES))
    assert {each.behavior for each in DIFFERENCES} == set(Behavior)
    assert behaviors_of(OLDEST) == frozenset()
    assert behaviors_of("1.37.2") == frozenset(Behavior)
    assert behaviors_of("1.34.2") == {Behavior.CONSTANT_TAINT_TEXT, Behavior.CLASS_CONFIGS_ONCE}


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("v1.34.0", "1.34.1"),
        ("1.34", "1.34.2"),
        ("v1.36.1-gke.100", "1.36.3"),
        ("1.37", "1.37.2"),
        ("1.35.9", "1.35.4"),
    ],
)
def test_a_version_is_read_as_the_nearest_release_of_its_minor(text: str, release: str) -> None:
    assert read_release(text) == release


@pytest.mark.parametrize("text", ["", "1.33", "2.1", "v1.38.0", "latest"])
def test_a_version_that_is_not_modeled_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a release from"):
        read_release(text)


def test_another_release_brings_its_gates_and_keeps_what_was_set() -> None:
    settings = WorldSettings().changed({"pod_level_resources": False}).of_release("1.37.2")
    assert settings.release == "1.37.2"
    assert settings.storage_capacity_scoring
    assert not settings.async_api_calls
    assert not settings.pod_level_resources
    assert settings.of_release("1.34.1") == WorldSettings().changed({"pod_level_resources": False})


def test_a_locked_gate_has_the_value_that_the_release_locks() -> None:
    settings = WorldSettings().changed({"dynamic_resources": False}).of_release("1.35.4")
    assert settings.dynamic_resources


def test_every_release_has_the_gates_that_it_asks_for() -> None:
    names = {release: {gate.name for gate in asked_gates(release)} for release in RELEASES}
    assert "NodeDeclaredFeatures" not in names["1.34.2"]
    assert "NodeDeclaredFeatures" in names["1.35.4"]
    assert "SchedulerQueueingHints" not in names["1.37.2"]


def test_a_world_is_upgraded_by_a_command_and_refuses_an_unknown_release() -> None:
    world = Simulation()
    world.apply(SetSettings({"release": "1.36"}))
    assert world.settings.release == "1.36.3"
    assert world.schedulers[0].features.node_declared_features
    with pytest.raises(Refused, match=r"1\.33"):
        world.apply(SetSettings({"release": "1.33"}))
    assert world.settings.release == "1.36.3"
