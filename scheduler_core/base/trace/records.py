"""Records: what happened, in the past tense. They are the engine's only output.

A record is frozen; what it says is a class of its kind (kinds.py). `parent` is the record that opened the span it belongs to, so that a
trace is a tree: attempt > extension point > plugin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from scheduler_core.base.state import Derived, SharedState, State
from scheduler_core.base.trace.kinds import Facts

F = TypeVar("F", bound=Facts)


class LazyFacts(SharedState):
    """A function that makes facts on first use. No checkpoint has one: writing a record uses it."""

    __slots__ = ()

    KIND: ClassVar[str]

    def __call__(self) -> Facts:
        raise NotImplementedError


class Record(SharedState):
    """One thing that happened. `t` is virtual nanoseconds; `source` is the facts, or what makes them as long as nobody has looked."""

    __slots__ = ("_data", "parent", "scheduler", "seq", "source", "t")

    seq: int
    t: int
    scheduler: str
    parent: int
    source: Facts | LazyFacts
    _data: Derived[Mapping[str, Any] | None]

    def __init__(self, seq: int, t: int, source: Facts | LazyFacts, scheduler: str, parent: int) -> None:
        self.seq = seq
        self.t = t
        self.scheduler = scheduler
        self.parent = parent
        self.source = source
        self._data = None

    def decoded(self) -> None:
        self._data = None

    @property
    def kind(self) -> str:
        return self.source.KIND

    @property
    def facts(self) -> Facts:
        if not isinstance(self.source, Facts):
            self.source = self.source()
        return self.source

    def of(self, kind: type[F]) -> F | None:
        """The facts of a record of this kind; None for any other, which is left as it is."""
        if self.source.KIND != kind.KIND:
            return None
        facts = self.facts
        assert isinstance(facts, kind)
        return facts

    @property
    def data(self) -> Mapping[str, Any]:
        """The facts as JSON."""
        if self._data is None:
            self._data = self.facts.to_json()
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
    """The engine's writer of records: numbers them and holds those of the call in progress."""

    __slots__ = ("records", "seq")

    seq: int
    records: Derived[list[Record]]

    def __init__(self) -> None:
        self.seq = 0
        self.records = []

    def write(self, t: int, facts: Facts | LazyFacts, scheduler: str, parent: int) -> int:
        """Adds a record; returns its number, to be used as the parent of what belongs to it."""
        self.seq += 1
        self.records.append(Record(self.seq, t, facts, scheduler, parent))
        return self.seq

    def drain(self) -> list[Record]:
        """The records since the last call of this."""
        out, self.records = self.records, []
        return out

    def take_back(self) -> None:
        """Unwrites the records since the last drain, numbers included."""
        self.seq -= len(self.records)
        self.records = []
