"""From definitions to plugins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from scheduler_core.scheduler.plugins.cel import plugin
from scheduler_core.scheduler.plugins.cel.definition import Definition
from scheduler_core.scheduler.plugins.cel.plugin import Own
from scheduler_core.scheduler.plugins.cel.preemption import OwnPreemption

# Field of the definition -> the method that makes the plugin take part.
_METHODS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "pre_enqueue": ("pre_enqueue", plugin.pre_enqueue),
    "filter": ("filter", plugin.filter_rows),
    "score": ("score", plugin.score),
    "permit": ("permit", plugin.permit),
}


@lru_cache(maxsize=256)
def plugin_of(name: str, definition: Definition) -> type[Own]:
    """The plugin of this name that a definition is, whose expressions compile. The same one for the same definition."""
    members: dict[str, Any] = {"name": name, "definition": definition, "__doc__": definition.description}
    for field, (method, function) in _METHODS.items():
        if getattr(definition, field):
            members[method] = function
    if definition.score and definition.normalize != "none":
        members["normalize"] = plugin.normalize
    base: type[Own] = Own
    if definition.post_filter:
        base = OwnPreemption
        if definition.pre_enqueue:
            members["pre_enqueue"] = OwnPreemption.both_at_pre_enqueue
    made: type[Own] = type(name, (base,), members)
    return made


def plugins_of(definitions: Mapping[str, Definition]) -> tuple[type[Own], ...]:
    """A world's own plugins."""
    return tuple(plugin_of(name, definition) for name, definition in definitions.items())
