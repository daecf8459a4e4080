"""VolumeBindingArgs: how long a binding may take, and the score by capacity.

kube: apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, invalid
from scheduler_core.apimachinery.objects.strict import INTEGER64
from scheduler_core.scheduler.framework.arguments import Arguments, Given
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.plugins.helper.normalize import POINTS, point_errors


def _defaults(given: Given, features: Features) -> Given:
    filled: dict[str, Any] = {"bindTimeoutSeconds": 600, **given}
    if features.storage_capacity_scoring and not given.get("shape"):
        filled["shape"] = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    return filled


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    errors: list[FieldError] = []
    if args["bindTimeoutSeconds"] < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        errors.append(invalid(f"{path}.bindTimeoutSeconds", args["bindTimeoutSeconds"], detail))
    if features.storage_capacity_scoring:
        errors += point_errors(args["shape"], f"{path}.shape")
    elif args.get("shape") is not None:
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        errors.append(invalid(f"{path}.shape", args["shape"], detail))
    return errors


ARGUMENTS = Arguments(fields={"bindTimeoutSeconds": INTEGER64, "shape": POINTS}, defaults=_defaults, validate=_validate)
