"""Zones of nodes: how many of their nodes are lost, and the rate of NoExecute taints.

| state | condition | nodes tainted per second |
|---|---|---|
| Normal | any other | --node-eviction-rate |
| PartialDisruption | 3 nodes and --unhealthy-zone-threshold of all are lost | --secondary-node-eviction-rate, or none in a small zone |
| FullDisruption | no node is ready | --node-eviction-rate, none if all zones are in this state |

A small zone has up to --large-cluster-size-threshold nodes. A zone's rate is a bucket with room for one token, full at first; at a rate
of 0 it is never refilled.

kube: pkg/controller/nodelifecycle/node_lifecycle_controller.go (handleDisruption, ComputeZoneState), pkg/controller/nodelifecycle/
scheduler/rate_limited_queue.go, client-go/util/flowcontrol/throttle.go @ v1.34.1
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.controllers.memory.nodes import Zone
from scheduler_core.scheduler.config.cluster import ControllerManagerOptions

INITIAL, NORMAL, PARTIAL, FULL = "Initial", "Normal", "PartialDisruption", "FullDisruption"
TICK = 100 * MILLISECOND  # how often the queue is polled
RETRY = 50 * MILLISECOND
NEVER = -1.0  # the rate of kube's limiter that admits no node
_SAID_OF_NEVER = 1.0  # the rate which that limiter reports
_END = 1 << 62
Done = bool


class Census(NamedTuple):
    """The numbers of ready and not ready nodes of a zone."""

    ready: int
    lost: int

    @property
    def size(self) -> int:
        return self.ready + self.lost


def state_of(census: Census, threshold: float) -> str:
    """Return the state of a zone; `threshold`: the share of lost nodes from which it is disrupted."""
    if census.ready == 0 and census.lost > 0:
        return FULL
    if census.lost > 2 and census.lost / census.size >= threshold:
        return PARTIAL
    return NORMAL


def new_zone(flags: ControllerManagerOptions) -> Zone:
    return Zone(INITIAL, flags.node_eviction_rate, 0)


def rate_of(state: str, size: int, flags: ControllerManagerOptions) -> float:
    """Return how many nodes of a zone may be tainted per second, if not all zones are lost."""
    if state != PARTIAL:
        return flags.node_eviction_rate
    return flags.secondary_node_eviction_rate if size > flags.large_cluster_size_threshold else 0.0


def set_rate(zone: Zone, rate: float, now: int) -> None:
    """Set a zone's rate. An available token is kept; the wait for a missing token starts again."""
    # kube compares with the limiter's QPS(), and its never-limiter reports 1: a stopped zone that should get a rate of 1
    # stays stopped.
    if rate == (_SAID_OF_NEVER if zone.rate == NEVER else zone.rate):
        return
    # kube's SwapLimiter drains the new limiter if the old one was empty; otherwise every change of state would give
    # a zone a free token.
    had_token = _take(zone, now)
    zone.rate = rate if rate > 0 else NEVER
    zone.free_at = now if had_token else now + _interval(rate)


def take_on(zone: Zone, node: str, now: int) -> None:
    """Queue a node, unless it is queued or was tainted."""
    if node not in zone.seen:
        zone.seen[node] = None
        zone.waiting[node] = now


def let_go(zone: Zone, node: str) -> bool:
    """Remove a node from the queue, so that it can be queued again. Return whether it was queued or tainted."""
    known = node in zone.seen
    zone.seen.pop(node, None)
    zone.waiting.pop(node, None)
    return known


def serve(zone: Zone, now: int, taint: Callable[[str], Done]) -> None:
    """Taint as many nodes as the rate allows; a failure is retried."""
    while zone.waiting:
        at, node = min((at, node) for node, at in zone.waiting.items())
        # In this order, as in kube's RateLimitedTimedQueue.Try: a node that is not due yet still costs the token.
        if not _take(zone, now) or at > now:
            return
        if taint(node):
            zone.waiting.pop(node, None)
        else:
            # The extra nanosecond is kube's: `now.Add(wait + 1)`.
            zone.waiting[node] = now + RETRY + 1


def next_turn(zone: Zone, now: int) -> int | None:
    """Return the time (ns) when the next waiting node can be tainted; None if no turn is foreseen."""
    if not zone.waiting or zone.rate == NEVER or zone.free_at == _END:
        return None
    return align_to_period(max(now, zone.free_at), TICK)


def align_to_period(t: int, period: int) -> int:
    """Return the first iteration of a loop at or after a time; loops begin at 0."""
    return -(-t // period) * period


def follow(zones: Mapping[str, Zone], counts: Mapping[str, Census], flags: ControllerManagerOptions, now: int) -> str:
    """Set the states and rates of zones from the present counts; a zone that is not counted has no state. Return "entered" or "left" if
    that happened to full disruption of all zones, else "".
    """
    for key, zone in zones.items():
        if key not in counts:
            zone.state = ""
    counted = {key: zone for key, zone in zones.items() if zone.state}
    states = {key: state_of(counts[key], flags.unhealthy_zone_threshold) for key in counted}
    all_are = all(state == FULL for state in states.values())
    all_were = all(zone.state == FULL for zone in counted.values())
    if all_are and all_were:
        return ""
    for key, zone in counted.items():
        if all_are:
            set_rate(zone, 0.0, now)
        elif all_were or zone.state != states[key]:
            set_rate(zone, rate_of(states[key], counts[key].size, flags), now)
        zone.state = states[key]
    return "entered" if all_are else "left" if all_were else ""


def _take(zone: Zone, now: int) -> bool:
    """Take the zone's token. Return whether there was one."""
    if zone.rate == NEVER or zone.free_at > now:
        return False
    zone.free_at = now + _interval(zone.rate) if zone.rate else _END
    return True


def _interval(rate: float) -> int:
    """Return the time between two tokens (ns)."""
    return round(SECOND / rate) if rate > 0 else 0
