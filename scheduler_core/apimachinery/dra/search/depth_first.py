"""The search for devices: depth first over claims, requests, subrequests and devices; the first full solution is taken.

Each step is allocateOne of kube; what kube does by recursion is here a generator that yields its next step, so that no claim is too deep.
kube tries the same devices in every order, which may take it hours; here a situation that led nowhere is remembered, and its tries are
only counted again.

| it looks for | then |
|---|---|
| the next claim | nothing left: found |
| the next request of a claim | its subrequests are tried in their order |
| the next device of a request for a count | the first one that suits; where that leads nowhere it is undone, and the next one tried |
| the next device of a request for all | that very one |

kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (allocateOne) @ v1.34.1
"""

import enum
from collections.abc import Generator

from scheduler_core.apimachinery.dra import watch as seen
from scheduler_core.apimachinery.dra.claims import MAX_RESULTS
from scheduler_core.apimachinery.dra.features import STABLE, AllocationError
from scheduler_core.apimachinery.dra.search.attempt import Attempt, RequestNeeds, WantedByKey
from scheduler_core.apimachinery.dra.search.tentative import ChosenDevice, Position, Tentative
from scheduler_core.apimachinery.dra.slices import Device, ResourceSlice

# Whether fewer devices are left than a request needs. Then the search has no solution, and how many tries it takes to see that is known.
#
# Every step looks at all devices, and goes on from each that is free and suits: T(m) = all + m * T(m - 1) tries with m of these left.
# This holds where nothing but the selectors decides, and they have answered for all devices.


def tries_in_vain(attempt: Attempt, tentative: Tentative, at: Position, wanted: RequestNeeds) -> int | None:
    """Return the number of tries until the search fails; None if it is unknown, or if the search may succeed."""
    ask = wanted.ask
    if ask.all_devices or ask.admin or attempt.features.consumable or attempt.claims[at.claim].constraints:
        return None
    known = attempt.known_matches(at.key)
    if not attempt.skips_pools and any(pool.invalid for pool in attempt.pools):
        return None
    suits = []
    for _, device in attempt.candidates[at.start :]:
        free = not tentative.in_use(at.claim, ask, device.id) and known.get(device.id) is not False
        if free and (device.id not in known or _something_else_decides(attempt, device)):
            return None
        suits.append(free)
    left, total = sum(suits), len(suits)
    if left >= wanted.count - at.device:
        return None
    tries = total
    if attempt.in_order:
        after = sums = 0
        for place, free in enumerate(reversed(suits), 1):
            sums += after if free else 0
            after = place + sums
        return after
    for m in range(1, left + 1):
        tries = total + m * tries
    return tries


def _something_else_decides(attempt: Attempt, device: Device) -> bool:
    return bool(device.counters) or (attempt.features.taints and bool(device.taints))


class Outcome(enum.Enum):
    """The outcome of a step. TOO_MANY: the claim would have more devices than allowed, whatever follows."""

    FOUND = seen.FOUND
    NONE = seen.NONE
    TOO_MANY = seen.TOO_MANY


FEW = 100  # devices; short searches remember nothing

FOUND, NONE, TOO_MANY = Outcome.FOUND, Outcome.NONE, Outcome.TOO_MANY
Steps = Generator["Steps", Outcome, Outcome]


