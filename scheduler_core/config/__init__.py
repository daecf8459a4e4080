"""What is configured: a KubeSchedulerConfiguration v1 (`load_configuration` reads, defaults, validates, expands it) and feature gates."""

from __future__ import annotations

from scheduler_core.config.load import load_configuration, with_plugin
from scheduler_core.config.types import ConfigurationError, SchedulerConfiguration

__all__ = ["ConfigurationError", "SchedulerConfiguration", "load_configuration", "with_plugin"]
