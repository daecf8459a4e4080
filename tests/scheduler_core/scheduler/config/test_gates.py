"""Feature gates by name, and how --feature-gates is read."""

from __future__ import annotations

import msgspec
import pytest

from scheduler_core.base.gates import FeatureGates
from scheduler_core.scheduler.config.gates import (
    GATE_SETTINGS,
    GateError,
    asked_gates,
    default_settings,
    format_gates,
    read_gates,
    resolve,
)
from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.config.schema import ConfigurationError
from scheduler_core.scheduler.config.settings import READ_AT_START, WorldSettings
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.plugin import Point
from tests.scheduler_core.worlds import configuration

DEFAULTS = msgspec.structs.asdict(WorldSettings())


def problems(text: str) -> list[str]:
    with pytest.raises(GateError) as refused:
        read_gates(text)
    return refused.value.problems


def shaped(*points: tuple[int, int]) -> dict[str, object]:
    """A configuration with a shape for VolumeBinding."""
    shape = [{"utilization": x, "score": y} for x, y in points]
    plugin = {"name": "VolumeBinding", "args": {"shape": shape}}
    return configuration(profiles=[{"pluginConfig": [plugin]}])


def test_a_gate_that_is_not_named_has_its_default() -> None:
    wanted = read_gates("PodLevelResources=false")
    assert dict(wanted.settings) == {**{name: DEFAULTS[name] for name in GATE_SETTINGS}, "pod_level_resources": False}


def test_every_gate_that_can_be_set_is_a_setting_that_restarts_and_has_kubes_default() -> None:
    assert set(GATE_SETTINGS) <= set(READ_AT_START)
    assert {name: DEFAULTS[name] for name in GATE_SETTINGS} == default_settings("1.34.1")
    assert set(FeatureGates.__struct_fields__) <= set(GATE_SETTINGS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "--feature-gates=",
        " --feature-gates=PodLevelResources=true",
        '"PodLevelResources=T,"',
        "SidecarContainers=1",
    ],
)
def test_what_amounts_to_the_defaults(text: str) -> None:
    assert format_gates(read_gates(text).settings) == ""


def test_what_is_written_is_read_again() -> None:
    text = "PodLevelResources=false,SchedulerPopFromBackoffQ=false,StorageCapacityScoring=true"
    assert format_gates(read_gates(f"--feature-gates={text}").settings) == text


def test_the_last_of_two_counts() -> None:
    assert read_gates("PodLevelResources=false, PodLevelResources = true").settings["pod_level_resources"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nope=true", "unrecognized feature gate: Nope"),
        ("=true", "unrecognized feature gate: "),
        ("SidecarContainers=false", "cannot set feature gate SidecarContainers to false, feature is locked to true"),
        (
            "MatchLabelKeysInPodAffinity=false",
            "cannot set feature gate MatchLabelKeysInPodAffinity to false, feature is locked to true",
        ),
        (
            "WatchFromStorageWithoutResourceVersion=true",
            "cannot set feature gate WatchFromStorageWithoutResourceVersion to true, feature is locked to false",
        ),
        ("PodLevelResources", "missing bool value for PodLevelResources"),
        (
            "PodLevelResources=maybe",
            'invalid value of PodLevelResources=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        ("A" * 10_001, "received 10001 characters; expected at most 10000"),
    ],
)
def test_a_gate_that_can_not_be_so_is_refused(text: str, said: str) -> None:
    assert problems(text) == [said]


def test_every_locked_gate_is_told_at_once() -> None:
    assert len(problems("SidecarContainers=false,SchedulerQueueingHints=false")) == 2


def test_a_gate_that_kube_scheduler_does_not_ask_for_is_said_to_be_idle() -> None:
    assert read_gates("ImageVolume=true,DRAAdminAccess=true").idle == ("ImageVolume",)


@pytest.mark.parametrize("on", [True, False])
def test_all_alpha_counts_for_alpha_gates(on: bool) -> None:
    settings = resolve({"AllAlpha": on}).settings
    alpha = {gate.setting for gate in asked_gates() if gate.stage == "Alpha"} if on else set()
    assert {name for name in GATE_SETTINGS if settings[name] != DEFAULTS[name]} == alpha


def test_all_beta_counts_for_those_that_are_not_named() -> None:
    wanted = resolve({"AllBeta": False, "PodLevelResources": True})
    off = {gate.setting for gate in asked_gates() if gate.stage == "Beta" and gate.setting} - {"pod_level_resources"}
    assert {name for name in GATE_SETTINGS if wanted.settings[name] != DEFAULTS[name]} == off


# What gates make of a configuration


def test_without_dynamic_resource_allocation_its_plugin_is_no_default() -> None:
    profile = load_configuration(None, Features(dynamic_resources=False)).profiles[0]
    assert all("DynamicResources" not in dict(plugins) for plugins in profile.plugins.values())
    assert "DynamicResources" in dict(load_configuration(None).profiles[0].plugins[Point.FILTER])


def test_a_plugin_that_is_named_stays_without_its_gate() -> None:
    named = configuration(profiles=[{"plugins": {"multiPoint": {"enabled": [{"name": "DynamicResources"}]}}}])
    profile = load_configuration(named, Features(dynamic_resources=False)).profiles[0]
    assert "DynamicResources" in dict(profile.plugins[Point.FILTER])


def test_storage_capacity_scoring_gives_volume_binding_a_shape() -> None:
    args = load_configuration(None, Features(storage_capacity_scoring=True)).profiles[0].args["VolumeBinding"]
    assert args["shape"] == [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    assert "shape" not in load_configuration(None).profiles[0].args["VolumeBinding"]


def test_a_shape_is_refused_without_its_gate() -> None:
    with pytest.raises(ConfigurationError, match="turn on the feature gate StorageCapacityScoring"):
        load_configuration(shaped((0, 1)))
    load_configuration(shaped((0, 1)), Features(storage_capacity_scoring=True))


def test_a_wrong_shape_is_refused_with_its_gate() -> None:
    with pytest.raises(ConfigurationError, match="values must be sorted in increasing order"):
        load_configuration(shaped((5, 1), (5, 2)), Features(storage_capacity_scoring=True))
