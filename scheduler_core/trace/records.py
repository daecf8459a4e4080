"""Records: what happened, in the past tense. They are the engine's only output.

A record is frozen; its data is plain JSON, made when somebody looks. `span` is the record that opened the
span it belongs to, so that a trace is
a tree: attempt > extension point > plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.state import Derived, SharedState, State

KINDS: dict[str, str] = {
    "command": "a command was applied",
    "object": "an object was added, modified or deleted in the API server",
    "event": "a Kubernetes Event was recorded",
    "queue_moved": "a pod moved within the scheduling queue, into it or out of it",
    "attempt_started": "a pod was popped and its scheduling cycle began",
    "point_started": "the first plugin of an extension point began",
    "plugin_ran": "a plugin answered at an extension point",
    "node_selected": "a node was drawn among the best ones",
    "attempt_ended": "a scheduling cycle ended",
    "pod_assumed": "the cache counts the pod on its node before the API server knows",
    "pod_forgotten": "the cache took an assumed pod back",
    "pod_waits": "a Permit plugin made the pod wait",
    "wait_ended": "the wait on Permit ended",
    "binding_started": "the binding cycle began",
    "binding_ended": "the binding cycle ended",
    "preemption_started": "victims began to be evicted",
    "api_call": "the scheduler asked the API server to write something",
    "scheduler_started": "a scheduler began with a configuration",
    "timer_fired": "a timer of the queue fired",
    "watch_event": "a scheduler whose informers lag heard of a change in the API server",
    "api_throttled": "the scheduler's API client held a call back, to stay within its limits",
}

Data = Mapping[str, Any]


class Record(SharedState):
    """One thing that happened. `t` is virtual nanoseconds; `data` may be given as a function that makes it."""

    __slots__ = ("_data", "kind", "parent", "scheduler", "seq", "t")

    seq: int
    t: int
    kind: str
    scheduler: str
    parent: int
    _data: Data | Callable[[], Data]

    def __init__(
        self, seq: int, t: int, kind: str, scheduler: str, parent: int, data: Data | Callable[[], Data]
    ) -> None:
        self.seq = seq
        self.t = t
        self.kind = kind
        self.scheduler = scheduler
        self.parent = parent
        self._data = data

    @property
    def data(self) -> Data:
        if callable(self._data):
            self._data = self._data()
        return self._data

    @property
    def source(self) -> Data | Callable[[], Data]:
        """What the data is made of: itself where somebody has looked already, else what makes it."""
        return self._data

    def to_json(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "t": self.t,
            "kind": self.kind,
            "scheduler": self.scheduler,
            "parent": self.parent,
            "data": dict(self.data),
        }

    def __repr__(self) -> str:
        return f"Record({self.to_json()})"


class Recorder(State):
    """Where the engine writes: numbers records and keeps those of the call in progress."""

    __slots__ = ("records", "seq")

    seq: int
    records: Derived[list[Record]]

    def __init__(self) -> None:
        self.seq = 0
        self.records = []

    def write(self, t: int, kind: str, scheduler: str, parent: int, data: Data | Callable[[], Data]) -> int:
        """Adds a record; returns its number, to be used as the parent of what belongs to it."""
        self.seq += 1
        self.records.append(Record(self.seq, t, kind, scheduler, parent, data))
        return self.seq

    def drain(self) -> list[Record]:
        """The records since the last call of this."""
        out, self.records = self.records, []
        return out

    def take_back(self) -> None:
        """Unwrites the records since the last drain, numbers included."""
        self.seq -= len(self.records)
        self.records = []
