"""Timelines of pod groups and batching: the queue's entities, conditions of PodGroups, and counters. README-releases.md, "timelines"."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.base.clock.agenda import MILLISECOND
from scheduler_core.base.releases import Release
from scheduler_core.base.trace.kinds import ApiCall
from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.gates import resolve
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps.podgroups import steps
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.testing.conformance.timelines.compare import StepDifference, difference
from scheduler_core.testing.conformance.timelines.observe import Observer, Shown, seconds
from scheduler_core.testing.conformance.timelines.run import MICROSECOND, Op, Run
from scheduler_core.world.simulation import Simulation

_CALL = 10 * MICROSECOND
_CONDITION = ("status", "reason", "message")


def is_of_entities(timeline: Mapping[str, Any]) -> bool:
    """Return whether a timeline shows entities: what is popped is a pod or a group."""
    return any(isinstance((step.get("result") or {}).get("popped"), dict) for step in timeline["steps"])


def run_entities(timeline: Mapping[str, Any], release: Release) -> StepDifference | None:
    """Run such a timeline up to its first difference."""
    return EntityRun(timeline, release).difference()


def settings_of(timeline: Mapping[str, Any], release: Release) -> WorldSettings:
    """Return the settings of such a timeline: each write takes 10 microseconds, and nobody but the scheduler acts."""
    return WorldSettings(
        release=release,
        cycle_cost=0,
        bind_cost=_CALL,
        patch_cost=_CALL,
        evict_cost=_CALL,
        cluster=ClusterSettings(controllers=(), provisioners=(), run_kubelets=False),
        manual=True,
    ).changed(resolve(timeline.get("gates") or {}, release).settings)


class EntityRun(Run):
    """The world of one such timeline."""

    def __init__(self, timeline: Mapping[str, Any], release: Release) -> None:
        super().__init__(timeline, release, settings_of(timeline, release))
        self.entities = EntityObserver(self.sim)
        self.counted = not timeline.get("metricsLeftOut")

    def difference(self) -> StepDifference | None:
        """Run the timeline up to its first difference."""
        for number, step in enumerate(self.steps):
            self.records, self.result = [], None
            self._apply(step)
            if step["op"] != "advance":
                self._pass(MILLISECOND)
            seen = self.entities.look(self.records)
            if step["op"] == "scheduleOne":
                seen["result"] = self.result
            wanted = dict(step["expect"]) | ({"result": step["result"]} if "result" in step else {})
            if not self.counted:
                seen.pop("metrics", None)
            first = difference(number, step["op"], wanted, seen)
            if first is not None:
                return first
        return None

    def _apply(self, op: Op) -> None:
        if op["op"] == "scheduleOne":
            self.schedule_one(op)
        else:
            super()._apply(op)

    def schedule_one(self, op: Op) -> None:
        """Pop an entity, and begin its cycle."""
        entry = self._pop() if self.scheduler.queue.ready else None
        if entry is None:
            self.result = {"popped": None}
            return
        popped: Shown = {"pod": entry.pod.key}
        if entry.members:
            popped = {"podGroup": entry.pod.key, "pods": [each.key for each in entry.members]}
        self.result = {"popped": popped, "attempt": entry.attempts}
        self._change(lambda: steps.begin(self.scheduler, entry))


class EntityObserver:
    """Remembers what the step before showed."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._before = Observer(sim)
        self._pods: dict[str, Shown] = {}
        self._groups: dict[str, list[Shown]] = {}
        self._counts: Counter[str] = Counter()

    def look(self, records: Iterable[Record]) -> Shown:
        """Return what is seen of the world after a step that wrote these records."""
        sim, scheduler = self._sim, self._sim.schedulers[0]
        queue = scheduler.queue
        parked = sorted((*queue.unschedulable(), *queue.gated()), key=lambda entry: entry.key)
        shown = {
            "t": seconds(sim.now),
            "activeQ": [entity_json(entry) for entry in queue.active()],
            "backoffQ": [entity_json(entry) for entry in sorted(queue.backoff_after_refusal(), key=_order)],
            "errorBackoffQ": [entity_json(entry) for entry in sorted(queue.backoff_after_error(), key=_order)],
            "unschedulable": [entity_json(entry, parked=True) for entry in parked],
            "pendingPodGroupPods": _list_members(queue.state.pending),
            "incompletePodGroupPods": _list_members(queue.state.incomplete),
            "inFlight": sorted(pod.key for pod in queue.in_flight),
            "nominated": {node: list(keys) for node, keys in queue.nominator.everything().items()},
            "assumed": dict(scheduler.cache.assumed),
            "waitingOnPermit": sorted(waiting.pod.key for waiting in scheduler.pods_waiting()),
            "bound": {pod.key: pod.node_name for pod in sim.store.pods() if pod.node_name},
            "podStatus": self._diff_pods(),
            "podGroupStatus": self._diff_groups(),
            "events": [_event(event) for event in self._before.new_events()],
            "apiCalls": [_call(call) for record in records if (call := record.of(ApiCall)) is not None],
            "metrics": self._diff_counts(counters(scheduler)),
        }
        return {name: value for name, value in shown.items() if value or name == "t"}

    def _diff_pods(self) -> Shown:
        now = {pod.key: _pod_json(pod.manifest) for pod in self._sim.store.pods()}
        changed: Shown = {key: state for key, state in now.items() if self._pods.get(key, {}) != state}
        changed |= {key: None for key in self._pods if key not in now}
        self._pods = now
        return changed

    def _diff_groups(self) -> Shown:
        now = {}
        for each in self._sim.store.list("PodGroup"):
            conditions = (each.get("status") or {}).get("conditions") or ()
            fields = ("type", *_CONDITION)
            key = f"{each['metadata']['namespace']}/{each['metadata']['name']}"
            now[key] = [{name: one.get(name, "") for name in fields} for one in conditions]
        changed: Shown = {key: state for key, state in now.items() if self._groups.get(key, []) != state}
        self._groups = now
        return changed

    def _diff_counts(self, counts: Counter[str]) -> Shown:
        grown = {name: n - self._counts[name] for name, n in counts.items() if n != self._counts[name]}
        self._counts = counts
        return grown


