"""Explanations of why a pod is not on a node. Nothing changes: plugins run on the scheduler's current cache.

kube: pkg/scheduler/schedule_one.go, backend/queue/scheduling_queue.go @ v1.34.1
"""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from scheduler_core.analysis.explain import standing, waiting, workloads
from scheduler_core.analysis.explain.claims import NOT_CREATED, STOPS_CLAIM, find_blocked_claims
from scheduler_core.analysis.explain.ended import FAILED, Past, explain_failed, explain_refused, sort_out
from scheduler_core.analysis.explain.explanation import Explanation, Fact, GivenReason, Preemption, State
from scheduler_core.analysis.explain.holders import WAKING, explain_bypass, find_holders, find_resizes
from scheduler_core.analysis.explain.missing_pods import explain_uncreated
from scheduler_core.analysis.explain.objects import explain_object
from scheduler_core.analysis.explain.placement import MIRROR, Placement, explain_place, note, was_not_scheduled
from scheduler_core.analysis.explain.provenance import trace_pod, trace_surge
from scheduler_core.analysis.explain.refusals import build_reason, classify_reason, refusals
from scheduler_core.analysis.fixes.admission import SCHEDULER, find_stopped
from scheduler_core.analysis.fixes.diagnosis import Diagnosis, diagnose_on, scheduler_for, words_of_others
from scheduler_core.analysis.fixes.meanings import advise, find_groups, index_events, runs_scheduler
from scheduler_core.analysis.fixes.search import bring_on
from scheduler_core.analysis.fixes.workloads import OBJECTS, VOLUME, find_object, is_kept
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.journal import Attempt
from scheduler_core.scheduler.cache.pod_classes import NO_POD
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.algorithm.post_filter import NO_NODES
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework import Action, ClusterEvent, On, Point, Status
from scheduler_core.scheduler.framework.reasons import REFUSED, read_reason
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.runtime.points import run_pre_enqueue
from scheduler_core.scheduler.queue.hints import list_registrations
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.world.readonly import WorldView
from scheduler_core.world.simulation import Simulation

# Why evicting pods of lower priority did not make room: PostFilter's last message, split by the reasons of its plugins.

_START = "preemption: "
_COUNTED = re.compile(r"(\d+) (.+?)(?=, \d+ |\.?$)")
_HEAD = re.compile(r"0/\d+ nodes are available: ")


def preemption(framework: Framework, pod: Pod, nodes: NodeTable, attempt: Attempt | None) -> Preemption:
    """Return the preemption of a pod, with kube's message if there was an attempt."""
    table = nodes.pod_table
    lower = int(np.count_nonzero((table.priority < pod.priority) & (table.cls != NO_POD)))
    message = "" if attempt is None else attempt.message.partition(_START)[2]
    policy, parts = pod.spec.preemption_policy or "PreemptLowerPriority", tuple(_parts(framework, message))
    chosen = waiting.list_chosen(pod, nodes, attempt)
    nominated = pod.nominated_node_name if chosen or waiting.list_victims(pod, nodes) else ""
    return Preemption(pod.priority, policy, lower, message, parts, nominated, chosen)


def _parts(framework: Framework, message: str) -> list[tuple[str, str, int]]:
    head, counted = _HEAD.match(message), [(message, 0)] if message else []
    if head is not None:
        counted = [(match[2], int(match[1])) for match in _COUNTED.finditer(message[head.end() :])]
    return [(_code(framework, text), text, count) for text, count in counted]


def _code(framework: Framework, text: str) -> str:
    """Return the code of the first plugin that has such a reason, PostFilter plugins first."""
    for plugin in (*framework.at(Point.POST_FILTER), *framework.at(Point.FILTER)):
        said = read_reason(plugin.reasons, text)
        if said.code != REFUSED:
            return f"{plugin.name}/{said.code}"
    return f"Preemption/{REFUSED}"


# What requeues a waiting pod: time, and the events for which the plugins that rejected the pod registered.

_FAILS = ("running ", "binding ")  # prefixes of messages of cycles that end with an error instead of a rejection
_SINGLE = tuple(action for action in Action if action not in (Action.UPDATE, Action.ALL))


