"""KubeSchedulerConfiguration v1: `load_configuration` reads, defaults, validates and expands one."""

from __future__ import annotations

from scheduler_core.config.load import load_configuration
from scheduler_core.config.types import ConfigurationError, Profile, SchedulerConfiguration

__all__ = ["ConfigurationError", "Profile", "SchedulerConfiguration", "load_configuration"]
