"""Every plugin there is: the rooms of this package, then what installed packages add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.plugins import ROOMS
from scheduler_core.scheduler.plugins.installed import load_installed

Registry = Mapping[str, type[Plugin]]

_chosen: ContextVar[Registry | None] = ContextVar("registry", default=None)  # instead of all there is


@lru_cache(maxsize=1)
def _all() -> tuple[Registry, Mapping[str, str]]:
    rooms = {plugin.name: plugin for plugin in ROOMS}
    added, problems = load_installed(rooms)
    return {**rooms, **added}, problems


def registry() -> Registry:
    """The plugins by name."""
    return _chosen.get() or _all()[0]


def problems() -> Mapping[str, str]:
    """Name of an entry point of an installed package -> why its plugin was left out."""
    return _all()[1]


def state_classes() -> tuple[type, ...]:
    """Return the classes of the state that plugins store in cycles."""
    return tuple(dict.fromkeys(cls for plugin in registry().values() for cls in plugin.state_classes))


@contextmanager
def with_plugins(*plugins: type[Plugin]) -> Iterator[None]:
    """Add plugins for the length of a block: those of a world, of recorded timelines, and of tests."""
    before = _chosen.set({**registry(), **{plugin.name: plugin for plugin in plugins}})
    try:
        yield
    finally:
        _chosen.reset(before)
