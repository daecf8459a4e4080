"""What wakes a pod that waits: the time, and the events that the plugins which refused it registered for."""

from __future__ import annotations

from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework.events import Action, ClusterEvent, On
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.queue.hints import list_registrations
from scheduler_core.scheduler.queue.types import QueuedPod

_SINGLE = tuple(action for action in Action if action not in (Action.UPDATE, Action.ALL))


def wakes(
    scheduler: Scheduler, framework: Framework, entry: QueuedPod | None
) -> tuple[int | None, tuple[str, ...]]:
    """Return the time of the queue's own retry (None: never, or at once), and the events that can retry the pod earlier."""
    if entry is None:
        return None, ()
    queue = scheduler.queue
    plugins = (entry.gated_by,) if entry.gated_by else entry.rejectors
    events = dict.fromkeys(
        name
        for plugin in map(framework.plugin, plugins)
        if plugin is not None
        for on in list_registrations(plugin)
        for name in _names(on)
    )
    if entry.key in queue.backoff_pods or entry.key in queue.error_backoff_pods:
        return entry.backoff_until, ()
    if entry.key in queue.unschedulable_pods:
        return queue.flush_due(entry), tuple(events)
    return None, tuple(events) if entry.gated_by else ()


def _names(on: On) -> list[str]:
    """kube's names of a registration's events, one by one: NodeAdd, PersistentVolumeClaimUpdate."""
    if on.action == Action.ALL:
        return [ClusterEvent(on.resource, Action.ALL).label]
    names = []
    if on.action & Action.UPDATE == Action.UPDATE:
        names.append(ClusterEvent(on.resource, Action.UPDATE).label)
    left = on.action & ~Action.UPDATE if names else on.action
    return [ClusterEvent(on.resource, each).label for each in _SINGLE if each & left] + names
