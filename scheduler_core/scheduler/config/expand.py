"""From plugin sets to the list of plugins per extension point.

kube: framework/runtime/framework.go (updatePluginList, expandMultiPointPlugins, getScoreWeights) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, invalid
from scheduler_core.scheduler.config.points import FIELDS, MULTI_POINT, implements, is_registered
from scheduler_core.scheduler.framework.plugin import Point

Entries = Sequence[Mapping[str, Any]]
Expanded = dict[Point, tuple[tuple[str, int], ...]]


def expand(plugins: Mapping[str, Any], path: str) -> tuple[Expanded, list[FieldError]]:
    """The (name, weight) lists of a profile's defaulted plugin sets, and what is wrong with them.

    At each point: plugins enabled both there and by multiPoint, in the point's order; then multiPoint's; then the point's others.
    """
    multi = (plugins.get(MULTI_POINT) or {}).get("enabled") or ()
    errors = _unknown(multi, f"{path}.{MULTI_POINT}.enabled", "multiPoint plugin")
    weights = _weights((plugins.get("score") or {}).get("enabled") or (), multi)
    expanded: Expanded = {}
    for field, point in FIELDS.items():
        plugin_set = plugins.get(field) or {}
        own: Entries = plugin_set.get("enabled") or ()
        errors += _validate_entries(own, point, f"{path}.{field}.enabled")
        off = {plugin["name"] for plugin in plugin_set.get("disabled") or ()}
        shared, problems = _from_multi(multi, point, off, f"{path}.{MULTI_POINT}.enabled", own)
        errors += problems
        names = _order_plugins([plugin["name"] for plugin in own], shared)
        expanded[point] = tuple((name, weights.get(name, 1) if point is Point.SCORE else 0) for name in names)
    return expanded, errors


def _weights(score: Entries, multi: Entries) -> dict[str, int]:
    """The weight at Score before the one at multiPoint; 0 and absent count as 1."""
    weights: dict[str, int] = {}
    for plugin in (*score, *multi):
        weights.setdefault(plugin["name"], plugin.get("weight") or 1)
    return weights


def _unknown(entries: Entries, path: str, what: str) -> list[FieldError]:
    return [
        invalid(f"{path}[{i}]", plugin["name"], f'{what} "{plugin["name"]}" does not exist')
        for i, plugin in enumerate(entries)
        if not is_registered(plugin["name"])
    ]


def _validate_entries(entries: Entries, point: Point, path: str) -> list[FieldError]:
    """Plugins enabled at one point that don't exist, don't take part in it, or stand there twice."""
    kind = f"{point}Plugin"
    errors = _unknown(entries, path, kind)
    seen: dict[str, None] = {}
    for i, plugin in enumerate(entries):
        name = plugin["name"]
        if is_registered(name) and not implements(name, point):
            errors.append(invalid(f"{path}[{i}]", name, f'plugin "{name}" does not extend {kind} plugin'))
        elif name in seen:
            errors.append(invalid(f"{path}[{i}]", name, f'plugin "{name}" already registered as "{kind}"'))
        seen[name] = None
    return errors


def _from_multi(
    multi: Entries, point: Point, off: set[str], path: str, own: Entries
) -> tuple[list[str], list[FieldError]]:
    """multiPoint's plugins that take part in a point and are not disabled there."""
    if "*" in off:
        return [], []
    names: list[str] = []
    errors: list[FieldError] = []
    overridden = {plugin["name"] for plugin in own}
    for i, plugin in enumerate(multi):
        name = plugin["name"]
        if name in off or not implements(name, point):
            continue
        if name in names and name not in overridden:
            detail = f'plugin "{name}" already registered as "{point}Plugin"'
            errors.append(invalid(f"{path}[{i}]", name, detail))
        elif name not in names:
            names.append(name)
    return names, errors


def _order_plugins(own: Sequence[str], shared: Sequence[str]) -> list[str]:
    overriding = [name for name in own if name in shared]
    added = [name for name in shared if name not in overriding]
    return [*overriding, *added, *(name for name in own if name not in overriding)]
