"""The timeline: the scheduler's attempts in a row, and below it one lane per pod over the same steps or the same virtual time.

Each segment is a place of the pod, so a wait on Permit or a binding is visible beside the attempts that overlap with it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NotRequired, TypedDict

from playground.presenters.look import ROWS, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import short, subject
from playground.presenters.words import clock, duration
from scheduler_core.world.readonly import Move, Place, WorldView

# The places of a pod, with the class names of their colors.

KIND = {
    Place.GATED: "gated",
    Place.ACTIVE: "queue",
    Place.BACKOFF: "backoff",
    Place.UNSCHEDULABLE: "unschedulable",
    Place.IN_FLIGHT: "cycle",
    Place.WAITING: "permit",
    Place.BINDING: "binding",
    Place.BOUND: "bound",
    Place.RUNNING: "running",
    Place.IGNORED: "ignored",
}


def kind(place: str) -> str:
    """Return the class name of a place, or "" for places outside the cluster, such as deleted."""
    return KIND.get(place, "")


# The window of the timeline: the range of steps or of virtual time that the lanes show, and positions in it.
#
# A window that follows moves in blocks, so that the bars don't creep with every step.

STEPS, TIME = "steps", "time"
SPAN = 320
BLOCKS = 4  # a window that follows moves by a fourth of its width
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
        """Return the value on the axis of a position and time."""
        return position if self.axis == STEPS else t // MICRO

    def x(self, value: int) -> float:
        """Return a value's x position in percent of the width."""
        return round(100 * (value - self.first) / self.span, 2)

    def step(self, least: int) -> int:
        """Return a round distance of at least `least`; above 30 s, a multiple of minutes."""
        if self.axis == STEPS or least <= 30_000_000:
            return round_up(least)
        return next((step for step in _LONG if step >= least), round_up(least))

    def word(self, value: int, step: int) -> str:
        """Format a value that is a multiple of `step`."""
        if self.axis == STEPS:
            return f"{value:,}"
        if step >= 1_000_000:
            return clock(value * MICRO)[3:8] if value < 3_600_000_000 else clock(value * MICRO)[:8]
        return f"{value / 1_000_000:.3f}".rstrip("0") + " s" if step < 1_000 else f"{value / 1_000_000:.3f} s"


