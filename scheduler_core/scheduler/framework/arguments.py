"""Arguments: the fields of a plugin in a profile's pluginConfig (kube: <name>Args), with defaults and validation.

kube: kube-scheduler/config/v1/types_pluginargs.go, apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apimachinery.objects.strict import STRING, Shape
from scheduler_core.scheduler.framework.features import Features

Given = Mapping[str, Any]  # arguments by their JSON names


def present(given: Given | None) -> dict[str, Any]:
    """Return a copy without the fields that are null, because null means absent in JSON."""
    return {name: value for name, value in (given or {}).items() if value is not None}


def when_absent(**values: Any) -> Callable[[Given, Features], Given]:
    """Return a function that supplies defaults for absent fields."""
    return lambda given, features: {**values, **given}


def _no_defaults(given: Given, features: Features) -> Given:
    return {}


def _accept(args: Given, path: str, features: Features) -> list[FieldError]:
    return []


@dataclass(frozen=True, slots=True)
class Arguments:
    """`fields` are the shapes by JSON name, without apiVersion and kind.

    `defaults` returns the values that override the given arguments; `validate` returns kube's errors for defaulted arguments.
    `read_when_made`: kube validates the arguments only when it creates the plugin, so never for a plugin that no profile enables.
    `lenient`: other plugins may have the same name. The arguments then stay as given, the plugin itself adds defaults, and the known
    fields are validated only if a profile enables the plugin.
    """

    fields: Mapping[str, Shape]
    defaults: Callable[[Given, Features], Given] = _no_defaults
    validate: Callable[[Given, str, Features], list[FieldError]] = _accept
    read_when_made: bool = False
    lenient: bool = False

    @property
    def shape(self) -> Shape:
        return {"apiVersion": STRING, "kind": STRING, **self.fields}
