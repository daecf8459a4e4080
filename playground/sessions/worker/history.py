"""History: any position of a world, from checkpoints and replay.

Checkpoints stand at equal distances of *work* (seconds of the processor's time that the engine needed), not of positions: how long a
replay takes is what people wait for; and not of the clock's, which goes by what else the machine does. When there are too many, every
other one goes and the distance doubles; how many there may be depends on how large the world is. Where people look back, a few more are
kept near that place, so that the next step back is short.

The same checkpoints as bytes (stored.py) outlive the process.
"""

from __future__ import annotations

import sys
import time
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, Protocol

from playground.sessions.worker.checkpoint_store import CheckpointStore, Kept
from playground.sessions.worker.time_sharing import TimeSlice

MARKS = 64
FEWEST_MARKS = 12
OBJECTS = (
    1_200_000  # in all marks together: a copy of a world takes about half a kilobyte for each of its objects
)
LOCAL_MARKS = 12
RECENT = 6
WORLDS = 6
FIRST_SPACING = 0.04
ROUGHLY = 1.25  # slices don't end exactly where a checkpoint is due
LOCAL_SPACING = 0.03
FAST_FORK = 0.0015


class World(Protocol):
    """What History needs of a Simulation."""

    @property
    def position(self) -> int: ...

    def fork(self) -> World: ...


class DroppedWorlds:
    """How many worlds were dropped since the last clearing up. A world refers to itself: only the collector gets its memory back."""

    dropped = 0


class Mark(NamedTuple):
    """A checkpoint; `work` is the time that the engine needed from the start to here."""

    position: int
    work: float
    world: Any