@lru_cache(maxsize=256)
def ticks(view: Window) -> list[Tick]:
    """Return a few round values with their texts. They don't depend on `now`."""
    step = view.step(max(view.span // TICKS, 1))
    start = -(-view.first // step) * step
    values = range(start, view.last + 1, step)
    # Texts at the edges stay inside of the picture.
    return [
        {"x": x, "text": view.word(value, step), "anchor": "start" if x < 2 else "end" if x > 98 else "middle"}
        for value in values
        for x in (view.x(value),)
    ]


def window(sim: WorldView, look: Look) -> Window:
    """Return the window of the look. `span` 0 selects a suitable span; `start` None follows the viewer."""
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


class Tick(TypedDict):
    x: float
    text: str
    anchor: str


def round_up(value: int, factors: tuple[int, ...] = (10, 20, 50)) -> int:
    """Return the next of 1, 2, 5, 10, 20 ... (`factors` are tenths), at least 1."""
    unit = 1
    while True:
        for factor in factors:
            if factor * unit >= 10 * value:
                return max(factor * unit // 10, 1)
        unit *= 10


SEGMENTS = 80
SEARCHED = 600
ATTEMPTS = 120
MOST_FILTERED = 200  # matches of the filter that are examined
THIN = 0.12  # percent of the width; a crowded lane shows only wider segments
CROWDED = 40


class GridCard(TypedDict):
    id: str
    kind: Literal["grid"]
    ticks: list[Tick]


class CursorCard(TypedDict):
    id: str
    kind: Literal["cursor"]
    now: float


class TimelineContext(TypedDict):
    axis: str
    first: int
    last: int
    filter: str
    rows: int
    more: int
    empty: bool
    own: bool
    links: dict[str, ControlLink]


def present(sim: WorldView, look: Look) -> Panel[TimelineContext, TimelineCard]:
    """Return the lanes of the chosen pod, of the pods that moved last in the window, and then of the next pods in the queue.

    The last segment of a lane extends to the window's end, and the cursor's card covers the future. Thus a step changes only the lanes of
    pods that moved.
    """
    view = window(sim, look)
    pods, more = _pods(sim, look, view)
    still = replace(view, now=0)  # independent of the step, so that cached results can be reused
    cards: dict[str, TimelineCard] = {"lane-grid": {"id": "lane-grid", "kind": "grid", "ticks": ticks(still)}}
    cards["lane-axis"] = _axis(sim, view)
    chosen = subject(sim, look.pod)
    for pod in pods:
        cards[f"lane-{pod}"] = _lane(sim, pod, pod == chosen, still)
    cards["lane-cursor"] = {"id": "lane-cursor", "kind": "cursor", "now": view.x(view.now)}
    context: TimelineContext = {
        "axis": view.axis,
        "first": view.first,
        "last": view.last,
        "filter": look.lane,
        "rows": look.rows,
        "more": more,
        "empty": not pods,
        "own": look.start is not None or bool(look.span),
        "links": _links(look, still),
    }
    return Panel("timeline", context, cards)


# The controls


class LookChange(TypedDict, total=False):
    """Changes to a look."""

    start: int | None
    span: int
    rows: int
    axis: str


class ControlLink(LookChange):
    """`href`: a link that makes the changes."""

    href: str


@lru_cache(maxsize=256)
def _links(look: Look, view: Window) -> dict[str, ControlLink]:
    """Return the changes to the look of each control, with a link."""
    half, quarter = view.span // 2, max(view.span // 4, 1)
    follows = look.start is None
    changes: dict[str, LookChange] = {
        "closer": _at(view, half, follows),
        "wider": _at(view, view.span * 2, follows),
        "left": {"start": max(view.first - quarter, 0), "span": view.span},
        "right": {"start": view.first + quarter, "span": view.span},
        "all": {"start": None, "span": 0},
        "more": {"rows": ROWS[min(ROWS.index(look.rows) + 1, len(ROWS) - 1)]},
        "fewer": {"rows": ROWS[max(ROWS.index(look.rows) - 1, 0)]},
        "table": {},
        "axis": {"axis": TIME if view.axis == STEPS else STEPS, "start": None, "span": 0},
    }
    return {name: {**change, "href": look.href(**change)} for name, change in changes.items()}


def _at(view: Window, span: int, follows: bool) -> LookChange:
    """Zoom. A following window continues to follow; another one keeps its center."""
    span = max(SHORTEST[view.axis], min(span, LONGEST[view.axis]))
    if follows:
        return {"start": None, "span": span}
    return {"start": max((view.first + view.last - span) // 2, 0), "span": span}


# The pods with a lane


def _pods(sim: WorldView, look: Look, view: Window) -> tuple[list[str], int]:
    """Return at most `rows` pods, in the order of their attempts, and the number of further matches of the filter."""
    if look.lane:
        every = [pod for pod in sim.journal.last_move if look.lane in pod][:MOST_FILTERED]
        here = [pod for pod in every if _began(sim, pod, view)]
        return _in_turn(sim, here[: look.rows]), max(len(here) - look.rows, 0)
    moves = sim.journal.moves
    chosen = subject(sim, look.pod)
    pods = dict.fromkeys([chosen] if chosen else [])
    for scheduler in sim.schedulers:
        pods.update((b.pod.key, None) for b in scheduler.bindings.values() if b.waiting and len(pods) < 3)
    low = bisect_left(moves, view.first, key=lambda move: view.of(move.position, move.t))
    high = bisect_right(moves, view.last, key=lambda move: view.of(move.position, move.t))
    for i in range(high - 1, max(low, high - SEARCHED) - 1, -1):
        if len(pods) >= look.rows:
            break
        if moves[i].place not in (Place.RUNNING, Place.ACTIVE):
            pods.setdefault(moves[i].pod)
    for scheduler in sim.schedulers:  # the next pods of the queue
        for entry in scheduler.queue.active(look.rows):
            if len(pods) < look.rows:
                pods.setdefault(entry.key)
    return _in_turn(sim, list(pods)), 0


def _began(sim: WorldView, pod: str, view: Window) -> bool:
    first = sim.journal.lane(pod)[0]
    return view.of(first.position, first.t) <= view.last


def _in_turn(sim: WorldView, pods: list[str]) -> list[str]:
    """Sort pods by the position at which each first left the active queue; waiting ones come last, in the queue's order."""
    waiting = 1 << 62

    def turn(pod: str) -> int:
        return next((m.position for m in sim.journal.lane(pod) if m.place != Place.ACTIVE), waiting)

    return sorted(pods, key=turn)


# Lanes


class LaneCard(TypedDict):
    id: str
    kind: Literal["lane"]
    pod: str
    name: str
    chosen: bool
    segments: list[LaneSegment]


def _lane(sim: WorldView, pod: str, chosen: bool, view: Window) -> LaneCard:
    segments = _segments(tuple(sim.journal.lane(pod)), view)
    return {"id": f"lane-{pod}", "kind": "lane", "pod": pod, "name": short(pod), "chosen": chosen, "segments": segments}


@lru_cache(maxsize=256)
def _segments(moves: tuple[Move, ...], view: Window) -> list[LaneSegment]:
    segments: list[LaneSegment] = []
    for i, move in enumerate(moves):
        following = moves[i + 1] if i + 1 < len(moves) else None
        begins = view.of(move.position, move.t)
        ends = view.last if following is None else view.of(following.position, following.t)
        if ends < view.first or begins > view.last or move.place not in KIND:
            continue
        segments.append(_segment(move, following, max(begins, view.first), min(ends, view.last), view))
    if len(segments) > CROWDED:
        segments = [segment for segment in segments if segment["width"] > THIN] or segments
    return segments[-SEGMENTS:]


class LaneSegment(TypedDict):
    kind: str
    x: float
    width: float
    at: int
    t: str
    place: str
    cause: str
    time: NotRequired[str]


def _segment(move: Move, following: Move | None, begins: int, ends: int, view: Window) -> LaneSegment:
    kind = KIND[move.place]
    back = following is not None and following.place in (Place.UNSCHEDULABLE, Place.BACKOFF, Place.GATED)
    left = view.x(begins)
    segment: LaneSegment = {
        "kind": {"cycle": "failed", "binding": "undone", "permit": "permit undone"}.get(kind, kind) if back else kind,
        "x": left,
        "width": max(round(view.x(ends) - left, 2), 0.3),
        "at": move.position,
        "t": clock(move.t),
        "place": move.place,
        "cause": " · ".join(text for text in move.why if text) or move.cause,
    }
    if following is not None:
        segment["time"] = duration(following.t - move.t)
    return segment


class AttemptMark(TypedDict):
    x: float
    width: float
    number: int
    pod: str
    outcome: str
    at: int
    said: bool
    middle: float


class AxisCard(TypedDict):
    id: str
    kind: Literal["axis"]
    attempts: list[AttemptMark]


TimelineCard = LaneCard | GridCard | AxisCard | CursorCard


def _axis(sim: WorldView, view: Window) -> AxisCard:
    """Return the attempts of the scheduling loops, one after the other; only the newest ones of the window."""
    attempts = sim.journal.attempts
    high = bisect_right(attempts, view.last, key=lambda a: view.of(a.first_position, a.started))
    shown: list[AttemptMark] = []
    for i in range(high - 1, max(-1, high - 1 - ATTEMPTS), -1):
        attempt = attempts[i]
        ends = view.of(attempt.last_position, attempt.ended)
        if ends < view.first:
            break
        left = view.x(max(view.of(attempt.first_position, attempt.started), view.first))
        width = max(round(view.x(min(ends, view.last)) - left, 2), 0.3)
        shown.append(
            {
                "x": left,
                "width": width,
                "number": attempt.number,
                "pod": short(attempt.pod),
                "outcome": attempt.outcome,
                "at": attempt.first_position,
                "said": width > 2.4,
                "middle": round(left + width / 2, 2),
            }
        )
    return {"id": "lane-axis", "kind": "axis", "attempts": shown[::-1]}
