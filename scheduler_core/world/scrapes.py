"""How a scheduler's most looked-at figures developed: what a Prometheus would have that scrapes the world now and then.

A scrape is taken where virtual time moves on, so it holds for the whole stretch before it. When there are too many, every other one goes
and they are taken half as often: so a curve of any length has between half of MOST and MOST points, and the same world has the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.queue.queue import SchedulingQueue
from scheduler_core.world.use import Use, read_use

MOST = 256
FIRST_EVERY = 1_000_000


class Scrape(NamedTuple):
    """Pods by queue, finished attempts by result and use of the nodes, at a time (ns) and position."""

    t: int
    position: int
    active: int
    backoff: int
    unschedulable: int
    gated: int
    scheduled: int
    refused: int
    errors: int
    use: tuple[Use, ...] = ()


class _Scheduler(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def queue(self) -> SchedulingQueue: ...

    @property
    def cache(self) -> Cache: ...


@dataclass(slots=True)
class Scrapes(State):
    """The scrapes by scheduler, oldest first, `every` ns; the next one is `due`. A restarted scheduler continues its curve."""

    every: int = FIRST_EVERY
    due: int = 0
    taken: Copied[dict[str, list[Scrape]]] = field(default_factory=dict)

    def take(self, t: int, position: int, schedulers: tuple[_Scheduler, ...]) -> None:
        """Time is about to move on from `t`."""
        for scheduler in schedulers:
            mine = self.taken.setdefault(scheduler.name, [])
            mine.append(scrape(t, position, scheduler))
            if len(mine) > MOST:
                self._thin()
        self.due = t + self.every

    def _thin(self) -> None:
        self.every *= 2
        for name, mine in self.taken.items():
            self.taken[name] = mine[::2]


def scrape(t: int, position: int, scheduler: _Scheduler) -> Scrape:
    """The figures as they are now."""
    queue = scheduler.queue
    waiting = queue.metrics.waiting
    results = {"scheduled": 0, "unschedulable": 0, "error": 0}
    for (_, result), count in queue.metrics.attempts.items():
        results[result] += count
    return Scrape(
        t,
        position,
        len(queue.active_pods),
        len(queue.backoff_pods) + len(queue.error_backoff_pods),
        waiting["unschedulable"],
        waiting["gated"],
        results["scheduled"],
        results["unschedulable"],
        results["error"],
        read_use(scheduler.cache),
    )
