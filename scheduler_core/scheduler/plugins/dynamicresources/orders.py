"""Whether a real cluster may give a pod other devices than those given here.

kube's allocator goes through slices and pools in the order of Go maps, which is another one each time; here they are sorted. What it finds
first may differ, and with it the result. A node depends on the order where some other order gives another result: all orders of its slices
are tried where they are few, else as many as kube's maps might show in a while, drawn from a stream that is always the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, permutations
from math import factorial
from typing import TypeVar

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.base.clock.random import Stream
from scheduler_core.scheduler.plugins.dynamicresources.filtering import TIMED_OUT, NodeFilter
from scheduler_core.scheduler.plugins.dynamicresources.node_search import NodeSearch

T = TypeVar("T")

ENOUGH = 30
MOST_TRIED = 5_000  # devices in one order; what takes longer is not said to depend on the order
STATUS, ALLOCATION = "status", "allocation"


def order_dependence(asked: NodeFilter, search: NodeSearch, node: Node) -> str:
    """Return the part of the node's answer that may differ in a real cluster: STATUS, ALLOCATION, or "" if none is found."""
    asked = asked.within(MOST_TRIED)
    status, allocation = asked.ask(node), asked.allocations.get(node.name)
    if status == TIMED_OUT:
        return ""
    slices, found = search.reaching(node), ""
    for other, order in chain(
        ((asked, order) for order in other_orders(slices)), ((other, slices) for other in _with_other_resources(asked))
    ):
        answer = other.ask(node, order)
        if answer == TIMED_OUT:
            continue
        if answer != status:
            return STATUS
        given = other.allocations.get(node.name)
        if allocation is not None and given is not None and given.results != allocation.results:
            found = ALLOCATION
    return found


def _with_other_resources(asked: NodeFilter) -> Iterator[NodeFilter]:
    """kube goes through the extended resources of a pod in the order of a Go map, too."""
    wanted = asked.facts.wanted
    if wanted is not None:
        for amounts in other_orders(wanted.served):
            yield asked.with_facts(replace(asked.facts, wanted=replace(wanted, amounts=amounts)))


def other_orders(things: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """Other orders than the given one; none where there is at most one thing."""
    if factorial(len(things)) <= ENOUGH:
        yield from islice(permutations(things), 1, None)
        return
    yield tuple(reversed(things))
    stream = Stream(len(things))
    for _ in range(ENOUGH):
        left = list(things)
        yield tuple(left.pop(stream.below(len(left))) for _ in range(len(things)))
