"""What comes next for a pod, found on a copy of the world: the key of a question that a teacher puts to a room."""

from playground.sessions.protocol.looking import Foresee, Foreseen
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.world.readonly import Attempt
from scheduler_core.world.simulation import Grain, Simulation

MOST_STEPS = 20_000
DEFAULT = "default/"


@answers(Foresee)
def foresee(engine: Engine, request: Foresee) -> Steps[Foreseen]:
    """The next attempt of a pod (any, where none is named) on a fork, run until it is over."""
    world = (yield from engine.at(request.position)).fork()
    position, before = world.position, len(world.journal.attempts)
    places = {_short(key): str(world.journal.place(key)) for key in _pending(world)}
    attempt: Attempt | None = None
    steps = 0
    while attempt is None and steps < MOST_STEPS:
        here = world.position
        world.step(Grain.CALL)
        steps += 1
        attempt = next((each for each in world.journal.attempts[before:] if _is_it(each, request, position)), None)
        if world.position == here:
            break
        if engine.slice.over():
            yield
    if attempt is None:
        return Foreseen(position, request.pod, "", looked=steps)
    return _answer(world, attempt, request.about, position, places)


def _is_it(attempt: Attempt, request: Foresee, position: int) -> bool:
    """Return whether an attempt is the one asked about: the next to begin, or one of the pod, which may be going on."""
    if request.about == "next":
        return attempt.first_position > position
    return not request.pod or attempt.pod == request.pod


def _answer(world: Simulation, attempt: Attempt, about: str, position: int, places: dict[str, str]) -> Foreseen:
    if about == "next":
        key = _short(attempt.pod)
        reasons = {pod: {"why": "waits", "text": place} for pod, place in places.items() if pod != key}
        return Foreseen(position, "", "pod", key, sorted({*places, key}), reasons)
    if about == "scheduled":
        return Foreseen(
            position,
            attempt.pod,
            "yesno",
            "yes" if attempt.node else "no",
            ["yes", "no"],
            _explain_wrong_answer(attempt),
        )
    if about == "feasible":
        return Foreseen(position, attempt.pod, "number", f"{attempt.feasible:g}")
    nodes = sorted(node["metadata"]["name"] for node in world.store.list("Node"))
    return Foreseen(position, attempt.pod, "node", attempt.node or None, nodes)


def _explain_wrong_answer(attempt: Attempt) -> dict[str, dict[str, str]]:
    """Return the attempt's result, as the fact that the wrong answer overlooks."""
    if attempt.node:
        return {"no": {"why": "fits", "text": attempt.node}}
    return {"yes": {"why": "refused", "text": attempt.message}}


def _pending(world: Simulation) -> list[str]:
    """Pods without a node, as namespace/name."""
    return [
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in world.store.list("Pod")
        if not pod["spec"].get("nodeName")
    ]


def _short(key: str) -> str:
    return key.removeprefix(DEFAULT)
