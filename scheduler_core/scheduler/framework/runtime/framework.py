"""Framework: one profile's plugins, made from the configuration and ordered by extension point.

kube: framework/runtime/framework.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.scheduler.framework.plugin import Handle, Plugin, Point, takes_part
from scheduler_core.scheduler.framework.profile import Profile


class Framework:
    """The plugins of one profile, each made once; a point has those that are enabled there and take part in it."""

    def __init__(self, profile: Profile, registry: Mapping[str, type[Plugin]], handle: Handle) -> None:
        self.profile = profile
        self.behaviors = handle.features.behaviors
        self.extended = False  # the scheduler has extenders
        self.name = profile.scheduler_name
        self._plugins: dict[str, Plugin] = {}
        self._points: dict[Point, tuple[Plugin, ...]] = {}
        self._running: dict[tuple[Point, tuple[str, ...]], tuple[int, ...]] = {}
        self.weights: dict[str, int] = {}
        for point in Point:
            enabled = profile.plugins.get(point, ())
            self._points[point] = tuple(
                self._make(name, registry, handle) for name, _ in enabled if takes_part(registry[name], point)
            )
        for name, weight in profile.plugins.get(Point.SCORE, ()):
            self.weights[name] = weight
        self._points[Point.NORMALIZE_SCORE] = tuple(
            plugin for plugin in self._points[Point.SCORE] if takes_part(type(plugin), Point.NORMALIZE_SCORE)
        )
        # Reversed, as in kube: what was reserved last is given back first.
        self._points[Point.UNRESERVE] = tuple(
            plugin for plugin in reversed(self._points[Point.RESERVE]) if takes_part(type(plugin), Point.UNRESERVE)
        )

    def _make(self, name: str, registry: Mapping[str, type[Plugin]], handle: Handle) -> Plugin:
        if name not in self._plugins:
            self._plugins[name] = registry[name](self.profile.args.get(name, {}), handle)
        return self._plugins[name]

    def at(self, point: Point) -> tuple[Plugin, ...]:
        """The plugins of an extension point in run order."""
        return self._points[point]

    def running(self, point: Point, skip: tuple[str, ...]) -> tuple[int, ...]:
        """Indices of the plugins of an extension point but for those to be skipped."""
        # Safe to keep: the plugins of a point are fixed in __init__, and Skip answers come in few combinations.
        indices = self._running.get((point, skip))
        if indices is None:
            plugins = self._points[point]
            indices = tuple(i for i, plugin in enumerate(plugins) if plugin.name not in skip)
            self._running[(point, skip)] = indices
        return indices

    def has(self, point: Point) -> bool:
        """Return whether the profile names a plugin for a point. kube: HasFilterPlugins, HasScorePlugins"""
        return bool(self.profile.plugins.get(point))

    def plugin(self, name: str) -> Plugin | None:
        return self._plugins.get(name)

    @property
    def percentage_of_nodes_to_score(self) -> int | None:
        return self.profile.percentage_of_nodes_to_score

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """Every plugin of the profile once."""
        return tuple(self._plugins.values())
