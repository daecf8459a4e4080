"""Policy files: what replaced each predicate and priority."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.formats.configurations import Migration, migrate_policy
from scheduler_core.formats.configurations.policy import PREDICATES, PRIORITIES
from scheduler_core.scheduler.config import ConfigurationError, load_configuration
from scheduler_core.scheduler.config.schema import FIELDS
from scheduler_core.scheduler.framework.profile import Profile


def policy(**fields: Any) -> Migration:
    return migrate_policy({"kind": "Policy", "apiVersion": "v1", **fields})


def profile(**fields: Any) -> Profile:
    return load_configuration(policy(**fields).manifest).profiles[0]


def at(of: Profile, point: str) -> dict[str, int]:
    return dict(of.plugins[FIELDS[point]])


def test_what_was_asked_for_filters_and_what_always_did() -> None:
    made = at(profile(predicates=[{"name": "PodFitsResources"}], priorities=[]), "filter")
    assert set(made) == {"NodeUnschedulable", "TaintToleration", "NodeResourcesFit", "DynamicResources"}


def test_general_predicates_are_four_plugins() -> None:
    made = at(profile(predicates=[{"name": "GeneralPredicates"}], priorities=[]), "filter")
    assert {"NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"} <= set(made)
    assert "VolumeBinding" not in made


def test_priorities_score_with_their_weights_alone() -> None:
    made = profile(
        priorities=[{"name": "NodeAffinityPriority", "weight": 3}, {"name": "MostRequestedPriority", "weight": 5}]
    )
    assert at(made, "score").items() >= {("NodeAffinity", 3), ("NodeResourcesFit", 5)}
    assert "ImageLocality" not in at(made, "score")
    assert made.args["NodeResourcesFit"]["scoringStrategy"]["type"] == "MostAllocated"


def test_without_predicates_and_priorities_the_default_is_meant() -> None:
    made = profile()
    assert at(made, "score")["TaintToleration"] == 1
    assert at(made, "score")["PodTopologySpread"] == 2
    assert set(at(made, "filter")) == set(at(load_configuration(None).profiles[0], "filter"))


def test_without_selector_spread_there_are_no_default_constraints() -> None:
    made = profile(priorities=[{"name": "EvenPodsSpreadPriority", "weight": 2}])
    assert made.args["PodTopologySpread"]["defaultingType"] == "List"


def test_of_two_spreading_priorities_the_first_weight_counted() -> None:
    both = [{"name": "EvenPodsSpreadPriority", "weight": 2}, {"name": "SelectorSpreadPriority", "weight": 9}]
    assert at(profile(priorities=both), "score")["PodTopologySpread"] == 2


def test_of_two_names_of_one_priority_the_last_weight_counted() -> None:
    both = [{"name": "SelectorSpreadPriority", "weight": 9}, {"name": "ServiceSpreadingPriority", "weight": 2}]
    assert at(profile(priorities=both), "score")["PodTopologySpread"] == 2


def test_a_ratio_of_ones_own_is_a_strategy() -> None:
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    arguments = {"requestedToCapacityRatioArguments": {"shape": shape}}
    made = profile(priorities=[{"name": "Mine", "weight": 2, "argument": arguments}])
    strategy = made.args["NodeResourcesFit"]["scoringStrategy"]
    assert (strategy["type"], strategy["requestedToCapacityRatio"]["shape"]) == ("RequestedToCapacityRatio", shape)


def test_labels_are_an_added_affinity_and_service_affinity_is_lost() -> None:
    labels = {"name": "Mine", "argument": {"labelsPresence": {"labels": ["gpu"], "presence": True}}}
    service = {"name": "Rack", "argument": {"serviceAffinity": {"labels": ["rack"]}}}
    result = policy(predicates=[labels, service, {"name": "MatchNodeSelector"}])
    assert "addedAffinity" in load_configuration(result.manifest).profiles[0].args["NodeAffinity"]
    assert "predicates[1]" in [change.path for change in result.changes if change.kind == "lost"]


def test_extenders_and_the_hard_weight_find_their_places() -> None:
    extender = {"urlPrefix": "http://x", "filterVerb": "filter", "enableHttps": True, "httpTimeout": 1_000_000_000}
    result = policy(extenders=[extender], hardPodAffinitySymmetricWeight=7)
    [made] = load_configuration(result.manifest).manifest["extenders"]
    assert (made["enableHTTPS"], made["httpTimeout"]) == (True, "1s")
    assert load_configuration(result.manifest).profiles[0].args["InterPodAffinity"]["hardPodAffinityWeight"] == 7


def test_equal_priority_says_nothing() -> None:
    result = policy(priorities=[{"name": "EqualPriority", "weight": 1}])
    assert ("dropped", "priorities[0]") in [(change.kind, change.path) for change in result.changes]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"predicates": [{"name": "Nope"}]}, 'predicates[0].name: predicate type not found for "Nope"'),
        ({"priorities": [{"name": "Nope", "weight": 1}]}, 'priorities[0].name: priority type not found for "Nope"'),
    ],
)
def test_what_kube_did_not_know_is_refused_in_its_words(fields: Any, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        policy(**fields)
    assert [str(error) for error in caught.value.errors] == [said]


@pytest.mark.parametrize("name", PREDICATES)
def test_every_predicate_loads_as_v1(name: str) -> None:
    profile(predicates=[{"name": name}])


@pytest.mark.parametrize("name", PRIORITIES)
def test_every_priority_loads_as_v1(name: str) -> None:
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    arguments = {"argument": {"requestedToCapacityRatioArguments": {"shape": shape}}}
    profile(priorities=[{"name": name, "weight": 2, **(arguments if "Ratio" in name else {})}])
