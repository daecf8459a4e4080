"""What an extender is asked, as data."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod


@dataclass(frozen=True, slots=True, eq=False)
class NodeVictims:
    """The victims of preemption on one node."""

    node: str
    pods: tuple[Pod, ...]
    violations: int  # of budgets


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request about a pod: its nodes (Filter, Prioritize), its victims (Preempt), or the node to bind to.

    `names_only`: the extender knows the nodes and the pods there itself (nodeCacheCapable).
    """

    pod: Pod
    nodes: tuple[Node, ...] = ()
    victims: tuple[NodeVictims, ...] = ()
    node: str = ""
    names_only: bool = False
