"""The plugins that are registered for each event, and the results of their hints for a waiting pod.

kube: scheduler.go (buildQueueingHintMap), backend/queue/scheduling_queue.go (isPodWorthRequeuing) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.extenders.extender import EXTENDER_NAME
from scheduler_core.scheduler.framework import EVERYTHING, Action, ClusterEvent, ObjectEvent, On, Plugin
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.metrics.catalogue import Tally
from scheduler_core.scheduler.queue.types import STAYS, QueuedPod, RequeueDecision, Strategy

_AFTER_BACKOFF = RequeueDecision(Strategy.AFTER_BACKOFF)


HintCounts = Tally[tuple[tuple[str, ...], int]]
"""How often hints were asked, by ((plugin, event, answer), 0): a histogram's counts, all in its first bucket."""


@dataclass(frozen=True, slots=True)
class ExtenderStandIn:
    """The plugin that stands in for extenders that rejected a pod; it is registered for all events. kube: defaultEnqueueExtension"""

    name: str


_EXTENDER = ExtenderStandIn(EXTENDER_NAME)


@dataclass(frozen=True, slots=True)
class _Listener:
    """A registration that matches an event, with the labels that its hint's answers are counted under."""

    plugin: Plugin | ExtenderStandIn
    on: On
    yes: tuple[tuple[str, ...], int]
    no: tuple[tuple[str, ...], int]

    @classmethod
    def to(cls, event: ClusterEvent, plugin: Plugin | ExtenderStandIn, on: On) -> _Listener:
        labels = (plugin.name, event.label)
        return cls(plugin, on, ((*labels, "Queue"), 0), ((*labels, "QueueSkip"), 0))


class Hints:
    """The registrations of all profiles. Matches of an event are cached. `counts` counts the results of hints."""

    def __init__(self, profiles: Mapping[str, Framework], counts: HintCounts) -> None:
        self._counts = counts
        self._profiles = profiles
        self._matching: dict[tuple[str, int], dict[str, tuple[_Listener, ...]]] = {}
        self._names: dict[tuple[str, int], frozenset[str]] = {}

    @cached_property
    def _all(self) -> dict[str, tuple[tuple[Plugin | ExtenderStandIn, On], ...]]:
        """The registrations by profile. Computed at the first event, which most copies of a world never have."""
        return {
            name: (
                *(((_EXTENDER, on) for on in EVERYTHING) if framework.extended else ()),
                *((plugin, on) for plugin in framework.plugins for on in list_registrations(plugin)),
            )
            for name, framework in self._profiles.items()
        }

    def of_interest(self, event: ClusterEvent) -> bool:
        return event.wildcard or any(self._of(event).values())

    def listeners(self, event: ClusterEvent) -> frozenset[str]:
        """Return the names of the plugins of any profile that are registered for the event."""
        key = (event.resource, int(event.action))
        if key not in self._names:
            self._names[key] = frozenset(
                listener.plugin.name for registered in self._of(event).values() for listener in registered
            )
        return self._names[key]

    def requeue_decision(self, entry: QueuedPod, what: ObjectEvent) -> RequeueDecision:
        rejectors = entry.rejectors
        if not rejectors:
            return _AFTER_BACKOFF
        event, old, new = what
        if event.wildcard:
            # kube: a wildcard event that carries a pod is meant for that pod alone (such as an activation).
            for_it = new is None or (isinstance(new, Pod) and new.uid == entry.pod.uid)
            return RequeueDecision(Strategy.AFTER_BACKOFF, event.label) if for_it else STAYS
        listeners = self._of(event).get(entry.pod.spec.scheduler_name)
        if listeners is None:
            return _AFTER_BACKOFF
        decision = STAYS
        for listener in listeners:
            plugin, hint = listener.plugin, listener.on.hint
            if plugin.name not in rejectors:
                continue
            if hint is not None and not hint(plugin, entry.pod, old, new):
                self._counts[listener.no] += 1
                continue
            self._counts[listener.yes] += 1
            hint_name = "" if hint is None else hint.__name__
            # A pending pod waited for this plugin and was not rejected for good, so kube skips the backoff.
            if plugin.name in entry.pending_plugins:
                return RequeueDecision(Strategy.IMMEDIATELY, event.label, plugin.name, hint_name)
            decision = RequeueDecision(Strategy.AFTER_BACKOFF, event.label, plugin.name, hint_name)
            if not entry.pending_plugins:
                return decision
        return decision

    def _of(self, event: ClusterEvent) -> dict[str, tuple[_Listener, ...]]:
        key = (event.resource, int(event.action))
        if key not in self._matching:
            self._matching[key] = {
                profile: tuple(_Listener.to(event, plugin, on) for plugin, on in all_ if on.matches(event))
                for profile, all_ in self._all.items()
            }
        return self._matching[key]


class EventSource(Protocol):
    """An object that registers for events: a plugin."""

    @property
    def taints_unheard(self) -> bool: ...

    def registrations(self) -> tuple[On, ...]: ...


def list_registrations(plugin: EventSource) -> tuple[On, ...]:
    """Return the plugin's registrations. Until 1.37, a registration for new nodes without taints includes taints."""
    events = plugin.registrations()
    if plugin.taints_unheard:
        return events
    nodes = [on for on in events if on.resource == "Node"]
    adds = any(on.action & Action.ADD for on in nodes)
    taints = any(on.action & Action.UPDATE_NODE_TAINT for on in nodes)
    return (*events, On("Node", Action.UPDATE_NODE_TAINT)) if adds and not taints else events
