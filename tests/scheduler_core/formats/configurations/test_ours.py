"""Plugins of others that are here as ours: a configuration for the originals is fitted to them."""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.loading import LoadLimits
from scheduler_core.formats.configurations import Adoption, adopt, find
from scheduler_core.scheduler.config import Definition, load_configuration
from scheduler_core.scheduler.config.schema import FIELDS

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"


def adopted(profile: str, own: Any = None) -> Adoption:
    [found] = find(HEAD + profile, LoadLimits())
    return adopt(found, own=own)


def test_the_sort_of_gangs_is_a_plugin_of_its_own_here() -> None:
    profile = '- plugins:\n    queueSort:\n      enabled: [{name: Coscheduling}]\n      disabled: [{name: "*"}]\n'
    it = adopted(profile)
    [loaded] = load_configuration(it.manifest).profiles
    assert loaded.plugins[FIELDS["queueSort"]] == (("CoschedulingSort", 0),)
    assert [change.path for change in it.changes] == ["profiles[0].plugins.queueSort.enabled[0]"]
    assert not it.plain


def test_enabled_at_all_its_points_it_sorts_the_queue_too() -> None:
    it = adopted("- plugins: {multiPoint: {enabled: [{name: Coscheduling}], disabled: [{name: PrioritySort}]}}\n")
    [loaded] = load_configuration(it.manifest).profiles
    assert loaded.plugins[FIELDS["queueSort"]] == (("CoschedulingSort", 0),)


def test_arguments_that_ours_does_not_have_are_left_out_and_told() -> None:
    args = "{apiVersion: kubescheduler.config.k8s.io/v1, targetUtilization: 40, metricProvider: {type: Prometheus}}"
    plugins = "plugins: {score: {enabled: [{name: TargetLoadPacking}]}}"
    profile = f"- {plugins}\n  pluginConfig: [{{name: TargetLoadPacking, args: {args}}}]\n"
    it = adopted(profile)
    assert not it.errors
    assert load_configuration(it.manifest).profiles[0].args["TargetLoadPacking"]["targetUtilization"] == 40
    assert [change.kind for change in it.changes] == ["lost"]


def test_a_point_that_ours_does_not_have_is_left_out() -> None:
    profile = (
        "- plugins:\n    multiPoint: {enabled: [{name: Coscheduling}]}\n    score: {enabled: [{name: Coscheduling}]}\n"
    )
    it = adopted(profile)
    assert [each.points for each in it.unknown] == [("score",)]
    assert it.without is not None
    [loaded] = load_configuration(it.without).profiles
    assert "Coscheduling" in dict(loaded.plugins[FIELDS["permit"]])


def test_a_plugin_of_ones_own_takes_the_place_of_an_unknown_one() -> None:
    profile = "- plugins: {score: {enabled: [{name: Mine}]}}\n"
    assert [each.name for each in adopted(profile).unknown] == ["Mine"]
    assert adopted(profile, {"Mine": Definition(score="1")}).plain
