"""Other weights for Score plugins in a KubeSchedulerConfiguration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MULTI, SCORE = "multiPoint", "score"


def with_weights(configuration: Mapping[str, Any], profile: str, weights: Mapping[str, int]) -> dict[str, Any]:
    """The configuration with these weights in one profile. A weight of 0, which kube takes for 1, disables the plugin at Score."""
    profiles = [
        _set_profile_weights(each, weights) if each.get("schedulerName") == profile else each
        for each in configuration.get("profiles") or ()
    ]
    return {**configuration, "profiles": profiles}


def _set_profile_weights(profile: Mapping[str, Any], weights: Mapping[str, int]) -> dict[str, Any]:
    plugins = dict(profile.get("plugins") or {})
    score, multi = dict(plugins.get(SCORE) or {}), dict(plugins.get(MULTI) or {})
    named = {each["name"] for each in score.get("enabled") or ()}
    multi["enabled"] = _set_plugin_weights(multi, {name: w for name, w in weights.items() if w and name not in named})
    if named:
        kept = [each for each in score["enabled"] if weights.get(each["name"], 1)]
        score["enabled"] = _set_plugin_weights(
            {"enabled": kept}, {n: w for n, w in weights.items() if w and n in named}
        )
    off = [{"name": name} for name, weight in weights.items() if not weight]
    if off:
        score["disabled"] = [*(score.get("disabled") or ()), *off]
    if score:
        plugins[SCORE] = score
    return {**profile, "plugins": {**plugins, MULTI: multi}}


def _set_plugin_weights(plugins: Mapping[str, Any], weights: Mapping[str, int]) -> list[dict[str, Any]]:
    """The list with these weights; who is not in it yet comes last, which replaces a plugin of kube's default where it stands."""
    enabled = list(plugins.get("enabled") or ())
    known = {each["name"] for each in enabled}
    changed = [{**each, "weight": weights[each["name"]]} if each["name"] in weights else dict(each) for each in enabled]
    return [*changed, *({"name": n, "weight": w} for n, w in weights.items() if n not in known)]