def wakes(scheduler: Scheduler, framework: Framework, entry: QueuedPod | None) -> tuple[int | None, tuple[str, ...]]:
    """Return the time of the queue's own retry (None: never, or at once), and the events that can retry the pod earlier."""
    if entry is None:
        return None, ()
    queue = scheduler.queue
    plugins = (entry.gated_by,) if entry.gated_by else entry.rejectors
    known = [plugin for plugin in map(framework.plugin, plugins) if plugin is not None]
    events = dict.fromkeys(name for each in known for on in list_registrations(each) for name in _names(on))
    if entry.key in queue.backoff_pods or entry.key in queue.error_backoff_pods:
        return entry.backoff_until, ()
    if entry.key in queue.unschedulable_pods:
        return queue.flush_due(entry), tuple(events)
    return None, tuple(events) if entry.gated_by else ()


def _names(on: On) -> list[str]:
    """Return kube's names of a registration's events, one by one: NodeAdd, PersistentVolumeClaimUpdate."""
    if on.action == Action.ALL:
        return [ClusterEvent(on.resource, Action.ALL).label]
    names = []
    if on.action & Action.UPDATE == Action.UPDATE:
        names.append(ClusterEvent(on.resource, Action.UPDATE).label)
    left = on.action & ~Action.UPDATE if names else on.action
    return [ClusterEvent(on.resource, each).label for each in _SINGLE if each & left] + names


FITS = 20  # named nodes
NAMED = 2  # named pods that preemption spares
SMALL = 200  # clusters up to this number of nodes compare each pod with all nodes


def explain(view: WorldView, key: str, past: Past | None = None) -> Explanation | None:
    """Return the explanation of a pod "namespace/name", of the missing pods "namespace/owner-*", of a workload "kind/namespace/name", of
    a node "Node/name", or of a namespace or a claim. Return None if the object is unknown.

    `past` is the past of this world in its current state; pass it to explain several pods. In a cluster that is not small, a running pod
    is then not compared with the other nodes.
    """
    found = _explain(view.itself, key, past)
    if found is None or not (found.problem or found.state in (State.BINDING, State.GONE)) or found.state is State.GATED:
        return found and found.date(view.itself.store)
    means = advise(view.itself, key, index_events(view.itself) if past is None else past.events)
    facts = (note("Means", meaning=each.code, **each.values) for each in means if not each.silent)
    return replace(found, facts=(*found.facts, *facts)).date(view.itself.store)


def _explain(world: Simulation, key: str, past: Past | None) -> Explanation | None:
    kind, _, rest = key.partition("/")
    if kind == workloads.NODE:
        return workloads.explain_node(world, rest)
    if (held := find_object(world, key)) is not None:
        return explain_object(world, key, held, past or Past(world))
    if kind == "PodGroup":
        members = (
            pod for pod in world.store.pods() if f"{pod.namespace}/{pod.spec.group}" == rest and not pod.node_name
        )
        return next((_explain(world, pod.key, past) for pod in members), None)
    if "/" in rest:
        return workloads.explain_workload(world, kind, *rest.split("/", 1))
    pod = world.store.pod_at(key)
    if pod is None:
        return _explain_absent_pod(world, key)
    compare, past = past is None or world.store.count("Node") <= SMALL, past or Past(world)
    if pod.deleting:
        return standing.explain_terminating(world, pod, past)
    if pod.phase == FAILED:
        return _with_bypass(world, pod, explain_failed(pod, past))
    if pod.node_name and world.store.node(pod.node_name) is None:
        text, total = f'spec.nodeName: no node is named "{pod.node_name}"', world.store.count("Node")
        values = {"nodeName": pod.node_name, "field": "spec.nodeName", "nodes": total}
        known = Explanation(pod.key, State.NO_SUCH_NODE, (GivenReason(State.NO_SUCH_NODE, "", text, evidence=values),))
        return replace(known, node=pod.node_name, total=total, predecessors=past.before(pod))
    if pod.node_name:
        refused = explain_refused(world, pod, pod.node_name, past)
        return _with_bypass(world, pod, refused) if refused else standing.explain_bound_pod(world, pod, past, compare)
    scheduler = scheduler_for(world, pod)
    framework = None if scheduler is None else scheduler.framework_of(pod)
    if scheduler is None or framework is None:
        return _nobodys(world, pod)
    return _PodQuestion(world, pod, scheduler, framework, past, compare).answer()


