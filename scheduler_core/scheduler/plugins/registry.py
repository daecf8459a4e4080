"""The registry of all plugins: those of this package, then those of installed packages."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.guard import guard_plugin
from scheduler_core.scheduler.framework.plugin import Plugin, Point, takes_part
from scheduler_core.scheduler.plugins import ROOMS

# Plugins of installed packages: Python entry points of the group `scheduler_playground.plugins`.
#
# An entry point's name is the plugin's, its object a subclass of Plugin. An unusable plugin is skipped with the reason: a
# broken package must not keep a server from starting. An exception in a usable plugin ends only the scheduling cycle
# (framework/guard.py). A history with such plugins needs the same packages wherever it is replayed.

GROUP = "scheduler_playground.plugins"


def load_installed(
    taken: Mapping[str, type[Plugin]], points: Iterable[EntryPoint] | None = None
) -> tuple[dict[str, type[Plugin]], dict[str, str]]:
    """Return the usable plugins by name, and the problems of the others; the names in `taken` are reserved."""
    plugins: dict[str, type[Plugin]] = {}
    problems: dict[str, str] = {}
    every = entry_points(group=GROUP) if points is None else points
    for point in sorted(every, key=lambda p: (p.name, p.value)):
        plugin, problem = _load(point, {**taken, **plugins})
        if plugin is None:
            problems[point.name] = f"{point.value}: {problem}"
        else:
            plugins[point.name] = guard_plugin(plugin)
    return plugins, problems


def _load(point: EntryPoint, taken: Mapping[str, type[Plugin]]) -> tuple[type[Plugin] | None, str]:
    if point.name in taken:
        return None, f"received the name {point.name}; expected one that no other plugin has"
    try:
        plugin = point.load()
    except Exception as error:  # an import can raise anything
        return None, f"could not be loaded: {type(error).__name__}: {error}"
    if not isinstance(plugin, type) or not issubclass(plugin, Plugin):
        return (None, f"received {plugin!r}; expected a subclass of scheduler_core.scheduler.framework.plugin.Plugin")
    name = getattr(plugin, "name", None)
    if name != point.name:
        return None, f"received the name {name!r}; expected {point.name!r}, as the entry point is called"
    if not any(takes_part(plugin, at) for at in Point):
        return None, "takes part in no extension point; expected a method of one, such as sort_key"
    return plugin, ""


Registry = Mapping[str, type[Plugin]]

_chosen: ContextVar[Registry | None] = ContextVar("registry", default=None)  # overrides the full registry


@lru_cache(maxsize=1)
def _all() -> tuple[Registry, Mapping[str, str]]:
    rooms = {plugin.name: plugin for plugin in ROOMS}
    added, problems = load_installed(rooms)
    return {**rooms, **added}, problems


def registry() -> Registry:
    """Return the plugins by name."""
    return _chosen.get() or _all()[0]


def registry_of(features: Features) -> Registry:
    """Return the plugins by name in the variants of the release with these features."""
    return {name: made for name, plugin in registry().items() if (made := plugin.variant(features)) is not None}


def problems() -> Mapping[str, str]:
    """Return the reason why a plugin was skipped, by the name of its entry point in an installed package."""
    return _all()[1]


def state_classes() -> tuple[type, ...]:
    """Return the classes of the state that plugins store in cycles."""
    return tuple(dict.fromkeys(cls for plugin in registry().values() for cls in plugin.state_classes))


@contextmanager
def with_release(features: Features) -> Iterator[None]:
    """Restrict the registry to the plugins of a release within a `with` block."""
    before = _chosen.set(registry_of(features))
    try:
        yield
    finally:
        _chosen.reset(before)


@contextmanager
def with_plugins(*plugins: type[Plugin]) -> Iterator[None]:
    """Add plugins within a `with` block: those of a world, of recorded timelines, or of tests."""
    before = _chosen.set({**registry(), **{plugin.name: plugin for plugin in plugins}})
    try:
        yield
    finally:
        _chosen.reset(before)
