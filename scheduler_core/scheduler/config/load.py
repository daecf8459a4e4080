"""Loading a KubeSchedulerConfiguration: shape, defaults, validation, expansion.

kube: apis/config/{v1,validation}, framework/runtime/framework.go NewFramework @ v1.34.1
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, duplicate, invalid
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors
from scheduler_core.apimachinery.objects.resources import is_extended_name
from scheduler_core.apimachinery.objects.strict import check_shape
from scheduler_core.scheduler.config import defaults, schema
from scheduler_core.scheduler.config.expand import argument_errors, expand, shape_errors
from scheduler_core.scheduler.framework import DEFAULT_FEATURES, Features, Point, Profile
from scheduler_core.scheduler.plugins.cel import Definition, plugins_of
from scheduler_core.scheduler.plugins.registry import with_plugins, with_release

# kube-scheduler's validation of a defaulted configuration, with its messages.
# kube: apis/config/validation/validation.go @ v1.34.1

REMOVED_PLUGINS = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")


def type_errors(manifest: Mapping[str, Any]) -> list[FieldError]:
    """Check for kind KubeSchedulerConfiguration in the only supported version."""
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    errors = [] if version else [build_required_error("apiVersion", f"expected {schema.API_VERSION}")]
    errors += [] if kind else [build_required_error("kind", f"expected {schema.KIND}")]
    if errors or (version == schema.API_VERSION and kind == schema.KIND):
        return errors
    received, path = (version, "apiVersion") if version != schema.API_VERSION else (kind, "kind")
    return [invalid(path, received, f'no kind "{kind}" is registered for version "{version}"')]


def plugin_args_shape_errors(manifest: Mapping[str, Any]) -> list[FieldError]:
    """Return unknown fields and wrong types in the arguments of plugins that declare arguments; others are accepted as given."""
    errors: list[FieldError] = []
    for i, profile in enumerate(manifest.get("profiles") or ()):
        for j, config in enumerate((profile or {}).get("pluginConfig") or ()):
            path = f"profiles[{i}].pluginConfig[{j}].args"
            errors += shape_errors(config.get("name") or "", config.get("args"), path)
    return errors


def configuration_errors(configuration: Mapping[str, Any], features: Features) -> list[FieldError]:
    """Validate a defaulted configuration."""
    errors = defaults.resource_lock_errors(configuration)
    if configuration["parallelism"] <= 0:
        detail = "should be an integer value greater than zero"
        errors.append(invalid("parallelism", configuration["parallelism"], detail))
    errors += _profiles_errors(configuration["profiles"], features)
    errors += _percentage_errors(configuration, "percentageOfNodesToScore")
    errors += _backoff_errors(configuration["podInitialBackoffSeconds"], configuration["podMaxBackoffSeconds"])
    return errors + _extender_errors(configuration.get("extenders") or ())


def _backoff_errors(initial: int, longest: int) -> list[FieldError]:
    errors = []
    if initial <= 0:
        errors.append(invalid("podInitialBackoffSeconds", initial, "must be greater than 0"))
    if longest < initial:
        detail = "must be greater than or equal to PodInitialBackoffSeconds"
        errors.append(invalid("podMaxBackoffSeconds", longest, detail))
    return errors


def _percentage_errors(holder: Mapping[str, Any], path: str) -> list[FieldError]:
    percentage = holder.get("percentageOfNodesToScore")
    if percentage is None or 0 <= percentage <= 100:
        return []
    return [invalid(path, percentage, "not in valid range [0-100]")]


def _profiles_errors(profiles: Sequence[Mapping[str, Any]], features: Features) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: dict[str, int] = {}
    for i, profile in enumerate(profiles):
        path, name = f"profiles[{i}]", profile.get("schedulerName") or ""
        if not name:
            errors.append(build_required_error(f"{path}.schedulerName"))
        errors += _percentage_errors(profile, f"{path}.percentageOfNodesToScore")
        errors += _find_removed_plugins(profile["plugins"], f"{path}.plugins")
        errors += _plugin_config_errors(profile, path, features)
        if name in seen:
            # kube reports the path of the first one as the duplicate value.
            first = f"profiles[{seen[name]}].schedulerName"
            errors.append(FieldError(f"{path}.schedulerName", first, "", kind="Duplicate value"))
        seen[name] = i
    return errors + _queue_sort_errors(profiles)


def _find_removed_plugins(plugins: Mapping[str, Any], path: str) -> list[FieldError]:
    return [
        _build_removed_error(f"{path}.{field}.enabled[{i}]", plugin["name"])
        for field in schema.FIELDS
        for i, plugin in enumerate((plugins.get(field) or {}).get("enabled") or ())
        if plugin["name"] in REMOVED_PLUGINS
    ]


def _build_removed_error(path: str, name: str) -> FieldError:
    detail = (
        f'was invalid in version "{schema.API_VERSION}" (KubeSchedulerConfiguration is version "{schema.API_VERSION}")'
    )
    return invalid(path, name, detail)


def _plugin_config_errors(profile: Mapping[str, Any], path: str, features: Features) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: dict[str, None] = {}
    enabled = defaults.collect_enabled_names(profile["plugins"])
    for i, config in enumerate(profile["pluginConfig"]):
        name, where = config["name"], f"{path}.pluginConfig[{i}]"
        if name in seen:
            errors.append(duplicate(where, name))
        seen[name] = None
        if name in REMOVED_PLUGINS:
            errors.append(_build_removed_error(where, name))
        else:
            args = config.get("args") or {}
            errors += argument_errors(name, args, f"{where}.args", features, name in enabled)
    return errors


def _queue_sort_errors(profiles: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    """Return errors for different QueueSort plugins: all profiles share one queue."""
    errors: list[FieldError] = []
    first = _queue_sort(profiles[0])
    count = len(first.get("enabled") or ())
    if count > 1:
        errors.append(
            invalid("profiles[0].plugins.queueSort.Enabled", count, "only one queue sort plugin can be enabled")
        )
    for i, profile in enumerate(profiles[1:], 1):
        if _queue_sort(profile) != first:
            path = f"profiles[{i}].plugins.queueSort"
            errors.append(invalid(path, _queue_sort(profile), "must be the same for all profiles"))
    return errors


def _queue_sort(profile: Mapping[str, Any]) -> Mapping[str, Any]:
    plugin_set: Mapping[str, Any] = profile["plugins"].get("queueSort") or {}
    return plugin_set


def _extender_errors(extenders: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    errors: list[FieldError] = []
    managed: dict[str, None] = {}
    for i, extender in enumerate(extenders):
        if extender.get("prioritizeVerb") and (extender.get("weight") or 0) <= 0:
            detail = "must have a positive weight applied to it"
            errors.append(invalid(f"extenders[{i}].weight", extender.get("weight") or 0, detail))
        for j, resource in enumerate(extender.get("managedResources") or ()):
            path, name = f"extenders[{i}].managedResources[{j}].name", resource.get("name") or ""
            errors += _resource_name_errors(path, name)
            if name in managed:
                errors.append(invalid(path, name, "duplicate extender managed resource name"))
            managed[name] = None
    binders = sum(1 for extender in extenders if extender.get("bindVerb"))
    if binders > 1:
        detail = "only one extender can implement bind"
        errors.append(invalid("extenders", f"found {binders} extenders implementing bind", detail))
    return errors


def _resource_name_errors(path: str, name: str) -> list[FieldError]:
    problems = [invalid(path, name, problem) for problem in list_qualified_name_errors(name)]
    if problems or is_extended_name(name):
        return problems
    return [invalid(path, name, "is an invalid extended resource name")]


_AT_MULTI_POINT = re.compile(r"(profiles\[\d+\]\.plugins\.multiPoint\.enabled)\[(\d+)\]")


def load_configuration(
    manifest: Mapping[str, Any] | None,
    features: Features = DEFAULT_FEATURES,
    *,
    elections: bool = False,
    own: Mapping[str, Definition] | None = None,
) -> schema.SchedulerConfiguration:
    """Load a user's manifest; None is kube-scheduler's own default. Raise ConfigurationError if it is invalid.

    `elections`: whether its leaderElection is used and fully checked. `own`: custom plugins in CEL, by name.
    """
    with with_own(own or {}), with_release(features):
        return _load(manifest, features, elections)


@contextmanager
def with_own(own: Mapping[str, Definition]) -> Iterator[None]:
    """Register these plugins for the duration of a block."""
    if not own:
        yield
        return
    with with_plugins(*plugins_of(own)):
        yield


def _load(manifest: Mapping[str, Any] | None, features: Features, elections: bool) -> schema.SchedulerConfiguration:
    source: Mapping[str, Any] = (
        {"apiVersion": schema.API_VERSION, "kind": schema.KIND} if manifest is None else manifest
    )
    _raise(check_shape(source, schema.CONFIGURATION, "") or type_errors(source))
    _raise(plugin_args_shape_errors(source))
    full = defaults.default_configuration(source, features)
    errors = [*(defaults.election_errors(full) if elections else ()), *configuration_errors(full, features)]
    given: Sequence[Mapping[str, Any]] = source.get("profiles") or [{}]
    profiles = []
    for i, raw in enumerate(full["profiles"]):
        profile, problems = _profile(raw, f"profiles[{i}]")
        profiles.append(profile)
        if problems:
            errors += _where_given(problems, given[i], features)
    _raise(errors)
    return schema.SchedulerConfiguration(
        tuple(profiles),
        full["percentageOfNodesToScore"],
        full["podInitialBackoffSeconds"],
        full["podMaxBackoffSeconds"],
        full,
        manifest,
    )


def with_plugin(
    configuration: schema.SchedulerConfiguration,
    name: str,
    features: Features = DEFAULT_FEATURES,
    own: Mapping[str, Definition] | None = None,
) -> schema.SchedulerConfiguration:
    """Return the configuration with a plugin added to every profile, at all its points, before others at Bind."""
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
        raise schema.ConfigurationError(errors)


def _profile(raw: Mapping[str, Any], path: str) -> tuple[Profile, list[FieldError]]:
    plugins, errors = expand(raw["plugins"], f"{path}.plugins")
    name = raw.get("schedulerName") or ""
    if not errors:
        errors = _check_required_plugins(plugins, name, f"{path}.plugins")
    plugins[Point.NORMALIZE_SCORE] = tuple(
        entry for entry in plugins[Point.SCORE] if schema.implements(entry[0], Point.NORMALIZE_SCORE)
    )
    profile = Profile(
        name,
        plugins,
        {config["name"]: config.get("args") or {} for config in raw["pluginConfig"]},
        raw.get("percentageOfNodesToScore"),
    )
    return profile, errors


def _where_given(errors: list[FieldError], profile: Mapping[str, Any], features: Features) -> list[FieldError]:
    """Return errors of multiPoint plugins with the index in the user's list instead of the index in the defaulted list."""
    indexes = defaults.list_given_indexes(profile.get("plugins") or {}, features)
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
