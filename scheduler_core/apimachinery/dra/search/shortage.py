"""Whether fewer devices are left than a request needs. Then the search has no solution, and how many tries it takes to see that is known.

Every step looks at all devices, and goes on from each that is free and suits: T(m) = all + m * T(m - 1) tries with m of these left.
This holds where nothing but the selectors decides, and they have answered for all devices.
"""

from __future__ import annotations

from scheduler_core.apimachinery.dra.search.attempt import Attempt
from scheduler_core.apimachinery.dra.search.requests import Wanted
from scheduler_core.apimachinery.dra.search.tentative import Position, Tentative
from scheduler_core.apimachinery.dra.slices import Device


def tries_in_vain(attempt: Attempt, tentative: Tentative, at: Position, wanted: Wanted) -> int | None:
    """Return the number of tries until the search fails; None if it is unknown, or if the search may succeed."""
    ask = wanted.ask
    if ask.all_devices or ask.admin or attempt.features.consumable or attempt.claims[at.claim].constraints:
        return None
    known = attempt.known_matches(at.key)
    left = total = 0
    for pool in attempt.pools:
        if pool.invalid:
            return None
        for each in pool.slices:
            total += len(each.devices)
            for device in each.devices:
                if tentative.in_use(at.claim, ask, device.id) or known.get(device.id) is False:
                    continue
                if device.id not in known or _something_else_decides(attempt, device):
                    return None
                left += 1
    if left >= wanted.count - at.device:
        return None
    tries = total
    for m in range(1, left + 1):
        tries = total + m * tries
    return tries


def _something_else_decides(attempt: Attempt, device: Device) -> bool:
    return bool(device.counters) or (attempt.features.taints and bool(device.taints))
