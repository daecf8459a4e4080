"""A CycleState that notes who reads, writes and copies it: put in the place of a cycle's own when somebody wants to know.

It answers as the plain one does, so a cycle that is run with it goes the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from scheduler_core.scheduler.framework.cycle_state import CycleState

WROTE, READ, MISSED, CLONED = "wrote", "read", "missed", "cloned"


class Access(NamedTuple):
    """One access; `clone` 0 is the cycle's own state, others are copies in the order in which they were made."""

    what: str
    key: str
    clone: int


class AccessLog:
    """The accesses that a state and all its copies have recorded since the last `take`."""

    __slots__ = ("_clones", "_entries")

    def __init__(self) -> None:
        self._entries: list[Access] = []
        self._clones = 0

    def note(self, what: str, key: str, clone: int) -> None:
        self._entries.append(Access(what, key, clone))

    def clone(self) -> int:
        """The number of a new copy."""
        self._clones += 1
        self._entries.append(Access(CLONED, "", self._clones))
        return self._clones

    def take(self) -> list[Access]:
        out, self._entries = self._entries, []
        return out


class ObservedState(CycleState):
    """A CycleState whose accesses go to a log."""

    __slots__ = ("_clone", "_log")

    def __init__(self, log: AccessLog, clone: int = 0) -> None:
        super().__init__()
        self._log = log
        self._clone = clone

    @classmethod
    def over(cls, state: CycleState, log: AccessLog, clone: int = 0) -> ObservedState:
        """The same content, observed."""
        twin = cls(log, clone)
        twin.values = dict(state.values)
        twin.skip_filter, twin.skip_score = state.skip_filter, state.skip_score
        return twin

    def write(self, key: str, value: Any) -> None:
        self._log.note(WROTE, key, self._clone)
        super().write(key, value)

    def read(self, key: str) -> Any:
        self._log.note(READ, key, self._clone)
        return super().read(key)

    def get(self, key: str) -> Any | None:
        self._log.note(READ if key in self.values else MISSED, key, self._clone)
        return super().get(key)

    def copy(self) -> ObservedState:
        return ObservedState.over(self, self._log, self._log.clone())
