"""Plugins of installed packages: Python entry points of the group `scheduler_playground.plugins`.

An entry point's name is the plugin's, its object a subclass of Plugin. One that can't be used is left out, and PROBLEMS says why: a
package that is broken must not keep a server from starting. A history with such plugins needs the same packages wherever it is replayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from scheduler_core.framework.plugin import Plugin, Point, takes_part

GROUP = "scheduler_playground.plugins"
PROBLEMS: dict[str, str] = {}
"""Name of the entry point -> why it was left out."""


def install(registry: dict[str, type[Plugin]], found: Iterable[EntryPoint] | None = None) -> dict[str, str]:
    """Adds the usable plugins to the registry, by name; returns what is wrong with the others."""
    problems: dict[str, str] = {}
    for point in sorted(
        entry_points(group=GROUP) if found is None else found, key=lambda p: (p.name, p.value)
    ):
        plugin, problem = _load(point, registry)
        if plugin is None:
            problems[point.name] = f"{point.value}: {problem}"
        else:
            registry[point.name] = plugin
    return problems


def _load(point: EntryPoint, registry: dict[str, type[Plugin]]) -> tuple[type[Plugin] | None, str]:
    if point.name in registry:
        return None, f"received the name {point.name}; expected one that no other plugin has"
    try:
        found = point.load()
    except Exception as error:  # whatever a stranger's module does while it is imported
        return None, f"could not be loaded: {type(error).__name__}: {error}"
    if not isinstance(found, type) or not issubclass(found, Plugin):
        return None, f"received {found!r}; expected a subclass of scheduler_core.framework.plugin.Plugin"
    name = getattr(found, "name", None)
    if name != point.name:
        return None, f"received the name {name!r}; expected {point.name!r}, as the entry point is called"
    if not any(takes_part(found, at) for at in Point):
        return None, "takes part in no extension point; expected a method of one, such as sort_key"
    return found, ""
