"""Configuration: a KubeSchedulerConfiguration v1 (`load_configuration` reads, defaults, validates, expands it), feature gates, settings."""

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import MutableManifest
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.base.releases import DIFFERENCES, NEWEST, OLDEST, RELEASES, Release, behaviors_of, read_release
from scheduler_core.scheduler.config.cluster import ControllerManagerOptions
from scheduler_core.scheduler.config.gates import (
    GATE_SETTINGS,
    MAX_GATES_TEXT,
    Gate,
    GateError,
    GateSettings,
    asked_gates,
    format_gates,
    read_gates,
)
from scheduler_core.scheduler.config.kubelet import read_kubelet, without_effect
from scheduler_core.scheduler.config.load import load_configuration, with_own, with_plugin
from scheduler_core.scheduler.config.schema import MULTI_POINT, ConfigurationError, SchedulerConfiguration, implements
from scheduler_core.scheduler.config.settings import CURRENT, HISTORICAL, MAX_DURATION, READ_AT_START, WorldSettings
from scheduler_core.scheduler.framework import DEFAULT_FEATURES, Features, Point, Profile
from scheduler_core.scheduler.plugins.cel import EXPRESSIONS, NAME_PATTERN, NORMALIZE, Definition

# Adding a plugin to a profile, as an expert would write it.


def with_plugin_in(
    manifest: Mapping[str, Any],
    profile: str,
    name: str,
    *,
    weight: int = 1,
    points: Iterable[Point] | None = None,
    instead_of: str = "",
) -> MutableManifest:
    """Return a KubeSchedulerConfiguration with a plugin added to one profile; a plugin that is already enabled stays unchanged.

    `points` are the plugin's extension points, None: those of a registered plugin. The plugin is enabled at multiPoint; at PostFilter it
    may replace another one (`instead_of`). A QueueSort plugin is enabled in all profiles, because they must share it.
    """
    if points is None:
        points = [point for point in Point if implements(name, point)]
    at = tuple(points)
    profiles = []
    for each in manifest.get("profiles") or [{}]:
        chosen = (each.get("schedulerName") or "default-scheduler") == profile
        plugins = each.get("plugins") or {}
        if Point.QUEUE_SORT in at:
            plugins = {**plugins, "queueSort": {"enabled": [{"name": name}], "disabled": [{"name": "*"}]}}
        if chosen and set(at) - {Point.QUEUE_SORT}:
            plugins = _add_multi_point(plugins, name, weight if Point.SCORE in at else 1)
            if instead_of:
                plugins["postFilter"] = _without(plugins.get("postFilter") or {}, instead_of)
        profiles.append({**each, "plugins": plugins})
    return {**manifest, "profiles": profiles}


def _add_multi_point(plugins: Mapping[str, Any], name: str, weight: int) -> MutableManifest:
    entry: MutableManifest = {"name": name} if weight == 1 else {"name": name, "weight": weight}
    plugin_set = plugins.get(MULTI_POINT) or {}
    enabled = list(plugin_set.get("enabled") or ())
    if all(each["name"] != entry["name"] for each in enabled):
        enabled.append(entry)
    return {**plugins, MULTI_POINT: {**plugin_set, "enabled": enabled}}


def _without(plugin_set: Mapping[str, Any], name: str) -> MutableManifest:
    disabled = [each for each in plugin_set.get("disabled") or () if each["name"] != name]
    return {**plugin_set, "disabled": [*disabled, {"name": name}]}


__all__ = ["CURRENT", "DEFAULT_FEATURES", "DIFFERENCES", "EXPRESSIONS", "GATE_SETTINGS", "HISTORICAL", "MAX_DURATION"]
__all__ += ["MAX_GATES_TEXT", "NAME_PATTERN", "NEWEST", "NORMALIZE", "OLDEST", "READ_AT_START", "RELEASES"]
__all__ += ["APIServerOptions", "ConfigurationError", "ControllerManagerOptions", "Definition", "Features", "Gate"]
__all__ += ["GateError", "GateSettings", "Profile", "Release", "SchedulerConfiguration", "WorldSettings", "asked_gates"]
__all__ += ["behaviors_of", "format_gates", "load_configuration", "read_gates", "read_kubelet", "read_release"]
__all__ += ["with_own", "with_plugin", "with_plugin_in", "without_effect"]
