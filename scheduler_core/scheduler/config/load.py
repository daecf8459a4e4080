"""Loading a KubeSchedulerConfiguration: shape, defaults, validation, expansion.

kube: apis/config/{v1,validation}, framework/runtime/framework.go NewFramework @ v1.34.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, invalid
from scheduler_core.apimachinery.objects.strict import check_shape
from scheduler_core.scheduler.config.defaults import default_configuration, list_given_indexes
from scheduler_core.scheduler.config.expand import expand
from scheduler_core.scheduler.config.leader_election import election_errors
from scheduler_core.scheduler.config.points import implements
from scheduler_core.scheduler.config.schema import CONFIGURATION
from scheduler_core.scheduler.config.types import API_VERSION, KIND, ConfigurationError, SchedulerConfiguration
from scheduler_core.scheduler.config.validation import configuration_errors, plugin_args_shape_errors, type_errors
from scheduler_core.scheduler.framework.features import DEFAULT_FEATURES, Features
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.profile import Profile
from scheduler_core.scheduler.plugins.cel import Definition, plugins_of
from scheduler_core.scheduler.plugins.registry import with_plugins, with_release

_AT_MULTI_POINT = re.compile(r"(profiles\[\d+\]\.plugins\.multiPoint\.enabled)\[(\d+)\]")


def load_configuration(
    manifest: Mapping[str, Any] | None,
    features: Features = DEFAULT_FEATURES,
    *,
    elections: bool = False,
    own: Mapping[str, Definition] | None = None,
) -> SchedulerConfiguration:
    """Load a user's manifest; None is kube-scheduler's own default. Raise ConfigurationError if it is invalid.

    `elections`: whether its leaderElection is used and fully checked. `own`: custom plugins in CEL, by name.
    """
    with with_own(own or {}), with_release(features):
        return _load(manifest, features, elections)


@contextmanager
def with_own(own: Mapping[str, Definition]) -> Iterator[None]:
    """Add these plugins for the length of a block."""
    if not own:
        yield
        return
    with with_plugins(*plugins_of(own)):
        yield


def _load(manifest: Mapping[str, Any] | None, features: Features, elections: bool) -> SchedulerConfiguration:
    source: Mapping[str, Any] = {"apiVersion": API_VERSION, "kind": KIND} if manifest is None else manifest
    _raise(check_shape(source, CONFIGURATION, "") or type_errors(source))
    _raise(plugin_args_shape_errors(source))
    full = default_configuration(source, features)
    errors = [*(election_errors(full) if elections else ()), *configuration_errors(full, features)]
    given: Sequence[Mapping[str, Any]] = source.get("profiles") or [{}]
    profiles = []
    for i, raw in enumerate(full["profiles"]):
        profile, problems = _profile(raw, f"profiles[{i}]")
        profiles.append(profile)
        if problems:
            errors += _where_given(problems, given[i], features)
    _raise(errors)
    return SchedulerConfiguration(
        tuple(profiles),
        full["percentageOfNodesToScore"],
        full["podInitialBackoffSeconds"],
        full["podMaxBackoffSeconds"],
        full,
        manifest,
    )


def with_plugin(
    configuration: SchedulerConfiguration,
    name: str,
    features: Features = DEFAULT_FEATURES,
    own: Mapping[str, Definition] | None = None,
) -> SchedulerConfiguration:
    """The same configuration with a plugin added to every profile, at all its points, before others at Bind."""
    profiles = [
        {**profile, "plugins": _with_enabled(profile["plugins"], name)}
        for profile in configuration.manifest["profiles"]
    ]
    return load_configuration({**configuration.manifest, "profiles": profiles}, features, own=own)


def _with_enabled(plugins: Mapping[str, Any], name: str) -> dict[str, Any]:
    out = dict(plugins)
    for point in ("multiPoint", "bind"):
        plugin_set = plugins.get(point) or {}
        enabled = plugin_set.get("enabled") or []
        if all(plugin["name"] != name for plugin in enabled):
            out[point] = {**plugin_set, "enabled": [*enabled, {"name": name}]}
    return out


def _raise(errors: list[FieldError]) -> None:
    if errors:
        raise ConfigurationError(errors)


def _profile(raw: Mapping[str, Any], path: str) -> tuple[Profile, list[FieldError]]:
    plugins, errors = expand(raw["plugins"], f"{path}.plugins")
    name = raw.get("schedulerName") or ""
    if not errors:
        errors = _check_required_plugins(plugins, name, f"{path}.plugins")
    plugins[Point.NORMALIZE_SCORE] = tuple(
        entry for entry in plugins[Point.SCORE] if implements(entry[0], Point.NORMALIZE_SCORE)
    )
    profile = Profile(
        name,
        plugins,
        {config["name"]: config.get("args") or {} for config in raw["pluginConfig"]},
        raw.get("percentageOfNodesToScore"),
    )
    return profile, errors


def _where_given(errors: list[FieldError], profile: Mapping[str, Any], features: Features) -> list[FieldError]:
    """Errors of plugins at multiPoint with their index in the list that was given, in place of the one with the defaults."""
    indexes = list_given_indexes(profile.get("plugins") or {}, features)
    out = []
    for error in errors:
        at = _AT_MULTI_POINT.fullmatch(error.path)
        index = None if at is None else indexes[int(at[2])]
        out.append(error if at is None or index is None else replace(error, path=f"{at[1]}[{index}]"))
    return out


def _check_required_plugins(plugins: Mapping[Point, Any], name: str, path: str) -> list[FieldError]:
    errors = []
    sorters = len(plugins[Point.QUEUE_SORT])
    if sorters != 1:
        detail = f'only one queue sort plugin required for profile with scheduler name "{name}", but got {sorters}'
        errors.append(invalid(f"{path}.queueSort", sorters, detail))
    if not plugins[Point.BIND]:
        detail = f'at least one bind plugin is needed for profile with scheduler name "{name}"'
        errors.append(invalid(f"{path}.bind", 0, detail))
    return errors
