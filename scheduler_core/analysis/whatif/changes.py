"""What may be asked: nodes drained, removed or added, workloads scaled, another configuration. Each is commands to a world.

Raises NoSuch where an object that is named does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.analysis.whatif.node_types import NodeType, make_nodes, type_of
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, DrainNode, Ref, ScaleObject
from scheduler_core.world.simulation import Simulation

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


def _node(sim: Simulation, name: str) -> dict[str, Any]:
    manifest = sim.store.get("Node", "", name)
    if manifest is None:
        names = sorted(node.name for node in sim.store.nodes())
        shown = f"{', '.join(names[:5])}{', …' if len(names) > 5 else ''}" if names else "none"
        raise NoSuch(f"there is no node {name!r}; there are {len(names)}: {shown}")
    return dict(manifest)
