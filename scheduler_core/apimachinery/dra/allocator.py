"""The structured allocator: finds the devices of a node that satisfy claims.

kube: dynamic-resource-allocation/structured/allocator.go, internal/experimental/allocator_experimental.go (Allocate) @ v1.34.1
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scheduler_core.apimachinery.dra.claims import Request, ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.features import AllocationError, DeviceFeatures
from scheduler_core.apimachinery.dra.results import (
    AllocatedState,
    AllocationResult,
    DeviceResult,
    claim_config,
    class_config,
    node_selector,
)
from scheduler_core.apimachinery.dra.search.attempt import Attempt, RequestKey, WantedByKey, prepare
from scheduler_core.apimachinery.dra.search.constraints import Amounts
from scheduler_core.apimachinery.dra.search.depth_first import FOUND, TOO_MANY, Search
from scheduler_core.apimachinery.dra.search.tentative import ChosenDevice, Tentative
from scheduler_core.apimachinery.dra.slices import Pool, PoolId, ResourceSlice, gather_pools
from scheduler_core.apimachinery.dra.taints import Selectors
from scheduler_core.apimachinery.dra.watch import Watch
from scheduler_core.apimachinery.objects import Manifest, Node
from scheduler_core.base.releases import Behavior

# DEVIATION: kube's search on a node ends after 10 s of real time (DRASchedulerFilterTimeout),
# here after about as many devices as it tries in that time.
MOST_TRIED = 20_000_000


@dataclass(frozen=True, slots=True)
class Allocation:
    """The outcome of a search on one node. `results`: one per claim; None if allocation fails. `tried`: the devices tried.

    `invalid`: nothing was found, and there were pools that could not be used.
    """

    results: tuple[AllocationResult, ...] | None
    tried: int
    invalid: bool = False


class Allocator:
    """Allocates for one state of the cluster; one object serves all nodes."""

    def __init__(
        self,
        features: DeviceFeatures,
        state: AllocatedState,
        classes: Mapping[str, DeviceClass],
        selectors: Selectors,
        slices: Mapping[PoolId, Sequence[ResourceSlice]] | None = None,
    ) -> None:
        self._features = features
        self._slices = slices or {}  # all of them, by pool
        self._state = state
        self._classes = classes
        self._selectors = selectors
        self._counters: dict[object, Amounts] = {}

    def allocate(
        self,
        node: Node,
        slices: Iterable[ResourceSlice],
        claims: Sequence[ResourceClaim],
        watch: Watch | None = None,
        budget: int = MOST_TRIED,
    ) -> Allocation:
        """Allocate devices for the claims from the slices that may be for the node, ordered by name.

        Raise AllocationError, in kube's words, if the cycle ends.
        Raise AllocationTimeout after `budget` devices, at the latest after MOST_TRIED.
        """
        try:
            return self._allocate(node, slices, claims, watch, min(budget, MOST_TRIED))
        except AllocationError as error:
            if watch is not None:
                watch.fail(str(error))
            raise

    def _allocate(
        self,
        node: Node,
        slices: Iterable[ResourceSlice],
        claims: Sequence[ResourceClaim],
        watch: Watch | None,
        budget: int,
    ) -> Allocation:
        features = self._features
        pools = gather_pools(slices, node, features, self._slices)
        attempt = Attempt(features, self._state, self._classes, self._selectors, node, claims, pools, budget, watch)
        if watch is not None:
            _show_pools(watch, pools)
        wanted, constraints = prepare(attempt)
        tentative = Tentative(attempt, constraints, self._counters)
        outcome = Search(attempt, wanted, tentative).run()
        if watch is not None:
            watch.end(outcome.value)
        if outcome is TOO_MANY:
            raise AllocationError("allocation max size exceeded")
        if outcome is not FOUND:
            skips = Behavior.INVALID_POOLS_SKIPPED in features.behaviors
            return Allocation(None, attempt.tried, skips and any(pool.invalid for pool in pools))
        results = [
            _result(index, claim, tentative.results[index], wanted, node, features)
            for index, claim in enumerate(claims)
        ]
        return Allocation(tuple(results), attempt.tried)


def _show_pools(watch: Watch, pools: Sequence[Pool]) -> None:
    for pool in pools:
        watch.check(
            "pool",
            not (pool.incomplete or pool.invalid),
            pool=str(pool.id),
            slices=[each.name for each in pool.slices],
            devices=sum(len(each.devices) for each in pool.slices),
            incomplete=pool.incomplete,
            invalid=pool.invalid,
        )


def _result(
    index: int,
    claim: ResourceClaim,
    chosen: Sequence[ChosenDevice],
    wanted: WantedByKey,
    node: Node,
    features: DeviceFeatures,
) -> AllocationResult:
    try:
        selector = node_selector(((taken.slice, taken.device) for taken in chosen), node.name, features)
    except AllocationError as error:
        raise AllocationError(f"create NodeSelector for claim {claim.name}: {error}") from None
    return AllocationResult(
        tuple(_device_result(taken, features) for taken in chosen),
        tuple(_configs(index, claim, wanted, features)),
        selector,
    )


def _device_result(taken: ChosenDevice, features: DeviceFeatures) -> DeviceResult:
    device, consumed = taken.device, taken.consumed
    return DeviceResult(
        taken.wanted.result_name,
        device.id,
        bool(taken.wanted.ask.admin),
        consumed is not None,
        tuple(sorted((consumed or {}).items(), key=lambda each: each[0])),
        (device.binding_conditions or ()) if features.binding else (),
        device.binding_failure_conditions if features.binding else (),
        taken.wanted.ask.tolerations_manifest if Behavior.RESULT_TOLERATIONS in features.behaviors else (),
    )


def _configs(index: int, claim: ResourceClaim, wanted: WantedByKey, features: DeviceFeatures) -> list[Manifest]:
    """Return the configs of the classes and then of the claim, each as often as the release repeats it."""
    once, unnamed = (each in features.behaviors for each in (Behavior.CLASS_CONFIGS_ONCE, Behavior.UNNAMED_CONFIGS))
    found: list[Manifest] = []
    by_class: dict[str, list[Manifest]] = {}
    for number in range(len(claim.requests)):
        first = wanted[RequestKey(index, number)]
        used = wanted[RequestKey(index, number, first.selected)]
        made = [class_config(config) for config in used.device_class.configs]
        if once:
            made = [{**config, "requests": []} for config in made]
            for config in by_class.get(used.device_class.name, made):
                config["requests"].append(used.result_name)
        if not once or by_class.setdefault(used.device_class.name, made) is made:
            found += made
    names = [
        {request.name, _format_selected_name(request, wanted[RequestKey(index, number)].selected)}
        for number, request in enumerate(claim.requests)
    ]
    for config in claim.configs:
        listed = config.get("requests") or ()
        times = sum(not each.isdisjoint(listed) for each in names) if listed else 1
        found += [claim_config(config)] * (min(times, 1) if unnamed else times)
    if unnamed:
        everywhere = (all(not each.isdisjoint(config.get("requests") or ()) for each in names) for config in found)
        found = [
            {name: value for name, value in config.items() if name != "requests" or not whole}
            for config, whole in zip(found, everywhere, strict=True)
        ]
    return found


def _format_selected_name(request: Request, selected: int) -> str | None:
    """The subrequest that was picked, as configs name it."""
    return f"{request.name}/{request.alternatives[selected].name}" if request.alternatives else None
