"""Preemption: the pods to evict so that the pod fits. The dry run and the table of one preemption, and the events until binding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from playground.presenters.cluster_map.node_cards import Step, chosen_of, step_of, steps_of
from playground.presenters.look import Look
from playground.presenters.panel import Stage
from playground.presenters.problems import in_plain_words
from playground.presenters.scene import PodRef, cycle_of, last_attempt, pod_ref, scheduler_of, short
from playground.presenters.stage.preemption.choice import (
    Criterion,
    LadderRow,
    Landing,
    StepLine,
    columns,
    describe_step,
    ladder,
    landing,
    last_choice,
    of_step,
)
from playground.presenters.stage.preemption.theatre import Room, Theatre, room, theatre
from playground.presenters.words import Message, amount, gettext_noop, message
from scheduler_core.world.readonly import Evidence, PluginStep, Pod, SchedulingCycleView, WorldView, budgets_of

# Disruption budgets: the PodDisruptionBudgets of the pods that preemption may evict.

SHOWN = 4
LOOKED_THROUGH = 200  # candidates and budgets


class Budgets(TypedDict):
    rows: list[BudgetRow]
    more: int
    without: int
    pods: int


def budgets(sim: WorldView, cycle: SchedulingCycleView, evidence: Evidence) -> Budgets:
    """Return the budgets that cover pods of candidates, fewest allowed disruptions first, and the number of pods without a budget."""
    nodes = cycle.nodes
    pods = {
        pod.key: pod
        for candidate in evidence.candidates[:LOOKED_THROUGH]
        for pod in nodes.pods[nodes.rows[candidate.node]]
        if pod.priority < cycle.pod.priority
    }
    covered: set[str] = set()
    rows: list[BudgetRow] = []
    for manifest in sim.store.list("PodDisruptionBudget")[:LOOKED_THROUGH]:
        mine = [pod.key for budget in budgets_of([manifest]) for pod in pods.values() if budget.covers(pod)]
        if mine:
            covered.update(mine)
            rows.append(_row(manifest))
    rows.sort(key=lambda row: (row["allowed"], row["name"]))
    return {
        "rows": rows[:SHOWN],
        "more": max(len(rows) - SHOWN, 0),
        "without": len(pods) - len(covered),
        "pods": len(pods),
    }


class BudgetRow(TypedDict):
    name: str
    namespace: str
    at: str
    allowed: int
    healthy: int | None
    desired: int | None
    asked: str


def _row(manifest: Mapping[str, Any]) -> BudgetRow:
    metadata, spec, status = (manifest.get(part) or {} for part in ("metadata", "spec", "status"))
    asked = next((name for name in ("minAvailable", "maxUnavailable") if spec.get(name) is not None), "")
    return {
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        "at": f"PodDisruptionBudget/{metadata.get('namespace', '')}/{metadata.get('name', '')}",
        "allowed": int(status.get("disruptionsAllowed") or 0),
        "healthy": status.get("currentHealthy"),
        "desired": status.get("desiredHealthy"),
        "asked": f"{asked} {spec[asked]}" if asked else "",
    }


CANDIDATES = 12
GROUPS = 8
NOMINATED = 10
RECORDS = 40  # records of one dry run in the table


class PreemptionShared(TypedDict):
    pod: str
    nominations: list[Nomination]
    lands: Landing | None


class ElsewhereBody(PreemptionShared):
    kind: Literal["elsewhere", "none"]
    goto: int
    number: int


class WithoutBody(PreemptionShared):
    kind: Literal["not needed", "at hand", "not yet", "not asked", "useless"]


class LadderTable(TypedDict):
    columns: list[Criterion]
    rows: list[LadderRow]
    more: int


class CandidatesBody(PreemptionShared, LadderTable):
    kind: Literal["candidates"]
    number: int
    message: str
    plain: Message | None
    rejected: list[RejectedNodes]
    helpless: int
    count: int
    wanted: int
    draw: int | None
    nominated: str
    said: StepLine | None
    now: StepLine | None
    shown: DryRun
    cursor: Cursor
    theatre: Theatre
    budgets: Budgets


PreemptionBody = ElsewhereBody | WithoutBody | CandidatesBody


def present(sim: WorldView, look: Look, key: str, now: WorldView | None = None) -> Stage[PreemptionBody, Any]:
    """Return the stage for the pod's preemption. `now` is the present world if `sim` is the world of a finished attempt."""
    cycle = cycle_of(sim)
    mine = cycle if cycle is not None and cycle.pod.key == key else None
    return Stage(
        question=message("Which pods must %(pod)s preempt?", pod=short(key) or "…"),
        detail=_needs(mine.pod) if mine is not None else None,
        forms={"theatre": gettext_noop("Theater"), "nodes": gettext_noop("Nodes"), "table": gettext_noop("Table")},
        body=_body(sim, now or sim, look, key, mine),
    )


