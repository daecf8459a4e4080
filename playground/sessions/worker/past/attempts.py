"""Attempts: the few worlds of attempts that are over and that somebody looks at, each as it was when the attempt ended."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from playground.presenters import Look, past_of
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import Simulation

KEPT = 2


class Attempts:
    """`at` replays to a position. What is kept is only looked at."""

    def __init__(self, at: Callable[[int], Steps[Simulation]]) -> None:
        self._at = at
        self._worlds: OrderedDict[int, Simulation] = OrderedDict()

    def world(self, world: Simulation, look: Look) -> Steps[Simulation | None]:
        """The world of the attempt that a look asks for; None where that is the world itself."""
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
        """The same where it is at hand."""
        position = past_of(world, look)
        return None if position is None else self._worlds.get(position)

    def is_missing(self, world: Simulation, look: Look) -> bool:
        """Return whether the attempt has to be replayed first."""
        position = past_of(world, look)
        return position is not None and position not in self._worlds

    def cut(self, position: int) -> None:
        """Forget what comes after a position."""
        for one in [key for key in self._worlds if key > position]:
            del self._worlds[one]