def list_problems(view: WorldView, past: Past | None = None) -> Iterator[Explanation]:
    """Yield an explanation of each object that is not in the desired state: pods, missing pods, workloads, and drains."""
    world = view.itself
    past = past or Past(world)
    bypassed = 0
    for pod in world.store.pods():
        skipped = bypassed < SMALL and MIRROR not in pod.annotations and was_not_scheduled(world, pod)
        bypassed += skipped
        if (
            (skipped or _may_lack(world, pod))
            and (found := explain(world, pod.key, past)) is not None
            and found.problem
        ):
            yield found
    yield from (each.date(world.store) for each in explain_uncreated(world))
    yield from list_stuck(view, past)


def list_stuck(view: WorldView, past: Past | None = None) -> Iterator[Explanation]:
    """Yield an explanation of each workload, deletion, and drain that makes no progress."""
    world = view.itself
    return (each.date(world.store) for each in _list_stuck(world, past or Past(world)))


def _list_stuck(world: Simulation, past: Past) -> Iterator[Explanation]:
    for kind in workloads.KINDS:
        for manifest in world.store.list(kind):
            meta = manifest["metadata"]
            each = workloads.explain_workload(world, kind, str(meta.get("namespace") or "default"), str(meta["name"]))
            if each is not None and any(fact.code in workloads.STICKING for fact in each.facts):
                yield each
    for kind in OBJECTS:
        for manifest in world.store.list(kind):
            meta = manifest["metadata"]
            if not (meta.get("deletionTimestamp") or (kind == VOLUME and is_kept(world, manifest))):
                continue
            yield explain_object(
                world, "/".join((kind, *filter(None, (meta.get("namespace"), meta["name"])))), manifest, past
            )
    for node in world.surroundings.nodes.drains:
        if (drained := workloads.explain_node(world, node)) is not None and drained.problem:
            yield drained
    for cordoned in world.store.nodes():
        if cordoned.unschedulable and cordoned.name not in world.surroundings.nodes.drains:
            blocked = workloads.explain_node(world, cordoned.name)
            if blocked is not None and blocked.problem:
                yield blocked


def _with_bypass(world: Simulation, pod: Pod, explanation: Explanation) -> Explanation:
    """Add, if so, that no scheduler decided about a pod that its kubelet refuses."""
    bypass = list(explain_bypass(world, pod)) if explanation.state is State.REFUSED else []
    others = (fact for fact in explanation.facts if not bypass or fact.code != "IsNotPlacedAgain")
    return replace(explanation, facts=(*others, *bypass))


def _may_lack(world: Simulation, pod: Pod) -> bool:
    """Return whether a pod could have a problem, and needs a closer look."""
    node = world.store.node(pod.node_name) if pod.node_name else None
    if pod.phase == "Succeeded":
        return False
    return node is None or pod.phase != "Running" or pod.deleting or node.ready not in ("", "True") or not pod.ready


def _explain_absent_pod(world: Simulation, key: str) -> Explanation | None:
    if key.endswith("-*"):
        return next((each for each in explain_uncreated(world) if each.pod == key), None)
    return workloads.explain_unborn(world, key) or standing.explain_gone(world, key)


def _nobodys(world: Simulation, pod: Pod) -> Explanation:
    name, facts = pod.spec.scheduler_name, tuple(workloads.describe_conditions(find_groups(world, pod)))
    reason = GivenReason(
        State.NO_SUCH_SCHEDULER,
        "",
        f'spec.schedulerName: no running scheduler has a profile named "{name}"',
        evidence={
            "schedulerName": name,
            "said": words_of_others(pod),
            "runs": "silent-scheduler" if runs_scheduler(world, name) else "",
            "field": "spec.schedulerName",
            "profiles": [profile for scheduler in world.schedulers for profile in scheduler.profiles],
        },
    )
    return Explanation(pod.key, State.NO_SUCH_SCHEDULER, (reason,), facts=facts)


