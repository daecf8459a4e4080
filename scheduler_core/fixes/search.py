"""The search for fixes: drafts in the order of their cost, each asked of the filters on a fork, then proven by running.

Bounded by a Budget and deterministic: the same world and budget find the same fixes.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Generator

from scheduler_core.api.status import Refused
from scheduler_core.commands import Command
from scheduler_core.fixes.commands import command_of, recreates
from scheduler_core.fixes.diagnosis import Diagnosis, diagnose, scheduler_for
from scheduler_core.fixes.fix import Budget, Findings, Fix
from scheduler_core.fixes.near import near_rows
from scheduler_core.fixes.proof import prove
from scheduler_core.fixes.proposals import propose, scheduled_by, ungated
from scheduler_core.framework.drafts import Draft
from scheduler_core.objects.pod import Pod
from scheduler_core.simulation import Simulation

Search = Generator[None, None, Findings]


def find_fixes(sim: Simulation, pod_key: str, budget: Budget | None = None) -> list[Fix]:
    """The smallest fixes found for a pending pod (namespace/name), the smallest first; none for a pod that fits as it is."""
    running = search_fixes(sim, pod_key, budget or Budget())
    while True:
        try:
            next(running)
        except StopIteration as end:
            findings: Findings = end.value
            return list(findings.fixes)


def search_fixes(
    sim: Simulation, pod_key: str, budget: Budget, should_stop: Callable[[], bool] = lambda: False
) -> Search:
    """The same as a generator that yields whenever others may have a turn; stopped, it answers with what it has.

    `sim` itself is never changed.
    """
    pod = sim.store.pod_at(pod_key)
    if pod is None:
        return Findings(pod_key, "gone")
    if pod.node_name:
        return Findings(pod_key, "bound")
    return (yield from _Search(sim, pod, budget, should_stop).run())


class _Search:
    def __init__(self, sim: Simulation, pod: Pod, budget: Budget, should_stop: Callable[[], bool]) -> None:
        self.should_stop = should_stop
        self.sim = sim
        self.pod = pod
        self.budget = budget
        self.heap: list[tuple[tuple[int, int, float], int, Draft]] = []
        self.known: set[str] = set()
        self.fixes: list[Fix] = []
        self.alike: Counter[tuple[str, ...]] = Counter()
        self.tried = self.unproven = self.steps = 0

    def run(self) -> Search:
        first = self._first_draft()
        diagnosis = yield from self._diagnosed(first)
        if diagnosis is None:
            return self._end("searched")
        if diagnosis.feasible and not first.changes:
            return self._end("fits")
        if diagnosis.feasible:
            yield from self._proven(first)
        else:
            self._propose(first, diagnosis, near_rows(diagnosis))
        while self.heap and not self._spent():
            _, _, draft = heapq.heappop(self.heap)
            if self.fixes and len(draft.changes) > len(self.fixes[0].changes):
                break  # smaller ones were found
            if self.alike[draft.kinds] < self.budget.alike:
                yield from self._try(draft)
        return self._end("searched")

    def _first_draft(self) -> Draft:
        """What has to be changed in any case: a scheduler that nobody is, gates."""
        draft = Draft(self.pod.manifest)
        if scheduler_for(self.sim, self.pod) is None:
            draft = scheduled_by(draft, next(iter(self.sim.schedulers[0].profiles)))
        if self.pod.spec.scheduling_gates:
            draft = ungated(draft, self.pod.spec.scheduling_gates)
        return draft

    def _spent(self) -> bool:
        budget = self.budget
        return (
            len(self.fixes) >= budget.fixes or self.tried >= budget.candidates or self.steps >= budget.steps
        )

    def _end(self, state: str) -> Findings:
        complete = not self.heap or bool(self.fixes)
        return Findings(self.pod.key, state, tuple(self.fixes), self.tried, self.unproven, complete)

    def _diagnosed(self, draft: Draft) -> Generator[None, None, Diagnosis | None]:
        """What the filters say once the draft's command was applied; None where it is refused or nobody is responsible."""
        world = self.sim.fork()
        yield
        if draft.changes:
            try:
                world.apply(self._command(draft))
            except Refused:
                return None
        pod = world.store.pod_at(self.pod.key)
        return None if pod is None else diagnose(world, pod)

    def _propose(self, draft: Draft, diagnosis: Diagnosis, rows: list[int]) -> None:
        for row in rows:
            status = diagnosis.whole or diagnosis.refused.get(row)
            if status is None:
                continue
            for proposal in propose(draft, diagnosis, row, status):
                new = proposal.fingerprint not in self.known
                if new and len(proposal.changes) <= self.budget.changes:
                    self.known.add(proposal.fingerprint)
                    heapq.heappush(self.heap, (proposal.cost, len(self.known), proposal))

    def _try(self, draft: Draft) -> Generator[None, None, None]:
        self.tried += 1
        if draft.deleted:  # the pods take their time to end, so only running it shows
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

    def _command(self, draft: Draft) -> Command:
        return command_of(draft, self._modelled)

    @property
    def _modelled(self) -> bool:
        return self.sim.settings.cluster is not None

    def _proven(self, draft: Draft) -> Generator[None, None, None]:
        limit = min(self.budget.proof_steps, self.budget.steps - self.steps)
        command = self._command(draft)
        proof = yield from prove(self.sim, self.pod.key, command, self.budget, limit)
        self.steps += proof.steps
        if not proof.node:
            self.unproven += 1
            return
        self.alike[draft.kinds] += 1
        self.fixes.append(
            Fix(
                draft.changes,
                command,
                proof.node,
                proof.steps,
                recreates(draft, self._modelled),
                proof.held_back,
            )
        )