class Search:
    """A search on one node. At the end, `tentative` has the chosen devices."""

    def __init__(self, attempt: Attempt, wanted: WantedByKey, tentative: Tentative) -> None:
        self._attempt = attempt
        self._wanted = wanted
        self._tentative = tentative
        self._watch = attempt.watch
        self._failed: dict[tuple[Position, bool, tuple[object, ...]], tuple[Outcome, int]] = {}
        # The stable allocator goes on searching where a claim would have too many devices.
        self._too_many = NONE if attempt.features.allocator == STABLE else TOO_MANY

    def run(self) -> Outcome:
        """Run the search. Raise AllocationError if the search meets an error or its timeout."""
        open_steps = [self._one(Position(), False)]
        outcome: Outcome | None = None
        while open_steps:
            step = open_steps[-1]
            try:
                inner = next(step) if outcome is None else step.send(outcome)
            except StopIteration as end:
                open_steps.pop()
                outcome = end.value
            else:
                open_steps.append(inner)
                outcome = None
        assert outcome is not None
        return outcome

    def _one(self, at: Position, in_sub: bool) -> Steps:
        """Choose one device of a request, or continue with the next request or claim. `in_sub`: a subrequest is already chosen."""
        attempt = self._attempt
        attempt.check_time()
        if at.claim >= len(attempt.claims):
            return FOUND
        if at.request >= len(attempt.claims[at.claim].requests):
            outcome = yield self._one(Position(at.claim + 1), False)
            return NONE if outcome is TOO_MANY else outcome
        wanted = self._wanted[at.key]
        if wanted.parent is not None and not in_sub:
            return (yield self._alternatives(at, wanted))
        if wanted.ask.all_devices and not wanted.all:
            return self._dead_end(at, wanted, NONE)
        if at.device >= wanted.count:
            return (yield self._one(Position(at.claim, at.request + 1), False))
        if len(self._tentative.results[at.claim]) + wanted.count - at.device > MAX_RESULTS:
            return self._dead_end(at, wanted, self._too_many)
        if attempt.looked >= FEW:
            return (yield self._unless_known(at, wanted, in_sub))
        return (yield self._devices(at, wanted, in_sub))

    def _unless_known(self, at: Position, wanted: RequestNeeds, in_sub: bool) -> Steps:
        """Search for devices unless the outcome is known: the same devices in another order have the same outcome.

        The search also fails if too few devices are left.
        """
        attempt = self._attempt
        in_vain = tries_in_vain(attempt, self._tentative, at, wanted)
        if in_vain is not None:
            self._dead_end(at, wanted, NONE, again=in_vain)
            attempt.skip(in_vain)
            return NONE
        situation = (at, in_sub, self._tentative.fingerprint(at.claim))
        known = self._failed.get(situation)
        if known is not None:
            outcome, tries = known
            self._dead_end(at, wanted, outcome, again=tries)
            attempt.skip(tries)
            return outcome
        before, forgotten = attempt.tried, self._tentative.forgotten
        outcome = yield self._devices(at, wanted, in_sub)
        if outcome is not FOUND and forgotten == self._tentative.forgotten:
            self._failed[situation] = outcome, attempt.tried - before
        return outcome

    def _devices(self, at: Position, wanted: RequestNeeds, in_sub: bool) -> Steps:
        search = self._next_of_all if wanted.ask.all_devices else self._any
        if self._watch is None:
            return (yield search(at, wanted, in_sub))
        self._begin_request(at, wanted)
        outcome = yield search(at, wanted, in_sub)
        self._watch.end(outcome.value)
        return outcome

    def _alternatives(self, at: Position, wanted: RequestNeeds) -> Steps:
        """The first subrequest that leads to a solution. TOO_MANY where all of them do."""
        too_many = True
        while True:
            if at.key not in self._wanted:
                return TOO_MANY if too_many and self._too_many is TOO_MANY else NONE
            outcome = yield self._one(at, True)
            if outcome is FOUND:
                wanted.selected = at.sub
                return FOUND
            too_many = too_many and outcome is TOO_MANY
            at = at._replace(sub=at.sub + 1)

    def _next_of_all(self, at: Position, wanted: RequestNeeds, in_sub: bool) -> Steps:
        """Choose the next device of a request for all devices, in the only order tried. kube forgets the subrequest after the first
        device.
        """
        each, device = wanted.all[at.device]
        self._attempt.tried += 1
        self._begin_device(device)
        taken = self._tentative.take(at, wanted, each, device, True)
        if taken is None:
            self._end_device(seen.REFUSED)
            return NONE
        sub = at.sub if self._attempt.in_order else 0
        outcome = yield self._one(Position(at.claim, at.request, sub, at.device + 1), in_sub)
        if outcome is not FOUND:
            self._tentative.undo(at, taken)
        self._end_device(seen.FOUND if outcome is FOUND else seen.UNDONE)
        return outcome

    def _any(self, at: Position, wanted: RequestNeeds, in_sub: bool) -> Steps:
        """Pool by pool, slice by slice, device by device."""
        attempt = self._attempt
        for place, (each, device) in enumerate(attempt.candidates[at.start :], at.start):
            if place in attempt.broken:
                raise AllocationError(attempt.broken[place])
            self._begin_device(device)
            taken = self._try(at, wanted, each, device)
            if taken is None:
                self._end_device(seen.REFUSED)
                continue
            following = at._replace(device=at.device + 1, start=place + 1 if attempt.in_order else 0)
            outcome = yield self._one(following, in_sub)
            if outcome is FOUND:
                self._end_device(seen.FOUND)
                return FOUND
            self._tentative.undo(at, taken)
            self._end_device(seen.UNDONE)
            if outcome is TOO_MANY:
                return TOO_MANY
        if len(attempt.candidates) in attempt.broken:
            raise AllocationError(attempt.broken[len(attempt.candidates)])
        return NONE

    def _try(self, at: Position, wanted: RequestNeeds, each: ResourceSlice, device: Device) -> ChosenDevice | None:
        attempt, ask = self._attempt, wanted.ask
        attempt.tried += 1
        if self._tentative.in_use(at.claim, ask, device.id):
            if self._watch is not None:
                self._watch.check("in-use", False)
            return None
        if not attempt.selectable(at.key, ask, wanted.device_class, each, device):
            return None
        if attempt.features.consumable and not attempt.has_capacity(ask, device):
            return None
        return self._tentative.take(at, wanted, each, device, False)

    def _dead_end(self, at: Position, wanted: RequestNeeds, outcome: Outcome, **facts: int) -> Outcome:
        """Record a step without a device to try: none matches, the claim would have too many, or the outcome is known."""
        if self._watch is not None:
            self._begin_request(at, wanted)
            self._watch.end(outcome.value, **facts)
        return outcome

    def _begin_request(self, at: Position, wanted: RequestNeeds) -> None:
        assert self._watch is not None
        self._watch.begin(
            "request" if wanted.parent is None else "subrequest",
            claim=self._attempt.claims[at.claim].key,
            request=wanted.result_name,
            number=at.device + 1,
            count=wanted.count,
        )

    def _begin_device(self, device: Device) -> None:
        if self._watch is not None:
            self._watch.begin("device", device=str(device.id))

    def _end_device(self, outcome: str) -> None:
        if self._watch is not None:
            self._watch.end(outcome)