class _PodQuestion:
    """The explanation of one pod for which a scheduler is responsible."""

    def __init__(
        self, world: Simulation, pod: Pod, scheduler: Scheduler, framework: Framework, past: Past, compare: bool
    ) -> None:
        self.world, self.pod, self.scheduler, self.framework = world, pod, scheduler, framework
        self.past, self.compare = past, compare
        index = world.journal.last_attempt.get(pod.key)
        self.attempt = None if index is None else world.journal.attempts[index]
        self.entry = waiting.find_entry(scheduler, pod)

    def answer(self) -> Explanation:
        binding = self._binding()
        if binding is not None and (stopped := find_stopped(self.world, SCHEDULER)) is not None:
            values = {"component": SCHEDULER, "by": stopped[0], "why": stopped[1]}
            halted = GivenReason("Component/Stopped", "", f"{SCHEDULER} does not run: {values['why']}", evidence=values)
            return self._explained(State.NOT_ATTEMPTED, (halted,))
        if binding is not None:
            refused = explain_refused(self.world, self.pod, binding, self.past)
            place = explain_place(self.world, self.pod, binding) if self.compare else Placement()
            reports = self.past.list_reports(self.pod)
            denied = self._list_contradictions()
            facts = (*denied, *standing.list_provisioners(self.world, self.pod), *reports, *place.facts)
            known = Explanation(
                self.pod.key, State.BINDING, place.reasons, node=binding, total=place.total, facts=facts
            )
            return refused or replace(known, predecessors=self.past.before(self.pod))
        gate = self._gate()
        if gate is not None:
            return self._gated(gate)
        nodes = self.scheduler.cache.table()
        if not len(nodes):
            reason = GivenReason(State.NO_NODES, "", NO_NODES)
            return self._explained(State.NO_NODES, (reason,))
        diagnosis = diagnose_on(self.scheduler, self.framework, self.pod, nodes)
        reasons, waits = refusals(diagnosis)
        feasible = diagnosis.feasible
        names = (nodes.names[row] for row in feasible)
        fits, kubelets = sort_out(self.world, self.pod, names, self.past, FITS)
        preempted = None if feasible else preemption(self.framework, self.pod, nodes, self.attempt)
        state = State.WAITING_FOR_CLAIM if waits else self._place()
        facts = tuple(self._list_facts(diagnosis, reasons, preempted, bool(fits)))
        said = reasons if fits else (*kubelets, *reasons)
        return self._explained(state, said, fits=fits, total=len(nodes), preemption=preempted, facts=facts)

    def _list_facts(
        self, diagnosis: Diagnosis, reasons: tuple[GivenReason, ...], preempted: Preemption | None, fits: bool
    ) -> Iterator[Fact]:
        """Yield the sources, the holders, and the reasons why preemption and the queue do not help."""
        yield from waiting.explain_group(self.world, self.pod, diagnosis)
        yield from () if fits else self.past.list_reports(self.pod, reasons)
        yield from trace_pod(self.world, self.pod, reasons, preempted is not None and preempted.lower > 0)
        chosen = preempted.nominated if preempted is not None and preempted.victims else ""
        yield from [*waiting.list_spared(self.world, diagnosis, chosen)][:NAMED] if chosen else ()
        holders = [] if fits or chosen else find_holders(self.world, diagnosis, reasons)
        yield from holders
        yield from () if fits else find_resizes(diagnosis, reasons)
        held = dict.fromkeys(str(fact.values["pod"]) for fact in holders)
        yield from trace_surge(self.world, self.pod.manifest, filter(None, map(self.world.store.pod_at, held)))
        yield from waiting.list_other_kinds(diagnosis, reasons)
        yield from waiting.explain_selection(self.world, self.pod, reasons)
        yield from waiting.list_near_tolerations(diagnosis, reasons)
        yield from waiting.list_tied_nodes(diagnosis, reasons)
        yield from find_blocked_claims(self.world, self.pod, reasons)
        yield from standing.list_lost_nodes(self.world, reasons)
        if preempted is not None:
            yield from waiting.explain_preemption(diagnosis, preempted, reasons)
        if self.entry is not None and self.entry.key in self.scheduler.queue.unschedulable_pods:
            # The end of a pod that the affinity selects helps only a pod that may be the first of its group.
            waking = (fact for fact in holders if fact.code in WAKING and fact.values.get("itself", True))
            keys = [str(fact.values["pod"]) for fact in waking]
            yield from waiting.explain_waking(self.world, self.framework, self.entry, self.attempt, keys, fits)

    def _explained(self, state: State, reasons: tuple[GivenReason, ...], **more: object) -> Explanation:
        until, events = wakes(self.scheduler, self.framework, self.entry)
        tried = 0 if self.entry is None else self.entry.attempts, "" if self.attempt is None else self.attempt.message
        more["predecessors"] = self.past.before(self.pod)
        return Explanation(self.pod.key, state, reasons, until, events, *tried, **more)  # type: ignore[arg-type]

    def _binding(self) -> str | None:
        bindings = self.scheduler.bindings.values()
        return next((binding.node for binding in bindings if binding.pod.key == self.pod.key), None)

    def _list_contradictions(self) -> Iterator[Fact]:
        """Yield the message of the original cluster's scheduler if it rejected the pod and this scheduler did not."""
        said = self.pod.condition("PodScheduled") or {}
        tried = (each for each in self.world.journal.attempts if each.pod == self.pod.key)
        if said.get("status") == "False" and said.get("message") and all(each.outcome == "scheduled" for each in tried):
            text = str(said["message"]).rstrip(". ")
            code = "CycleFailed" if text.startswith(_FAILS) else "ClusterSaysOtherwise"
            yield note(code, pod=self.pod.key, message=text)

    def _gate(self) -> Status | None:
        """Return the status of the PreEnqueue plugin that gates the pod, or None."""
        missing = self.pod.spec.group and self.scheduler.pod_group(self.pod.namespace, self.pod.spec.group) is None
        if self.entry is not None and not self.entry.gated_by and not missing:
            return None
        for plugin in self.framework.at(Point.PRE_ENQUEUE):
            status = run_pre_enqueue(plugin, self.pod).status
            if not status.ok and self.entry is not None:
                return status
        return None

    def _gated(self, status: Status) -> Explanation:
        said = classify_reason(self.framework, status, status.message)
        reason = build_reason(status, status.message, said, ())
        state = State.WAITING_FOR_CLAIM if said.waits_for_claim else State.GATED
        entries = (str(each.get("name")) for each in self.pod.manifest["spec"].get("resourceClaims") or ())
        if "claim" not in reason.evidence and state is State.WAITING_FOR_CLAIM:
            reason = replace(reason, evidence={**reason.evidence, "claim": ", ".join(entries)})
        facts = (*waiting.explain_group(self.world, self.pod), *find_blocked_claims(self.world, self.pod, (reason,)))
        absent = reason.code == NOT_CREATED and not any(fact.code in STOPS_CLAIM for fact in facts)
        ahead = self._look_ahead(str(reason.evidence["claim"])) if absent else None
        return ahead or self._explained(state, (reason,), facts=facts)

    def _look_ahead(self, claim: str) -> Explanation | None:
        """Explain why the pod would wait even after a claim missing in the input is created. Return None if it would not."""
        ahead, pod = bring_on(self.world, self.pod.key)
        if ahead is self.world or pod is None or pod.node_name:
            return None
        found = _explain(ahead, pod.key, None)
        if found is None or found.state in (State.WAITING_FOR_CLAIM, State.BINDING):
            return None
        fact = note("ClaimIsYetToCome", pod=pod.key, claim=claim)
        return replace(found, state=State.WAITING_FOR_CLAIM, facts=(*found.facts, fact))

    def _place(self) -> State:
        entry: QueuedPod | None = self.entry
        cycle = self.scheduler.cycle
        if entry is None:
            runs = cycle is not None and cycle.pod.key == self.pod.key and cycle.ended is None
            return State.ATTEMPTING if runs else State.NOT_ATTEMPTED
        queue = self.scheduler.queue
        if entry.key in queue.unschedulable_pods:
            return State.WAITING_FOR_EVENT
        backing_off = entry.key in queue.backoff_pods or entry.key in queue.error_backoff_pods
        return State.BACKOFF if backing_off else State.NOT_ATTEMPTED
