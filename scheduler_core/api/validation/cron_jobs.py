"""What is wrong with a CronJob's schedule and time zone.

kube: pkg/apis/batch/validation/validation.go (validateCronJobSpec) @ v1.34.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_core.api.validation import checks
from scheduler_core.api.validation.checks import Errors
from scheduler_core.api.validation.jobs import job_spec
from scheduler_core.clock.cron import BadSchedule, is_zone, parse_schedule
from scheduler_core.objects.errors import FieldError, invalid, required

_LONGEST_NAME = 52  # the name of a Job with "-" and the minute
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}\Z")


def cron_job(manifest: Mapping[str, Any], errors: Errors) -> None:
    """Adds what is wrong."""
    name = manifest["metadata"].get("name") or ""
    if len(name) > _LONGEST_NAME and not manifest["metadata"].get("uid"):
        errors.append(invalid("metadata.name", name, f"must be no more than {_LONGEST_NAME} characters"))
    spec = manifest.get("spec") or {}
    schedule = spec.get("schedule") or ""
    if not schedule:
        errors.append(required("spec.schedule"))
    else:
        errors += _schedule(schedule)
    errors += _zone(spec.get("timeZone"))
    policies = ("Allow", "Forbid", "Replace")
    checks.one_of(errors, "spec.concurrencyPolicy", spec.get("concurrencyPolicy"), policies)
    for field in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        number = spec.get(field)
        if number is not None and number < 0:
            errors.append(invalid(f"spec.{field}", number, checks.NOT_NEGATIVE))
    job_spec((spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec", errors)


def _schedule(schedule: str) -> list[FieldError]:
    errors = []
    try:
        parse_schedule(schedule)
    except BadSchedule as problem:
        errors.append(invalid("spec.schedule", schedule, str(problem)))
    if "TZ" in schedule:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid("spec.schedule", schedule, detail))
    return errors


def _zone(zone: str | None) -> list[FieldError]:
    if zone is None:
        return []
    if not zone:
        detail = "timeZone must be nil or non-empty string"
    elif zone.lower() == "local":
        detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
    elif not all(_is_part(part) for part in zone.split("/")) or not is_zone(zone):
        detail = f"unknown time zone {zone}"
    else:
        return []
    return [invalid("spec.timeZone", zone, detail)]


def _is_part(part: str) -> bool:
    return part not in (".", "..") and not part.startswith("-") and bool(_ZONE_PART.match(part))
