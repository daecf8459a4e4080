"""What a scheduler's queue asks of the scheduler: order, gates, hints, and who is notified of moves."""

from __future__ import annotations

from typing import Protocol

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.store import Store
from scheduler_core.base.trace.journal import Place, Why
from scheduler_core.scheduler.core import measure
from scheduler_core.scheduler.framework.events import ClusterEvent, ObjectEvent
from scheduler_core.scheduler.framework.plugin import Plugin, Point
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.runtime.points import queue_sort_key, run_pre_enqueue
from scheduler_core.scheduler.framework.runtime.records import record_gate
from scheduler_core.scheduler.framework.step import PluginStep
from scheduler_core.scheduler.queue.hints import Hints
from scheduler_core.scheduler.queue.types import QueuedPod, RequeueDecision


class RulesOwner(measure.Measured, Protocol):
    """The scheduler whose queue it is."""

    @property
    def name(self) -> str: ...

    @property
    def replica(self) -> Store | None: ...

    def framework_of(self, pod: Pod) -> Framework | None: ...

    def move(self, pod: str, place: str, cause: str, why: Why = (), until: int = 0, kept: bool = True) -> None: ...


class QueueRules:
    """The queue's rules by the profiles of one scheduler."""

    __slots__ = ("_hints", "_scheduler")

    def __init__(self, scheduler: RulesOwner) -> None:
        self._scheduler = scheduler
        self._hints = Hints(scheduler.profiles, scheduler.figures.queueing_hint.counts)

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        first = next(iter(self._scheduler.profiles.values()))
        return queue_sort_key(first, pod, timestamp)

    def gate(self, pod: Pod, first: str) -> str:
        framework = self._scheduler.framework_of(pod)
        if framework is None:
            return ""
        steps: list[PluginStep] = []
        gate = ""
        for plugin in _gates(framework, first):
            step = run_pre_enqueue(plugin, pod)
            steps.append(step)
            if not step.status.ok:
                record_gate(self._scheduler.world, self._scheduler.name, pod, step)
                gate = plugin.name
                break
        measure.record_pre_enqueue(self._scheduler, pod, steps)
        return gate

    def of_interest(self, event: ClusterEvent) -> bool:
        return self._hints.of_interest(event)

    def listeners(self, event: ClusterEvent) -> frozenset[str]:
        return self._hints.listeners(event)

    def requeue_decision(self, entry: QueuedPod, what: ObjectEvent) -> RequeueDecision:
        return self._hints.requeue_decision(entry, what)

    def moved(self, entry: QueuedPod, place: str, cause: str, why: RequeueDecision | None) -> None:
        until = entry.backoff_until or 0 if place == Place.BACKOFF else 0
        reason = () if why is None else why.reason
        self._scheduler.move(entry.key, place, cause, reason, until, self._is_about(entry.pod))

    def _is_about(self, pod: Pod) -> bool:
        """False where another pod has the name by now. One for another scheduler took that of a pod whose attempt failed: the queue holds
        it until it is popped. Or a scheduler whose informers lag still moves the one that is gone.
        """
        scheduler = self._scheduler
        if scheduler.replica is not None:
            live = scheduler.world.store.pod_at(pod.key)
            if live is not None and live.uid != pod.uid:
                return False
        return pod.spec.scheduler_name in scheduler.profiles


def _gates(framework: Framework, first: str) -> tuple[Plugin, ...]:
    """The PreEnqueue plugins; the one that holds the pod back already is asked first."""
    plugins = framework.at(Point.PRE_ENQUEUE)
    if not first:
        return plugins
    return tuple(sorted(plugins, key=lambda plugin: plugin.name != first))
