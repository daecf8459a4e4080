"""The admission plugins, in the order in which the API server asks them.

kube: pkg/kubeapiserver/options/plugins.go (AllOrderedPlugins) @ v1.34.1
"""

from __future__ import annotations

from functools import lru_cache

from scheduler_core.api.admission.plugin import AdmissionPlugin
from scheduler_core.api.admission.plugins.default_toleration_seconds import DefaultTolerationSeconds
from scheduler_core.api.admission.plugins.limit_ranger import LimitRanger
from scheduler_core.api.admission.plugins.namespace_lifecycle import NamespaceLifecycle
from scheduler_core.api.admission.plugins.priority import Priority
from scheduler_core.api.options import APIServerOptions

PLUGINS: tuple[AdmissionPlugin, ...] = (
    NamespaceLifecycle(),
    LimitRanger(),
    Priority(),
    DefaultTolerationSeconds(),
)


@lru_cache(maxsize=64)
def _enabled(enabled: tuple[str, ...], disabled: tuple[str, ...]) -> tuple[AdmissionPlugin, ...]:
    return tuple(
        plugin
        for plugin in PLUGINS
        if (plugin.on_by_default or plugin.name in enabled) and plugin.name not in disabled
    )


def plugins_of(options: APIServerOptions) -> tuple[AdmissionPlugin, ...]:
    """Those that are on."""
    return _enabled(options.enable_admission_plugins, options.disable_admission_plugins)
