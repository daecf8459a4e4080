"""The search for fixes: drafts in order of cost. The filters check each draft on a fork, and a run proves it.

If no small change helps, nodes are added: like existing ones, or the smallest sufficient one. A Budget bounds the search, which is
deterministic: the same world and budget find the same fixes.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace

from scheduler_core.analysis.fixes import proposals
from scheduler_core.analysis.fixes.containers import list_absent_drivers, list_words
from scheduler_core.analysis.fixes.diagnosis import Diagnosis, diagnose, scheduler_for, words_of_others
from scheduler_core.analysis.fixes.effects import Watch, list_displaced_pods, within_budgets
from scheduler_core.analysis.fixes.fix import HARMLESS, Budget, Findings, Fix, in_new_domain, rank_fixes
from scheduler_core.analysis.fixes.gangs import find_gang, search_gang
from scheduler_core.analysis.fixes.kubectl import commands_of, kubectl_of, renew_job, workload_of
from scheduler_core.analysis.fixes.meanings import WRITTEN, advise, find_writer, runs_scheduler
from scheduler_core.analysis.fixes.near import lower_overhead, near_rows, raise_priority, relax_class_selector
from scheduler_core.analysis.fixes.new_nodes import of_groups, smallest
from scheduler_core.analysis.fixes.placed import (
    find_last_end,
    is_guarded,
    is_refused_as_it_is,
    propose_modes,
    prove_each,
    runs,
    search_drain,
    search_placed,
)
from scheduler_core.analysis.fixes.proof import (
    ACTING,
    MANY,
    OTHERS,
    PATIENT,
    Proof,
    Prover,
    belongs_to,
    carry_out,
    find_target,
    make_fix,
    make_step,
)
from scheduler_core.analysis.fixes.quotas import UNNAMED, search_uncreated
from scheduler_core.analysis.fixes.shell import complete_references, read_calls, start_controllers
from scheduler_core.analysis.fixes.workloads import (
    CRON_JOB,
    KINDS,
    find_object,
    ran_out,
    search_daemons,
    search_object,
    search_stuck,
    search_unwanted,
)
from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of
from scheduler_core.apiserver.status import Refused
from scheduler_core.base.steps import finish
from scheduler_core.controllers.kubelet.admission import OS_LABEL
from scheduler_core.controllers.kubelet.pods import is_overdue
from scheduler_core.scheduler.framework.drafts import HARMS, Change, Draft
from scheduler_core.scheduler.plugins.helper.fixes import delete_pod
from scheduler_core.world.commands import SetSettings
from scheduler_core.world.simulation import Simulation

MAKES_CLAIMS = "resourceclaim-controller"
BRINGING = 200  # transitions
Search = Generator[None, None, Findings]
_DISPLACING = tuple(HARMS).index("displaces")
_CHANGING = ("apply", "patch", "replace", "scale", "set resources")


def find_fixes(sim: Simulation, pod_key: str, budget: Budget | None = None) -> list[Fix]:
    """Return fixes for a pending pod (namespace/name), the least harmful first. Return none for a pod that fits without changes."""
    return list(finish(search_fixes(sim, pod_key, budget or Budget())).fixes)


def search_fixes(
    sim: Simulation,
    pod_key: str,
    budget: Budget,
    should_stop: Callable[[], bool] = lambda: False,
    found: Callable[[Fix], None] = lambda fix: None,
    refused: Manifest | None = None,
) -> Search:
    """Search fixes as a generator that yields to others regularly. If stopped, it returns its current result.

    `found` receives each fix as soon as it is proven. `refused`: the manifest of a pod without a workload that the API server refused.
    `sim` never changes.
    """
    budget = replace(budget, should_stop=should_stop, found=found)
    if refused is not None:
        try:
            return (yield from search_uncreated(sim, pod_key, budget, refused))
        except (AttributeError, LookupError, TypeError, ValueError):
            # A refused manifest is not validated: fields may have wrong types, and then there are no proposals.
            return Findings(pod_key, "searched")
    findings = yield from _search_any(sim, pod_key, budget)
    about = dict.fromkeys((pod_key, findings.pod))  # for a node, also messages about the pod that blocks its drain
    least = min((max(c.harm for c in each.changes) for each in findings.fixes if each.kind != "recreate"), default=9)
    # A known cause with a fix is more informative than a guess.
    limits = (
        (e, _DISPLACING if e.silent else int(e.weak and e.code != WRITTEN)) for key in about for e in advise(sim, key)
    )
    means = [each for each, limit in limits if least >= limit]
    for each in (steps := [make_step(each, pod_key) for each in means]):
        found(each)
    return replace(findings, fixes=_put_writers_first(sim, rank_fixes((*findings.fixes, *steps))))


def _put_writers_first(sim: Simulation, fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Put a step before the first fix that changes an object of a custom resource: make the change in that resource."""
    found: dict[str, Fix] = {}
    for fix in fixes:
        calls = read_calls(fix.kubectl) if fix.proven and "# First kubectl edit" not in fix.kubectl else ()
        refs = (ref for call in calls if call.words[0] in _CHANGING for ref in call.refs)
        for changed in filter(None, (sim.store.get(ref.kind, ref.namespace, ref.name) for ref in refs)):
            for step in (make_step(each, fix.pod) for each in find_writer(sim, changed)):
                found.setdefault(step.kubectl, step)
        found.setdefault(fix.kubectl or str(fix.changes), fix)
    return tuple(found.values())


