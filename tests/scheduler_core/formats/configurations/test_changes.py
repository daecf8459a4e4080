"""What is told of a migration: each change at its place, and why."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from scheduler_core.formats.configurations import migrate, older_version
from scheduler_core.scheduler.config import ConfigurationError
from tests.scheduler_core.formats.configurations.test_meaning import migrated, names


def said(version: str, **fields: Any) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in migrated(version, **fields).changes]


def text_at(version: str, path: str, **fields: Any) -> str:
    return next(change.text for change in migrated(version, **fields).changes if change.path == path)


def test_the_version_is_the_first_change() -> None:
    [first, *_] = migrated("v1beta2").changes
    assert first.path == "apiVersion"
    assert "read as in kube-scheduler v1.27" in first.text


def test_default_weights_that_are_written_out_are_told_with_todays() -> None:
    assert any("TaintToleration 1 (now 3)" in change.text for change in migrated("v1beta2").changes)


def test_addresses_are_gone() -> None:
    assert ("dropped", "healthzBindAddress") in said("v1beta1", healthzBindAddress="0.0.0.0:10251")


def test_a_lock_of_an_older_kind_is_a_lease() -> None:
    election = {"resourceLock": "endpointsleases"}
    result = migrated("v1beta2", leaderElection=election)
    assert result.manifest["leaderElection"] == {"resourceLock": "leases"}
    assert election == {"resourceLock": "endpointsleases"}


def test_what_v1_cannot_say_is_told_with_its_effect() -> None:
    plugins = {"score": {"enabled": names("NodeLabel")}}
    result = migrated("v1beta1", profiles=[{"plugins": plugins}])
    [change] = [change for change in result.changes if "NodeLabel" in change.text]
    assert (change.kind, change.path) == ("lost", "profiles[0].plugins.score.enabled[0]")
    assert change.effect


def test_volume_counts_go_to_nodevolumelimits_or_nowhere() -> None:
    plugins = {"filter": {"enabled": names("CinderLimits")}}
    path = "profiles[0].plugins.filter.enabled[0]"
    assert "NodeVolumeLimits counts" in text_at("v1beta2", path, profiles=[{"plugins": plugins}])
    plugins["filter"]["disabled"] = names("*")
    assert migrated("v1beta2", profiles=[{"plugins": plugins}]).lossy


def test_a_default_that_stood_twice_did_not_start_and_is_told() -> None:
    plugins = {"filter": {"enabled": names("NodeName")}}
    path = "profiles[0].plugins.filter.enabled[0]"
    assert "refused" in text_at("v1beta1", path, profiles=[{"plugins": plugins}])


def test_a_policy_elsewhere_is_asked_for() -> None:
    source = {"policy": {"file": {"path": "/etc/policy.cfg"}}}
    result = migrated("v1alpha1", algorithmSource=source)
    assert next(change.path for change in result.changes if change.kind == "lost") == "algorithmSource.policy"


def test_a_field_of_another_version_is_an_error_of_the_document() -> None:
    with pytest.raises(ConfigurationError) as caught:
        migrated("v1beta2", profiles=[{"plugins": {"multiPoint": {}}}])
    assert [error.path for error in caught.value.errors] == ["profiles[0].plugins.multiPoint"]


@pytest.mark.parametrize(
    "manifest",
    [
        None,
        [],
        {"kind": "KubeSchedulerConfiguration"},
        {"kind": "KubeSchedulerConfiguration", "apiVersion": 1},
        {"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"},
        {"kind": "Pod", "apiVersion": "kubescheduler.config.k8s.io/v1beta2"},
    ],
)
def test_what_is_no_older_version_is_not_migrated(manifest: Any) -> None:
    assert older_version(manifest) is None
    with pytest.raises(ConfigurationError):
        migrate(manifest)


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"])
@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [None], [1], [{}], {"a": 1}])
def test_odd_values_are_errors_or_pass(version: str, value: Any) -> None:
    for name in (
        "profiles",
        "plugins",
        "pluginConfig",
        "leaderElection",
        "extenders",
        "algorithmSource",
        "bindTimeoutSeconds",
    ):
        for fields in (
            {name: value},
            {"profiles": [{name: value}]},
            {"profiles": [{"plugins": {"score": {"enabled": value}}}]},
        ):
            with suppress(ConfigurationError):
                migrated(version, **fields)
