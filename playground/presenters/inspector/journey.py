"""Journey: where the pod is and why, its latest moves and attempts in short, and its Kubernetes Events. The page has the rest."""

from typing import Literal, TypedDict

from playground.presenters.amounts import clock
from playground.presenters.devices.claims import PodClaim
from playground.presenters.inspector.internals import Internals
from playground.presenters.inspector.internals import present as present_internals
from playground.presenters.inspector.node import chosen
from playground.presenters.inspector.summary import PreemptionNote, preemptions
from playground.presenters.journey import EventRow, journey
from playground.presenters.journey.entries import Entry
from playground.presenters.journey.why import JourneyWhy
from playground.presenters.look import Look
from playground.presenters.scene import NoSubject, PodRef, pod_ref
from scheduler_core.world.readonly import WorldView

SHOWN = 12
EVENTS = 8
LOOKED_THROUGH = 2_000  # attempts


class NoJourney(NoSubject):
    internals: Internals


class PlacedPod(PodRef):
    t: str
    at: int


class NodeJourneyBody(TypedDict):
    kind: Literal["node"]
    node: str
    placed: list[PlacedPod]
    internals: Internals


class JourneyBody(TypedDict):
    kind: Literal["journey"]
    internals: Internals
    key: str
    namespace: str
    bare: str
    place: str
    why: JourneyWhy
    attempts: int
    total: str
    entries: list[Entry]
    more: int
    events: list[EventRow]
    claims: list[PodClaim]
    preemptions: list[PreemptionNote]
    at: int | None


def present(sim: WorldView, look: Look, key: str) -> JourneyBody | NodeJourneyBody | NoJourney:
    """The newest entries first; of a node the pods that were placed on it."""
    internals = present_internals(sim, look, key)
    if look.about == "node" and (name := chosen(sim, look)):
        # The last attempts that chose the node, as far back as is quickly looked through.
        attempts = sim.journal.attempts
        placed: list[PlacedPod] = []
        for index in range(len(attempts) - 1, max(len(attempts) - LOOKED_THROUGH, 0) - 1, -1):
            attempt = attempts[index]
            if attempt.node == name:
                placed.append({**pod_ref(attempt.pod), "t": clock(attempt.started), "at": attempt.last_position})
                if len(placed) == SHOWN:
                    break
        return {"kind": "node", "node": name, "placed": placed, "internals": internals}
    story = journey(sim, key) if key else None
    if story is None:
        return {"kind": "gone" if key else "none", "internals": internals}
    entries = story["entries"]
    return {
        "kind": "journey",
        "internals": internals,
        "key": key,
        "namespace": story["namespace"],
        "bare": story["bare"],
        "place": story["place"],
        "why": story["why"],
        "attempts": story["attempts"],
        "total": story["total"],
        "entries": entries[: -SHOWN - 1 : -1],
        "more": max(len(entries) - SHOWN, 0),
        "events": story["events"][: -EVENTS - 1 : -1],
        "claims": story["claims"],
        "preemptions": preemptions(sim, key),
        "at": look.at,
    }
