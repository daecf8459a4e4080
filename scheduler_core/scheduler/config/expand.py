"""The expansion of plugin sets into lists of plugins per extension point.

kube: framework/runtime/framework.go (updatePluginList, expandMultiPointPlugins, getScoreWeights) @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, invalid
from scheduler_core.apimachinery.objects.strict import check_shape
from scheduler_core.scheduler.config.schema import API_VERSION, FIELDS, MULTI_POINT, implements, is_registered
from scheduler_core.scheduler.framework import DEFAULT_FEATURES, Features, Point
from scheduler_core.scheduler.framework.arguments import Arguments, present
from scheduler_core.scheduler.plugins.registry import registry

# The arguments of plugins in a configuration: each plugin's package declares them, with defaults and validation.
# kube: apis/config/v1/default_plugins.go, apis/config/scheme @ v1.34.1


def arguments_of(name: str) -> Arguments | None:
    """Return a plugin's arguments, or None if there is no such plugin or it declares none."""
    plugin = registry().get(name)
    return None if plugin is None else plugin.arguments


def default_arguments(name: str, args: Mapping[str, Any], features: Features = DEFAULT_FEATURES) -> dict[str, Any]:
    """Return a plugin's arguments with defaults filled in; without declared arguments, return the given ones."""
    args, arguments = present(args), arguments_of(name)
    if arguments is None or arguments.lenient:
        return args
    return {"apiVersion": API_VERSION, "kind": f"{name}Args", **args, **arguments.defaults(args, features)}


def shape_errors(name: str, args: Mapping[str, Any] | None, path: str) -> list[FieldError]:
    """Return errors for unknown fields, wrong types, and another plugin's arguments."""
    arguments = arguments_of(name)
    if arguments is None or arguments.lenient:
        return []
    return check_shape(args, arguments.shape, path) or _type_errors(name, args or {}, path)


def _type_errors(name: str, args: Mapping[str, Any], path: str) -> list[FieldError]:
    version, kind = args.get("apiVersion") or API_VERSION, args.get("kind") or f"{name}Args"
    if version != API_VERSION:
        return [invalid(f"{path}.apiVersion", version, f'no kind "{kind}" is registered for version "{version}"')]
    if kind != f"{name}Args":
        detail = f"args for plugin {name} were not of type {name}Args.kubescheduler.config.k8s.io, got {kind}"
        return [invalid(f"{path}.kind", kind, f"{detail}.kubescheduler.config.k8s.io")]
    return []


def argument_errors(
    name: str, args: Mapping[str, Any], path: str, features: Features, enabled: bool
) -> list[FieldError]:
    """Return kube's validation errors for defaulted arguments; `enabled`: whether the profile enables the plugin anywhere."""
    arguments = arguments_of(name)
    if arguments is None or (arguments.read_when_made and not enabled):
        return []
    if arguments.lenient:
        return _lenient_errors(arguments, args, path, features) if enabled else []
    return arguments.validate(args, path, features)


def _lenient_errors(arguments: Arguments, args: Mapping[str, Any], path: str, features: Features) -> list[FieldError]:
    """Return the errors of the known fields."""
    known = {field: value for field, value in present(args).items() if field in arguments.fields}
    wrong = check_shape(known, arguments.shape, path)
    return wrong or arguments.validate({**known, **arguments.defaults(known, features)}, path, features)


Entries = Sequence[Mapping[str, Any]]
Expanded = dict[Point, tuple[tuple[str, int], ...]]


def expand(plugins: Mapping[str, Any], path: str) -> tuple[Expanded, list[FieldError]]:
    """Return the (name, weight) lists of a profile's defaulted plugin sets, and the errors in them.

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
    """Return the weights by plugin: the one at Score, else the one at multiPoint; 0 and absent count as 1."""
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
    """Return errors for plugins enabled at one point that do not exist, do not implement the point, or are listed twice."""
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
    """Return multiPoint's plugins that implement a point and are not disabled there, and errors."""
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
            errors.append(invalid(f"{path}[{i}]", name, f'plugin "{name}" already registered as "{point}Plugin"'))
        elif name not in names:
            names.append(name)
    return names, errors


def _order_plugins(own: Sequence[str], shared: Sequence[str]) -> list[str]:
    overriding = [name for name in own if name in shared]
    added = [name for name in shared if name not in overriding]
    return [*overriding, *added, *(name for name in own if name not in overriding)]
