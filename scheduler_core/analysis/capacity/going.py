"""Removable nodes: each node is drained on a fork, budgets included, and its pods have to find other nodes.

Then as many nodes as possible are removed together: greedily, and by all larger sets if these are few.

kube: autoscaler/cluster-autoscaler/utils/drain (annotation safe-to-evict, pods without a controller), karpenter.sh/do-not-disrupt
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec

from scheduler_core.analysis.status import read_drains
from scheduler_core.analysis.whatif import NodeType, Steps, come_to_rest, drain, remove, subject_of, waiting
from scheduler_core.analysis.whatif.node_types import INSTANCE_TYPE
from scheduler_core.apimachinery.objects import Node, Pod
from scheduler_core.apiserver.store import Store
from scheduler_core.scheduler.plugins.helper.fixes import group_of
from scheduler_core.world.simulation import Simulation

RUNS = 400
SUBSETS = 200  # larger sets that are tried after the greedy ones
MIRROR = "kubernetes.io/config.mirror"
_HOLDING = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}


class Keeper(msgspec.Struct, frozen=True):
    """An obstacle to a node's removal. `reason`: alone (no controller creates the pod again), annotation, budget, waits, or stuck."""

    pod: str
    reason: str
    message: str = ""


class Leaving(msgspec.Struct, frozen=True):
    """A node's removal. `places`: its pods, or their replacements, and the new nodes. `tried`: False if the runs were used up."""

    node: str
    price: float | None
    goes: bool
    keepers: tuple[Keeper, ...] = ()
    places: dict[str, str] = {}
    tried: bool = True


class Going(msgspec.Struct, frozen=True):
    """`nodes`: each node. `order`: the largest set found that can be removed together, in this order. `saved`: its price, or None if
    unknown.

    `bound`: the most nodes that can be removed by sums alone. `optimal`: no larger set of the nodes that can be removed alone exists, in
    the order tried.
    """

    nodes: tuple[Leaving, ...]
    order: tuple[str, ...]
    saved: float | None
    bound: int
    optimal: bool
    runs: int


def price_nodes(store: Store, types: Mapping[str, NodeType]) -> dict[str, float]:
    """Return the price of each node whose instance type, group, or name is a type with a price."""
    found: dict[str, float] = {}
    for node in store.nodes():
        for name in (node.name, group_of(node), node.labels.get(INSTANCE_TYPE, "")):
            if name in types and (price := types[name].price) is not None:
                found[node.name] = price
    return found


def find_going(
    sim: Simulation,
    prices: Mapping[str, float] | None = None,
    runs: int = RUNS,
    should_stop: Callable[[], bool] = lambda: False,
) -> Steps[Going]:
    """Search for the nodes of a world at rest that can be removed. The world does not change."""
    return _Search(sim, prices or {}, runs, should_stop).run()


