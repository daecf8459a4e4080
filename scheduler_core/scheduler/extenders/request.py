"""What an extender is asked, as data."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod


@dataclass(frozen=True, slots=True, eq=False)
class NodeVictims:
    """What preempting on one node would mean."""

    node: str
    pods: tuple[Pod, ...]
    violations: int  # of budgets


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is asked about a pod: of nodes (Filter, Prioritize), of victims (Preempt), or of the node to bind to.

    `names_only`: the extender knows the nodes and the pods there itself (nodeCacheCapable).
    """

    pod: Pod
    nodes: tuple[Node, ...] = ()
    victims: tuple[NodeVictims, ...] = ()
    node: str = ""
    names_only: bool = False
