"""What the whole of a world is asked for in few words: names that the palette finds, where attempts ended, what holds."""

from collections.abc import Iterable, Sequence

from playground.lessons.conditions import holds
from playground.sessions.protocol.looking import AttemptEnd, AttemptEnds, FindNames, FoundName, LessonHolds
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.world.readonly import CONTROLLER_NAMES, Attempt


@answers(FindNames)
def find_names(engine: Engine, request: FindNames) -> Steps[list[FoundName]]:
    world = yield from engine.at(request.position)
    kinds = {
        "node": (node.name for node in world.store.nodes()),
        "pod": (pod.key for pod in world.store.pods()),
        "claim": (
            f"{manifest['metadata']['namespace']}/{manifest['metadata']['name']}"
            for kind in ("PersistentVolumeClaim", "ResourceClaim")
            for manifest in world.store.list(kind)
        ),
        "controller": CONTROLLER_NAMES,
    }
    return [FoundName(kind, name) for kind, names in kinds.items() for name in matching(names, request.q, request.most)]


def matching(names: Iterable[str], q: str, most: int) -> list[str]:
    """Return at most `most` names that contain `q`, ignoring case; names that begin with it come first."""
    q = q.lower()
    first: list[str] = []
    others: list[str] = []
    for name in names:
        if len(first) >= most:
            break
        own = name.rpartition("/")[2].lower()
        if own.startswith(q) or name.lower().startswith(q):
            first.append(name)
        elif q in own and len(others) < most:
            others.append(name)
    return (first + others)[:most]


@answers(LessonHolds)
def lesson_holds(engine: Engine, request: LessonHolds) -> Steps[bool]:
    world = yield from engine.at(request.position)
    return (world.idle and not request.alone) or holds(request.when, world)


@answers(AttemptEnds)
def attempt_ends(engine: Engine, request: AttemptEnds) -> Steps[list[AttemptEnd]]:
    world = yield from engine.at(request.position)
    return thin_attempts(world.journal.attempts, request.position, request.most)


def thin_attempts(attempts: Sequence[Attempt], head: int, most: int) -> list[AttemptEnd]:
    """At most one of each `most`th of the history; of several the last that preempts, or that failed, or else the last."""
    kept: dict[int, AttemptEnd] = {}
    for attempt in attempts:
        if attempt.last_position > head:
            break
        stretch = attempt.last_position * most // (head + 1)
        scheduled, preempts = attempt.outcome == "scheduled", bool(attempt.victims)
        end = AttemptEnd(attempt.last_position, attempt.pod, scheduled, preempts)
        if stretch not in kept or _weight(end) >= _weight(kept[stretch]):
            kept[stretch] = end
    return list(kept.values())


def _weight(end: AttemptEnd) -> int:
    return 2 * end.preempts + (not end.scheduled)