def _needs(pod: Pod) -> Message:
    return message(
        "needs %(cpu)s cpu · priority %(priority)s", cpu=amount("cpu", pod.requests.milli_cpu), priority=pod.priority
    )


def _body(sim: WorldView, now: WorldView, look: Look, key: str, cycle: SchedulingCycleView | None) -> PreemptionBody:
    """Return the preemption of the present cycle if it is the pod's, else the reason why there is none, with a link."""
    step = step_of(cycle)
    choice = of_step(key, step, cycle.number) if cycle is not None and step is not None else None
    choice = choice or (last_choice(now, key) if key else None)
    shared: PreemptionShared = {
        "pod": short(key),
        "nominations": _nominations(now),
        "lands": landing(now, choice) if choice is not None else None,
    }
    if cycle is None:
        attempt = last_attempt(sim, key) if key else None
        failed = attempt is not None and attempt.outcome != "scheduled"
        return {
            **shared,
            "kind": "elsewhere" if failed else "none",
            "goto": attempt.last_position if failed and attempt is not None else 0,
            "number": attempt.number if failed and attempt is not None else 0,
        }
    if step is None:
        return {**shared, "kind": _without(cycle)}
    if not step.evidence.candidates:
        return {**shared, "kind": "useless"}
    return _candidates(sim, look, cycle, step, shared)


def _without(cycle: SchedulingCycleView) -> Literal["not needed", "at hand", "not yet", "not asked"]:
    """Return why the cycle has no preemption: "not needed", "at hand" (next), "not yet", or "not asked" (no plugin for it)."""
    if cycle.feasible is not None and len(cycle.feasible):
        return "not needed"
    if cycle.ended is None and cycle.phase not in ("Failed", "Done"):
        return "at hand" if cycle.phase == "PostFilter" else "not yet"
    return "not asked"


class Nomination(TypedDict):
    node: str
    key: str
    name: str
    priority: int


def _nominations(sim: WorldView) -> list[Nomination]:
    nominator = scheduler_of(sim).queue.nominator
    pairs = [(node, pod) for node in nominator.nodes() for pod in nominator.on(node)]
    return [
        {"node": node, "key": pod.key, "name": short(pod.key), "priority": pod.priority}
        for node, pod in pairs[:NOMINATED]
    ]


class RejectedNodes(TypedDict):
    plugin: str
    text: str
    count: int
    node: str


def _candidates(
    sim: WorldView, look: Look, cycle: SchedulingCycleView, step: PluginStep, shared: PreemptionShared
) -> CandidatesBody:
    evidence: Evidence = step.evidence
    steps = steps_of(evidence)
    cursor = min(look.dry, len(steps))  # 0: all records
    seen = steps[:cursor] if cursor else steps
    now = describe_step(steps[cursor - 1], evidence, cycle.pod) if cursor else None
    groups: dict[tuple[str, str], list[str]] = {}
    for node, status in evidence.rejected.items():
        groups.setdefault((status.plugin, status.message), []).append(node)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return {
        **shared,
        "kind": "candidates",
        "number": cycle.number,
        "message": step.status.message,
        "plain": in_plain_words(step.status.message),
        "rejected": (
            [
                {"plugin": plugin, "text": text, "count": len(nodes), "node": nodes[0]}
                for (plugin, text), nodes in ordered[:GROUPS]
            ]
        ),
        "helpless": len(cycle.nodes) - evidence.potential,
        **_table(evidence, steps, seen, cursor, sim.store.epoch),
        "count": len(evidence.candidates),
        "wanted": evidence.wanted,
        "draw": evidence.draw,
        "nominated": evidence.nominated if len(seen) == len(steps) else "",
        "said": now,
        "now": now if now is not None and now["candidate"] < 0 else None,
        "shown": _dry_run(cycle, evidence, steps, _choose_candidate_index(look, evidence, steps, cursor), cursor),
        "cursor": _cursor(steps, cursor, len(evidence.candidates), step.position == sim.position),
        "theatre": theatre(cycle, evidence, steps, cursor, look.node, sim.store.epoch),
        "budgets": budgets(sim, cycle, evidence),
    }


