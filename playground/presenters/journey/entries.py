"""The entries of a journey, oldest first: moves between places, and attempts up to the node or back to a queue."""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

from playground.presenters.scene import PodRef, count_evaluated_nodes, pod_ref
from playground.presenters.timeline import kind
from playground.presenters.words import Message, clock, duration, gettext_noop, message
from scheduler_core.world import readonly
from scheduler_core.world.readonly import UNSCHEDULABLE_TIMEOUT as TIMEOUT

_OF_ATTEMPT = (readonly.Place.IN_FLIGHT, readonly.Place.WAITING, readonly.Place.BINDING)
_CAUSES: dict[str, str] = {
    **dict.fromkeys(readonly.POD_CREATED, gettext_noop("Created.")),
    readonly.BACKOFF_COMPLETE: gettext_noop("The backoff of the pod is over."),
    TIMEOUT.label: gettext_noop("The pod was unschedulable for longer than podMaxInUnschedulablePodsDuration."),
    readonly.FORCE_ACTIVATE.label: gettext_noop("A plugin activated the pod (Activate)."),
    "kubelet": gettext_noop("The kubelet of the node started the pod."),
    "deleted": gettext_noop("Deleted."),
}
_NOTHING_HELPED = gettext_noop("No event during the attempt can help the pod. The pod waits for such an event.")
_AFTER_ERROR = gettext_noop(
    "The attempt failed with an error. The pod backs off, and no event can end the backoff early."
)
_HINT = gettext_noop("The queueing hint of the plugin that refused the pod says that this event may help.")
_NO_HINT = gettext_noop(
    "The plugin that refused the pod has no queueing hint for this event, so every such event wakes the pod."
)


class PlaceStay(TypedDict):
    """A place of a pod, with the start and the length of the stay."""

    place: str
    colour: str
    at: int
    t: str
    time: str


class RefusalRow(TypedDict):
    count: int
    text: str


class RefusingStep(TypedDict):
    """A step that refused nodes, from the AttemptObserver."""

    plugin: str
    position: int
    stage: str
    refused: int
    evaluated: int


class Step(TypedDict):
    point: str
    plugin: str
    code: str
    message: str
    at: int
    t: str
    took: str
    limit: str
    failed: bool
    plain: bool


class Call(TypedDict):
    verb: str
    what: str
    failed: str
    at: int
    t: str


class FlightEvent(TypedDict):
    """An event during the attempt. `helps` is None if no hint ran: the attempt succeeded, or has not ended."""

    event: str
    object: str
    plugin: str
    hint: str
    at: int
    t: str
    helps: bool | None


class Flight(TypedDict):
    flight: list[FlightEvent]
    flight_more: int


class AttemptDetail(Flight):
    refusals: list[RefusingStep]
    answers: list[Step]
    steps: list[Step]
    rollback: list[Step]
    calls: list[Call]


class AttemptEntry(TypedDict):
    """`undone`: the binding was rolled back. `detail` is added by callers that can replay the attempt."""

    kind: Literal["attempt"]
    at: int
    t: str
    stages: list[PlaceStay]
    outcome: str
    number: int | None
    message: str
    took: str
    node: str
    evaluated: int
    feasible: int
    tied: int
    refusals: list[RefusalRow]
    nominated: str
    victims: list[PodRef]
    tries: int
    undone: bool
    detail: NotRequired[AttemptDetail]


class MoveEntry(PlaceStay):
    kind: Literal["move"]
    before: str
    cause: str
    event: str
    plugin: str
    hint: str
    until: str
    why: Message | None


Entry = AttemptEntry | MoveEntry


def entries(sim: readonly.WorldView, key: str, moves: Sequence[readonly.Move]) -> list[Entry]:
    attempts = {attempt.first_position: attempt for attempt in sim.journal.attempts_of(key)}
    out: list[Entry] = []
    for i, move in enumerate(moves):
        end = moves[i + 1].t if i + 1 < len(moves) else sim.now
        stage: PlaceStay = {
            "place": move.place,
            "colour": kind(move.place),
            "at": move.position,
            "t": clock(move.t),
            "time": duration(end - move.t),
        }
        if move.place == readonly.Place.IN_FLIGHT:
            out.append(_attempt(move, attempts.get(move.position), stage))
        elif move.place in _OF_ATTEMPT and out and (last := out[-1])["kind"] == "attempt":
            last["stages"].append(stage)
        else:
            out.append(_move(moves, i, stage))
    _number(out)
    return out


def _number(out: list[Entry]) -> None:
    tries = 0
    for i, entry in enumerate(out):
        if entry["kind"] != "attempt":
            continue
        tries += 1
        entry["tries"] = tries
        following = out[i + 1] if i + 1 < len(out) else None
        if entry["outcome"] == "scheduled" and following is not None and following["kind"] == "move":
            entry["undone"] = following["place"] not in (readonly.Place.BOUND, readonly.Place.DELETED)


def _attempt(move: readonly.Move, attempt: readonly.Attempt | None, stage: PlaceStay) -> AttemptEntry:
    entry: AttemptEntry = {
        "kind": "attempt",
        "at": move.position,
        "t": stage["t"],
        "stages": [stage],
        "outcome": "running",
        "number": None,
        "message": "",
        "took": "",
        "node": "",
        "evaluated": 0,
        "feasible": 0,
        "tied": 0,
        "refusals": [],
        "nominated": "",
        "victims": [],
        "tries": 0,
        "undone": False,
    }
    if attempt is None:
        return entry
    return {
        **entry,
        "number": attempt.number,
        "took": duration(attempt.ended - attempt.started),
        "outcome": attempt.outcome,
        "node": attempt.node,
        "message": attempt.message,
        "evaluated": count_evaluated_nodes(attempt),
        "feasible": attempt.feasible,
        "tied": attempt.tied,
        "refusals": [{"count": count, "text": text} for text, count in attempt.refusals],
        "nominated": attempt.nominated,
        "victims": [pod_ref(victim) for victim in attempt.victims],
    }


def _move(moves: Sequence[readonly.Move], i: int, stage: PlaceStay) -> MoveEntry:
    move = moves[i]
    event, plugin, hint = move.why or ("", "", "")
    return {
        "kind": "move",
        **stage,
        "before": moves[i - 1].place if i else "",
        "cause": move.cause,
        "event": event,
        "plugin": plugin,
        "hint": hint,
        "until": clock(move.until) if move.until else "",
        "why": _why(move),
    }


def _why(move: readonly.Move) -> Message | None:
    if move.place == readonly.Place.BOUND:
        return message("The API server bound the pod.")
    if move.place == readonly.Place.IGNORED:
        return message("No running scheduler has a profile named %(name)s, so the pod stays Pending.", name=move.cause)
    if move.cause == readonly.ATTEMPT_FAILED:
        if move.why:
            return message("An event during the attempt may help the pod.")
        return message(_NOTHING_HELPED if move.place == readonly.Place.UNSCHEDULABLE else _AFTER_ERROR)
    if move.cause in _CAUSES:
        return message(_CAUSES[move.cause])
    if move.why and move.why[1]:
        return message(_HINT if move.why[2] else _NO_HINT)
    return None
