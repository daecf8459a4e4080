"""Nodes to add: the cheapest set found of node types with which all asked pods are scheduled, proven by running.

A model of sums proposes sets, and the engine checks each: nodes are added to a fork, which runs until it is at rest. The bound is a lower
limit of the cost: each request at the price of the type that serves it most cheaply, or the cheapest set whose sums suffice.
"""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from scheduler_core.analysis.capacity.model import Model
from scheduler_core.analysis.whatif import NodeType, Steps, come_to_rest, make_nodes, owners_of, waiting
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation

RUNS = 120  # default number of tried sets
LOOKED_AT = 20_000  # sets whose sums are compared with the requests
ROUNDS = 40
EPSILON = 1e-9
Set = Counter[int]
"""How many nodes of each type, by its place in the list of types."""


class Help(msgspec.Struct, frozen=True):
    """`nodes`: type -> count in the cheapest set found. `places`: pod -> node with this set. `left`: the pods that still wait.

    `cost` and `bound` are prices per hour, or numbers of nodes if a type has no price. `optimal`: no cheaper set exists. `alone`: the
    number of nodes of each type that suffices without other types. `why`: pod of `left` -> type -> refusal. `objects`: the objects to
    apply.
    """

    pods: tuple[str, ...]
    nodes: dict[str, int]
    places: dict[str, str]
    left: tuple[str, ...]
    why: dict[str, dict[str, str]]
    cost: float
    bound: float
    optimal: bool
    priced: bool
    runs: int
    alone: dict[str, int]
    objects: tuple[dict[str, Any], ...]


def name_owners(sim: Simulation, pod: str) -> list[str]:
    """Return the controllers of a pod NS/NAME as KIND/NS/NAME, the nearest first."""
    return ["/".join(each) for each in owners_of(sim.store, ("Pod", *pod.split("/", 1)))][1:]  # type: ignore[arg-type]


def find_help(
    sim: Simulation,
    pods: Sequence[str] | None,
    types: Iterable[NodeType],
    runs: int = RUNS,
    should_stop: Callable[[], bool] = lambda: False,
) -> Steps[Help]:
    """Search for the cheapest nodes for pods of a world at rest. The world does not change.

    `pods`: NS/NAME, or KIND/NS/NAME for those of a workload; pods that have a node are skipped. None: all waiting pods.
    """
    waits, names = waiting(sim), set(pods or ())
    asked = tuple(pod for pod in waits if pods is None or not names.isdisjoint((pod, *name_owners(sim, pod))))
    return _Search(sim, asked, list(types), runs, should_stop).run()


