"""DynamicResourcesArgs: the time limit of the device search on one node.

kube: apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects.durations import parse_duration
from scheduler_core.apimachinery.objects.errors import FieldError, forbidden, invalid
from scheduler_core.apimachinery.objects.strict import STRING
from scheduler_core.scheduler.framework import Arguments, Features, Given


def _defaults(given: Given, features: Features) -> Given:
    default: dict[str, Any] = {"filterTimeout": "10s"} if features.dra_filter_timeout else {}
    return {**default, **given}


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    timeout = args.get("filterTimeout")
    if timeout is None or not features.dynamic_resources:
        return []
    at = f"{path}.filterTimeout"
    if not features.dra_filter_timeout:
        return [forbidden(at, "DRASchedulingFilterTimeout feature gate is disabled")]
    try:
        negative = parse_duration(timeout) < 0
    except ValueError as wrong:
        return [invalid(at, timeout, str(wrong))]
    return [invalid(at, timeout, "must be zero or positive")] if negative else []


ARGUMENTS = Arguments(fields={"filterTimeout": STRING}, defaults=_defaults, validate=_validate, read_when_made=True)
