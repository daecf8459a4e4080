"""Plugins of others that are here as ours, written anew: where a configuration asks for the original, what ours does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import MutableManifest
from scheduler_core.apimachinery.objects.strict import check_shape
from scheduler_core.formats.configurations.changes import Change
from scheduler_core.formats.configurations.unknown_plugins import missing_points
from scheduler_core.scheduler.config.arguments import arguments_of
from scheduler_core.scheduler.config.points import FIELDS, MULTI_POINT, is_registered
from scheduler_core.scheduler.config.schema import CONFIGURATION
from scheduler_core.scheduler.plugins import OUT_OF_TREE

_STANDS_FOR = {("queueSort", "Coscheduling"): "CoschedulingSort"}


def fit_ours(manifest: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Change]]:
    """A v1 configuration with our plugins asked for what they have, and what is said of it; the same one where nothing has to be done."""
    if check_shape(manifest, CONFIGURATION, ""):
        return manifest, []
    changes: list[Change] = []
    profiles = [
        _profile(profile, f"profiles[{i}]", changes)
        for i, profile in enumerate(manifest.get("profiles") or ())
    ]
    return ({**manifest, "profiles": profiles}, changes) if changes else (manifest, [])


def _profile(profile: Mapping[str, Any], path: str, changes: list[Change]) -> MutableManifest:
    out = dict(profile)
    plugins = profile.get("plugins") or {}
    if plugins:
        out["plugins"] = {
            point: _set(plugin_set or {}, point, f"{path}.plugins.{point}", changes)
            if point in FIELDS
            else plugin_set
            for point, plugin_set in plugins.items()
        }
        _sort(out["plugins"], f"{path}.plugins.multiPoint.enabled", changes)
    if profile.get("pluginConfig"):
        out["pluginConfig"] = [
            _config(config, f"{path}.pluginConfig[{i}].args", changes)
            for i, config in enumerate(profile["pluginConfig"])
        ]
    return out


def _set(plugin_set: Mapping[str, Any], point: str, path: str, changes: list[Change]) -> MutableManifest:
    enabled = []
    for i, entry in enumerate(plugin_set.get("enabled") or ()):
        ours = _STANDS_FOR.get((point, entry.get("name") or ""))
        if ours is None or not is_registered(ours):
            enabled.append(entry)
            continue
        changes.append(
            Change("moved", f"{path}.enabled[{i}]", _explain_replacement(point, entry["name"], ours))
        )
        enabled.append({**entry, "name": ours})
    return {**plugin_set, "enabled": enabled} if enabled else dict(plugin_set)


def _sort(plugins: MutableManifest, path: str, changes: list[Change]) -> None:
    """Enabled at all of its points, the original sorts the queue, too."""
    enabled = [entry.get("name") for entry in (plugins.get(MULTI_POINT) or {}).get("enabled") or ()]
    for (point, name), ours in _STANDS_FOR.items():
        if name in enabled and is_registered(ours) and point in dict(missing_points(plugins)):
            plugins[point] = {"enabled": [{"name": ours}]}
            changes.append(
                Change("moved", f"{path}[{enabled.index(name)}]", _explain_replacement(point, name, ours))
            )


def _explain_replacement(point: str, name: str, ours: str) -> str:
    return f"at {point} {ours} stands for {name}, which is two plugins here"


def _config(config: Mapping[str, Any], path: str, changes: list[Change]) -> Mapping[str, Any]:
    """Without arguments that ours does not have."""
    name, args = config.get("name") or "", config.get("args")
    taken = arguments_of(name) if name in OUT_OF_TREE else None
    if taken is None or not isinstance(args, Mapping):
        return config
    surplus = [field for field in args if field not in ("apiVersion", "kind", *taken.fields)]
    for field in surplus:
        text = f"{field} is an argument of the {name} that this one follows, and not of ours"
        changes.append(Change("lost", f"{path}.{field}", text, "it says nothing here"))
    kept = {field: value for field, value in args.items() if field not in surplus}
    if surplus:
        kept.pop("apiVersion", None)  # the original's own
    return {**config, "args": kept} if surplus else config
