"""What an older configuration ran is what its v1 form runs: plugins, weights and arguments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.formats.configurations import VERSIONS, Migration, migrate
from scheduler_core.formats.configurations.effective import BY_API_VERSION, effective
from scheduler_core.formats.configurations.translate import GONE
from scheduler_core.scheduler.config import load_configuration
from scheduler_core.scheduler.config.schema import FIELDS
from scheduler_core.scheduler.framework.profile import Profile

GROUP = "kubescheduler.config.k8s.io"
OLD = [version.name for version in VERSIONS]


def migrated(version: str, **fields: Any) -> Migration:
    return migrate({"apiVersion": f"{GROUP}/{version}", "kind": "KubeSchedulerConfiguration", **fields})


def one(version: str, plugins: Any = None, **fields: Any) -> Profile:
    """The profile that v1 makes of an older one."""
    profile = {**({"plugins": plugins} if plugins else {}), **fields}
    return load_configuration(migrated(version, profiles=[profile]).manifest).profiles[0]


def plugins_at(profile: Profile, point: str) -> dict[str, int]:
    return dict(profile.plugins[FIELDS[point]])


def names(*given: str) -> list[dict[str, str]]:
    return [{"name": name} for name in given]


@pytest.mark.parametrize("version", OLD)
def test_every_version_without_fields_loads_as_v1(version: str) -> None:
    load_configuration(migrated(version).manifest)


def test_the_default_weights_of_v1beta2_stay_what_they_were() -> None:
    assert plugins_at(one("v1beta2"), "score") == {
        "InterPodAffinity": 1,
        "NodeAffinity": 1,
        "TaintToleration": 1,
        "NodeResourcesFit": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }


def test_v1beta3_has_the_weights_of_v1_already() -> None:
    assert one("v1beta3").plugins == load_configuration(None).profiles[0].plugins


def test_a_list_of_ones_own_keeps_its_order_and_weights() -> None:
    score = {"disabled": names("*"), "enabled": [{"name": "ImageLocality", "weight": 7}, *names("NodeAffinity")]}
    profile = one("v1beta2", {"score": score})
    assert profile.plugins[FIELDS["score"]] == (("ImageLocality", 7), ("NodeAffinity", 1))


def test_a_plugin_that_is_disabled_where_it_was_is_off_at_points_it_has_got_since() -> None:
    profile = one("v1beta2", {"filter": {"disabled": names("VolumeZone")}})
    assert not any("VolumeZone" in plugins_at(profile, point) for point in FIELDS)


def test_a_default_that_is_enabled_again_is_weighed_anew_in_v1beta2() -> None:
    profile = one("v1beta2", {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 9}]}})
    assert plugins_at(profile, "score")["NodeResourcesFit"] == 9


@pytest.mark.parametrize(
    ("plugin", "strategy"),
    [("NodeResourcesMostAllocated", "MostAllocated"), ("RequestedToCapacityRatio", "RequestedToCapacityRatio")],
)
def test_a_plugin_that_scored_by_resources_is_a_strategy(plugin: str, strategy: str) -> None:
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    args: dict[str, Any] = {"resources": [{"name": "cpu", "weight": 3}]}
    if strategy == "RequestedToCapacityRatio":
        args["shape"] = shape
    profile = one(
        "v1beta1",
        {"score": {"disabled": names("NodeResourcesLeastAllocated"), "enabled": [{"name": plugin, "weight": 4}]}},
        pluginConfig=[{"name": plugin, "args": args}],
    )
    assert plugins_at(profile, "score")["NodeResourcesFit"] == 4
    scoring = profile.args["NodeResourcesFit"]["scoringStrategy"]
    assert (scoring["type"], scoring["resources"]) == (strategy, args["resources"])
    assert scoring.get("requestedToCapacityRatio", {}).get("shape") == args.get("shape")


def test_nothing_scores_by_resources_where_that_was_disabled() -> None:
    profile = one("v1beta1", {"score": {"disabled": names("NodeResourcesLeastAllocated")}})
    assert "NodeResourcesFit" not in plugins_at(profile, "score")
    assert "NodeResourcesFit" in plugins_at(profile, "filter")


def test_of_two_that_scored_by_resources_the_one_asked_for_stays_and_this_is_told() -> None:
    enabled = {"score": {"enabled": names("NodeResourcesMostAllocated")}}
    result = migrated("v1beta1", profiles=[{"plugins": enabled}])
    args = load_configuration(result.manifest).profiles[0].args
    assert args["NodeResourcesFit"]["scoringStrategy"]["type"] == "MostAllocated"
    assert result.lossy
    assert any("NodeResourcesLeastAllocated scored in addition to" in change.text for change in result.changes)


def test_labels_that_nodes_had_to_have_are_an_added_affinity() -> None:
    config = {"name": "NodeLabel", "args": {"presentLabels": ["gpu"], "absentLabels": ["old"]}}
    profile = one("v1beta1", {"filter": {"enabled": names("NodeLabel")}}, pluginConfig=[config])
    required = profile.args["NodeAffinity"]["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "gpu", "operator": "Exists"}, {"key": "old", "operator": "DoesNotExist"}]}
    ]


def test_constraints_without_a_type_were_a_list_in_v1beta1() -> None:
    constraints = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]
    config = {"name": "PodTopologySpread", "args": {"defaultConstraints": constraints}}
    assert one("v1beta1", pluginConfig=[config]).args["PodTopologySpread"]["defaultingType"] == "List"


def test_arguments_say_that_they_are_of_v1() -> None:
    args = {"apiVersion": f"{GROUP}/v1beta2", "kind": "NodeResourcesFitArgs", "ignoredResources": ["x/y"]}
    profile = one("v1beta2", pluginConfig=[{"name": "NodeResourcesFit", "args": args}])
    assert profile.args["NodeResourcesFit"]["ignoredResources"] == ["x/y"]


def test_the_fields_of_v1alpha1_find_their_places() -> None:
    result = migrated(
        "v1alpha1",
        schedulerName="mine",
        hardPodAffinitySymmetricWeight=10,
        bindTimeoutSeconds=60,
        disablePreemption=True,
        leaderElection={"lockObjectName": "lock", "resourceLock": "endpoints"},
        metricsBindAddress="0.0.0.0:10251",
        algorithmSource={"provider": "ClusterAutoscalerProvider"},
    )
    loaded = load_configuration(result.manifest)
    [profile] = loaded.profiles
    assert profile.scheduler_name == "mine"
    assert profile.args["InterPodAffinity"]["hardPodAffinityWeight"] == 10
    assert profile.args["VolumeBinding"]["bindTimeoutSeconds"] == 60
    assert profile.args["NodeResourcesFit"]["scoringStrategy"]["type"] == "MostAllocated"
    assert "DefaultPreemption" not in plugins_at(profile, "postFilter")
    assert loaded.manifest["leaderElection"]["resourceName"] == "lock"
    assert loaded.manifest["leaderElection"]["resourceLock"] == "leases"


def test_what_v1alpha1_called_postfilter_scores_and_unreserve_is_reserve() -> None:
    plugins = {"postFilter": {"enabled": names("Own")}, "unreserve": {"enabled": names("Own")}}
    [profile] = migrated("v1alpha1", plugins=plugins).manifest["profiles"]
    assert profile["plugins"]["preScore"] == {"enabled": names("Own")}
    assert profile["plugins"]["reserve"] == {"enabled": names("Own")}


def test_an_extender_of_v1alpha2_times_out_after_as_long() -> None:
    extender = {"urlPrefix": "http://x", "enableHttps": True, "httpTimeout": 5_000_000_000}
    [made] = migrated("v1alpha2", extenders=[extender]).manifest["extenders"]
    assert made == {"urlPrefix": "http://x", "enableHTTPS": True, "httpTimeout": "5s"}


def test_spreading_by_default_was_selectorspread() -> None:
    profile = one("v1beta3", {"multiPoint": {"enabled": [{"name": "SelectorSpread", "weight": 3}]}})
    assert plugins_at(profile, "score")["PodTopologySpread"] == 3
    assert profile.args["PodTopologySpread"]["defaultingType"] == "System"


def test_selectorspread_alone_at_score_is_podtopologyspread_once() -> None:
    score = {"disabled": names("PodTopologySpread"), "enabled": names("SelectorSpread")}
    profile = one("v1beta2", {"score": score, "preScore": {"enabled": names("PodTopologySpread")}})
    assert plugins_at(profile, "score")["PodTopologySpread"] == 1


@st.composite
def v1beta2_plugins(draw: st.DrawFn) -> dict[str, Any]:
    """Sets of plugins that kube-scheduler would have started with."""
    defaults = BY_API_VERSION[f"{GROUP}/v1beta2"].defaults
    plugins: dict[str, Any] = {}
    for point in ("preFilter", "filter", "postFilter", "preScore", "score", "reserve", "preBind"):
        there = [name for name, _ in defaults[point]]
        if draw(st.booleans()):
            continue
        weights = st.integers(1, 9)
        enabled = draw(st.lists(st.sampled_from(there), unique=True))
        disabled = draw(st.one_of(st.just(["*"]), st.lists(st.sampled_from(there), unique=True)))
        plugins[point] = {
            "disabled": names(*disabled),
            "enabled": [{"name": n, **({"weight": draw(weights)} if point == "score" else {})} for n in enabled],
        }
    return plugins


@settings(max_examples=60)
@given(v1beta2_plugins())
def test_what_ran_in_v1beta2_runs_with_its_weights_where_it_ran(plugins: dict[str, Any]) -> None:
    version = BY_API_VERSION[f"{GROUP}/v1beta2"]
    ran, _ = effective(plugins, "", version)
    profile = one("v1beta2", plugins)
    for point, usual in version.defaults.items():
        then = {each.name: each.weight for each in ran.ran[point] if each.name not in GONE}
        now = plugins_at(profile, point)
        assert {name: now.get(name) for name in then} == then
        assert not [name for name, _ in usual if name in now and name not in then]
