"""A KubeSchedulerConfiguration as the scheduler uses it: defaulted, validated, its multiPoint sets expanded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.scheduler.framework.profile import Profile

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"


class ConfigurationError(InvalidObject):
    """A configuration that kube-scheduler would refuse; `errors` say where and why."""


@dataclass(frozen=True, slots=True)
class SchedulerConfiguration:
    """A whole configuration. `percentage_of_nodes_to_score` 0 means adaptive; backoffs are in seconds.

    `manifest` has every default filled in, as the gates make them; `given` is what it was made of (None: kube's default).
    """

    profiles: tuple[Profile, ...]
    percentage_of_nodes_to_score: int
    pod_initial_backoff_seconds: int
    pod_max_backoff_seconds: int
    manifest: Mapping[str, Any]
    given: Mapping[str, Any] | None = field(default=None, compare=False)