def _order(entry: QueuedPod) -> tuple[int, int]:
    return -entry.pod.priority, entry.timestamp


def entity_json(entry: QueuedPod, parked: bool = False) -> Shown:
    """Return an entity as the corpus has it: kube computes the end of a backoff when somebody asks, and nobody asks of a parked pod."""
    until = None if parked and not entry.members else entry.backoff_until
    shown: Shown = {
        "podGroup" if entry.members else "pod": entry.pod.key,
        "timestamp": seconds(entry.timestamp),
        "initialAttemptTimestamp": None if entry.initial_timestamp is None else seconds(entry.initial_timestamp),
        "attempts": entry.attempts,
        "backoffExpiration": None if until is None else seconds(until),
        "unschedulableCount": entry.unschedulable_count,
        "consecutiveErrorsCount": entry.error_count,
        "unschedulablePlugins": list(entry.unschedulable_plugins),
        "pendingPlugins": list(entry.pending_plugins),
        "gatingPlugin": entry.gated_by,
        "pods": [entity_json(each) for each in entry.members],
    }
    kept = ("timestamp", "initialAttemptTimestamp", "backoffExpiration")
    return {name: value for name, value in shown.items() if value or (name in kept and value is not None)}


def _list_members(members: Mapping[str, Mapping[str, QueuedPod]]) -> Shown:
    return {group: sorted(pods) for group, pods in members.items() if pods}


def _pod_json(manifest: Mapping[str, Any]) -> Shown:
    status = manifest.get("status") or {}
    shown: Shown = {"nominatedNodeName": status.get("nominatedNodeName"), "nodeName": manifest["spec"].get("nodeName")}
    for condition in status.get("conditions") or ():
        if condition["type"] in ("PodScheduled", "DisruptionTarget"):
            shown[condition["type"]] = {name: condition[name] for name in _CONDITION if condition.get(name)}
    return {name: value for name, value in shown.items() if value}


def _event(shown: Shown) -> Shown:
    shown["object"] = f"Pod {shown['object']}"
    if shown.get("related") and " " not in shown["related"]:
        shown["related"] = f"Pod {shown['related']}"
    return shown


def _call(call: ApiCall) -> str:
    if call.verb == "BIND":
        return f"BIND {call.pod} -> {call.node}"
    return f"{call.verb} podgroup {call.object}" if call.kind == "PodGroup" else f"{call.verb} pod {call.pod}"


def counters(scheduler: Scheduler) -> Counter[str]:
    """Return the counters that the corpus has, by kube's names and labels."""
    queue, counts = scheduler.queue.metrics, Counter[str]()
    for (profile, result), n in queue.attempts.items():
        counts[f"schedule_attempts_total{{profile={profile},result={result}}}"] = n
    for (place, event), n in queue.incoming.items():
        counts[f"queue_incoming_pods_total{{event={event},queue={place}}}"] = n
    for (place, event, kind), n in queue.entities.items():
        counts[f"queue_incoming_entities_total{{event={event},queue={place},type={kind}}}"] = n
    counts["preemption_attempts_total{}"] = scheduler.figures.preemption_attempts
    for profile, batch in (scheduler.algorithm_state.batches or {}).items():
        for result, n in batch.attempts.items():
            counts[f"batch_attempts_total{{profile={profile},result={result}}}"] = n
        for reason, n in batch.flushed.items():
            counts[f"batch_cache_flushed_total{{profile={profile},reason={reason}}}"] = n
    return counts
