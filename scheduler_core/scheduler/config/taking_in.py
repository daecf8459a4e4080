"""Taking a plugin into a profile, as somebody would write it who knows where it has to stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import MutableManifest
from scheduler_core.scheduler.config.schema import MULTI_POINT, implements
from scheduler_core.scheduler.framework.plugin import Point


def with_plugin_in(
    manifest: Mapping[str, Any],
    profile: str,
    name: str,
    *,
    weight: int = 1,
    points: Iterable[Point] | None = None,
    instead_of: str = "",
) -> MutableManifest:
    """A KubeSchedulerConfiguration in which one profile has a plugin; another one that is there already stays as it is.

    `points` are those that it takes part in, None: of a plugin that is known. It stands at multiPoint; at
    PostFilter it may take another's place (`instead_of`). What sorts the queue does so in all profiles, as they share it.
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
    return {**plugins, MULTI_POINT: _enable_plugin(plugins.get(MULTI_POINT) or {}, entry)}


def _without(plugin_set: Mapping[str, Any], name: str) -> MutableManifest:
    disabled = [each for each in plugin_set.get("disabled") or () if each["name"] != name]
    return {**plugin_set, "disabled": [*disabled, {"name": name}]}


def _enable_plugin(plugin_set: Mapping[str, Any], entry: MutableManifest) -> MutableManifest:
    enabled = list(plugin_set.get("enabled") or ())
    if all(each["name"] != entry["name"] for each in enabled):
        enabled.append(entry)
    return {**plugin_set, "enabled": enabled}
