"""The plugins of a v1beta3 profile, which are v1's but for those that went since.

kube: apis/config/v1beta3/default_plugins.go, apis/config/validation/validation.go @ v1.28.15
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.formats.configurations.changes import Change
from scheduler_core.formats.configurations.translate import SPREAD, SPREADERS, VOLUME_COUNTS, Configs

_COUNTED = "gone, as NodeVolumeLimits counts these volumes by their CSI drivers"
_SPREAD = f"became the default constraints of {SPREAD} (defaultingType System)"


def keep_sets(
    plugins: Mapping[str, Any], path: str, configs: Configs, where: Mapping[str, str]
) -> tuple[dict[str, Any], list[Change]]:
    """The sets as they are, without plugins that v1 does not have; and what is said of these."""
    changes: list[Change] = []
    kept = {
        point: _clean_set(plugin_set or {}, f"{path}.{point}", changes)
        for point, plugin_set in plugins.items()
    }
    for name in SPREADERS:
        configs.pop(name, None)
    if any(change.text.endswith(_SPREAD) for change in changes):
        _migrate_spread_args(configs, where, changes)
    return {point: plugin_set for point, plugin_set in kept.items() if plugin_set}, changes


def _clean_set(plugin_set: Mapping[str, Any], path: str, changes: list[Change]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for which in ("enabled", "disabled"):
        entries = [
            kept
            for i, entry in enumerate(plugin_set.get(which) or ())
            if (kept := _entry(entry, which, f"{path}.{which}[{i}]", changes)) is not None
        ]
        if entries:
            out[which] = entries
    return out


def _entry(
    entry: Mapping[str, Any], which: str, path: str, changes: list[Change]
) -> Mapping[str, Any] | None:
    """None where it is left out."""
    name = entry.get("name")
    if name in VOLUME_COUNTS:
        changes.append(Change("dropped", path, f"{name}: {_COUNTED}"))
        return None
    if name not in SPREADERS:
        return entry
    if which == "disabled":
        changes.append(Change("dropped", path, f"{name} is not in kube-scheduler any more"))
        return None
    changes.append(Change("moved", path, f"{name} {_SPREAD}"))
    return {**entry, "name": SPREAD}


def _migrate_spread_args(configs: Configs, where: Mapping[str, str], changes: list[Change]) -> None:
    args = configs.get(SPREAD) or {}
    if args.get("defaultConstraints"):
        text = f"{SPREAD} has default constraints of its own here, and keeps them"
        effect = "pods of a workload are spread by these constraints alone"
        changes.append(Change("lost", where[SPREAD], text, effect))
    elif args.get("defaultingType") == "List":
        args["defaultingType"] = "System"
