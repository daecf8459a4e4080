"""The state after a step of a timeline in the format of the corpus. README-queue.md, "expect"."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.base.trace.kinds import ApiCall
from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework.events import ObjectEvent
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.world.simulation import Simulation

Shown = dict[str, Any]

# Left out of the recordings of newer releases.
_UNTOLD = ("inFlightEvents", "pending", "unschedulablePodsGauge")
_CONDITION_FIELDS = ("status", "reason", "message", "observedGeneration")


class Observer:
    """Remembers the previous step in order to show changes."""

    unseen: ClassVar[Shown] = {"new": True}  # a new pod is shown even if there is nothing to say about it

    def __init__(self, sim: Simulation, partly: bool = False) -> None:
        self._untold = _UNTOLD if partly else ()
        self._sim = sim
        self._pods: dict[str, Shown] = {}
        self._events = 0
        self._incoming: Counter[tuple[str, str]] = Counter()
        self._attempts: Counter[tuple[str, str]] = Counter()

    def look(self, records: Iterable[Record], result: Shown | None) -> Shown:
        """The world after a step that wrote these records."""
        scheduler = self._sim.schedulers[0]
        queue = scheduler.queue
        shown = {
            **self.show_common(records),
            "activeQ": [entry_json(entry) for entry in queue.active()],
            "backoffQ": [entry_json(entry, backoff=True) for entry in queue.backoff_after_refusal()],
            "errorBackoffQ": [entry_json(entry, backoff=True) for entry in queue.backoff_after_error()],
            "unschedulable": sorted(
                (entry_json(entry) for entry in (*queue.unschedulable(), *queue.gated())),
                key=lambda entry: str(entry["pod"]),
            ),
            "inFlightEvents": sorted(_in_flight_label(item) for item in queue.flight.items()),
            "incoming": _count_growth(self._incoming, queue.metrics.incoming),
            "scheduleAttempts": _count_growth(self._attempts, queue.metrics.attempts),
            "pending": pending(scheduler),
            "unschedulablePodsGauge": {
                f"{plugin}/{profile}": n for (plugin, profile), n in queue.metrics.unschedulable.items() if n
            },
            "result": result,
        }
        return {name: value for name, value in shown.items() if (value or name == "t") and name not in self._untold}

    def show_common(self, records: Iterable[Record]) -> Shown:
        """Return the fields that every kind of timeline has."""
        scheduler = self._sim.schedulers[0]
        calls = [call for record in records if (call := record.of(ApiCall)) is not None]
        return {
            "t": seconds(self._sim.now),
            "inFlight": sorted(pod.key for pod in scheduler.queue.in_flight),
            "bound": {pod.key: pod.node_name for pod in self._sim.store.pods() if pod.node_name},
            "assumed": dict(scheduler.cache.assumed),
            "waitingOnPermit": sorted(waiting.pod.key for waiting in scheduler.pods_waiting()),
            "nominated": {node: list(keys) for node, keys in scheduler.queue.nominator.everything().items()},
            "podStatus": self._diff_pods(),
            "events": self._new_events(),
            "apiCalls": [self.call_text(call) for call in calls],
        }

    def pod_json(self, pod: Pod) -> Shown:
        shown: Shown = {
            "nominatedNodeName": pod.nominated_node_name,
            "nodeName": pod.node_name,
            "phase": "" if pod.phase == "Pending" else pod.phase,
            "terminating": pod.deleting,
        }
        for kind in ("PodScheduled", "DisruptionTarget"):
            condition: Mapping[str, Any] = pod.condition(kind) or {}
            shown[kind] = {name: condition[name] for name in _CONDITION_FIELDS if condition.get(name)}
        return {name: value for name, value in shown.items() if value}

    def call_text(self, call: ApiCall) -> str:
        if call.verb == "BIND":
            failed = " FAILED" if call.fault else " ERROR" if call.error else ""
            return f"BIND {call.pod} -> {call.node}{failed}"
        if call.verb == "DELETE":
            return f"DELETE {call.pod}"
        if call.verb == "PATCH":
            return f"PATCH {call.pod} status {' '.join(call.status or ())}"
        if self._untold:  # as newer releases were recorded
            return f"UPDATE {call.kind.lower()}s {call.object.rpartition('/')[2]}"
        patch = call.patch or {}
        name = call.object
        if call.kind == "PersistentVolume":
            ref = patch["spec"]["claimRef"]
            return f"UPDATE persistentvolumes/{name.strip('/')} claimRef={ref['namespace']}/{ref['name']}"
        node = next(iter(patch["metadata"]["annotations"].values()))
        return f"UPDATE persistentvolumeclaims/{name} selected-node={node}"

    def event_json(self, event: KubeEvent) -> Shown:
        shown = {
            "type": event.type,
            "reason": event.reason,
            "action": event.action,
            "object": f"{event.namespace}/{event.name}",
            "message": event.message,
            "related": event.related,
        }
        return {name: value for name, value in shown.items() if value}

    def _diff_pods(self) -> Shown:
        now = {pod.key: self.pod_json(pod) for pod in self._sim.store.pods()}
        changed: Shown = {key: state for key, state in now.items() if self._pods.get(key, self.unseen) != state}
        changed |= {key: None for key in self._pods if key not in now}
        self._pods = now
        return changed

    def _new_events(self) -> list[Shown]:
        events = self._sim.store.events
        fresh, self._events = events[self._events :], len(events)
        return [self.event_json(event) for event in fresh]


def seconds(t: int) -> float:
    return t / 10**9


def entry_json(entry: QueuedPod, backoff: bool = False) -> Shown:
    until = seconds(entry.backoff_until or 0) if backoff else None
    return describe_entry(
        entry, until, {"pod": entry.key, "priority": entry.pod.priority, "gated": bool(entry.gated_by)}
    )


def describe_entry(entry: QueuedPod, until: float | None, own: Shown) -> Shown:
    """Describe a queued pod or group with its nonempty `own` fields. `until`: the end of its backoff."""
    times: Shown = {
        "timestamp": seconds(entry.timestamp),
        "initialAttemptTimestamp": None if entry.initial_timestamp is None else seconds(entry.initial_timestamp),
        "backoffExpiration": until,
    }
    shown: Shown = {
        **own,
        "attempts": entry.attempts,
        "unschedulableCount": entry.unschedulable_count,
        "consecutiveErrorsCount": entry.error_count,
        "unschedulablePlugins": list(entry.unschedulable_plugins),
        "pendingPlugins": list(entry.pending_plugins),
        "gatingPlugin": entry.gated_by,
    }
    stated = {name: value for name, value in shown.items() if value}
    return stated | {name: time for name, time in times.items() if time is not None}


def _in_flight_label(item: Pod | ObjectEvent) -> str:
    return f"pod:{item.key}" if isinstance(item, Pod) else f"event:{item.event.label}"


def pending(scheduler: Scheduler) -> Shown:
    """Return scheduler_pending_pods by queue."""
    queue = scheduler.queue
    counts = {
        "active": len(queue.active_pods),
        "backoff": len(queue.backoff_pods) + len(queue.error_backoff_pods),
        **queue.metrics.waiting,
    }
    return {name: n for name, n in counts.items() if n}


def _count_growth(before: Counter[tuple[str, str]], now: Counter[tuple[str, str]]) -> Shown:
    grown = {f"{a}/{b}": n - before[a, b] for (a, b), n in now.items() if n != before[a, b]}
    before.clear()
    before.update(now)
    return grown
