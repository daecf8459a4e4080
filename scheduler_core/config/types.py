"""A KubeSchedulerConfiguration as the scheduler uses it: defaulted, validated, its multiPoint sets expanded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.framework.features import DEFAULT_FEATURES, Features
from scheduler_core.framework.plugin import Point
from scheduler_core.objects.errors import InvalidObject

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"


class ConfigurationError(InvalidObject):
    """A configuration that kube-scheduler would refuse; `errors` say where and why."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile. `plugins` holds (name, weight) per extension point in run order; a weight counts at Score only.

    `args` are each plugin's arguments with defaults filled in (v1 JSON names). `percentage_of_nodes_to_score` is
    None where the profile leaves it to the configuration.
    """

    scheduler_name: str
    plugins: Mapping[Point, tuple[tuple[str, int], ...]]
    args: Mapping[str, Mapping[str, Any]]
    percentage_of_nodes_to_score: int | None = None


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

    def effective(self) -> Mapping[str, Any]:
        """The manifest with every default filled in, as kube-scheduler --write-config-to prints it."""
        return self.manifest

    def profile(self, scheduler_name: str) -> Profile | None:
        return next((p for p in self.profiles if p.scheduler_name == scheduler_name), None)

    def with_plugin(self, name: str, features: Features = DEFAULT_FEATURES) -> SchedulerConfiguration:
        """The same configuration with a plugin added to every profile, at all its points, before others at Bind."""
        from scheduler_core.config.load import load_configuration

        profiles = [
            {**profile, "plugins": _added(profile["plugins"], name)} for profile in self.manifest["profiles"]
        ]
        return load_configuration({**self.manifest, "profiles": profiles}, features)


def _added(plugins: Mapping[str, Any], name: str) -> dict[str, Any]:
    out = dict(plugins)
    for point in ("multiPoint", "bind"):
        plugin_set = plugins.get(point) or {}
        enabled = plugin_set.get("enabled") or []
        if all(plugin["name"] != name for plugin in enabled):
            out[point] = {**plugin_set, "enabled": [*enabled, {"name": name}]}
    return out
