"""The conditions of a lesson's cards and task. Pure: they read the world's journal, present cycles and store.

A condition is a mapping; all that it names must hold. Apart from `exists`, `lacks`, `on` and `field` nothing in it can cease to hold
as the world goes on, and going back in the world goes back in the lesson.

    pod: web-1              which pod (namespace `default` unless written as ns/name) the rest is about
    attempt: 2              which of its attempts `point` is about, from 1 (the default)
    point: Filter           the attempt has come to this extension point, or has ended
    after: {point: Filter, plugin: TaintToleration}    that plugin has left its record there, or the attempt has ended
    outcome: scheduled      an attempt ended so (scheduled, unschedulable, error)
    evaluated: 300          an attempt of the pod looked at so many nodes, or more
    said: Insufficient cpu  an attempt ended with a message that holds this
    place: backoff          the pod has been there (see trace/journal.py); with `times: 2`, twice
    exists: Node node-2     the API server holds the object (`Kind name` or `Kind namespace/name`)
    lacks: Node node-2      it does not
    position: 1             the world has come to this position
    on: node-2              the API server holds the pod bound to that node
    field: [Node, n, spec, unschedulable], is: true    a field of an object has that value; null: it has none
    any: [{...}, {...}]     one of these conditions holds
    all: [{...}, {...}]     all of them hold
"""

from collections.abc import Callable, Mapping
from typing import Any

from playground.lessons.named import key_of, object_of
from playground.lessons.processes import entries
from playground.lessons.waking import wakings
from scheduler_core.world.readonly import Attempt, CycleView, WorldView

SCHEDULING = (
    "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "NormalizeScore", "Reserve", "Permit",
)  # fmt: skip
SECOND = 1_000_000_000
Condition = Mapping[str, Any]


def holds(when: Condition, sim: WorldView) -> bool:
    """Return whether a condition holds in a world."""
    return all(test(when, sim) for word, test in _TESTS.items() if word in when)


def _attempts(when: Condition, sim: WorldView) -> list[Attempt]:
    """Return the finished attempts of a condition's pod."""
    return [attempt for attempt in sim.journal.attempts if attempt.pod == key_of(when["pod"])]


def _has_run(when: Condition, sim: WorldView, point: str, plugin: str = "") -> bool:
    """Return whether an attempt has run a point, or a plugin at that point. A finished attempt has."""
    finished, wanted = len(_attempts(when, sim)), when.get("attempt", 1)
    if finished >= wanted and point in SCHEDULING:
        return True
    pod = key_of(when["pod"])
    cycles = [scheduler.cycle for scheduler in sim.schedulers if scheduler.cycle is not None]
    running = [cycle for cycle in cycles if cycle.pod.key == pod and cycle.ended is None]
    if finished + len(running) != wanted:
        return False
    bindings = [binding for scheduler in sim.schedulers for binding in scheduler.bindings.values()]
    present: list[CycleView] = [*running, *(binding for binding in bindings if binding.pod.key == pod)]
    return any(step.point == point and plugin in ("", step.plugin) for cycle in present for step in cycle.steps)


def _has_been(when: Condition, sim: WorldView) -> bool:
    lane = sim.journal.lane(key_of(when["pod"]))
    return [move.place for move in lane].count(when["place"]) >= int(when.get("times", 1))


def _exists(reference: str, sim: WorldView) -> bool:
    kind, _blank, name = reference.partition(" ")
    return object_of(kind, name, sim) is not None


def _is_on(when: Condition, sim: WorldView) -> bool:
    pod = object_of("Pod", when["pod"], sim)
    return pod is not None and pod.get("spec", {}).get("nodeName") == when["on"]


def _has_value(when: Condition, sim: WorldView) -> bool:
    kind, name, *keys = when["field"]
    value = object_of(kind, name, sim)
    for key in keys:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            value = None
    return bool(value == when.get("is"))


def _was_recorded(when: Condition, sim: WorldView) -> bool:
    pod = key_of(when["pod"]) if "pod" in when else ""
    return any(
        event.reason == when["event"] and pod in ("", f"{event.namespace}/{event.name}") for event in sim.store.events
    )


_TESTS: dict[str, Callable[[Condition, WorldView], bool]] = {
    "position": lambda when, sim: sim.position >= int(when["position"]),
    "seconds": lambda when, sim: sim.now >= float(when["seconds"]) * SECOND,
    "woken": lambda when, sim: wakings(key_of(when["pod"]), sim).count(when["woken"]) >= int(when.get("times", 1)),
    "event": _was_recorded,
    "scheduler": lambda when, sim: (
        len(list(entries(when["scheduler"], when["stage"], sim))) >= int(when.get("times", 1))
    ),
    "point": lambda when, sim: _has_run(when, sim, when["point"]),
    "after": lambda when, sim: _has_run(when, sim, when["after"]["point"], when["after"]["plugin"]),
    "outcome": lambda when, sim: any(attempt.outcome == when["outcome"] for attempt in _attempts(when, sim)),
    "said": lambda when, sim: any(when["said"] in attempt.message for attempt in _attempts(when, sim)),
    "evaluated": lambda when, sim: any(attempt.evaluated >= int(when["evaluated"]) for attempt in _attempts(when, sim)),
    "on": _is_on,
    "field": _has_value,
    "all": lambda when, sim: all(holds(condition, sim) for condition in when["all"]),
    "any": lambda when, sim: any(holds(condition, sim) for condition in when["any"]),
    "place": _has_been,
    "exists": lambda when, sim: _exists(when["exists"], sim),
    "lacks": lambda when, sim: not _exists(when["lacks"], sim),
}
