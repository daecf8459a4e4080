"""The plugins of a v1 profile that make kube-scheduler run what an older version ran, in as few words as its defaults allow."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from scheduler_core.formats.configurations.changes import Change
from scheduler_core.formats.configurations.effective import SCORE, Profile, Ran
from scheduler_core.formats.configurations.versions import Version
from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.config.points import FIELDS, MULTI_POINT

_FOLLOWS = {"preFilter": "filter"}  # a plugin that is off there has to be off here: it may refuse


@cache
def defaults() -> Mapping[str, tuple[tuple[str, int], ...]]:
    """v1's default plugins with their weights, by point."""
    [profile] = load_configuration(None).profiles
    return {field: profile.plugins[point] for field, point in FIELDS.items()}


def write_plugins(profile: Profile, version: Version) -> tuple[dict[str, Any], list[Change]]:
    """`plugins` of a v1 profile, empty where v1's defaults are what ran; and what was disabled and is so for all points now."""
    wanted = {point: _list_expected(profile, version, point) for point in FIELDS}
    off = _off_everywhere(profile, version, wanted)
    out: dict[str, Any] = {}
    if off:
        out[MULTI_POINT] = {"disabled": [{"name": name} for name in off]}
    for point in FIELDS:
        usual = [(name, weight) for name, weight in defaults()[point] if name not in off]
        if plugin_set := _point(point, wanted[point], usual, point in profile.starred):
            out[point] = _in_order(plugin_set, point in profile.enabled_first)
    return out, _describe_multi_point(profile, off)


def _in_order(plugin_set: dict[str, Any], enabled_first: bool) -> dict[str, Any]:
    names = sorted(plugin_set, reverse=enabled_first)
    return {name: plugin_set[name] for name in names}


def _describe_multi_point(profile: Profile, off: list[str]) -> list[Change]:
    changes = []
    for name in off:
        at = [(point, named[name]) for point, named in profile.disabled.items() if named.get(name)]
        if at:
            points = " and ".join(point for point, _ in at)
            text = f"{name}, disabled at {points}, is disabled at multiPoint: it ran nowhere else, and has more points in v1"
            changes.append(Change("moved", at[0][1], text))
    return changes


def weights_kept(profile: Profile, version: Version) -> list[Change]:
    """The weights that were defaults then and are others now, so that they are written out."""
    then, now = dict(version.defaults.get(SCORE, ())), dict(defaults()[SCORE])
    kept = [
        f"{each.name} {each.weight} (now {now[each.name]})"
        for each in profile.ran[SCORE]
        if not each.path and each.name in then and now.get(each.name, each.weight) != each.weight
    ]
    if not kept:
        return []
    text = f"default weights of {version.name} are written out, as v1 has others: {', '.join(kept)}"
    return [Change("kept", "", text)]


def _list_expected(profile: Profile, version: Version, point: str) -> list[Ran]:
    """Return the plugins that ran at a point, and the new defaults there of plugins that ran."""
    ran = profile.ran.get(point, [])
    names = {each.name for each in ran}
    if point in profile.starred:
        return ran
    return ran + [
        Ran(name, weight)
        for name, weight in defaults()[point]
        if name not in names and _new_there(profile, version, name, point)
    ]


def _new_there(profile: Profile, version: Version, name: str, point: str) -> bool:
    """Return True if a default of v1 is new at a point since the older version, and must be enabled there."""
    then = [at for at, plugins in version.defaults.items() if name in dict(plugins)]
    if point in then or (point == SCORE and name == "NodeResourcesFit"):
        return False
    leader = _FOLLOWS.get(point)
    if leader in then:
        return name in profile.names(str(leader))
    return not then or not _is_disabled_by_name(profile, then, name)


def _is_disabled_by_name(profile: Profile, then: list[str], name: str) -> bool:
    """Return True if the user disabled a plugin at all points that had it."""
    return not profile.anywhere(name) and any(name in profile.disabled[at] for at in then)


def _off_everywhere(profile: Profile, version: Version, wanted: Mapping[str, list[Ran]]) -> list[str]:
    """Defaults of v1 that are to run nowhere, and are not left out by a list of the user's own."""
    there: dict[str, list[str]] = {}
    for point, plugins in defaults().items():
        for name, _ in plugins:
            there.setdefault(name, []).append(point)
    return [
        name
        for name, points in there.items()
        if not any(each.name == name for point in points for each in wanted[point])
        and not all(point in profile.starred for point in points)
    ]


def _point(point: str, wanted: list[Ran], usual: list[tuple[str, int]], starred: bool) -> dict[str, Any]:
    """A point's set: all of it where the user listed all, else what differs from the usual plugins; added ones run behind these."""
    if starred:
        return _set(wanted, ["*"], point)
    names, before = [each.name for each in wanted], dict(usual)
    enabled = [
        each for each in wanted if each.name not in before or (point == SCORE and before[each.name] != each.weight)
    ]
    removed = [name for name in before if name not in names]
    return _set(enabled, ["*"] if removed and len(removed) == len(before) else removed, point)


def _set(enabled: list[Ran], disabled: list[str], point: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if disabled:
        out["disabled"] = [{"name": name} for name in disabled]
    if enabled:
        out["enabled"] = [_entry(each, point) for each in enabled]
    return out


def _entry(ran: Ran, point: str) -> dict[str, Any]:
    return {"name": ran.name, "weight": ran.weight} if point == SCORE else {"name": ran.name}
