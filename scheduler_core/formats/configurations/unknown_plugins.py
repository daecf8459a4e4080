"""The unknown plugins of a v1 configuration, their places, and the configuration without them."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.strict import check_shape
from scheduler_core.scheduler.config.defaults import default_configuration
from scheduler_core.scheduler.config.expand import expand
from scheduler_core.scheduler.config.schema import CONFIGURATION, FIELDS, MULTI_POINT, implements, is_registered
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.plugins import DEFAULT_ORDER

# Plugins that people name and kube-scheduler does not have: what they are, and whose.
#
# Sources: the plugin folders of kubernetes-sigs/scheduler-plugins, koordinator-sh/koordinator, gocrane/crane-scheduler,
# alibaba/open-local, alibaba/open-simulator, apache/yunikorn-k8shim, kubernetes-sigs/descheduler; kube's CHANGELOGs.

_PLUGINS = "kubernetes-sigs/scheduler-plugins"
_KOORDINATOR = "koordinator-sh/koordinator"
_DESCHEDULER = "a plugin of the descheduler, which evicts pods and is configured by a DeschedulerPolicy. kube-scheduler never had it"
_VOLCANO = "a plugin of Volcano, another scheduler with its own configuration. kube-scheduler never had it"
_DATA = json.loads(Path(__file__).with_suffix(".json").read_text())


def _all() -> dict[str, str]:
    said = {
        name: f"{what} (a plugin of {project})"
        for project, names in _DATA["projects"].items()
        for name, what in names.items()
    }
    said["Coscheduling"] = (
        f"{_DATA['projects'][_PLUGINS]['Coscheduling']} (a plugin of {_PLUGINS}, and another one of {_KOORDINATOR})"
    )
    said |= _DATA["others"]
    said |= dict.fromkeys(_DATA["descheduler"], _DESCHEDULER) | dict.fromkeys(_DATA["volcano"], _VOLCANO)
    return said | {name: f"was a plugin of kube-scheduler: {why}" for name, why in _DATA["gone"].items()}


KNOWN = _all()


def about(name: str) -> str:
    """Return one sentence about a plugin that kube-scheduler lacks, or ""."""
    return KNOWN.get(name, "")


_OWN = frozenset(name for name, _ in DEFAULT_ORDER)
_NEEDED = {"queueSort": (Point.QUEUE_SORT, "PrioritySort"), "bind": (Point.BIND, "DefaultBinder")}


@dataclass(frozen=True, slots=True)
class UnknownPlugin:
    """An enabled plugin that does not exist here, or not at these points. `places` are the fields that name it; `about` describes it."""

    name: str
    points: tuple[str, ...]
    places: tuple[str, ...]
    about: str


def unknown_plugins(manifest: Manifest) -> list[UnknownPlugin]:
    """Return the unknown plugins of a v1 configuration, in order of appearance; none if its shape is invalid."""
    if check_shape(manifest, CONFIGURATION, ""):
        return []
    places: dict[str, list[tuple[str, str]]] = {}
    for i, profile in enumerate(manifest.get("profiles") or ()):
        for point in (*FIELDS, MULTI_POINT):
            plugin_set = (profile.get("plugins") or {}).get(point) or {}
            for j, entry in enumerate(plugin_set.get("enabled") or ()):
                name = entry.get("name") or ""
                if not _here(name, point):
                    path = f"profiles[{i}].plugins.{point}.enabled[{j}]"
                    places.setdefault(name, []).append((point, path))
    return [
        UnknownPlugin(name, tuple(dict.fromkeys(point for point, _ in at)), tuple(path for _, path in at), about(name))
        for name, at in places.items()
    ]


def _here(name: str, point: str) -> bool:
    """Return True if a plugin can be enabled at a point. A kube plugin at the wrong point is an error for later validation."""
    return is_registered(name) and (point == MULTI_POINT or name in _OWN or implements(name, FIELDS[point]))


def without_plugins(manifest: Manifest, names: Collection[str]) -> dict[str, Any]:
    """Return a configuration without these plugins. kube's defaults replace them for queue sorting and binding."""
    profiles = [_without(profile, names) for profile in manifest.get("profiles") or ()]
    return {**manifest, "profiles": profiles}


def _without(profile: Manifest, names: Collection[str]) -> dict[str, Any]:
    out = dict(profile)
    plugins = {
        point: _drop_plugins(plugin_set or {}, point, names)
        for point, plugin_set in (profile.get("plugins") or {}).items()
    }
    for point, _ in missing_points(plugins):  # kube's own was disabled for the one that goes
        plugins.pop(point, None)
    for point, default in missing_points(plugins):
        plugins[point] = {"enabled": [{"name": default}]}
    plugins = {point: plugin_set for point, plugin_set in plugins.items() if plugin_set}
    configs = [
        config
        for config in profile.get("pluginConfig") or ()
        if config.get("name") not in names or is_registered(config["name"])
    ]
    for field, value in (("plugins", plugins), ("pluginConfig", configs)):
        if value:
            out[field] = value
        else:
            out.pop(field, None)
    return out


def _drop_plugins(plugin_set: Manifest, point: str, names: Collection[str]) -> dict[str, Any]:
    enabled = [
        entry
        for entry in plugin_set.get("enabled") or ()
        if (name := entry.get("name") or "") not in names or _here(name, point)
    ]
    out = {name: value for name, value in plugin_set.items() if name != "enabled"}
    return {**out, "enabled": enabled} if enabled else out


def missing_points(plugins: Manifest) -> Sequence[tuple[str, str]]:
    """The points that need a plugin and have none, with kube's default one."""
    full = default_configuration({"profiles": [{"plugins": plugins}]})
    expanded, _ = expand(full["profiles"][0]["plugins"], "")
    return [(field, name) for field, (point, name) in _NEEDED.items() if not expanded[point]]
