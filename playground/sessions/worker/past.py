"""The past: worlds at earlier positions and at the ends of attempts."""

import sys
import time
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from playground.presenters import Look, past_of
from playground.sessions.worker.checkpoint_store import Checkpoint, CheckpointStore, StoredCheckpoint
from playground.sessions.worker.time_sharing import Steps, TimeSlice
from playground.sessions.worker.world import Simulation

# Attempts: the few worlds of past attempts that viewers see, each at the end of its attempt.

KEPT = 2


class Attempts:
    """A cache of attempts' worlds. `at` replays to a position. The worlds are read-only."""

    def __init__(self, at: Callable[[int], Steps[Simulation]]) -> None:
        self._at = at
        self._worlds: OrderedDict[int, Simulation] = OrderedDict()

    def world(self, world: Simulation, look: Look) -> Steps[Simulation | None]:
        """Return the world of the attempt that a look requests; None if that is the present world."""
        position = past_of(world, look)
        if position is None:
            return None
        found = self._worlds.get(position)
        if found is None:
            found = yield from self._at(position)
            self._worlds[position] = found
        self._worlds.move_to_end(position)
        while len(self._worlds) > KEPT:
            self._worlds.popitem(last=False)
        return found

    def known(self, world: Simulation, look: Look) -> Simulation | None:
        """Return the cached world of the attempt that a look requests, or None."""
        position = past_of(world, look)
        return None if position is None else self._worlds.get(position)

    def is_missing(self, world: Simulation, look: Look) -> bool:
        """Return whether the attempt must be replayed first."""
        position = past_of(world, look)
        return position is not None and position not in self._worlds

    def cut(self, position: int) -> None:
        """Discard what comes after a position."""
        for one in [key for key in self._worlds if key > position]:
            del self._worlds[one]


# History: any position of a world, from checkpoints and replay.
#
# Checkpoints are at equal distances of *work* (seconds of the engine's CPU time), not of positions, because viewers wait for the time of a
# replay; and not of wall-clock time, which depends on the machine's load. If there are too many, every other one is dropped and the
# distance doubles; the maximum depends on the size of the world. A few more are kept near a position that a viewer has gone back to, so
# that the next step back is short.
#
# Checkpoints are also stored as bytes (checkpoint_store.py), which outlive the process.

MOST_CHECKPOINTS = 64
FEWEST_CHECKPOINTS = 12
OBJECTS = (
    1_200_000  # in all checkpoints together: a copy of a world needs about half a kilobyte for each of its objects
)
LOCAL_CHECKPOINTS = 12
RECENT = 6
WORLDS = 6
FIRST_SPACING = 0.04
ROUGHLY = 1.25  # slices do not end exactly where a checkpoint is due
FORKS_APART = 2  # a copy on the way to a position must follow a replay this many times as long as the copy takes
FAST_FORK = 0.0015


class DroppedWorlds:
    """The number of worlds dropped in this process while other code still had references to them.

    A world refers to itself: only the garbage collector frees their memory.
    """

    dropped = 0


def _let_go(worlds: list[Any]) -> None:
    """Empty the list, and free the worlds without other references."""
    while worlds:
        world = worlds.pop()
        world.disconnect()
        if sys.getrefcount(world) > 2:  # this variable, and the call that counts
            world.connect()
            DroppedWorlds.dropped += 1