class _Search:
    def __init__(
        self, sim: Simulation, prices: Mapping[str, float], runs: int, should_stop: Callable[[], bool]
    ) -> None:
        self.sim, self.prices, self.runs, self.should_stop = sim, prices, runs, should_stop
        self.priced = all(node.name in prices for node in sim.store.nodes())
        self.waits = set(waiting(sim))
        self.done = 0
        self.best: tuple[str, ...] = ()

    def run(self) -> Steps[Going]:
        loads = {node.name: _load(self.sim.store, node) for node in self.sim.store.nodes()}
        found: list[Leaving] = []
        for name in sorted(loads, key=lambda name: (loads[name], name)):
            found += [(yield from self._try_alone(name))]
        mine = [each.node for each in found if each.goes]
        bound = _bound(self.sim.store, mine)
        for order in dict.fromkeys((tuple(mine), tuple(sorted(mine, key=lambda name: -self.prices.get(name, 0.0))))):
            yield from self._take_greedily(order)
        optimal = len(self.best) >= min(bound, len(mine)) and not self.priced
        if not optimal and all(each.tried for each in found):
            optimal = yield from self._search_larger(mine, bound)
        saved = math.fsum(self.prices[name] for name in self.best) if self.priced else None
        return Going(tuple(found), self.best, saved, bound, optimal, self.done)

    @property
    def _over(self) -> bool:
        return self.done >= self.runs or self.should_stop()

    def _worth(self, names: Sequence[str]) -> float:
        return math.fsum(self.prices[name] if self.priced else 1 for name in names)

    def _try_alone(self, name: str) -> Steps[Leaving]:
        pods = [pod for pod in self.sim.store.pods() if pod.node_name == name and _moves(pod)]
        keepers = tuple(keeper for pod in pods for keeper in _list_keepers(pod))
        price = self.prices.get(name)
        if keepers or self._over:
            return Leaving(name, price, False, keepers, tried=bool(keepers))
        world = self.sim.fork()
        keepers = yield from self._remove(world, name)
        return Leaving(name, price, not keepers, keepers, {} if keepers else _list_places(self.sim, world, pods))

    def _remove(self, world: Simulation, name: str) -> Steps[tuple[Keeper, ...]]:
        """Drain and delete a node. Return the obstacles."""
        self.done += 1
        world.apply(drain(world, name))
        rest = yield from come_to_rest(world)
        held = [
            (each["pod"], each["why"]) for row in read_drains(world) if row["node"] == name for each in row["stuck"]
        ]
        keepers = [Keeper(pod, "budget", str(why)) for pod, why in held]
        keepers += self._list_waiting(world)
        keepers += [Keeper("/".join(loop.workload), "stuck", loop.last.message) for loop in rest.loops]
        if not keepers:
            world.apply(remove(world, name))
            yield from come_to_rest(world)
            keepers += self._list_waiting(world)
        return tuple(keepers)

    def _list_waiting(self, world: Simulation) -> list[Keeper]:
        last = world.journal.last_attempt
        return [
            Keeper(pod, "waits", world.journal.attempts[last[pod]].message if pod in last else "")
            for pod in waiting(world)
            if pod not in self.waits
        ]

    def _take_greedily(self, order: Sequence[str]) -> Steps[None]:
        """Remove one node after another, and skip each that can no longer be removed."""
        world, gone = self.sim, list[str]()
        for name in order:
            if self._over:
                break
            fork = world.fork()
            if not (yield from self._remove(fork, name)):
                world, gone = fork, [*gone, name]
        if self._worth(gone) > self._worth(self.best):
            self.best = tuple(gone)

    def _search_larger(self, mine: Sequence[str], bound: int) -> Steps[bool]:
        """Try the sets that are worth more than the best one, the most valuable first. Return whether all were tried."""
        sizes = range(min(bound, len(mine)), 0, -1)
        number = sum(math.comb(len(mine), size) for size in sizes)
        if number > SUBSETS:
            return False
        better = [names for size in sizes for names in combinations(mine, size)]
        for names in sorted(better, key=self._worth, reverse=True):
            if self._worth(names) <= self._worth(self.best):
                return True
            world = self.sim.fork()
            for name in names:
                if self._over:
                    return False
                if (yield from self._remove(world, name)):
                    break
            else:
                self.best = names
                return True
        return True


def _moves(pod: Pod) -> bool:
    """Return whether a pod needs another node when its node is removed."""
    return not (
        pod.terminal
        or pod.deleting
        or subject_of(pod)[0] == "DaemonSet"
        or MIRROR in pod.manifest["metadata"].get("annotations", {})
    )


def _list_keepers(pod: Pod) -> Iterator[Keeper]:
    if subject_of(pod)[0] == "Pod":
        yield Keeper(pod.key, "alone")
    annotations = pod.manifest["metadata"].get("annotations") or {}
    for key, value in _HOLDING.items():
        if annotations.get(key) == value:
            yield Keeper(pod.key, "annotation", f"{key}: {value}")


def _list_places(before: Simulation, after: Simulation, pods: Sequence[Pod]) -> dict[str, str]:
    owners = {subject_of(pod) for pod in pods}
    there = {pod.key for pod in before.store.pods()}
    new = [pod for pod in after.store.pods() if subject_of(pod) in owners and pod.key not in there]
    stay = [pod for pod in after.store.pods() if any(pod.key == each.key for each in pods)]  # of a StatefulSet
    return {pod.key: pod.node_name for pod in sorted((*new, *stay), key=lambda pod: pod.key)}


def _load(store: Store, node: Node) -> float:
    """Return the larger of the shares of cpu and memory that the node's movable pods request."""
    mine = [pod.requests for pod in store.pods() if pod.node_name == node.name and _moves(pod)]
    has = node.allocatable
    shares = [
        sum(r.milli_cpu for r in mine) / has.milli_cpu if has.milli_cpu else 0,
        sum(r.memory for r in mine) / has.memory if has.memory else 0,
    ]
    return max(shares)


def _bound(store: Store, mine: Sequence[str]) -> int:
    """Return the most nodes that can be removed while the rest has the total cpu and memory that the pods request."""
    most = len(mine)
    pods = [pod.requests for pod in store.pods() if pod.node_name and not pod.terminal and _moves(pod)]
    for amount in ("cpu", "memory"):
        spare = sum(node.allocatable.get(amount) for node in store.nodes()) - sum(r.get(amount) for r in pods)
        sizes = sorted(node.allocatable.get(amount) for node in store.nodes() if node.name in mine)
        count = 0
        while count < len(sizes) and spare >= sizes[count]:
            spare -= sizes[count]
            count += 1
        most = min(most, count)
    return most
