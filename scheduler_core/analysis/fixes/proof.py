"""Proofs: a fork carries out the printed calls and runs until the pod is scheduled, and further until others have settled.

If too many waiting pods are ahead, so that the attempt would exceed the budget, the others are held back on the fork, and the proof
records it: the pod then fits if its turn is before theirs.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.analysis.fixes.effects import Effect, Watch, effects_of, find_disturbance, key_of
from scheduler_core.analysis.fixes.fix import Budget, Fix
from scheduler_core.analysis.fixes.kubectl import recreates, workload_of
from scheduler_core.analysis.fixes.meanings import Meaning
from scheduler_core.analysis.fixes.shell import CLAIMS, VOLUMES, Call, is_met, read_calls, run_call, start_controllers
from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.world.commands import Command, Ref
from scheduler_core.world.simulation import Simulation

CHUNK = 20  # transitions between two yields
OF_AN_ATTEMPT = 25  # approximate minimum of an attempt's transitions
# Attempts: for a waiting pod, if pods have to leave before, and if a controller may have to act first.
MANY, PATIENT, OTHERS = 50, 5, 2
OVERTIME = "DeadlineExceeded"  # of a pod that reached its activeDeadlineSeconds

_NODES = ("taint-eviction-controller", "pod-garbage-collector-controller")
# The controllers that handle a call's changes. In a snapshot, only the scheduler and the kubelets run.
ACTING = {
    "StorageClass": VOLUMES,
    "PersistentVolume": VOLUMES,
    "PersistentVolumeClaim": VOLUMES,
    "Node": _NODES,
    "Namespace": ("namespace-controller",),
    "orphan": ("garbage-collector-controller",),
    "cordon": ("node-lifecycle-controller",),
    "ResourceClaim": CLAIMS,
    "ResourceClaimTemplate": CLAIMS,
    "PodDisruptionBudget": ("disruption-controller",),
    "ResourceQuota": ("resourcequota-controller",),
    "Deployment": ("deployment-controller", "replicaset-controller"),
    "ReplicaSet": ("replicaset-controller",),
    "ReplicationController": ("replicationcontroller-controller",),
    "StatefulSet": ("statefulset-controller",),
    "DaemonSet": ("daemonset-controller", "garbage-collector-controller"),
    "Job": ("job-controller", "garbage-collector-controller"),
    "CronJob": ("cronjob-controller", "job-controller"),
}


@dataclass(frozen=True, slots=True)
class Proof:
    """`reached`: the fix reaches its goal; `node` is the node of the pod `pod` after the attempt, or "" if the fix schedules no pod.

    `commands` are the requests of the calls. The world makes as many transitions after each as `pauses` has, and `steps` more until the
    end. `time` is the total virtual time. `held_back` counts the pods that took no part; `effects` are the effects on the others.
    """

    reached: bool = False
    node: str = ""
    pod: str = ""
    steps: int = 0
    commands: tuple[Command, ...] = ()
    pauses: tuple[int, ...] = ()
    time: int = 0
    held_back: int = 0
    effects: tuple[Effect, ...] = ()
    disturbance: str = "nothing"


def make_fix(draft: Draft, text: str, proof: Proof) -> Fix:
    """Return the fix for a draft and its proof."""
    known: dict[str, dict[str, Any]] = {"claim-anew": {"node": proof.node}, "wait": {"time": proof.time}}
    changes = tuple(replace(each, values={**each.values, **known.get(each.kind, {})}) for each in draft.changes)
    shown = proof.commands, proof.node, proof.steps, recreates(draft), proof.held_back, proof.effects, text
    more = {"pauses": proof.pauses, "pod": proof.pod, "time": proof.time, "disturbance": proof.disturbance}
    return Fix(changes, *shown, **more)  # type: ignore[arg-type]


def make_step(meaning: Meaning, key: str) -> Fix:
    """Return a step that no request to the API server makes: not proven, with a command that shows the cause."""
    change = Change("outside", {"meaning": meaning.code, **meaning.values})
    return Fix((change,), (), "", 0, recreated=False, kubectl=meaning.show, proven=False, pod=key)


def carry_out(
    fixed: Watch, calls: Iterable[Call], most: int, commands: list[Command], pauses: list[int]
) -> Generator[None, None, None]:
    """Carry out calls as kubectl does, which waits for deletions, here for `most` transitions; record requests and pauses."""
    world = fixed.world
    for call in calls:
        for command, leaving in run_call(world, call):
            before = {ref: _uid(world, ref) for ref in leaving}
            world.apply(command)
            fixed.note()
            first = fixed.steps
            while any(uid and _uid(world, ref) == uid for ref, uid in before.items()):
                if fixed.steps - first >= most or not fixed.advance():
                    raise Refused(())
                if fixed.steps % CHUNK == 0:
                    yield
            commands.append(command)
            pauses.append(fixed.steps - first)
        first = fixed.steps
        while not is_met(world, call):
            if fixed.steps - first >= most or not fixed.advance():
                raise Refused(())
        if pauses:
            pauses[-1] += fixed.steps - first


Proving = Generator[None, None, Proof]
_Acting = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]  # controllers; controllers with their only object
Goal = Callable[[Watch], str | None]
"""The key of the pod that is where it should be by now, "" where it is gone as it should; None as long as neither is so."""


class Prover:
    """A prover of fixes for one pod of a world. The run without any fix is computed once."""

    def __init__(self, sim: Simulation, key: str, budget: Budget, owner: Manifest | None = None) -> None:
        self.sim = sim
        self.key = key
        self.budget = budget
        self.pod = sim.store.pod_at(key)
        self.owner = owner or (workload_of(sim.store, self.pod.manifest) if self.pod is not None else None)
        self.cut = 0  # proofs that reached their budget
        self._without: dict[_Acting, Watch] = {}

    def prove(
        self,
        text: str,
        steps: int,
        attempts: int = PATIENT,
        *,
        alone: bool = False,
        goal: Goal | None = None,
        wait: int = 0,
    ) -> Proving:
        """Run at most `steps` transitions and `attempts`. Only an attempt that begins after the calls counts; a refused call proves
        nothing.

        `alone`: hold all other waiting pods back. `goal`: the goal to reach instead of an attempt. `wait`: the additional time to run
        (ns).
        """
        calls = list(read_calls(text))
        acting = self._find_acting(calls), self._find_makers(calls)
        with _watch_fork(self.sim) as fixed:
            start_controllers(fixed.world, *acting)
            start, began = fixed.world.position, fixed.world.now
            commands: list[Command] = []
            pauses: list[int] = []
            try:
                yield from carry_out(fixed, calls, self.budget.proof_steps, commands, pauses)
            except Refused:
                return Proof(steps=fixed.steps)
            made, held_back = fixed.steps, 0
            waiting = sum(len(s.queue.active_pods) for s in fixed.world.schedulers)
            if alone or (goal is None and waiting * OF_AN_ATTEMPT > steps):
                held_back = _hold_back(fixed.world, self.key)
            until = goal or self._expect_attempt(start, attempts)
            pod = yield from self._run_until(fixed, made + steps, until, wait)
            made, took = fixed.steps - made, fixed.world.now - began
            if pod is None:
                return Proof(steps=made)
            node = _place_of(fixed.world, pod)
            effects = yield from self._effects(fixed, held_back, acting, pod or self.key)
            if self._has_failed(fixed, pod):
                return Proof(steps=made)
            worst = find_disturbance(self.sim, fixed.world, pod or self.key, self.pod, effects)
            how = tuple(commands), tuple(pauses)
            return Proof(True, node, pod or self.key, made, *how, took, held_back, effects, worst)

    def _find_acting(self, calls: Iterable[Call]) -> tuple[str, ...]:
        """Return the controllers that a proof needs and that are not running. Return none if the world runs all."""
        running = self.sim.settings.cluster.controllers
        if running is None:
            return ()
        kinds = [self.key.partition("/")[0]]  # for keys such as Namespace/NAME
        for call in calls:
            if call.words[0] not in ("wait", "get") and (len(call.words) > 2 or call.objects):
                leaving = call.words[0] in ("delete", "taint")
                kinds += [ref.kind for ref in call.refs if ref.kind != "Node" or leaving]
            if call.flags.get("cascade") == "orphan":
                kinds.append("orphan")
            if call.words[0] in ("cordon", "uncordon", "drain"):
                kinds += ["cordon", *(["PodDisruptionBudget"] if call.words[0] == "drain" else [])]
        pod = self.pod
        if pod is not None and (pod.spec.volumes or pod.spec.resource_claims):
            kinds += ["ResourceClaim", "PersistentVolumeClaim"]
        if self.owner is not None and (pod is None or {"Pod", "Node", self.owner["kind"]} & {*kinds}):
            kinds += [self.owner["kind"], *(["ResourceQuota"] if pod is None else [])]
            kinds += ["PersistentVolumeClaim"] if self.owner["spec"].get("volumeClaimTemplates") else []
        if pod is not None and pod.node_name and self.sim.store.node(pod.node_name) is None:
            kinds.append("Node")
        names = dict.fromkeys(name for kind in kinds for name in ACTING.get(kind, ()))
        return tuple(name for name in names if name not in running)

    def _find_makers(self, calls: Iterable[Call]) -> tuple[tuple[str, str], ...]:
        """Return the controllers that recreate deleted pods, which then compete with the pod, each with its workload."""
        gone = (ref for call in calls if call.words[0] == "delete" for ref in call.refs if ref.kind == "Pod")
        pods = filter(None, (self.sim.store.pod(ref.namespace, ref.name) for ref in gone))
        owners = ((pod.namespace, controller_of(pod.manifest)) for pod in pods)
        found = ((self.sim.store.get(by["kind"], space, by["name"]), by) for space, by in owners if by is not None)
        mine = (owner for owner, by in found if owner is not None and owner["metadata"].get("uid") == by.get("uid"))
        return tuple(dict.fromkeys((ACTING[each["kind"]][0], key_of(each)) for each in mine if each["kind"] in ACTING))

    def _run_until(self, fixed: Watch, steps: int, goal: Goal, wait: int) -> Generator[None, None, str | None]:
        deadline, moved = fixed.world.now + self.budget.proof_time + wait, True
        while True:
            try:
                pod = goal(fixed)
            except _GiveUp:
                return None
            is_over = fixed.steps >= steps or fixed.world.now > deadline
            if pod is not None or not moved or is_over:
                self.cut += pod is None and moved
                return pod
            moved = fixed.advance()
            if fixed.steps % CHUNK == 0:
                yield

    def _expect_attempt(self, start: int, attempts: int) -> Goal:
        """Return the goal that the pod, or a new one of its workload, is scheduled. `attempts` may fail; a nominated pod is awaited."""
        seen = len(self.sim.journal.attempts)
        left = attempts

        def look(fixed: Watch) -> str | None:
            nonlocal seen, left
            journal = fixed.world.journal.attempts
            while seen < len(journal) and journal[seen].outcome:
                attempt = journal[seen]
                seen += 1
                if attempt.first_position <= start or not self.is_mine(fixed, attempt.pod):
                    continue
                if attempt.outcome == "scheduled":
                    return attempt.pod
                left -= not attempt.nominated
                if left <= 0:
                    raise _GiveUp
            return None

        return look

    def is_mine(self, fixed: Watch, key: str) -> bool:
        """Return whether a pod is the pod to fix, or a new one of its workload."""
        if key == self.key:
            return True
        pod = fixed.world.store.pod_at(key)
        if self.owner is None or pod is None or self.sim.store.pod_at(key) is not None:
            return False
        was = {} if self.pod is None else self.pod.manifest
        same = self.owner["kind"] != "DaemonSet" or not was or find_target(was) == find_target(pod.manifest)
        return same and belongs_to(fixed.world, pod, self.owner)

    def expect_new_pod(self) -> Goal:
        """Return the goal that a new pod of the workload has a node."""

        def look(fixed: Watch) -> str | None:
            for _, key, standing in fixed.log[-1:]:
                if standing.node and self.is_mine(fixed, key):
                    return key
            return None

        return look

    def expect_removal(self, pod: Pod, *, replaced: bool = False, off: str = "") -> Goal:
        """Return the goal that the pod is no longer on its node. `replaced`: also that another pod runs, on any node but `off`."""

        def look(fixed: Watch) -> str | None:
            store = fixed.world.store
            now = store.pod_at(pod.key)
            if now is not None and now.uid == pod.uid:
                return None
            if not replaced:
                return ""
            if now is not None:
                return pod.key if now.node_name not in ("", off) else None
            there = ((key, s.node) for _, key, s in fixed.log if s.node and s.node != off)
            return next((key for key, _ in there if self.is_mine(fixed, key)), None)

        return look

    def expect_placement(self) -> Goal:
        """Return the goal that the recreated pod is scheduled."""
        return self._expect_attempt(self.sim.position, PATIENT)

    def expect_move(self, pod: Pod) -> Goal:
        """Return the goal that the recreated pod is not on its former node: it is elsewhere, or waits."""
        seen = len(self.sim.journal.attempts)

        def look(fixed: Watch) -> str | None:
            for attempt in fixed.world.journal.attempts[seen:]:
                if not self.is_mine(fixed, attempt.pod):
                    continue
                if attempt.outcome == "scheduled" and attempt.node == pod.node_name:
                    raise _GiveUp
                return attempt.pod
            return None

        return look

    def _has_failed(self, fixed: Watch, key: str) -> bool:
        pod = fixed.world.store.pod_at(key)
        reason = None if pod is None else (pod.manifest.get("status") or {}).get("reason")
        return pod is not None and pod.phase == "Failed" and reason != OVERTIME

    def _effects(
        self, fixed: Watch, held_back: int, acting: _Acting, key: str
    ) -> Generator[None, None, tuple[Effect, ...]]:
        made = fixed.steps
        while not fixed.world.idle and fixed.steps - made < self.budget.settling:
            fixed.advance()
            if fixed.steps % CHUNK == 0:
                yield
        keys = (self.key, key)
        if held_back:  # without the others, no comparison is valid; a binding in progress is not an effect
            found = effects_of(self.sim, {}, fixed, keys)
            return tuple(effect for effect in found if effect.kind != "placed")
        without = self._without.get(acting)
        if without is None:
            without = self._without[acting] = Watch(self.sim.fork())
            start_controllers(without.world, *acting)
        now = fixed.world.now
        for _ in without.until(now, self.budget.proof_steps):
            if without.steps % CHUNK == 0:
                yield
        return effects_of(self.sim, without.at(now), fixed, keys)


class _GiveUp(Exception):
    """The goal can no longer be reached."""


def find_target(manifest: Manifest) -> Any:
    """Return the node selector terms by which a DaemonSet's pod is tied to its node."""
    affinity = (manifest["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    return (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms")


def belongs_to(world: Simulation, pod: Pod, owner: Manifest) -> bool:
    """Return whether a workload, or an object that it controls, owns a pod."""
    found, meta = pod.manifest, owner["metadata"]
    direct = [ref.get("uid") for ref in found["metadata"].get("ownerReferences") or ()]
    above = workload_of(world.store, found)
    mine = (owner["kind"], meta["name"], meta.get("namespace"))
    return meta.get("uid") in direct or (
        above is not None and (above["kind"], above["metadata"]["name"], above["metadata"].get("namespace")) == mine
    )


def _place_of(world: Simulation, key: str) -> str:
    """Return the node of a pod, also if the pod was just scheduled."""
    pod, index = world.store.pod_at(key), world.journal.last_attempt.get(key)
    attempt = None if index is None else world.journal.attempts[index]
    if pod is None or pod.node_name or attempt is None:
        return "" if pod is None else pod.node_name
    return attempt.node if attempt.outcome == "scheduled" else ""


def _uid(world: Simulation, ref: Ref) -> str:
    found = world.store.get(ref.kind, ref.namespace, ref.name)
    return "" if found is None else str(found["metadata"].get("uid") or "")


@contextmanager
def _watch_fork(sim: Simulation) -> Iterator[Watch]:
    """Return a fork whose memory is freed after use."""
    watch = Watch(sim.fork())
    try:
        yield watch
    finally:
        watch.world.disconnect()


def _hold_back(world: Simulation, key: str) -> int:
    """Remove all other waiting pods from the queues, except nominated ones. Return their number."""
    count = 0
    for scheduler in world.schedulers:
        queue = scheduler.queue
        waiting = [*queue.active(), *queue.backoff(), *queue.unschedulable()]
        for entry in waiting:
            if entry.key != key and not entry.pod.nominated_node_name:
                queue.delete(entry.pod)
                count += 1
    return count