class History:
    """The main line's checkpoints, and the few worlds that viewers see.

    `replay(world)` makes one transition of the log: the command at the world's position, or else one engine step. `count(world)` returns
    the number of objects in a world.
    """

    def __init__(
        self,
        origin: Any,
        replay: Callable[[Any], None],
        slice_: TimeSlice,
        count: Callable[[Any], int] = lambda world: 0,
    ) -> None:
        self.replay, self._count, self.slice = replay, count, slice_
        self._checkpoints = [Checkpoint(origin.position, 0.0, origin.fork())]
        self._spacing = FIRST_SPACING
        self.work = 0.0  # seconds that the engine needed from the start to the head
        self._near: OrderedDict[int, Any] = OrderedDict()
        self._worlds: OrderedDict[int, Any] = OrderedDict()
        self._forking = 0.0  # seconds that a copy takes, as a moving average
        self._replayed = 0.0  # seconds replayed since the last copy was kept
        self.store = CheckpointStore()

    def worked(self, world: Any, seconds: float) -> None:
        """Record `seconds` of work that led the main line to `world`, and add a checkpoint if one is due."""
        self.work += seconds
        last = self._checkpoints[-1]
        if self.work - last.work >= self._spacing and world.position > last.position:
            self._checkpoints.append(Checkpoint(world.position, self.work, self._fork(world)))
            if len(self._checkpoints) > self._most(world):
                self._thin()

    def _most(self, world: Any) -> int:
        """Return how many checkpoints of a world of this size fit in memory."""
        # Plus one: an empty world has no objects to divide by.
        return min(MOST_CHECKPOINTS, max(FEWEST_CHECKPOINTS, OBJECTS // (self._count(world) + 1)))

    def _thin(self) -> None:
        """Double the distance between checkpoints; keep both ends of a transition that alone took longer."""
        self._spacing *= 2
        old, recent = self._checkpoints[:-RECENT], self._checkpoints[-RECENT:]
        # The origin is never dropped: `_live` needs a checkpoint at or before each position.
        remaining, dropped = [old[0]], []
        for checkpoint, following in zip(old[1:], [*old[2:], recent[0]], strict=True):
            if following.work - remaining[-1].work > ROUGHLY * self._spacing:
                remaining.append(checkpoint)
            else:
                dropped.append(checkpoint.world)
        self._checkpoints = remaining + recent
        # Each of these names refers to a world, which `_let_go` would count as still in use.
        del old, checkpoint, following
        _let_go(dropped)

    def _fork(self, world: Any) -> Any:
        started = time.thread_time()
        twin = world.fork()
        # A moving average: worlds change in size, and the latest copies predict the next one best.
        self._forking = (self._forking + time.thread_time() - started) / 2
        return twin

    @property
    def forks_fast(self) -> bool:
        """True if a copy is cheap enough to make one for each step."""
        return self._forking < FAST_FORK

    def keep(self, world: Any) -> None:
        """Keep a copy of a world that a viewer is about to see."""
        if world.position not in self._worlds:
            self._put(self._fork(world))

    def is_near(self, position: int, apart: int) -> bool:
        """Return whether there is a copy of a position, or of one less than `apart` before it."""
        return any(position - apart < at <= position for at in self._worlds)

    def _put(self, world: Any) -> None:
        self._worlds[world.position] = world
        self._worlds.move_to_end(world.position)
        while len(self._worlds) > WORLDS:
            _let_go([self._worlds.popitem(last=False)[1]])

    def cut(self, position: int) -> None:
        """Discard what comes after a position."""
        # From index 1: the origin is never cut, as each replay may have to begin there.
        kept = bisect_right(self._checkpoints, position, lo=1, key=lambda checkpoint: checkpoint.position)
        dropped = [checkpoint.world for checkpoint in self._checkpoints[kept:]]
        del self._checkpoints[kept:]
        self.work = self._checkpoints[-1].work
        for worlds in (self._near, self._worlds):
            dropped += [worlds.pop(one) for one in list(worlds) if one > position]
        self.store.cut(position)
        _let_go(dropped)

    def twin(self, position: int, replay: Callable[[Any], None], origin: Any) -> "History":
        """Return the history of a fork: the same past up to a position."""
        other = History(origin, replay, self.slice, self._count)
        other._checkpoints = [checkpoint for checkpoint in self._checkpoints if checkpoint.position <= position]
        other._spacing, other.work = self._spacing, other._checkpoints[-1].work
        return other

    # Stored checkpoints, which outlive the process.

    def restore(self) -> Any | None:
        """Return the world of the last stored checkpoint, to continue from; None if there is none, or it cannot be read."""
        stored = self.store.before(sys.maxsize)
        world = None if stored is None else self.store.read(stored)
        if stored is None or world is None:
            return None
        self.work = stored.work
        # The distance is not stored: double it as thinning would have done over this much work.
        while stored.work / self._spacing > MOST_CHECKPOINTS // 2:
            self._spacing *= 2
        return world

    def checkpoints(self, upto: int, head: Any) -> list[Checkpoint]:
        """Return the checkpoints that may be stored: those up to a position, and the head if it is there."""
        checkpoints = [checkpoint for checkpoint in self._checkpoints if checkpoint.position <= upto]
        if head.position == upto and checkpoints[-1].position < upto:
            checkpoints.append(Checkpoint(upto, self.work, head.fork()))
        return checkpoints

    @property
    def uncovered(self) -> float:
        """The seconds of work since the last stored checkpoint."""
        stored = self.store.before(sys.maxsize)
        return self.work - (stored.work if stored is not None else 0.0)

    # Starts of replays.

    def positions(self) -> list[int]:
        """Return the positions of stored worlds, in order: a replay to a position begins at the last one before it."""
        places = {checkpoint.position for checkpoint in self._checkpoints} | {*self._near, *self._worlds}
        return sorted(places | set(self.store.positions))

    def nearest(self, position: int) -> Any:
        """Return a copy of the latest available world at or before a position."""
        at, world = self._live(position)
        stored = self.store.before(position)
        if stored is not None and stored.position > at and self._is_worth_reading(stored, at):
            read = self.store.read(stored)
            if read is not None:
                self._put_back(Checkpoint(stored.position, stored.work, read))
                return read.fork()
        return world.fork()

    def _put_back(self, checkpoint: Checkpoint) -> None:
        """Keep a checkpoint in memory again, if there is room for it."""
        if len(self._checkpoints) < self._most(checkpoint.world):
            insort(self._checkpoints, checkpoint, key=lambda one: one.position)
        else:
            self._remember(checkpoint.world, checkpoint.position)

    def _live(self, position: int) -> tuple[int, Any]:
        checkpoint = self._checkpoints[
            bisect_right(self._checkpoints, position, key=lambda checkpoint: checkpoint.position) - 1
        ]
        best = (checkpoint.position, checkpoint.world)
        for worlds in (self._near, self._worlds):
            for at, world in worlds.items():
                if best[0] < at <= position:
                    best = (at, world)
        return best

    def _is_worth_reading(self, stored: StoredCheckpoint, at: int) -> bool:
        """Return whether reading a stored world is faster than the replay that it saves."""
        checkpoint = self._checkpoints[
            bisect_right(self._checkpoints, at, key=lambda checkpoint: checkpoint.position) - 1
        ]
        before = self.store.before(at)
        known = max((checkpoint.position, checkpoint.work), (before.position, before.work) if before else (0, 0.0))
        # Only the work at known positions is measured; between them it is assumed to be proportional to the position.
        share = (stored.position - at) / max(stored.position - known[0], 1)
        return (stored.work - known[1]) * share > self.store.cost(stored)

    def _remember(self, world: Any, wanted: int) -> None:
        """Keep a copy near a wanted position. Drop copies after that position first, which a viewer going back no longer needs."""
        self._near[world.position] = world
        while len(self._near) > LOCAL_CHECKPOINTS:
            latest = max(self._near)
            last = latest if latest > wanted else next(iter(self._near))
            _let_go([self._near.pop(last)])

    def at(self, position: int) -> Steps[Any]:
        """Return the world at a position; read-only.

        The replay keeps copies at half of the remaining way, once enough was replayed to be worth the cost: so each position shortly
        before is a few steps from a copy.
        """
        if position in self._worlds:
            self._worlds.move_to_end(position)
            return self._worlds[position]
        world = self.nearest(position)
        halfway = (world.position + position) // 2
        while world.position < position:
            since = time.thread_time()
            self.replay(world)
            self._replayed += time.thread_time() - since
            if halfway <= world.position < position and self._replayed > FORKS_APART * self._forking:
                self._remember(self._fork(world), position)
                self._replayed, halfway = 0.0, (world.position + position + 1) // 2
            if self.slice.over():
                yield
        self._put(world)
        return world
