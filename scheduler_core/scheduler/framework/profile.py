"""A profile of a KubeSchedulerConfiguration, ready for a framework: defaulted, validated, with expanded multiPoint sets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.scheduler.framework.plugin import Point


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile. `plugins` holds (name, weight) per extension point in run order; a weight counts at Score only.

    `args` are each plugin's arguments with defaults filled in (v1 JSON names). `percentage_of_nodes_to_score` is None if the profile
    leaves it to the configuration.
    """

    scheduler_name: str
    plugins: Mapping[Point, tuple[tuple[str, int], ...]]
    args: Mapping[str, Mapping[str, Any]]
    percentage_of_nodes_to_score: int | None = None
