"""The window of the timeline: which stretch of steps or of virtual time the lanes show, and where in it something stands.

A window that follows moves on in blocks, so that the bars don't creep with every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.look import Look
from scheduler_core.world.readonly import WorldView

STEPS, TIME = "steps", "time"
SPAN = 320
BLOCKS = 4  # a window that follows moves on by a fourth of itself
SHORTEST = {STEPS: 16, TIME: 1_000}  # steps, microseconds
LONGEST = {STEPS: 5_000_000, TIME: 30 * 86_400_000_000}
MICRO = 1_000
TICKS = 9
FINE = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
_LONG = tuple(minutes * 60_000_000 for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440))


@dataclass(frozen=True, slots=True)
class Window:
    """The range from `first` to `last`, in steps or in microseconds of virtual time; `now` is the viewer's position."""

    axis: str
    first: int
    last: int
    now: int

    @property
    def span(self) -> int:
        return self.last - self.first

    def of(self, position: int, t: int) -> int:
        """The axis' value of a moment."""
        return position if self.axis == STEPS else t // MICRO

    def x(self, value: int) -> float:
        """Return a value's x position in percent of the width."""
        return round(100 * (value - self.first) / self.span, 2)

    def step(self, least: int) -> int:
        """A round distance: of times from a minute on one that people count in."""
        if self.axis == STEPS or least <= 30_000_000:
            return round_up(least)
        return next((step for step in _LONG if step >= least), round_up(least))

    def word(self, value: int, step: int) -> str:
        """A value that is a multiple of `step`, as people read it."""
        if self.axis == STEPS:
            return f"{value:,}"
        if step >= 1_000_000:
            return clock(value * MICRO)[3:8] if value < 3_600_000_000 else clock(value * MICRO)[:8]
        return f"{value / 1_000_000:.3f}".rstrip("0") + " s" if step < 1_000 else f"{value / 1_000_000:.3f} s"


@lru_cache(maxsize=256)
def ticks(view: Window) -> list[dict[str, Any]]:
    """A few round values with their words, whenever `now` is."""
    step = view.step(max(view.span // TICKS, 1))
    start = -(-view.first // step) * step
    values = range(start, view.last + 1, step)
    return [_tick(view.x(value), view.word(value, step)) for value in values]


def window(sim: WorldView, look: Look) -> Window:
    """Return the window for the look: `span` 0 means as much as fits well, `start` None follows the viewer."""
    axis = look.axis
    now = sim.position if axis == STEPS else sim.now // MICRO
    span = look.span
    if not span:
        if axis == TIME:
            return Window(axis, 0, round_up(max(now + now // 50, SHORTEST[TIME]), FINE), now)
        span = SPAN
    span = max(SHORTEST[axis], min(span, LONGEST[axis]))
    if look.start is not None:
        return Window(axis, look.start, look.start + span, now)
    block = max(span // BLOCKS, 1)
    last = max(block, SHORTEST[axis], -(-now // block) * block)
    return Window(axis, max(0, last - span), last, now)


def _tick(x: float, text: str) -> dict[str, Any]:
    """Words at the edges keep within the picture."""
    return {"x": x, "text": text, "anchor": "start" if x < 2 else "end" if x > 98 else "middle"}


def round_up(value: int, factors: tuple[int, ...] = (10, 20, 50)) -> int:
    """The next of 1, 2, 5, 10, 20 ... (`factors` are tenths), at least 1."""
    unit = 1
    while True:
        for factor in factors:
            if factor * unit >= 10 * value:
                return max(factor * unit // 10, 1)
        unit *= 10
