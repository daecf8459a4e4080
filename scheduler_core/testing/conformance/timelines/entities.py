"""Timelines of pod groups and batching: the queue's entities, conditions of PodGroups, and counters. README-releases.md, "timelines"."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.base.releases import Release
from scheduler_core.base.trace.kinds import ApiCall
from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.config.gates import resolve
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps.podgroups import steps
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.testing.conformance.timelines.observe import Observer, Shown, describe_entry, seconds
from scheduler_core.testing.conformance.timelines.run import MICROSECOND, Op, Run, quiet_settings
from scheduler_core.testing.differences import Difference
from scheduler_core.world.simulation import Simulation


def is_of_entities(timeline: Mapping[str, Any]) -> bool:
    """Return whether a timeline shows entities, which are pods or groups."""
    return any(isinstance((step.get("result") or {}).get("popped"), dict) for step in timeline["steps"])


def run_entities(timeline: Mapping[str, Any], release: Release) -> Difference | None:
    """Run a timeline of entities up to its first difference."""
    return EntityRun(timeline, release).difference()


def settings_of(timeline: Mapping[str, Any], release: Release) -> WorldSettings:
    """Return the settings of a timeline of entities: each write takes 10 microseconds, and only the scheduler acts."""
    gates = resolve(timeline.get("gates") or {}, release).settings
    return quiet_settings(release).changed({"evict_cost": 10 * MICROSECOND, **gates})


class EntityRun(Run):
    """The world of one timeline of entities."""

    unticked = ("advance",)

    def __init__(self, timeline: Mapping[str, Any], release: Release) -> None:
        super().__init__(timeline, release, settings_of(timeline, release))
        self.observer = EntityObserver(self.sim)
        self.forgets_faults = False
        self.counted = not timeline.get("metricsLeftOut")

    def expected(self, step: Op) -> Op:
        return {**step["expect"], **({"result": step["result"]} if "result" in step else {})}

    def look(self, step: Op) -> Shown:
        seen = super().look(step)
        if not self.counted:
            seen.pop("metrics", None)
        return seen

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


class EntityObserver(Observer):
    """Shows pods and groups as entities."""

    unseen: ClassVar[Shown] = {}

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        self._groups: dict[str, list[Shown]] = {}
        self._counts: Counter[str] = Counter()

    def look(self, records: Iterable[Record], result: Shown | None) -> Shown:
        scheduler = self._sim.schedulers[0]
        queue = scheduler.queue
        parked = sorted((*queue.unschedulable(), *queue.gated()), key=lambda entry: entry.key)
        shown = {
            **self.show_common(records),
            "activeQ": [entity_json(entry) for entry in queue.active()],
            "backoffQ": [entity_json(entry) for entry in sorted(queue.backoff_after_refusal(), key=_order)],
            "errorBackoffQ": [entity_json(entry) for entry in sorted(queue.backoff_after_error(), key=_order)],
            "unschedulable": [entity_json(entry, parked=True) for entry in parked],
            "pendingPodGroupPods": _list_members(queue.state.pending),
            "incompletePodGroupPods": _list_members(queue.state.incomplete),
            "podGroupStatus": self._diff_groups(),
            "metrics": self._diff_counts(counters(scheduler)),
            "result": result,
        }
        return {name: value for name, value in shown.items() if value or name == "t"}

    def pod_json(self, pod: Pod) -> Shown:
        shown = super().pod_json(pod)
        for kind in ("PodScheduled", "DisruptionTarget"):
            shown.get(kind, {}).pop("observedGeneration", None)
        return {name: value for name, value in shown.items() if name not in ("phase", "terminating")}

    def event_json(self, event: KubeEvent) -> Shown:
        shown = super().event_json(event)
        shown["object"] = f"Pod {shown['object']}"
        if shown.get("related") and " " not in shown["related"]:
            shown["related"] = f"Pod {shown['related']}"
        return shown

    def call_text(self, call: ApiCall) -> str:
        if call.verb == "BIND":
            return f"BIND {call.pod} -> {call.node}"
        return f"{call.verb} podgroup {call.object}" if call.kind == "PodGroup" else f"{call.verb} pod {call.pod}"

    def _diff_groups(self) -> Shown:
        now = {}
        for each in self._sim.store.list("PodGroup"):
            conditions = (each.get("status") or {}).get("conditions") or ()
            fields = ("type", "status", "reason", "message")
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
    """Return an entity in the format of the corpus. kube computes the end of a backoff on demand, and never for a parked pod."""
    until = None if parked and not entry.members else entry.backoff_until
    own: Shown = {
        "podGroup" if entry.members else "pod": entry.pod.key,
        "pods": [entity_json(each) for each in entry.members],
    }
    return describe_entry(entry, None if until is None else seconds(until), own)


def _list_members(members: Mapping[str, Mapping[str, QueuedPod]]) -> Shown:
    return {group: sorted(pods) for group, pods in members.items() if pods}


def counters(scheduler: Scheduler) -> Counter[str]:
    """Return the counters of the corpus by kube's names and labels."""
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
