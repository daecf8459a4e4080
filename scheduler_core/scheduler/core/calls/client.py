"""The scheduler's API client: latency, retries, and rate limits of API calls.

Like client-go, the client retries a call answered with 429 after a second, at most ten times; and a status patch answered with 500 or 503
after 10, 50 and 250 ms. The caller gets the last answer only.

The rate limits are client-go's: a bucket of `burst` tokens that gains `qps` tokens a second; each call takes one token, in the order of
the calls. The limits are the settings `client_qps` and `client_burst`, else those of the configuration's clientConnection unless they are
kube's default (50 and 100): without either there is no limit. As in kube, each scheduler has its own client, and a second one for its
Kubernetes Events.

DEVIATION: kube adds up to a tenth of jitter to the pauses between status patches; and a limit below LEAST_QPS counts as LEAST_QPS here,
so that no configuration exceeds the range of virtual time.

kube: scheduler/util/utils.go (PatchPodStatus, Retriable); client-go/rest/with_retry.go, util/retry (DefaultBackoff),
util/flowcontrol/throttle.go; golang.org/x/time/rate @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.faults import BIND, CLAIMS, DELETE, MAX_LATENCY, STATUS, VOLUMES, Call, Fault, take
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.base.trace.kinds import ApiThrottled
from scheduler_core.scheduler.core.world import Owner, SchedulerWorld
from scheduler_core.scheduler.framework.groups import KIND

RETRY_AFTER = SECOND
MOST_RETRIES = 10
_PATCH_PAUSES = (10 * MILLISECOND, 50 * MILLISECOND, 250 * MILLISECOND)
_PATCHED_AGAIN = (500, 503)


def setting(world: SchedulerWorld, call: str) -> int:
    """Return the default latency (ns) of a call by kind."""
    settings = world.settings
    if call == BIND:
        return settings.bind_cost
    return {STATUS: settings.patch_cost, DELETE: settings.evict_cost, VOLUMES: 0, CLAIMS: 0}[call]


UNREACHABLE = "dial tcp: i/o timeout"
_CALLS: Mapping[str, Call] = {BIND: "bind", STATUS: "status", DELETE: "delete", VOLUMES: "volumes", CLAIMS: "claims"}


def fault_of(caller: Owner, call: str, pod: str) -> Fault | None:
    """Return the fault for the next call of a kind about a pod; all calls fail if the caller is cut off."""
    if caller.hang is not None:
        return Fault(_CALLS[call], pod, 504, latency=min(caller.hang, MAX_LATENCY), message=UNREACHABLE)
    return caller.world.faults.get((call, pod)) if caller.world.faults else None


def take_fault(caller: Owner, call: str, pod: str) -> Fault | None:
    """Return the fault for a call answered now, and use up one of its remaining times."""
    if caller.hang is not None or not caller.world.faults:
        return fault_of(caller, call, pod)
    return take(caller.world.faults, call, pod)


def latency(caller: Owner, call: str, pod: str, usual: int) -> int:
    """Return the latency (ns) of a call about a pod: the fault's latency if set, else `usual`."""
    fault = fault_of(caller, call, pod)
    return usual if fault is None or fault.latency is None else fault.latency


def pause(fault: Fault, tries: int) -> int | None:
    """Return the pause (ns) before the client retries a failed call, or None if it gives up. `tries` counts earlier tries."""
    if fault.code == 429:
        return RETRY_AFTER if tries < MOST_RETRIES else None
    if fault.call == STATUS and fault.code in _PATCHED_AGAIN and tries < len(_PATCH_PAUSES):
        return _PATCH_PAUSES[tries]
    return None


KUBE_LIMITS = (50, 100)
LEAST_QPS = 1 / 3600


def read_limits(configuration: Mapping[str, Any]) -> tuple[float, int] | None:
    """Return the calls per second and the burst of a configuration, or None if calls are not limited."""
    connection = configuration.get("clientConnection") or {}
    limits = connection.get("qps") or 0, connection.get("burst") or 0
    return limits if limits[0] > 0 and limits != KUBE_LIMITS else None


def throttle(caller: Owner, call: str, pod: str, calls: int = 1) -> int:
    """Take tokens for the calls and return how long (ns) the client delays them.

    Each token taken delays the time at which the bucket is full by the interval between tokens.
    """
    settings = caller.world.settings
    limits = (settings.client_qps, settings.client_burst) if settings.client_qps else caller.limits
    if limits is None:
        return 0
    qps, burst = limits
    every, now = round(SECOND / max(qps, LEAST_QPS)), caller.world.now
    caller.bucket = max(caller.bucket, now) + every * calls
    wait = max(caller.bucket - now - every * max(burst, 1), 0)
    if wait:
        caller.world.record(ApiThrottled(call, pod, wait, qps, burst), caller.name)
    return wait


# The scheduler's event recorder: Kubernetes Events about pods.
# kube: client-go/tools/events/event_recorder.go @ v1.34.1

NOTE_LIMIT = 1024


def _reference(related: Pod) -> str:
    """Return the key of a pod, or the kind and the key of the group that a pod represents."""
    kind = related.manifest.get("kind")
    return f"{kind} {related.key}" if kind == KIND else related.key


def note(
    caller: Owner, pod: Pod, kind: str, reason: str, message: str, action: str, related: Pod | None = None
) -> None:
    """Record a Kubernetes Event about a pod."""
    world = caller.world
    text = message if len(message) <= NOTE_LIMIT else message[: NOTE_LIMIT - 4] + " ..."
    event = KubeEvent(
        world.now,
        kind,
        reason,
        "Pod",
        pod.namespace,
        pod.name,
        text,
        pod.spec.scheduler_name,
        action=action,
        related="" if related is None else _reference(related),
        version=pod.manifest["metadata"].get("resourceVersion", ""),
    )
    if caller.hang is None:  # else it is lost
        world.store.record(event)
        world.record(event.facts(), caller.name)
