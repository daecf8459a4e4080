"""What is configured: a KubeSchedulerConfiguration v1 (`load_configuration` reads, defaults, validates, expands it), feature gates, and
the world's settings."""

from __future__ import annotations

from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.base.releases import DIFFERENCES, NEWEST, OLDEST, RELEASES, Release, behaviors_of, read_release
from scheduler_core.scheduler.config.cluster import ClusterSettings, ControllerManagerOptions
from scheduler_core.scheduler.config.defaults import LEADER_ELECTION
from scheduler_core.scheduler.config.gates import (
    GATE_SETTINGS,
    MAX_GATES_TEXT,
    Gate,
    GateError,
    Wanted,
    asked_gates,
    format_gates,
    read_gates,
)
from scheduler_core.scheduler.config.kubelet import read_kubelet, without_effect
from scheduler_core.scheduler.config.load import load_configuration, with_own, with_plugin
from scheduler_core.scheduler.config.schema import ConfigurationError, SchedulerConfiguration
from scheduler_core.scheduler.config.settings import CURRENT, HISTORICAL, MAX_DURATION, READ_AT_START, WorldSettings
from scheduler_core.scheduler.config.taking_in import with_plugin_in
from scheduler_core.scheduler.framework.features import DEFAULT_FEATURES, Features
from scheduler_core.scheduler.framework.profile import Profile
from scheduler_core.scheduler.plugins.cel import EXPRESSIONS, NAME_PATTERN, NORMALIZE, Definition

__all__ = [
    "CURRENT",
    "DEFAULT_FEATURES",
    "DIFFERENCES",
    "EXPRESSIONS",
    "GATE_SETTINGS",
    "HISTORICAL",
    "LEADER_ELECTION",
    "MAX_DURATION",
    "MAX_GATES_TEXT",
    "NAME_PATTERN",
    "NEWEST",
    "NORMALIZE",
    "OLDEST",
    "READ_AT_START",
    "RELEASES",
    "APIServerOptions",
    "ClusterSettings",
    "ConfigurationError",
    "ControllerManagerOptions",
    "Definition",
    "Features",
    "Gate",
    "GateError",
    "Profile",
    "Release",
    "SchedulerConfiguration",
    "Wanted",
    "WorldSettings",
    "asked_gates",
    "behaviors_of",
    "format_gates",
    "load_configuration",
    "read_gates",
    "read_kubelet",
    "read_release",
    "with_own",
    "with_plugin",
    "with_plugin_in",
    "without_effect",
]