def _search_any(sim: Simulation, pod_key: str, budget: Budget) -> Search:
    if (held := find_object(sim, pod_key)) is not None:
        return (yield from search_object(sim, pod_key, held, budget))
    namespace = pod_key.rpartition("/")[0].rpartition("/")[2]
    space = sim.store.get("Namespace", "", namespace) if sim.store.pod_at(pod_key) is None else None
    if space is not None and (ends := (yield from search_object(sim, f"Namespace/{namespace}", space, budget))).fixes:
        return ends
    if pod_key.count("/") == 2 or pod_key.startswith("Node/"):
        return (yield from search_workload(sim, pod_key, budget))
    pod = sim.store.pod_at(pod_key)
    if pod is not None and not pod.node_name and (drafts := [*propose_modes(sim, pod)]):
        prover = Prover(sim, pod_key, budget)
        findings = yield from prove_each(
            sim, pod_key, prover, ((e, prover.expect_placement()) for e in drafts), "searched"
        )
        if findings.fixes:
            return findings
    sim, pod = bring_on(sim, pod_key)
    namespace, _, name = pod_key.partition("/")
    owner = name.rpartition("-")[0]
    stateful = sim.store.get("StatefulSet", namespace, owner) if pod is None else None
    if stateful is not None and name.rpartition("-")[2].isdigit():
        unwanted = yield from search_unwanted(sim, stateful, pod_key, budget)
        if unwanted.fixes:
            return unwanted
    if stateful is not None:
        pod_key = f"{namespace}/{owner}{UNNAMED}"
    unnamed = pod is None and pod_key.endswith(UNNAMED)
    if unnamed and sim.store.get(CRON_JOB, namespace, name.removesuffix(UNNAMED)) is not None:
        return (yield from search_stuck(sim, CRON_JOB, namespace, name.removesuffix(UNNAMED), budget))
    if unnamed:
        return (yield from search_uncreated(sim, pod_key, budget))
    if pod is None:
        return Findings(pod_key, "gone")
    if (
        not pod.node_name
        and scheduler_for(sim, pod) is None
        and (words_of_others(pod) or runs_scheduler(sim, pod.spec.scheduler_name))
    ):
        return Findings(pod_key, "unknown")
    mine = None if pod.node_name or pod.deleting or pod.terminal else find_gang(sim, pod)
    if mine is not None and mine.lacking > 0:
        findings = yield from search_gang(sim, pod, mine, budget)
        if findings.fixes:
            return findings
    wrong = _wants_another_system(sim, pod)
    if (
        pod.deleting
        or (pod.terminal and not wrong)
        or (pod.node_name and not (_asks_for_missing_node(sim, pod) or wrong))
    ):
        findings = yield from search_placed(sim, pod, budget)
        node = sim.store.node(pod.node_name)
        for _, each in list_absent_drivers(sim, list_words(sim, pod), node) if node is not None else ():
            meta = each["metadata"]
            more = yield from search_daemons(sim, str(meta["namespace"]), meta["name"], budget, pod.node_name)
            findings = replace(findings, fixes=rank_fixes((*more.fixes, *findings.fixes)))
        if findings.fixes or not pod.terminal or is_refused_as_it_is(pod):
            return findings
    if not pod.node_name and _is_of_missing_node(sim, pod):
        prover = Prover(sim, pod_key, budget)
        gone = [(delete_pod(Draft(pod.manifest), pod), prover.expect_removal(pod))]
        return (yield from prove_each(sim, pod_key, prover, iter(gone), "searched"))
    return (yield from _Search(sim, pod, budget).run())


