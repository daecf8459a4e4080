"""A pod's journey from the journal: its state with the reason, each move, each attempt, and its Kubernetes Events.

Callers that can replay an attempt add its details (`detail.worded`).
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from playground.presenters.devices.claims import PodClaim, claims_of
from playground.presenters.journey.entries import Entry, entries
from playground.presenters.journey.why import JourneyWhy, why
from playground.presenters.scene import find_pod, short
from playground.presenters.timeline import kind
from playground.presenters.words import SECOND, Message, clock, duration
from scheduler_core.apiserver.door import human_duration, print_pod
from scheduler_core.world.readonly import KubeEvent, Move, Place, Pod, WorldView

# The columns of `kubectl get pod -o wide`.
COLUMNS = ("NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES")


def _wide(sim: WorldView, pod: Pod | None, name: str) -> dict[str, str]:
    """Return a pod's cells by column; empty for a deleted pod."""
    cells = [name] + [""] * (len(COLUMNS) - 1) if pod is None else print_pod(pod.manifest, sim.store.epoch + sim.now)
    return dict(zip(COLUMNS, map(str, cells), strict=True))


# The Kubernetes Events of a pod as kubectl describe prints them: equal ones in one row, with their number and the age of the first.


class EventRow(TypedDict):
    type: str
    reason: str
    age: str
    source: str
    message: str


def _row(equal: list[KubeEvent], now: int) -> EventRow:
    first, last = equal[0], equal[-1]
    ages = human_duration((now - last.t) / SECOND)
    if len(equal) > 1:
        ages += f" (x{len(equal)} over {human_duration((now - first.t) / SECOND)})"
    return {"type": last.type, "reason": last.reason, "age": ages, "source": last.reporter, "message": last.message}


_PLACES = (Place.DELETED, Place.IGNORED)


class Story(TypedDict):
    key: str
    name: str
    namespace: str
    bare: str
    place: str
    colour: str
    why: JourneyWhy
    wide: dict[str, str]
    node: str
    attempts: int
    began: str
    now: str
    position: int
    total: str
    places: "list[PlaceShare]"
    entries: list[Entry]
    events: list[EventRow]
    claims: list[PodClaim]
    stranded: NotRequired[Message | None]
    page: NotRequired[int]
    pages: NotRequired[int]


def journey(sim: WorldView, key: str) -> Story | None:
    """Return the journey as plain data, or None for an unknown pod. Times are clocks of virtual time; `at` are positions."""
    moves = sim.journal.lane(key)
    if not moves:
        return None
    pod = find_pod(sim, key)
    node = pod.node_name if pod is not None else ""
    story = entries(sim, key, moves)
    namespace, _, name = key.partition("/")
    rows: dict[tuple[str, ...], list[KubeEvent]] = {}
    for event in sim.store.events:
        if event.name == name and event.namespace == namespace and event.kind == "Pod":
            rows.setdefault((event.type, event.reason, event.message, event.reporter), []).append(event)
    return {
        "key": key,
        "name": short(key),
        "namespace": key.partition("/")[0],
        "bare": key.partition("/")[2],
        "place": moves[-1].place,
        "colour": kind(moves[-1].place),
        "why": why(sim, key, moves[-1]),
        "wide": _wide(sim, pod, name),
        "node": node,
        "attempts": sum(entry["kind"] == "attempt" for entry in story),
        "began": clock(moves[0].t),
        "now": clock(sim.now),
        "position": sim.position,
        "total": duration((moves[-1].t if moves[-1].place == Place.DELETED else int(sim.now)) - moves[0].t),
        "places": _places(sim, moves),
        "entries": story,
        "events": ([_row(equal, sim.now) for equal in sorted(rows.values(), key=lambda equal: equal[-1].t)]),
        "claims": claims_of(sim, key),
    }


class PlaceShare(TypedDict):
    """A place with the time that the pod spent there, and its range on a bar, in percent."""

    place: str
    colour: str
    time: str
    x: float
    share: float


def _places(sim: WorldView, moves: Sequence[Move]) -> list[PlaceShare]:
    """Return the time that the pod spent in each place, in the order of its first arrivals."""
    spent: dict[str, int] = {}
    for i, move in enumerate(moves):
        if move.place in _PLACES:
            continue
        end = moves[i + 1].t if i + 1 < len(moves) else sim.now
        spent[move.place] = spent.get(move.place, 0) + end - move.t
    total, before = sum(spent.values()) or 1, 0
    out: list[PlaceShare] = []
    for place, time in spent.items():
        x, share = round(100 * before / total, 2), round(100 * time / total, 2)
        out.append({"place": place, "colour": kind(place), "time": duration(time), "x": x, "share": share})
        before += time
    return out
