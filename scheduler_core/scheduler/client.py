"""The scheduler's API client: how long a call takes, and when it is made again.

As with client-go, a call that is answered 429 is made again after a second, at most ten times; and a status patch that is answered 500 or
503 after 10, 50 and 250 ms. Whoever asked for the call hears of the last answer only.

DEVIATION: kube adds up to a tenth of jitter to the pauses between status patches.

kube: client-go/rest/with_retry.go, scheduler/util/utils.go (PatchPodStatus, Retriable), client-go/util/retry (DefaultBackoff) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.api.faults import BIND, DELETE, STATUS, VOLUMES, Fault
from scheduler_core.clock.agenda import MILLISECOND, SECOND
from scheduler_core.scheduler.world import World

RETRY_AFTER = SECOND
MOST_RETRIES = 10
_PATCH_PAUSES = (10 * MILLISECOND, 50 * MILLISECOND, 250 * MILLISECOND)
_PATCHED_AGAIN = (500, 503)


def setting(world: World, call: str) -> int:
    """What a call of a kind takes (ns) where nothing else is said."""
    settings = world.settings
    if call == BIND:
        return settings.bind_cost
    return {STATUS: settings.patch_cost, DELETE: settings.evict_cost, VOLUMES: 0}[call]


def latency(world: World, call: str, pod: str, usual: int) -> int:
    """How long (ns) a call about a pod takes: as asked for, or the usual time."""
    if world.faults:
        fault = world.faults.get((call, pod))
        if fault is not None and fault.latency is not None:
            return fault.latency
    return usual


def pause(fault: Fault, tries: int) -> int | None:
    """How long (ns) the client waits before it makes a failed call again; None: it gives up. `tries` were made before."""
    if fault.code == 429:
        return RETRY_AFTER if tries < MOST_RETRIES else None
    if fault.call == STATUS and fault.code in _PATCHED_AGAIN and tries < len(_PATCH_PAUSES):
        return _PATCH_PAUSES[tries]
    return None