def _table(evidence: Evidence, steps: list[Step], seen: list[Step], cursor: int, epoch: int) -> LadderTable:
    rungs = sum(step.kind == "criterion" for step in seen) if cursor else len(evidence.criteria)
    known = {step.candidate for step in seen}
    looked_at = [c for i, c in enumerate(evidence.candidates) if i in known]
    rows = ladder(evidence, looked_at, rungs, epoch)
    if len(seen) < len(steps):
        for row in rows:
            row["best"] = False
    return {"columns": columns(), "rows": rows[:CANDIDATES], "more": max(len(rows) - CANDIDATES, 0)}


def _choose_candidate_index(look: Look, evidence: Evidence, steps: list[Step], cursor: int) -> int:
    """Return the index of the candidate to show: the cursor's, the chosen node's, or the winner's."""
    if cursor and steps[cursor - 1].candidate >= 0:
        return steps[cursor - 1].candidate
    names = [candidate.node for candidate in evidence.candidates]
    if look.node in names:
        return names.index(look.node)
    best = chosen_of(evidence)
    return 0 if best is None else names.index(best.node)


class DryRunEvent(StepLine):
    number: int
    now: bool
    todo: bool


class DryRun(TypedDict):
    node: str
    violations: int
    victims: list[PodRef]
    events: list[DryRunEvent]
    room: Room | None
    first: int


def _dry_run(cycle: SchedulingCycleView, evidence: Evidence, steps: list[Step], index: int, cursor: int) -> DryRun:
    candidate = evidence.candidates[index]
    mine = [(number, step) for number, step in enumerate(steps, 1) if step.candidate == index]
    last = cursor if cursor and steps[cursor - 1].candidate == index else 0
    start = max(min(last - mine[0][0] - RECORDS // 2, len(mine) - RECORDS), 0)
    return {
        "node": candidate.node,
        "violations": candidate.violations,
        "victims": [pod_ref(pod.key) for pod in candidate.victims],
        "events": [
            {
                **describe_step(step, evidence, cycle.pod),
                "number": number,
                "now": number == last,
                "todo": bool(last) and number > last,
            }
            for number, step in mine[start : start + RECORDS]
        ],
        "room": room(candidate, cycle.pod, cycle.nodes),
        "first": mine[0][0],
    }


class Cursor(TypedDict):
    at: int
    of: int
    back: int
    on: int
    candidate_back: int
    candidate_on: int
    candidates: int
    here: bool


def _cursor(steps: list[Step], cursor: int, candidates: int, here: bool) -> Cursor:
    """Return the targets of the links: one record or candidate forward or back; 0 if there is none."""
    starts = [number for number, step in enumerate(steps, 1) if step.kind == "remove"]
    choosing = next((n for n, step in enumerate(steps, 1) if step.candidate < 0), 0)
    stations = [*starts, *([choosing] if choosing else [])]
    return {
        "at": cursor,
        "of": len(steps),
        "back": cursor - 1,
        "on": cursor + 1 if cursor < len(steps) else 0,
        "candidate_back": max((n for n in stations if n < cursor), default=0),
        "candidate_on": min((n for n in stations if n > cursor), default=0),
        "candidates": candidates,
        "here": here,
    }
