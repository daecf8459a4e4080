"""Until it lands: from the eviction of the victims over their grace periods to the nominated pod's binding."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from playground.presenters.amounts import SECOND, clock, duration
from playground.presenters.draining import grace_ends
from playground.presenters.scene import PodRef, pod_ref, short
from scheduler_core.world.readonly import Attempt, Evidence, Move, Place, PluginStep, Pod, WorldView

SHOWN = 6
_QUEUED = (Place.ACTIVE, Place.BACKOFF)


class Choice(NamedTuple):
    """A preemption's decision: the victims, and the nominated node. `position` is the position of its PostFilter step."""

    pod: str
    node: str
    victims: tuple[str, ...]
    t: int
    position: int
    number: int


def of_attempt(attempt: Attempt) -> Choice:
    """Return a finished attempt's decision."""
    node, victims = attempt.nominated, attempt.victims
    return Choice(attempt.pod, node, victims, attempt.ended, attempt.last_position, attempt.number)


def of_step(pod: str, step: PluginStep, number: int) -> Choice | None:
    """Return the present cycle's decision; None if it chose no node."""
    evidence: Evidence = step.evidence
    best = next((c for c in evidence.remaining if c.node == evidence.nominated), None)
    if best is None:
        return None
    return Choice(pod, best.node, tuple(v.key for v in best.victims), step.t, step.position, number)


def last_choice(sim: WorldView, key: str) -> Choice | None:
    """The pod's last preemption; a later attempt that waits for its victims made none."""
    attempts = (a for a in reversed(sim.journal.attempts_of(key)) if a.nominated and a.victims)
    attempt = next(attempts, None)
    return None if attempt is None else of_attempt(attempt)


class Landing(TypedDict):
    pod: str
    key: str
    node: str
    number: int
    at: int
    victims: list[VictimRow]
    more: int
    count: int
    evicted: Milestone
    ended: Milestone
    queued: Milestone
    bound: Milestone
    on: str
    nominated: bool
    deleted: bool


def landing(sim: WorldView, choice: Choice) -> Landing:
    """Return the progress so far: the victims with their remaining grace periods, the pod's way back, and the nomination."""
    ends = grace_ends(sim, choice.victims)
    victims = [_victim(sim, choice, key, ends) for key in choice.victims]
    ordered = all(victim["state"] != "waits" for victim in victims)
    gone = all(victim["state"] == "gone" for victim in victims)
    last = max((victim["until"] for victim in victims), default=choice.t)
    moves = [move for move in sim.journal.lane(choice.pod) if move.position > choice.position]
    queued = next((move for move in moves if move.place in _QUEUED), None)
    bound = next((move for move in moves if move.place == Place.BOUND), None)
    landed = sim.store.pod_at(choice.pod)
    on = landed.node_name if landed is not None and landed.node_name else ""
    return {
        "pod": short(choice.pod),
        "key": choice.pod,
        "node": choice.node,
        "number": choice.number,
        "at": choice.position,
        "victims": victims[:SHOWN],
        "more": max(len(victims) - SHOWN, 0),
        "count": len(victims),
        "evicted": {"t": _clock(choice.t), "state": _state(ordered, True)},
        "ended": {"t": _clock(last), "state": _state(gone, ordered)},
        "queued": _present_milestone(queued, gone),
        "bound": _present_milestone(bound, queued is not None),
        "on": on,
        "nominated": _is_nominated(sim, choice),
        "deleted": landed is None,
    }


def _clock(ns: int) -> str:
    """Virtual time without hours that are none."""
    return clock(ns).removeprefix("00:")


def _state(done: bool, begun: bool) -> str:
    return "done" if done else "now" if begun else "ahead"


class Milestone(TypedDict):
    t: str
    state: str


def _present_milestone(move: Move | None, begun: bool) -> Milestone:
    return {"t": _clock(move.t) if move is not None else "", "state": _state(move is not None, begun)}


def _is_nominated(sim: WorldView, choice: Choice) -> bool:
    queues = (scheduler.queue for scheduler in sim.schedulers)
    return any(pod.key == choice.pod for queue in queues for pod in queue.nominator.on(choice.node))


class VictimRow(PodRef):
    """`state`: waits (to be evicted), ends (its grace period runs) or gone; `ring` is what is left of the grace period, in percent."""

    state: str
    until: int
    t: str
    grace: str
    left: str
    ring: int


def _victim(sim: WorldView, choice: Choice, key: str, ends: dict[str, int]) -> VictimRow:
    index = sim.journal.last_move.get(key)
    move = None if index is None else sim.journal.moves[index]
    pod = sim.store.pod_at(key)
    grace = _grace(pod)
    row: VictimRow = {
        **pod_ref(key),
        "state": "waits",
        "until": max(sim.now, choice.t) + grace,
        "t": "",
        "grace": duration(grace),
        "left": "",
        "ring": 0,
    }
    if move is not None and move.place == Place.DELETED and move.position > choice.position:
        return {**row, "state": "gone", "t": _clock(move.t), "until": move.t}
    if pod is None or not pod.deleting or key not in ends:
        return row
    left = max(ends[key] - sim.now, 0)
    ring = round(100 * min(left / max(grace, 1), 1))
    return {**row, "state": "ends", "left": duration(left), "ring": ring, "until": ends[key]}


def _grace(pod: Pod | None) -> int:
    """A pod's grace period (ns), as its deletion or else its spec says."""
    if pod is None:
        return 0
    deletion = pod.manifest["metadata"].get("deletionGracePeriodSeconds")
    asked = pod.spec.manifest.get("terminationGracePeriodSeconds", 30) if deletion is None else deletion
    return int(asked) * SECOND
