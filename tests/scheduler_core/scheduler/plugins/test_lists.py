"""The three lists of plugins agree with each other and with kube."""

from scheduler_core.base.releases import NEWEST, OLDEST, behaviors_of
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.plugin import Plugin, Point, takes_part
from scheduler_core.scheduler.plugins import (
    DEFAULT_ORDER,
    DEMONSTRATION,
    EXAMPLES,
    NAMES,
    OUT_OF_TREE,
    ROOMS,
    default_order,
)


def test_the_default_order_of_the_newest_release_names_every_in_tree_plugin_once() -> None:
    order = default_order(Features(behaviors=behaviors_of(NEWEST)))
    assert sorted(name for name, _ in order) == sorted(NAMES)


def test_the_default_order_of_the_oldest_release_lacks_only_the_plugins_of_newer_ones() -> None:
    order = default_order(Features(behaviors=behaviors_of(OLDEST)))
    assert order == DEFAULT_ORDER
    assert sorted([*(name for name, _ in order), "NodeDeclaredFeatures", "GangScheduling"]) == sorted(NAMES)


def test_the_default_weights_are_kubes() -> None:
    weights = {name: weight for name, weight in DEFAULT_ORDER if weight}
    assert weights == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }


def test_every_plugin_that_is_built_is_one_of_kubes() -> None:
    assert {plugin.name for plugin in ROOMS} - {DEMONSTRATION, *EXAMPLES, *OUT_OF_TREE} == set(NAMES)


def test_no_two_rooms_have_the_same_name() -> None:
    assert len({plugin.name for plugin in ROOMS}) == len(ROOMS)


def test_the_demonstration_plugin_is_in_no_default() -> None:
    assert DEMONSTRATION in [plugin.name for plugin in ROOMS]
    assert DEMONSTRATION not in NAMES


def test_the_base_of_plugins_takes_part_nowhere() -> None:
    assert not [point for point in Point if takes_part(Plugin, point)]
