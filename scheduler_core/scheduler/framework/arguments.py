"""Arguments: what a profile's pluginConfig may say to a plugin (kube: <name>Args), with defaults and validation.

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
    """A copy without the fields that are null, which is how JSON says absent."""
    return {name: value for name, value in (given or {}).items() if value is not None}


def when_absent(**values: Any) -> Callable[[Given, Features], Given]:
    """Defaults for fields that are not given."""
    return lambda given, features: {**values, **given}


def _no_defaults(given: Given, features: Features) -> Given:
    return {}


def _accept(args: Given, path: str, features: Features) -> list[FieldError]:
    return []


@dataclass(frozen=True, slots=True)
class Arguments:
    """`fields` are the shapes by JSON name, apiVersion and kind apart.

    `defaults` takes the given arguments and answers with what is laid over them; `validate` takes arguments with defaults and says what
    kube refuses, in its words. `read_when_made`: kube looks at them only when it makes the plugin, so not where nobody enables it.
    `lenient`: of a plugin that others have under its name, too: they stay as they are given, the plugin itself fills in defaults, and
    what it knows of them is checked only where a profile enables it.
    """

    fields: Mapping[str, Shape]
    defaults: Callable[[Given, Features], Given] = _no_defaults
    validate: Callable[[Given, str, Features], list[FieldError]] = _accept
    read_when_made: bool = False
    lenient: bool = False

    @property
    def shape(self) -> Shape:
        return {"apiVersion": STRING, "kind": STRING, **self.fields}
