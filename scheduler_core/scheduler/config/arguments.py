"""The arguments of plugins in a configuration: each plugin's room says which there are, their defaults, and what kube refuses.

kube: apis/config/v1/default_plugins.go, apis/config/scheme @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, invalid
from scheduler_core.apimachinery.objects.strict import check_shape
from scheduler_core.scheduler.config.types import API_VERSION
from scheduler_core.scheduler.framework.arguments import Arguments, present
from scheduler_core.scheduler.framework.features import DEFAULT_FEATURES, Features
from scheduler_core.scheduler.plugins.registry import registry


def arguments_of(name: str) -> Arguments | None:
    """None where there is no such plugin, or it takes what it is given."""
    plugin = registry().get(name)
    return None if plugin is None else plugin.arguments


def default_arguments(name: str, args: Mapping[str, Any], features: Features = DEFAULT_FEATURES) -> dict[str, Any]:
    """A plugin's arguments with defaults filled in; of a plugin without declared arguments those that are given."""
    args, arguments = present(args), arguments_of(name)
    if arguments is None or arguments.lenient:
        return args
    return {"apiVersion": API_VERSION, "kind": f"{name}Args", **args, **arguments.defaults(args, features)}


def shape_errors(name: str, args: Mapping[str, Any] | None, path: str) -> list[FieldError]:
    """Unknown fields, wrong types, and another plugin's arguments."""
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
