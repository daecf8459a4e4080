"""What kube-scheduler refuses in a configuration whose defaults are filled in, in its words.

kube: apis/config/validation/validation.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, duplicate, invalid
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors
from scheduler_core.apimachinery.objects.resources import is_extended_name
from scheduler_core.scheduler.config.arguments import argument_errors, shape_errors
from scheduler_core.scheduler.config.defaults import collect_enabled_names
from scheduler_core.scheduler.config.leader_election import resource_lock_errors
from scheduler_core.scheduler.config.points import FIELDS
from scheduler_core.scheduler.config.types import API_VERSION, KIND
from scheduler_core.scheduler.framework.features import Features

REMOVED_PLUGINS = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")


def type_errors(manifest: Mapping[str, Any]) -> list[FieldError]:
    """Check for kind KubeSchedulerConfiguration in the only supported version."""
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    errors = [] if version else [build_required_error("apiVersion", f"expected {API_VERSION}")]
    errors += [] if kind else [build_required_error("kind", f"expected {KIND}")]
    if errors or (version == API_VERSION and kind == KIND):
        return errors
    received, path = (version, "apiVersion") if version != API_VERSION else (kind, "kind")
    return [invalid(path, received, f'no kind "{kind}" is registered for version "{version}"')]


def plugin_args_shape_errors(manifest: Mapping[str, Any]) -> list[FieldError]:
    """Unknown fields and wrong types in the arguments of plugins that say which they have; other arguments are taken as they are."""
    errors: list[FieldError] = []
    for i, profile in enumerate(manifest.get("profiles") or ()):
        for j, config in enumerate((profile or {}).get("pluginConfig") or ()):
            path = f"profiles[{i}].pluginConfig[{j}].args"
            errors += shape_errors(config.get("name") or "", config.get("args"), path)
    return errors


def configuration_errors(configuration: Mapping[str, Any], features: Features) -> list[FieldError]:
    """Validate a defaulted configuration."""
    errors = resource_lock_errors(configuration)
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
            # kube names the place of the first one as the duplicate value.
            first = f"profiles[{seen[name]}].schedulerName"
            errors.append(FieldError(f"{path}.schedulerName", first, "", kind="Duplicate value"))
        seen[name] = i
    return errors + _queue_sort_errors(profiles)


def _find_removed_plugins(plugins: Mapping[str, Any], path: str) -> list[FieldError]:
    return [
        _build_removed_error(f"{path}.{field}.enabled[{i}]", plugin["name"])
        for field in FIELDS
        for i, plugin in enumerate((plugins.get(field) or {}).get("enabled") or ())
        if plugin["name"] in REMOVED_PLUGINS
    ]


def _build_removed_error(path: str, name: str) -> FieldError:
    detail = f'was invalid in version "{API_VERSION}" (KubeSchedulerConfiguration is version "{API_VERSION}")'
    return invalid(path, name, detail)


def _plugin_config_errors(profile: Mapping[str, Any], path: str, features: Features) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: dict[str, None] = {}
    enabled = collect_enabled_names(profile["plugins"])
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
    """One queue serves all profiles, so they must agree on how it is sorted."""
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