def _is_of_missing_node(sim: Simulation, pod: Pod) -> bool:
    """Return whether a DaemonSet's pod is tied to a node that does not exist."""
    is_daemon = (controller_of(pod.manifest) or {}).get("kind") == "DaemonSet"
    fields = [each for term in find_target(pod.manifest) or () for each in term.get("matchFields") or ()]
    return is_daemon and bool(fields) and all(sim.store.node(name) is None for e in fields for name in e["values"])


def search_workload(sim: Simulation, key: str, budget: Budget) -> Search:
    """Search fixes for KIND/NAMESPACE/NAME, by its waiting or missing pod, or for Node/NAME, by a pod that blocks its drain."""
    kind, namespace, name = key.split("/") if key.count("/") == 2 else ("Node", "", key.removeprefix("Node/"))
    if kind == "Node":
        here = [p for p in sim.store.pods_on(name) if p.deleting or (is_guarded(sim, p) and not p.terminal)]
        mine = [pod.key for pod in sorted(here, key=lambda pod: not is_overdue(sim, pod, sim.now))]
        return (yield from _search_any(sim, mine[0], budget)) if mine else (yield from search_drain(sim, name, budget))
    owners = ((pod, workload_of(sim.store, pod.manifest)) for pod in sim.store.pods() if pod.namespace == namespace)
    owned = [
        pod
        for pod, owner in owners
        if (kind, name) in (("PodGroup", pod.spec.group), owner and (owner["kind"], owner["metadata"]["name"]))
    ]
    waiting = [pod for pod in owned if not pod.node_name and not pod.terminal]
    if kind == "Deployment":  # pods of the last revision first
        waiting.sort(key=lambda pod: -(pod.creation_time or 0))
    mine = [pod.key for pod in waiting]
    if kind not in (CRON_JOB, "Job"):
        mine = mine or [pod.key for pod in owned if pod.terminal and _is_wanted(sim, pod, owned)][-1:]
    if kind == "Job" and not mine and (job := sim.store.get(kind, namespace, name)) is not None and ran_out(job):
        anew = yield from _search_job_anew(sim, job, budget)
        if anew.fixes:
            return anew
    if kind in KINDS and not mine:
        stuck = yield from search_stuck(sim, kind, namespace, name, budget)
        if stuck.fixes or kind == CRON_JOB:
            return stuck
    if kind == "DaemonSet" and not mine:
        daemons = yield from search_daemons(sim, namespace, name, budget)
        if daemons.fixes:
            return daemons
    unready = [pod.key for pod in owned if pod.node_name and not (pod.ready or pod.terminal or pod.deleting)]
    mine = mine or ([] if kind in (CRON_JOB, "Job") else unready)
    return (yield from _search_any(sim, mine[0] if mine else f"{namespace}/{name}{UNNAMED}", budget))


def _search_job_anew(sim: Simulation, job: Manifest, budget: Budget) -> Search:
    """Search fixes for the pod of a Job whose deadline has passed, with the Job recreated. Return none if its pod fits without changes."""
    key, anew, watch = f"{job['metadata']['namespace']}/{job['metadata']['name']}", renew_job(job), Watch(sim.fork())
    start_controllers(watch.world, ACTING["Job"])
    try:
        yield from carry_out(watch, read_calls(anew), budget.proof_steps, [], [])
    except Refused:
        return Findings(key, "searched")
    pod = None
    for _ in range(BRINGING):
        pod = next((each for each in watch.world.store.pods() if belongs_to(watch.world, each, job)), None)
        if (pod is not None and pod.key in watch.world.journal.last_attempt) or not watch.advance():
            break
    if pod is None:
        return Findings(key, "searched")
    found = yield from _Search(watch.world, pod, budget).run()
    fixes, prover = [], Prover(sim, f"{key}-*", budget, job)
    for fix in found.fixes:
        whole = "\nkind: Job\n" in fix.kubectl
        text = fix.kubectl if whole else f"{fix.kubectl}\n{anew}"
        more = () if whole else (Change("recreate", {"pod": key, "job": job["metadata"]["name"]}),)
        proof = yield from prover.prove(text, budget.proof_steps, MANY, goal=prover.expect_new_pod())
        fixes += [make_fix(Draft(pod.manifest, (*fix.changes, *more)), text, proof)] if proof.reached else []
    return replace(found, pod=key, state="searched", fixes=rank_fixes(fixes))


