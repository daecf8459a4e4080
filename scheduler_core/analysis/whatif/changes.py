"""What may be asked: nodes drained, removed or added, workloads scaled, kubectl's commands. Each is commands to a world.

Raises NoSuch where an object that is named does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import yaml

from scheduler_core.analysis.fixes.effects import Watch
from scheduler_core.analysis.fixes.proof import carry_out
from scheduler_core.analysis.fixes.shell import Call, read_calls
from scheduler_core.analysis.whatif.node_types import NodeType, make_nodes, type_of
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, DrainNode, Ref, Refused, ScaleObject
from scheduler_core.world.simulation import Simulation

Requests = list[tuple[Command, int]]
Change = Command | Callable[[Watch], Requests]
"""A request, or what makes several and returns them, each with the number of transitions that it waits for."""

WAITED = 20_000  # transitions until what kubectl deletes is gone
EXPECTED = "expected kubectl commands in the form in which explain prints fixes, such as kubectl scale deployment web --replicas=3"
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, StopIteration, yaml.YAMLError)
SCALABLE = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")


class NoSuch(Exception):
    """An object that is named in a question does not exist, or is none that this can be asked of."""


def drain(sim: Simulation, node: str) -> Command:
    """Return the command for `kubectl drain --ignore-daemonsets --force --delete-emptydir-data`, which respects budgets."""
    _node(sim, node)
    return DrainNode(node, ignore_daemon_sets=True, force=True, delete_empty_dir_data=True)


def remove(sim: Simulation, node: str) -> Command:
    """The node is gone at once, as when a machine is lost; its pods are found out and made anew by their owners."""
    _node(sim, node)
    return DeleteObjects((Ref("Node", "", node),))


def add(sim: Simulation, like: str, count: int, types: Mapping[str, NodeType] | None = None) -> Command:
    """So many nodes of a type, or like one that exists: empty and ready."""
    found = (types or {}).get(like)
    if found is None:
        try:
            _node(sim, like)
        except NoSuch as missing:
            raise NoSuch(f"{missing}; types of nodes: {', '.join(types)}" if types else str(missing)) from None
        found = type_of(sim.store, like)
    return ApplyObjects(make_nodes(sim.store, [(found, count)]))


def scale(sim: Simulation, kind: str, namespace: str, name: str, replicas: int) -> Command:
    """A workload with so many replicas."""
    if kind not in SCALABLE:
        raise NoSuch(f"a {kind} can't be scaled; expected one of {', '.join(SCALABLE)}")
    if sim.store.get(kind, namespace, name) is None:
        raise NoSuch(f"there is no {kind} {namespace}/{name}")
    return ScaleObject(Ref(kind, namespace, name), replicas)


def type_in(text: str) -> Change:
    """Return what kubectl would do: commands in the form of a fix's, heredocs included. `describe node` stands for mending the node."""
    said = text.strip().partition("\n")[0][:200]
    try:
        calls = list(read_calls(text))
    except _UNREADABLE as error:
        raise _unreadable(said, error) from None
    return _do(calls, said)


def _unreadable(said: str, error: Exception) -> NoSuch:
    is_said = isinstance(error, (ValueError, yaml.YAMLError))
    return NoSuch(f"{said!r} can't be read ({error if is_said else 'a part of it is missing'}); {EXPECTED}")


def apply_all(manifests: Iterable[Manifest]) -> Change:
    """Return what kubectl apply would do."""
    return _do([Call(("apply",), {}, (each,)) for each in manifests], "kubectl apply")


def _do(calls: list[Call], said: str) -> Change:
    def do(watch: Watch) -> Requests:
        made: list[Command] = []
        pauses: list[int] = []
        try:
            for _ in carry_out(watch, calls, WAITED, made, pauses):
                pass
        except Refused as refused:
            raise NoSuch(f"{said}: {refused}" if refused.errors else f"{said}: what is deleted does not go") from None
        except _UNREADABLE as error:
            raise _unreadable(said, error) from None
        if not made:
            raise NoSuch(f"{said!r} changes nothing; {EXPECTED}")
        return list(zip(made, pauses, strict=True))

    return do


def make(change: Change, watch: Watch) -> Requests:
    """Make a change in a watched world, and return its requests. Raise Refused or NoSuch."""
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
        raise NoSuch(f"there is no node {name!r}; there are {len(names)}: {shown}")
    return dict(manifest)
