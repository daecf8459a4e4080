"""History: any position of a world, from checkpoints and replay.

Checkpoints stand at equal distances of *work* (seconds that the engine needed), not of positions: how long a replay takes is what
people wait for. When there are too many, every other one goes and the distance doubles. Where people look back, a few more are
kept near that place, so that the next step back is short.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Generator
from typing import Any, Protocol

from playground.sessions.turns import Slice

MARKS = 64
LOCAL_MARKS = 12
RECENT = 6
WORLDS = 6
FIRST_SPACING = 0.04
LOCAL_SPACING = 0.03


class World(Protocol):
    """What History needs of a Simulation."""

    @property
    def position(self) -> int: ...

    def fork(self) -> World: ...


class History:
    """The main line's checkpoints, and the few worlds that somebody looks at.

    `replay(world)` makes one transition of the log: the command at the world's position, or else one engine step.
    """

    def __init__(self, origin: Any, replay: Callable[[Any], None], slice_: Slice) -> None:
        self._replay = replay
        self._slice = slice_
        self._marks: list[tuple[int, Any]] = [(origin.position, origin.fork())]
        self._spacing = FIRST_SPACING
        self._since = 0.0
        self._near: OrderedDict[int, Any] = OrderedDict()
        self._worlds: OrderedDict[int, Any] = OrderedDict()

    def worked(self, world: Any, seconds: float) -> None:
        """The main line stands at `world` after `seconds` more of work."""
        self._since += seconds
        if self._since >= self._spacing and world.position > self._marks[-1][0]:
            self._marks.append((world.position, world.fork()))
            self._since = 0.0
            if len(self._marks) > MARKS:
                self._thin()

    def _thin(self) -> None:
        old = self._marks[:-RECENT]
        self._marks = old[::2] + self._marks[-RECENT:]
        self._spacing *= 2

    def keep(self, world: Any) -> None:
        """Remember a copy of a world, because somebody is about to look at it."""
        if world.position not in self._worlds:
            self._put(world.fork())

    def _put(self, world: Any) -> None:
        self._worlds[world.position] = world
        self._worlds.move_to_end(world.position)
        while len(self._worlds) > WORLDS:
            self._worlds.popitem(last=False)

    def cut(self, position: int) -> None:
        """Forget everything after a position."""
        self._marks = [self._marks[0]] + [mark for mark in self._marks[1:] if mark[0] <= position]
        for worlds in (self._near, self._worlds):
            for one in [key for key in worlds if key > position]:
                del worlds[one]

    def twin(self, position: int, replay: Callable[[Any], None], origin: Any) -> History:
        """The same past up to a position, for a fork of the session."""
        other = History(origin, replay, self._slice)
        other._marks = [mark for mark in self._marks if mark[0] <= position]
        other._spacing = self._spacing
        return other

    def nearest(self, position: int) -> Any:
        """A copy of the latest known world at or before a position."""
        best = self._marks[bisect_right(self._marks, position, key=lambda mark: mark[0]) - 1]
        for worlds in (self._near, self._worlds):
            for at, world in worlds.items():
                if best[0] < at <= position:
                    best = (at, world)
        return best[1].fork()

    def at(self, position: int) -> Generator[None, None, Any]:
        """The world at a position; to be looked at, not to be changed."""
        if position in self._worlds:
            self._worlds.move_to_end(position)
            return self._worlds[position]
        world = self.nearest(position)
        since = time.perf_counter()
        while world.position < position:
            self._replay(world)
            if time.perf_counter() - since > LOCAL_SPACING and world.position < position:
                self._near[world.position] = world.fork()
                while len(self._near) > LOCAL_MARKS:
                    self._near.popitem(last=False)
                since = time.perf_counter()
            if self._slice.over():
                waited = time.perf_counter()
                yield
                since += time.perf_counter() - waited
        self._put(world)
        return world