class History:
    """The main line's checkpoints, and the few worlds that somebody looks at.

    `replay(world)` makes one transition of the log: the command at the world's position, or else one engine step. `count(world)` says
    how many objects a world holds.
    """

    def __init__(
        self,
        origin: Any,
        replay: Callable[[Any], None],
        slice_: TimeSlice,
        count: Callable[[Any], int] = lambda world: 0,
    ) -> None:
        self._replay = replay
        self._count = count
        self._slice = slice_
        self._marks = [Mark(origin.position, 0.0, origin.fork())]
        self._spacing = FIRST_SPACING
        self._work = 0.0
        self._near: OrderedDict[int, Any] = OrderedDict()
        self._worlds: OrderedDict[int, Any] = OrderedDict()
        self.forks_fast = True
        self.stored = CheckpointStore()

    def worked(self, world: Any, seconds: float) -> None:
        """The main line stands at `world` after `seconds` more of work."""
        self._work += seconds
        last = self._marks[-1]
        if self._work - last.work >= self._spacing and world.position > last.position:
            self._marks.append(Mark(world.position, self._work, self._fork(world)))
            if len(self._marks) > self._most(world):
                self._thin()

    def _most(self, world: Any) -> int:
        """How many checkpoints of a world of this size there is room for."""
        return min(MARKS, max(FEWEST_MARKS, OBJECTS // (self._count(world) + 1)))

    def _thin(self) -> None:
        """Double the distance; where one transition alone took longer, both its ends stay."""
        self._spacing *= 2
        old, recent = self._marks[:-RECENT], self._marks[-RECENT:]
        kept = [old[0]]
        for mark, following in zip(old[1:], [*old[2:], recent[0]], strict=True):
            if following.work - kept[-1].work > ROUGHLY * self._spacing:
                kept.append(mark)
        DroppedWorlds.dropped += len(self._marks) - len(kept) - len(recent)
        self._marks = kept + recent

    def _fork(self, world: Any) -> Any:
        started = time.thread_time()
        twin = world.fork()
        self.forks_fast = time.thread_time() - started < FAST_FORK
        return twin

    def keep(self, world: Any) -> None:
        """Remember a copy of a world, because somebody is about to look at it."""
        if world.position not in self._worlds:
            self._put(self._fork(world))

    def _put(self, world: Any) -> None:
        self._worlds[world.position] = world
        self._worlds.move_to_end(world.position)
        while len(self._worlds) > WORLDS:
            self._worlds.popitem(last=False)
            DroppedWorlds.dropped += 1

    def cut(self, position: int) -> None:
        """Forget everything after a position."""
        self._marks = [self._marks[0]] + [mark for mark in self._marks[1:] if mark.position <= position]
        self._work = self._marks[-1].work
        for worlds in (self._near, self._worlds):
            for one in [key for key in worlds if key > position]:
                del worlds[one]
        self.stored.cut(position)

    def twin(self, position: int, replay: Callable[[Any], None], origin: Any) -> History:
        """The same past up to a position, for a fork of the session."""
        other = History(origin, replay, self._slice, self._count)
        other._marks = [mark for mark in self._marks if mark.position <= position]
        other._spacing, other._work = self._spacing, other._marks[-1].work
        return other

    # What outlives the process.

    @property
    def work(self) -> float:
        """Seconds that the engine needed from the start to the head."""
        return self._work

    def restore(self) -> Any | None:
        """The world of the last stored checkpoint, from which the main line goes on; None where there is none, or it can't be read."""
        kept = self.stored.before(sys.maxsize)
        world = None if kept is None else self.stored.read(kept)
        if kept is None or world is None:
            return None
        self._work = kept.work
        while kept.work / self._spacing > MARKS // 2:
            self._spacing *= 2
        return world

    def marks(self, upto: int, head: Any) -> list[Mark]:
        """What may be stored: the checkpoints up to a position, and the head where it is there."""
        marks = [mark for mark in self._marks if mark.position <= upto]
        if head.position == upto and marks[-1].position < upto:
            marks.append(Mark(upto, self._work, head.fork()))
        return marks

    @property
    def uncovered(self) -> float:
        """Seconds of work since the last stored checkpoint."""
        kept = self.stored.before(sys.maxsize)
        return self._work - (kept.work if kept is not None else 0.0)

    # Where to begin a replay.

    def positions(self) -> list[int]:
        """Where worlds are at hand, in order: a replay to any position begins at the last of them before it."""
        places = {mark.position for mark in self._marks} | {*self._near, *self._worlds}
        return sorted(places | set(self.stored.positions))

    def nearest(self, position: int) -> Any:
        """A copy of the latest known world at or before a position."""
        at, world = self._live(position)
        kept = self.stored.before(position)
        if kept is not None and kept.position > at and self._is_worth_reading(kept, at):
            read = self.stored.read(kept)
            if read is not None:
                self._put_back(Mark(kept.position, kept.work, read))
                return read.fork()
        return world.fork()

    def _put_back(self, mark: Mark) -> None:
        """Have a checkpoint in memory again, where there is room for it."""
        if len(self._marks) < self._most(mark.world):
            insort(self._marks, mark, key=lambda one: one.position)
        else:
            self._remember(mark.world)

    def _live(self, position: int) -> tuple[int, Any]:
        mark = self._marks[bisect_right(self._marks, position, key=lambda mark: mark.position) - 1]
        best = (mark.position, mark.world)
        for worlds in (self._near, self._worlds):
            for at, world in worlds.items():
                if best[0] < at <= position:
                    best = (at, world)
        return best

    def _is_worth_reading(self, kept: Kept, at: int) -> bool:
        """Whether reading a stored world is quicker than the replay that it spares."""
        mark = self._marks[bisect_right(self._marks, at, key=lambda mark: mark.position) - 1]
        before = self.stored.before(at)
        known = max((mark.position, mark.work), (before.position, before.work) if before else (0, 0.0))
        share = (kept.position - at) / max(kept.position - known[0], 1)
        return (kept.work - known[1]) * share > self.stored.cost(kept)

    def _remember(self, world: Any) -> None:
        self._near[world.position] = world
        while len(self._near) > LOCAL_MARKS:
            self._near.popitem(last=False)
            DroppedWorlds.dropped += 1

    def at(self, position: int) -> Generator[None, None, Any]:
        """The world at a position; to be looked at, not to be changed."""
        if position in self._worlds:
            self._worlds.move_to_end(position)
            return self._worlds[position]
        world = self.nearest(position)
        since = time.thread_time()
        while world.position < position:
            self._replay(world)
            if time.thread_time() - since > LOCAL_SPACING and world.position < position:
                self._remember(world.fork())
                since = time.thread_time()
            if self._slice.over():
                waited = time.thread_time()
                yield
                since += time.thread_time() - waited
        self._put(world)
        return world