def _is_wanted(sim: Simulation, pod: Pod, others: list[Pod]) -> bool:
    """Return whether the controller of an ended pod wants pods, and has only ended ones."""
    by = controller_of(pod.manifest) or {}
    maker = sim.store.get(str(by.get("kind")), pod.namespace, str(by.get("name"))) or {}
    mine = (each for each in others if controller_of(each.manifest) == by)
    return (maker.get("spec") or {}).get("replicas") != 0 and all(each.terminal for each in mine)


def _asks_for_missing_node(sim: Simulation, pod: Pod) -> bool:
    """Return whether the pod's manifest, or its template, names a node that does not exist."""
    owner = workload_of(sim.store, pod.manifest)
    named = owner is None or owner["spec"]["template"]["spec"].get("nodeName")
    return sim.store.node(pod.node_name) is None and bool(named)


def _wants_another_system(sim: Simulation, pod: Pod) -> bool:
    """Return whether a pod's node has another operating system than the pod requires, which the scheduler does not check."""
    node, wanted = sim.store.node(pod.node_name), (pod.manifest["spec"].get("os") or {}).get("name")
    return bool(wanted) and node is not None and node.labels.get(OS_LABEL, wanted) != wanted


def bring_on(sim: Simulation, key: str) -> tuple[Simulation, Pod | None]:
    """Return the world and the pod after the pod's claims are created and its binding is stored."""
    pod = sim.store.pod_at(key)
    if pod is None or pod.node_name:
        return sim, pod
    acting = sim.settings.cluster.controllers
    index = sim.journal.last_attempt.get(key)
    is_binding = index is not None and sim.journal.attempts[index].outcome == "scheduled"
    lacks = acting is not None and any("resourceClaimTemplateName" in each for each in pod.spec.resource_claims)
    if not (is_binding or lacks):
        return sim, pod
    sim = sim.fork()
    if lacks and acting is not None and MAKES_CLAIMS not in acting:
        sim.apply(SetSettings({"cluster": {"controllers": [*acting, MAKES_CLAIMS]}}))
    for _ in range(BRINGING):
        if sim.idle or (is_binding and pod is not None and pod.node_name):
            break
        sim.advance()
        pod = sim.store.pod_at(key)
    return sim, pod