class _Search:
    def __init__(
        self, sim: Simulation, pods: tuple[str, ...], types: list[NodeType], runs: int, should_stop: Callable[[], bool]
    ) -> None:
        self.sim, self.pods, self.runs, self.should_stop = sim, pods, runs, should_stop
        self.priced = bool(types) and all(each.price is not None for each in types)
        choosy = any(map(_asks_for_zones, (sim.store.pod_at(pod) for pod in pods)))
        split = [(i, each) for i, whole in enumerate(types) for each in (whole.in_zones() if choosy else [whole])]
        self.whole, self.types = [i for i, _ in split], [each for _, each in split]
        self.most = [each.most for each in types]
        self.costs = [each.cost if self.priced else 1.0 for each in self.types]
        self.done = 0
        self.best: tuple[float, Set, Simulation] | None = None
        self.waits = set(waiting(sim))
        self.still: set[str] = set()
        self.useful: list[int] = []
        self.alone: dict[int, int] = {}

    def run(self) -> Steps[Help]:
        model = self.model = yield from Model.of(self.sim, self.pods, self.types, self.costs)
        left = [pod for pod in self.pods if not any(model.takes[pod])]
        wanted = [pod for pod in self.pods if pod not in left]
        bound = model.bound(wanted, whole=not self.priced)
        optimal = not wanted
        if wanted:
            self.useful = [i for i in range(len(self.types)) if any(model.takes[pod][i] for pod in wanted)]
            yield from self._grow(wanted, self.useful)
            for i in self.useful:
                yield from self._grow_alone(wanted, i)
            yield from self._shrink(wanted)
            bound, optimal = yield from self._search_below(wanted, bound)
        cost, chosen, world = self.best or (0.0, Counter(), self.sim)
        placed = {pod.key: pod.node_name for pod in world.store.pods()}
        left += [pod for pod in wanted if pod in placed and not placed[pod]]
        return Help(
            self.pods,
            {self.types[i].name: count for i, count in sorted(chosen.items())},
            {pod: placed[pod] for pod in self.pods if placed.get(pod)},
            tuple(left),
            {pod: {each.name: model.why[pod][i] for i, each in enumerate(self.types)} for pod in left},
            cost,
            min(bound, cost) if self.best else bound if math.isfinite(bound) else 0.0,
            optimal and not set(left) & set(wanted),
            self.priced,
            self.done,
            {self.types[i].name: count for i, count in sorted(self.alone.items())},
            self._make(self.sim, chosen),
        )

    # Sets that are tried

    def _make(self, world: Simulation, chosen: Set) -> tuple[dict[str, Any], ...]:
        return make_nodes(world.store, [(self.types[i], chosen[i]) for i in sorted(chosen)])

    def _cost(self, chosen: Set) -> float:
        return round(math.fsum(self.costs[i] * count for i, count in chosen.items()), 9)

    def _may(self, chosen: Set) -> bool:
        """Return whether the set is within the limit of each type."""
        total: Counter[int] = Counter()
        for i, count in chosen.items():
            total[self.whole[i]] += count
        return all(self.most[i] is None or count <= (self.most[i] or 0) for i, count in total.items())

    @property
    def _over(self) -> bool:
        return self.done >= self.runs or self.should_stop()

    def _try(self, chosen: Set, wanted: Sequence[str]) -> Steps[bool]:
        """Return whether a set lets all pods be scheduled, and no other pod loses its node. Remember the cheapest set."""
        world = self.sim.fork()
        self.done += 1
        world.apply(ApplyObjects(self._make(world, chosen)))
        yield from come_to_rest(world)
        self.still = set(waiting(world))
        helps = not (self.still - (self.waits - set(wanted)))
        cost = self._cost(chosen)
        if helps and (self.best is None or cost < self.best[0]):
            self.best = (cost, chosen, world)
        return helps

    def _grow(self, wanted: Sequence[str], allowed: Iterable[int]) -> Steps[Set | None]:
        """Add the nodes that the model proposes until no pod waits. Return the set, or None if no set is found."""
        left, total, times = list(wanted), Counter[int](), 1
        barred: set[int] = set()
        for _ in range(ROUNDS):
            proposed = self.model.pack(left, [i for i in allowed if i not in barred])
            more = Counter({i: count * times for i, count in proposed.items()})
            if not more or self._over or not self._may(total + more):
                return None
            if (yield from self._try(total + more, wanted)):
                return total + more
            still = [pod for pod in wanted if pod in self.still]
            if len(still) < len(left):
                total += more
            else:
                barred |= set(more)
            times = times * 2 if len(still) > len(left) // 2 else 1
            left = still if len(still) < len(left) else left
        return None

    def _grow_alone(self, wanted: Sequence[str], i: int) -> Steps[None]:
        if all(self.model.takes[pod][i] for pod in wanted) and not self._over:
            found = yield from self._grow(wanted, [i])
            while found and found[i] > 1 and not self._over:
                fewer = Counter({i: found[i] - 1})
                if not (yield from self._try(fewer, wanted)):
                    break
                found = fewer
            if found:
                self.alone[i] = found[i]

    def _shrink(self, wanted: Sequence[str]) -> Steps[None]:
        """Omit nodes, or replace a node by a cheaper one, as long as all pods are still scheduled."""
        seen: list[Set] = []
        while self.best is not None and self.best[1] not in seen:
            seen.append(self.best[1])
            for fewer in self._neighbors(self.best[1]):
                if self._over:
                    return
                if self.model.suffices(fewer, wanted) and (yield from self._try(fewer, wanted)):
                    break

    def _neighbors(self, chosen: Set) -> Iterator[Set]:
        for i in sorted(chosen, key=lambda i: -self.costs[i]):
            without = chosen - Counter({i: 1})
            yield without
            for j in sorted(self.useful, key=self.costs.__getitem__):
                if self.costs[j] < self.costs[i] and self._may(without + Counter({j: 1})):
                    yield without + Counter({j: 1})

    def _search_below(self, wanted: Sequence[str], bound: float) -> Steps[tuple[float, bool]]:
        """Try the sets that are cheaper than the best one, the cheapest first. Return the bound, and whether all were tried."""
        heap: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        raised = False
        for _ in range(LOOKED_AT):
            ceiling = self.best[0] if self.best else math.inf
            if not heap or heap[0][0] >= ceiling - EPSILON:
                return bound if raised else ceiling, self.best is not None
            cost, flat = heapq.heappop(heap)
            chosen = Counter(flat)
            if flat and cost >= bound - EPSILON and self.model.suffices(chosen, wanted):
                bound, raised = (bound, True) if raised else (max(bound, cost), True)
                if self._over:
                    return bound if raised else max(bound, heap[0][0]), False
                if (yield from self._try(chosen, wanted)):
                    return bound, True
            for grown in ((*flat, i) for i in self.useful if not flat or i >= flat[-1]):
                if self._may(Counter(grown)):
                    heapq.heappush(heap, (self._cost(Counter(grown)), grown))
        return bound if raised else max(bound, heap[0][0]), False


def _asks_for_zones(pod: Pod | None) -> bool:
    """Return whether the zone of a node can matter to a pod."""
    spec = pod.manifest["spec"] if pod else {}
    return any(spec.get(name) for name in ("nodeSelector", "affinity", "topologySpreadConstraints", "volumes"))
