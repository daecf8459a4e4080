"""Outcomes of changes: a fork with the changes and one without, both run to the same virtual time, until the first is at rest."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from scheduler_core.analysis.fixes.effects import Effect, Watch, effects_of
from scheduler_core.analysis.fixes.proof import carry_out
from scheduler_core.analysis.fixes.shell import Call, read_calls
from scheduler_core.analysis.status import read_drains
from scheduler_core.analysis.whatif.loops import End, Loop, ends_of
from scheduler_core.analysis.whatif.node_types import NodeType, make_nodes, type_of
from scheduler_core.analysis.whatif.rest import STEPS, Progress, RestResult, SettlingWorld, release
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, DrainNode, Ref, Refused, ScaleObject
from scheduler_core.world.simulation import Simulation

# Possible changes: nodes drained, removed or added, workloads scaled, kubectl's commands. Each becomes commands to a world.
#
# They raise UnknownObject if a named object does not exist.

Requests = list[tuple[Command, int]]
Change = Command | Callable[[Watch], Requests]
"""A request, or what makes several and returns them, each with the number of transitions that it waits for."""

WAITED = 20_000  # transitions until what kubectl deletes is gone
STAYS = "the pod is terminating, and stays"
RETURNS = "replaces an evicted pod, tolerates the taint of the cordoned node, and is placed there again"
EXPECTED = "expected kubectl commands in the form in which explain prints fixes, such as kubectl scale deployment web --replicas=3"
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, StopIteration, yaml.YAMLError)
SCALABLE = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")


class UnknownObject(Exception):
    """An object in a question does not exist, or is of a kind that the question does not apply to."""


def drain(sim: Simulation, node: str) -> Command:
    """Return the command for `kubectl drain --ignore-daemonsets --force --delete-emptydir-data`, which respects budgets."""
    _node(sim, node)
    return DrainNode(node, ignore_daemon_sets=True, force=True, delete_empty_dir_data=True)


def remove(sim: Simulation, node: str) -> Command:
    """Return the command that deletes a node at once, as when a machine is lost. Owners then replace its pods."""
    _node(sim, node)
    return DeleteObjects((Ref("Node", "", node),))


def add(sim: Simulation, like: str, count: int, types: Mapping[str, NodeType] | None = None) -> Command:
    """Return the command that adds nodes of a type, or like an existing node: empty and ready."""
    found = (types or {}).get(like)
    if found is None:
        try:
            _node(sim, like)
        except UnknownObject as missing:
            raise UnknownObject(f"{missing}; types of nodes: {', '.join(types)}" if types else str(missing)) from None
        found = type_of(sim.store, like)
    return ApplyObjects(make_nodes(sim.store, [(found, count)]))


def scale(sim: Simulation, kind: str, namespace: str, name: str, replicas: int) -> Command:
    """Return the command that scales a workload."""
    if kind not in SCALABLE:
        raise UnknownObject(f"a {kind} can't be scaled; expected one of {', '.join(SCALABLE)}")
    if sim.store.get(kind, namespace, name) is None:
        raise UnknownObject(f"no {kind} {namespace}/{name} exists")
    return ScaleObject(Ref(kind, namespace, name), replicas)


def type_in(text: str) -> Change:
    """Return the change that kubectl would make: commands in a fix's form, with heredocs. `describe node` represents a node's repair."""
    said = text.strip().partition("\n")[0][:200]
    try:
        calls = list(read_calls(text))
    except _UNREADABLE as error:
        raise _unreadable(said, error) from None
    return _do(calls, said)


def _unreadable(said: str, error: Exception) -> UnknownObject:
    is_said = isinstance(error, (ValueError, yaml.YAMLError))
    return UnknownObject(
        f"{said!r} can't be read ({error if is_said else 'a part of the command is missing'}); {EXPECTED}"
    )


def apply_all(manifests: Iterable[Manifest]) -> Change:
    """Return the change that kubectl apply would make."""
    return _do([Call(("apply",), {}, (each,)) for each in manifests], "kubectl apply")


def _do(calls: list[Call], said: str) -> Change:
    def do(watch: Watch) -> Requests:
        made: list[Command] = []
        pauses: list[int] = []
        try:
            for _ in carry_out(watch, calls, WAITED, made, pauses):
                pass
        except Refused as refused:
            raise UnknownObject(
                f"{said}: {refused}" if refused.errors else f"{said}: the object is not removed"
            ) from None
        except _UNREADABLE as error:
            raise _unreadable(said, error) from None
        if not made:
            raise UnknownObject(f"{said!r} changes nothing; {EXPECTED}")
        return list(zip(made, pauses, strict=True))

    return do


def make(change: Change, watch: Watch) -> Requests:
    """Make a change in a watched world. Return its requests. Raise Refused or UnknownObject."""
    if callable(change):
        return change(watch)
    watch.world.apply(change)
    watch.note()
    return [(change, 0)]


def requests_of(sim: Simulation, change: Change) -> Requests:
    """Return the requests of a change that is made now. `sim` does not change."""
    return make(change, Watch(sim.fork()))


def _node(sim: Simulation, name: str) -> dict[str, Any]:
    manifest = sim.store.get("Node", "", name)
    if manifest is None:
        names = sorted(node.name for node in sim.store.nodes())
        shown = f"{', '.join(names[:5])}{', …' if len(names) > 5 else ''}" if names else "none"
        raise UnknownObject(f"no node {name!r} exists; expected one of {len(names)}: {shown}")
    return dict(manifest)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`effects`: effects on existing pods; `created`: pods that only exist with the changes, and their nodes ("": they wait), by name;
    `pending` and `pending_without`: the pods that wait in the end. `time`: the virtual nanoseconds that it took.

    `rest`: how the world with the changes came to rest. `failed`: the pods that failed only with the changes. `held_up`: the pods that a
    drain cannot evict: node, pod, and reason. `world` and `baseline`: with and without the changes.
    """

    effects: tuple[Effect, ...]
    created: tuple[tuple[str, str], ...]
    pending: tuple[str, ...]
    pending_without: tuple[str, ...]
    time: int
    rest: RestResult
    world: Simulation
    baseline: Simulation
    failed: tuple[End, ...] = ()
    held_up: tuple[tuple[str, str, str], ...] = ()

    @property
    def at_rest(self) -> bool:
        return self.rest.at_rest

    def to_json(self) -> dict[str, Any]:
        return {
            "effects": [effect.to_json() for effect in self.effects],
            "created": [{"pod": pod, "node": node} for pod, node in self.created],
            "pending": list(self.pending),
            "pendingWithout": list(self.pending_without),
            "seconds": self.time / 1e9,
            "atRest": self.at_rest,
            "failed": [end.to_json() for end in self.failed],
            "heldUp": [{"node": node, "pod": pod, "message": why} for node, pod, why in self.held_up],
            "stuck": [loop.to_json() for loop in self.rest.loops],
        }


