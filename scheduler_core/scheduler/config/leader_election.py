"""leaderElection of a KubeSchedulerConfiguration: how replicas of a scheduler stand for election, and what is refused.

kube: component-base/config/validation/validation.go, pkg/scheduler/apis/config/validation/validation.go,
cmd/kube-scheduler/app/{server,options/options}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.durations import go_duration, parse_duration
from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, invalid
from scheduler_core.scheduler.leaderelection.config import ElectionConfig, elector_error

DURATIONS = ("leaseDuration", "renewDeadline", "retryPeriod")
_PATH = "leaderElection"


def election_config(configuration: Mapping[str, Any]) -> ElectionConfig | None:
    """Return the election config of a valid, defaulted configuration; None if leaderElect is false."""
    section = configuration[_PATH]
    if not section["leaderElect"]:
        return None
    lease, renew, retry = (parse_duration(section[name]) for name in DURATIONS)
    return ElectionConfig(lease, renew, retry, section["resourceNamespace"], section["resourceName"])


def resource_lock_errors(configuration: Mapping[str, Any]) -> list[FieldError]:
    """Check resourceLock in a defaulted configuration: only Leases are supported."""
    section = configuration[_PATH]
    if not section["leaderElect"] or section["resourceLock"] == "leases":
        return []
    return [invalid(f"{_PATH}.resourceLock", section["resourceLock"], 'resourceLock value must be "leases"')]


def election_errors(configuration: Mapping[str, Any]) -> list[FieldError]:
    """Return kube-scheduler's other errors for a defaulted configuration: unreadable durations first, then invalid durations,
    then errors in making the elector.
    """
    section = configuration[_PATH]
    unreadable = _unreadable(section)
    if unreadable or not section["leaderElect"]:
        return unreadable
    return _duration_errors(section) or _elector_errors(configuration)


def _unreadable(section: Mapping[str, Any]) -> list[FieldError]:
    errors = []
    for name in DURATIONS:
        try:
            parse_duration(section[name])
        except ValueError as error:
            errors.append(FieldError(f"{_PATH}.{name}", "", str(error)))
    return errors


def _duration_errors(section: Mapping[str, Any]) -> list[FieldError]:
    values = {name: parse_duration(section[name]) for name in DURATIONS}
    errors = [
        invalid(f"{_PATH}.{name}", go_duration(value), "must be greater than zero")
        for name, value in values.items()
        if value <= 0
    ]
    if values["leaseDuration"] <= values["renewDeadline"]:
        received = go_duration(values["renewDeadline"])
        errors.append(invalid(f"{_PATH}.leaseDuration", received, "must be greater than `RenewDeadline`"))
    names = ("resourceNamespace", "resourceName")
    return errors + [build_required_error(f"{_PATH}.{name}") for name in names if not section[name]]


def _elector_errors(configuration: Mapping[str, Any]) -> list[FieldError]:
    """kube-scheduler says these when it starts, after its informers have synced."""
    config = election_config(configuration)
    error = "" if config is None else elector_error(config)
    return [FieldError(_PATH, "", f"couldn't create leader elector: {error}")] if error else []
