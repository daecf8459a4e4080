"""A preemption being carried out, as data."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.faults import DELETE, STATUS


@dataclass(frozen=True, slots=True)
class Eviction:
    """One preemption being carried out: the victim at `index` is next. `has_condition`: it has its condition. `held_up`: a cycle waits.
    `tries`: how often the call about it has been made again.

    One that goes on beside the cycles begins (`begun`) when the cycle that decided on it is over.
    """

    number: int
    preemptor: Pod
    node: str
    victims: tuple[Pod, ...]
    held_up: bool
    chosen: int = 0  # victims, with those that end already
    begun: bool = False
    index: int = 0
    has_condition: bool = False
    evicted: int = 0
    tries: int = 0

    @property
    def next_call(self) -> tuple[str, str]:
        return DELETE if self.has_condition else STATUS, self.victims[self.index].key
