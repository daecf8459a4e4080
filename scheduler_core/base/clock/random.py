"""Seeded random streams of our own, so that a draw is the same on every machine and in every version of Python."""

from __future__ import annotations

from scheduler_core.base.state import State

_MASK = (1 << 64) - 1


class Stream(State):
    """SplitMix64 (Steele, Lea and Flood, 2014): 64 bits a draw, one integer of state."""

    __slots__ = ("state",)

    state: int

    def __init__(self, seed: int) -> None:
        self.state = seed & _MASK

    def next(self) -> int:
        """The next 64 bits as an unsigned integer."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A draw from 0..n-1, each equally likely; ValueError if n < 1."""
        if n < 1:
            raise ValueError(f"below() takes a positive bound, received {n}")
        limit = (_MASK + 1) - (_MASK + 1) % n
        while True:
            draw = self.next()
            if draw < limit:
                return draw % n