def what_if(
    sim: Simulation,
    changes: Sequence[Change],
    steps: int = STEPS,
    progress: Progress | None = None,
    loops: Iterable[Loop] = (),
) -> Outcome:
    """Return the outcome of changes that are made at once. `sim` does not change, and should be at rest. Raise Refused if one fails.

    `loops`: the loops that are paused in `sim`; with the changes they can make progress.
    """
    with_them = Watch(sim.fork())
    for change in changes:
        make(change, with_them)
    with_them.world.change(lambda: release(with_them.world, [loop.owner for loop in loops]))
    rest = SettlingWorld(with_them, steps, progress).run()
    without = Watch(sim.fork())
    for _ in without.until(with_them.world.now, steps):
        pass
    effects = effects_of(sim, without.at(with_them.world.now), with_them)
    replaced = {effect.by for effect in effects}
    before = {pod.key for pod in without.world.store.pods()}
    failed = {end.pod: end for end in ends_of(with_them.world.store)}
    for end in ends_of(without.world.store):
        failed.pop(end.pod, None)
    created = [
        (pod.key, pod.node_name)
        for pod in with_them.world.store.pods()
        if pod.key not in before and pod.key not in replaced and pod.key not in failed
    ]
    return Outcome(
        effects,
        tuple(sorted(created)),
        waiting(with_them.world),
        waiting(without.world),
        with_them.world.now - sim.now,
        rest,
        with_them.world,
        without.world,
        tuple(failed.values()),
        tuple(
            (drain["node"], refused["pod"], refused["why"])
            for drain in read_drains(with_them.world)
            for refused in (
                *drain["stuck"],
                *({"pod": pod, "why": STAYS} for pod in drain["ending"] if rest),
                *({"pod": e.by, "why": RETURNS} for e in effects if e.kind == "replaced" and e.to == drain["node"]),
            )
        ),
    )


def waiting(sim: Simulation) -> tuple[str, ...]:
    """Return the pods that have no node and have not ended, by key."""
    return tuple(sorted(p.key for p in sim.store.pods() if not p.node_name and not p.terminal and not p.deleting))
