"""Which plugins run at a point, in which order, with which weight."""

from typing import Any

import pytest

from scheduler_core.scheduler.config import ConfigurationError, load_configuration, with_plugin
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.profile import Profile
from scheduler_core.scheduler.plugins import DEMONSTRATION

TYPE = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def profile(**plugins: Any) -> Profile:
    return load_configuration({**TYPE, "profiles": [{"plugins": plugins}]}).profiles[0]


def names(of: Profile, point: Point) -> list[str]:
    return [name for name, _ in of.plugins[point]]


def enabled(*plugins: str | tuple[str, int]) -> dict[str, Any]:
    return {"enabled": [{"name": p} if isinstance(p, str) else {"name": p[0], "weight": p[1]} for p in plugins]}


def disabled(*plugins: str) -> dict[str, Any]:
    return {"disabled": [{"name": p} for p in plugins]}


def refused(**plugins: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        profile(**plugins)
    return [str(error) for error in caught.value.errors]


def test_the_default_profile_runs_kubes_filters_in_kubes_order() -> None:
    default = load_configuration(None).profiles[0]
    assert names(default, Point.FILTER) == [
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
    ]


def test_the_default_profile_scores_with_kubes_weights() -> None:
    assert load_configuration(None).profiles[0].plugins[Point.SCORE] == (
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodeResourcesFit", 1),
        ("VolumeBinding", 1),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
    )


def test_disabling_at_one_point_leaves_the_others() -> None:
    mine = profile(score=disabled("TaintToleration"))
    assert "TaintToleration" not in names(mine, Point.SCORE)
    assert "TaintToleration" in names(mine, Point.FILTER)


def test_disabling_in_multi_point_takes_a_plugin_out_everywhere() -> None:
    mine = profile(multiPoint=disabled("TaintToleration"))
    assert not [point for point in mine.plugins if "TaintToleration" in names(mine, point)]


def test_a_star_at_a_point_leaves_only_what_is_enabled_there() -> None:
    mine = profile(score={**enabled("ImageLocality"), **disabled("*")})
    assert names(mine, Point.SCORE) == ["ImageLocality"]
    assert "ImageLocality" not in names(mine, Point.FILTER)


def test_a_star_in_multi_point_leaves_only_what_is_enabled() -> None:
    mine = profile(multiPoint={**enabled("PrioritySort", "DefaultBinder", "NodeName"), **disabled("*")})
    assert names(mine, Point.FILTER) == ["NodeName"]
    assert names(mine, Point.BIND) == ["DefaultBinder"]
    assert names(mine, Point.SCORE) == []


def test_a_reconfigured_default_keeps_its_place_and_takes_the_weight() -> None:
    mine = profile(multiPoint=enabled(("NodeAffinity", 7)))
    assert mine.plugins[Point.SCORE][:3] == (("TaintToleration", 3), ("NodeAffinity", 7), ("NodeResourcesFit", 1))


def test_plugins_enabled_at_the_point_run_before_those_of_multi_point() -> None:
    mine = profile(score=enabled(("ImageLocality", 5), ("NodeResourcesFit", 4)))
    assert mine.plugins[Point.SCORE][:3] == (("ImageLocality", 5), ("NodeResourcesFit", 4), ("TaintToleration", 3))


def test_plugins_enabled_at_the_point_alone_run_last() -> None:
    mine = profile(multiPoint=disabled("NodeName"), filter=enabled("NodeName"))
    assert names(mine, Point.FILTER)[-1] == "NodeName"


def test_no_weight_and_weight_zero_count_as_one() -> None:
    mine = profile(score={**enabled("ImageLocality", ("NodeAffinity", 0)), **disabled("*")})
    assert mine.plugins[Point.SCORE] == (("ImageLocality", 1), ("NodeAffinity", 1))


def test_normalising_goes_with_scoring() -> None:
    mine = profile(score={**enabled("ImageLocality", "NodeAffinity"), **disabled("*")})
    assert names(mine, Point.NORMALIZE_SCORE) == ["NodeAffinity"]


def test_a_plugin_that_does_not_exist_is_refused_where_it_stands() -> None:
    path = "profiles[0].plugins.filter.enabled[0]"
    assert refused(filter=enabled("Nope")) == [f'{path}: Invalid value: "Nope": FilterPlugin "Nope" does not exist']


def test_a_plugin_that_does_not_take_part_in_the_point_is_refused() -> None:
    assert refused(filter=enabled("ImageLocality")) == [
        'profiles[0].plugins.filter.enabled[0]: Invalid value: "ImageLocality": '
        'plugin "ImageLocality" does not extend FilterPlugin plugin'
    ]


def test_a_plugin_enabled_twice_is_refused() -> None:
    assert refused(filter=enabled("NodeName", "NodeName")) == [
        'profiles[0].plugins.filter.enabled[1]: Invalid value: "NodeName": plugin "NodeName" already registered as "FilterPlugin"'
    ]


def test_a_profile_needs_a_queue_sort_and_a_bind_plugin() -> None:
    assert refused(multiPoint=disabled("*")) == [
        "profiles[0].plugins.queueSort: Invalid value: 0: "
        'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
        "profiles[0].plugins.bind: Invalid value: 0: "
        'at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
    ]


def test_an_added_plugin_takes_part_everywhere_and_binds_before_the_default() -> None:
    mine = with_plugin(load_configuration(None), DEMONSTRATION).profiles[0]
    assert names(mine, Point.PERMIT) == [DEMONSTRATION]
    assert names(mine, Point.BIND) == [DEMONSTRATION, "DefaultBinder"]
    assert names(mine, Point.PRE_ENQUEUE)[-1] == DEMONSTRATION


def test_adding_a_plugin_twice_changes_nothing_more() -> None:
    once = with_plugin(load_configuration(None), DEMONSTRATION)
    assert with_plugin(once, DEMONSTRATION) == once


def test_the_effective_configuration_loads_to_the_same() -> None:
    given = {
        **TYPE,
        "profiles": [{"plugins": {"score": enabled(("ImageLocality", 5)), "multiPoint": disabled("NodeName")}}],
    }
    configuration = load_configuration(given)
    assert load_configuration(configuration.manifest) == configuration