class _Search:
    def __init__(self, sim: Simulation, pod: Pod, budget: Budget) -> None:
        self.sim = sim
        self.pod = pod
        self.budget = budget
        self.prover = Prover(sim, pod.key, budget)
        self.heap: list[tuple[tuple[bool, tuple[int, int, float]], int, Draft]] = []
        self.looking: Simulation | None = None  # a fork that nothing changes
        self.known: set[str] = set()
        self.fixes: list[Fix] = []
        self.alike: Counter[tuple[str, ...]] = Counter()
        self.tried = self.unproven = self.steps = 0
        self.left = False  # proposals that were not tried

    def run(self) -> Search:
        first = self._first_draft()
        diagnosis = yield from self._diagnosed(first)
        if diagnosis is None:
            return self._end("searched")
        if diagnosis.feasible and not first.changes:
            if self._sleeps():
                self._push([proposals.wait(first, self.pod), proposals.recreate(first, self.pod, self.sim)])
                yield from self._search(self.budget.candidates)
            return self._end("fits")
        if diagnosis.feasible:
            yield from self._proven(first)
            self._push(self._other_firsts())
        else:
            rows = near_rows(diagnosis)
            self._propose(first, diagnosis, rows)
            self._push(proposals.create_claim_templates(first, self.pod, self.sim))
            self._push(proposals.admit_claims(first, self.pod, self.sim))
            self._push(relax_class_selector(first, diagnosis, rows, self.sim))
            self._push(lower_overhead(first, diagnosis, rows, self.sim))
            self._push(proposals.scale_down(first, diagnosis, self.sim))
            self._push(raise_priority(first, diagnosis, self.sim))
            self._push(proposals.in_turn(first, self.sim))
            self._push(proposals.propose_anyway(first, diagnosis, self.sim))
        yield from self._search(self.budget.candidates)
        if not diagnosis.feasible and not self._adds_machine():
            yield from self._new_node(first, diagnosis)
        if not diagnosis.feasible and not self.fixes and self.pod.spec.resource_claims:
            self._push([proposals.without_claims(first)])
            yield from self._search(self.tried + self.budget.big)
        return self._end("searched")

    def _sleeps(self) -> bool:
        """Return whether the pod waits although a node would fit by now: no event has requeued the pod."""
        queues = (scheduler.queue for scheduler in self.sim.schedulers)
        return any(entry.key == self.pod.key for queue in queues for entry in queue.unschedulable())

    def _new_node(self, first: Draft, diagnosis: Diagnosis) -> Generator[None, None, None]:
        """Try a node of an existing group, or else the smallest sufficient one."""
        self.left = bool(self.heap)
        self.heap.clear()
        for drafts in (of_groups(first, diagnosis, self.sim.store), smallest(first, diagnosis, self.sim.store)):
            # A machine in a new zone is the last resort, if no other fix is harmless.
            helps = any(max(change.harm for change in fix.changes) < _DISPLACING for fix in self.fixes)
            self._push(each for each in drafts if not (helps and in_new_domain(each.changes[-1])))
            yield from self._search(self.tried + self.budget.big)
            if self._adds_machine():
                return

    def _adds_machine(self) -> bool:
        changes = (change for fix in self.fixes for change in fix.changes)
        return any(change.kind == "node" and not change.values.get("virtual") for change in changes)

    def _search(self, candidates: int) -> Generator[None, None, None]:
        """Try proposals until smaller harmless fixes make the rest needless, or the budget is used up."""
        while self.heap and self.tried < candidates and not self._spent():
            _, _, draft = heapq.heappop(self.heap)
            if self._enough(draft) or self._needless(draft) or self.alike[draft.kinds] >= self.budget.alike:
                continue
            yield from self._try(draft)

    def _enough(self, draft: Draft) -> bool:
        return any(
            len(fix.changes) < len(draft.changes)
            and max(change.harm for change in fix.changes) < _DISPLACING
            and fix.disturbance in HARMLESS
            for fix in self.fixes
        )

    def _needless(self, draft: Draft) -> bool:
        """Return True if a subset of the draft's changes is already proven."""
        return any(
            len(fix.changes) < len(draft.changes) and {c.kind for c in fix.changes} <= set(draft.kinds)
            for fix in self.fixes
        )

    def _first_draft(self) -> Draft:
        """Return the draft of the required changes: an unknown scheduler name, scheduling gates, a node that does not exist."""
        draft = Draft(self.pod.manifest)
        if _wants_another_system(self.sim, self.pod):
            draft = proposals.select_system(draft, str(self.pod.manifest["spec"]["os"]["name"]))
        elif self.pod.node_name:
            draft = proposals.anywhere(
                draft, self.pod.node_name, exists=self.sim.store.node(self.pod.node_name) is not None
            )
        if scheduler_for(self.sim, self.pod) is None:
            draft = proposals.set_scheduler_name(draft, next(iter(self.sim.schedulers[0].profiles)))
        if self.pod.spec.scheduling_gates:
            draft = proposals.remove_gates(draft, self.pod.spec.scheduling_gates)
        return draft

    def _other_firsts(self) -> list[Draft]:
        """Return alternatives: the missing profile; for a pod that its kubelet refused, a rollout that ends old pods first."""
        if self.pod.terminal:
            ways = (proposals.in_turn, proposals.all_anew)
            return [each for propose in ways for each in propose(Draft(self.pod.manifest), self.sim)]
        if self.pod.spec.scheduling_gates or self.pod.node_name or scheduler_for(self.sim, self.pod):
            return []
        plain = Draft(self.pod.manifest)
        return [proposals.profile_for(plain, self.sim.schedulers[0], self.pod.spec.scheduler_name)]

    def _spent(self) -> bool:
        return len(self.fixes) >= self.budget.fixes or self.steps >= self.budget.steps or self.budget.should_stop()

    def _end(self, state: str) -> Findings:
        complete = not (self.heap or self.left) or bool(self.fixes)
        return Findings(
            self.pod.key, state, rank_fixes(self.fixes), self.tried, self.unproven, complete, self.prover.cut
        )

    def _diagnosed(self, draft: Draft) -> Generator[None, None, Diagnosis | None]:
        """Return the diagnosis after the draft's commands, or None if one is refused or no scheduler is responsible."""
        if draft.is_of_pod_alone and not self.pod.node_name:
            self.looking = self.looking or self.sim.fork()
            yield
            return diagnose(self.looking, Pod.from_manifest(draft.pod or draft.original, None, self.sim.store.reading))
        world = self.sim.fork()
        complete_references(world)
        yield
        try:
            for command in commands_of(draft):
                world.apply(command)
        except Refused:
            return None
        pod = world.store.pod_at(self.pod.key)
        return None if pod is None else diagnose(world, pod)

    def _propose(self, draft: Draft, diagnosis: Diagnosis, rows: list[int]) -> None:
        for row in rows:
            status = diagnosis.whole or diagnosis.refused.get(row)
            if status is not None:
                self._push(proposals.propose(draft, diagnosis, row, status))

    def _push(self, drafts: Iterable[Draft]) -> None:
        for draft in drafts:
            new = draft.fingerprint not in self.known
            if new and len(draft.changes) <= self.budget.changes:
                self.known.add(draft.fingerprint)
                # A proof of displacing drafts takes many attempts, so they wait until all others were checked.
                last = draft.patient and (draft.harm >= _DISPLACING or self._lasts(draft))
                heapq.heappush(self.heap, ((last, draft.cost), len(self.known), draft))

    def _lasts(self, draft: Draft) -> bool:
        """Return whether a draft waits for an end that is long after other proofs."""
        return "wait" in draft.kinds and find_last_end(self.sim) > self.budget.proof_time

    def _try(self, draft: Draft) -> Generator[None, None, None]:
        self.tried += 1
        if draft.patient:  # only a run shows it
            yield from self._proven(draft)
            return
        diagnosis = yield from self._diagnosed(draft)
        if diagnosis is None:
            return
        if diagnosis.feasible:
            yield from self._proven(draft)
            return
        row = diagnosis.nodes.row(draft.target)
        if row is not None and len(draft.changes) < self.budget.changes:
            self._propose(draft, diagnosis, [row])
            if draft.is_of_pod_alone and proposals.is_between_pods(
                diagnosis, diagnosis.whole or diagnosis.refused[row]
            ):
                self._push(proposals.all_anew(draft, self.sim))

    def _proven(self, draft: Draft) -> Generator[None, None, None]:
        limit = min(self.budget.proof_steps, self.budget.steps - self.steps)
        text = kubectl_of(draft, self.sim.store)
        proof = Proof()
        for alone in (False, True) if "node" in draft.kinds else (False,):  # others may take the new node
            if text and not proof.reached:
                attempts = MANY if "wait" in draft.kinds else PATIENT if draft.patient else OTHERS
                goal = (
                    self.prover.expect_removal(self.pod)
                    if {"fewer-replicas", "daemon-selector"} & {*draft.kinds}
                    else None
                )
                if self.pod.terminal and {"rollout", "recreate-strategy"} & {*draft.kinds}:
                    goal = runs(self.pod, self.prover)
                wait = find_last_end(self.sim) if "wait" in draft.kinds else 0
                proof = yield from self.prover.prove(text, limit, attempts, alone=alone, goal=goal, wait=wait)
                self.steps += proof.steps
        if not proof.reached:
            self.unproven += 1
            return
        self.alike[draft.kinds] += 1
        fix = make_fix(draft, text, proof)
        if any(each.outcome == fix.outcome for each in self.fixes):
            return
        self.fixes.append(fix)
        self.budget.found(fix)
        if any(effect.kind == "violates" for effect in proof.effects):
            changed = within_budgets(draft, self.sim.store, list_displaced_pods(self.sim, proof.effects))
            if changed is not None and changed.fingerprint not in self.known:
                self.known.add(changed.fingerprint)
                yield from self._proven(changed)
