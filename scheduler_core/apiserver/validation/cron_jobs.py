"""What is wrong with a CronJob's schedule and time zone.

kube: pkg/apis/batch/validation/validation.go (validateCronJobSpec) @ v1.34.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import (
    FieldError,
    build_required_error,
    invalid,
    not_supported,
)
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.jobs import job_spec
from scheduler_core.apiserver.validation.pods.templates import selector_json
from scheduler_core.apiserver.validation.rules import not_negative, one
from scheduler_core.base.clock.cron import BadSchedule, is_zone, parse_schedule

_LONGEST_NAME = 52  # the name of a Job with "-" and the minute
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}\Z")


def cron_job(manifest: Mapping[str, Any], errors: Errors) -> None:
    """Adds what is wrong."""
    name, spec = manifest["metadata"].get("name") or "", manifest.get("spec") or {}
    schedule = spec.get("schedule") or ""
    if not schedule:
        errors.append(build_required_error("spec.schedule"))
    else:
        errors += _schedule(schedule)
    not_negative("startingDeadlineSeconds")(spec, "spec", errors)
    errors += _zone(spec.get("timeZone"))
    one("concurrencyPolicy", "Allow", "Forbid", "Replace")(spec, "spec", errors)
    job, where = (spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec"
    job_spec(job, where, errors)
    if job.get("selector") is not None:
        shown = selector_json(job["selector"])
        errors.append(invalid(f"{where}.selector", shown, "`selector` will be auto-generated"))
    if job.get("manualSelector"):
        errors.append(not_supported(f"{where}.manualSelector", True, ("nil", "false")))
    not_negative("successfulJobsHistoryLimit", "failedJobsHistoryLimit")(spec, "spec", errors)
    if len(name) > _LONGEST_NAME and not manifest["metadata"].get("uid"):
        errors.append(invalid("metadata.name", name, f"must be no more than {_LONGEST_NAME} characters"))


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
