"""Circles: a run gets somewhere as long as pods come to places where they have not been since it began.

When none has for very many moves, what is left chases itself: two pods, say, that are refused late and wake each other by it. A run that
gets somewhere pays for nothing but a look at its pods' moves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from scheduler_core.base.trace.journal import Place

MOVES = 2_000  # without anything new, and for each pod of the cluster so many more
MOVES_PER_POD = 40
_BITS = {
    value: 1 << i
    for i, value in enumerate(
        value for name, value in vars(Place).items() if not name.startswith("_") and isinstance(value, str)
    )
}


class Circles(NamedTuple):
    """The number of steps, and the virtual time, since something new last happened."""

    steps: int
    since: int


class Watchdog:
    """Looks at a run from slice to slice. `position` is where it looked last."""

    def __init__(self, world: Any) -> None:
        self.position: int = world.position
        self._read = len(world.journal.moves)
        self._been: dict[str, int] = {}
        self._nodes: dict[tuple[str, str], None] = {}
        self._barren = 0  # moves since the last one that led somewhere new
        self._since = world.position
        self._since_t = world.now

    def circles(self, world: Any) -> Circles | None:
        """Since when nothing new has happened, where that is for too long."""
        moves = world.journal.moves
        for i in range(self._read, len(moves)):
            if self._new(moves[i]):
                self._barren, self._since, self._since_t = 0, moves[i].position, moves[i].t
            else:
                self._barren += 1
        self._read, self.position = len(moves), world.position
        if self._barren <= MOVES + MOVES_PER_POD * world.store.count("Pod"):
            return None
        return Circles(world.position - self._since, self._since_t)

    def _new(self, move: Any) -> bool:
        bit = _BITS.get(move.place, 0)
        been = self._been.get(move.pod, 0)
        if move.place == Place.BOUND and (move.pod, move.cause) not in self._nodes:
            self._nodes[move.pod, move.cause] = None
            been &= ~bit
        self._been[move.pod] = been | bit
        return not been & bit
