"""Preemption: who has to go so that the pod fits. The theatre and the table of one preemption, and what follows until the pod lands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.presenters.amounts import amount
from playground.presenters.cluster_map.preempting import Step, chosen_of, step_of, steps_of
from playground.presenters.look import Look
from playground.presenters.plain import in_plain_words
from playground.presenters.scene import cycle_of, last_attempt, scheduler_of, short
from playground.presenters.stage.preemption.dry_run import describe_step
from playground.presenters.stage.preemption.ladder import columns, ladder
from playground.presenters.stage.preemption.landing import landing, last_choice, of_step
from playground.presenters.stage.preemption.room import room
from playground.presenters.stage.preemption.standing import standing
from playground.presenters.stage.preemption.theatre import theatre
from playground.presenters.stage.shape import Stage
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import (
    Evidence,
    PluginStep,
    Pod,
    SchedulingCycleView,
    WorldView,
    budgets_of,
)

# Disruption budgets: what the PodDisruptionBudgets said of the pods that preemption might have to evict.

SHOWN = 4
LOOKED_THROUGH = 200  # candidates and budgets


def budgets(sim: WorldView, cycle: SchedulingCycleView, evidence: Evidence) -> dict[str, Any]:
    """The budgets that cover a pod of some candidate, those that would be violated first; and whether other pods have none."""
    nodes = cycle.nodes
    pods = {
        pod.key: pod
        for candidate in evidence.candidates[:LOOKED_THROUGH]
        for pod in nodes.pods[nodes.rows[candidate.node]]
        if pod.priority < cycle.pod.priority
    }
    covered: set[str] = set()
    rows = []
    for manifest in sim.store.list("PodDisruptionBudget")[:LOOKED_THROUGH]:
        mine = [pod.key for budget in budgets_of([manifest]) for pod in pods.values() if budget.covers(pod)]
        if mine:
            covered.update(mine)
            rows.append({**_row(manifest), "pods": len(mine)})
    rows.sort(key=lambda row: (row["allowed"], row["name"]))
    return {
        "rows": rows[:SHOWN],
        "more": max(len(rows) - SHOWN, 0),
        "without": len(pods) - len(covered),
        "pods": len(pods),
    }


def _row(manifest: Mapping[str, Any]) -> dict[str, Any]:
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
RECORDS = 40  # of one dry run, in the table


def present(sim: WorldView, look: Look, key: str, now: WorldView | None = None) -> Stage:
    """Return the stage for the pod's preemption. `now` is the present world if `sim` is the world of a finished attempt."""
    cycle = cycle_of(sim)
    mine = cycle if cycle is not None and cycle.pod.key == key else None
    return Stage(
        question=message(gettext_noop("Who must go so that %(pod)s fits?"), pod=short(key) or "…"),
        detail=_needs(mine.pod) if mine is not None else None,
        forms={
            "theatre": gettext_noop("Theatre"),
            "nodes": gettext_noop("Nodes"),
            "table": gettext_noop("Table"),
        },
        body=_body(sim, now or sim, look, key, mine),
    )


def _needs(pod: Pod) -> Message:
    return message(
        gettext_noop("needs %(cpu)s cpu · priority %(priority)s"),
        cpu=amount("cpu", pod.requests.milli_cpu),
        priority=pod.priority,
    )


def _body(
    sim: WorldView, now: WorldView, look: Look, key: str, cycle: SchedulingCycleView | None
) -> dict[str, Any]:
    """The preemption of the present cycle where it is the pod's; else why there is none to see, with the way to it."""
    step = step_of(cycle)
    choice = of_step(key, step, cycle.number) if cycle is not None and step is not None else None
    choice = choice or (last_choice(now, key) if key else None)
    shared = {
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
        kind = _without(cycle)
        return {**shared, "kind": kind, "standing": standing(cycle) if kind == "at hand" else None}
    return {**shared, **_preemption(sim, look, cycle, step)}


def _without(cycle: SchedulingCycleView) -> str:
    """Return why the cycle has no preemption: "not needed", "at hand", "not yet", or "not asked" (no plugin for it)."""
    if cycle.feasible is not None and len(cycle.feasible):
        return "not needed"
    if cycle.ended is None and cycle.phase not in ("Failed", "Done"):
        return "at hand" if cycle.phase == "PostFilter" else "not yet"
    return "not asked"


def _nominations(sim: WorldView) -> list[dict[str, Any]]:
    nominator = scheduler_of(sim).queue.nominator
    pairs = [(node, pod) for node in nominator.nodes() for pod in nominator.on(node)]
    return [
        {"node": node, "key": pod.key, "name": short(pod.key), "priority": pod.priority}
        for node, pod in pairs[:NOMINATED]
    ]


def _preemption(sim: WorldView, look: Look, cycle: SchedulingCycleView, step: PluginStep) -> dict[str, Any]:
    evidence: Evidence = step.evidence
    base = {
        "number": cycle.number,
        "policy": cycle.pod.spec.preemption_policy,
        "message": step.status.message,
        "plain": in_plain_words(step.status.message),
        "nodes": len(cycle.nodes),
        "potential": evidence.potential,
        "rejected": _group_rejected_nodes(evidence),
        "helpless": len(cycle.nodes) - evidence.potential,
    }
    if not evidence.eligible:
        return {**base, "kind": "not eligible", "standing": standing(cycle)}
    if not evidence.candidates:
        return {**base, "kind": "not helpful", "standing": standing(cycle)}
    return {**base, "kind": "candidates", **_candidates(sim, look, cycle, evidence)}


def _group_rejected_nodes(evidence: Evidence) -> list[dict[str, Any]]:
    """Nodes where not even the end of all lower pods helps, counted by what refused."""
    groups: dict[tuple[str, str], list[str]] = {}
    for node, status in evidence.rejected.items():
        groups.setdefault((status.plugin, status.message), []).append(node)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        {"plugin": plugin, "text": text, "count": len(nodes), "node": nodes[0]}
        for (plugin, text), nodes in ordered[:GROUPS]
    ]


def _candidates(sim: WorldView, look: Look, cycle: SchedulingCycleView, evidence: Evidence) -> dict[str, Any]:
    steps = steps_of(evidence)
    cursor = min(look.dry, len(steps))  # 0: all of it at once
    seen = steps[:cursor] if cursor else steps
    now = describe_step(steps[cursor - 1], evidence, cycle.pod) if cursor else None
    return {
        **_table(evidence, steps, seen, cursor, sim.store.epoch),
        "count": len(evidence.candidates),
        "wanted": evidence.wanted,
        "draw": evidence.draw,
        "nominated": evidence.nominated if len(seen) == len(steps) else "",
        "said": now,
        "now": now if now is not None and now["candidate"] < 0 else None,
        "shown": _dry_run(
            cycle, evidence, steps, _choose_candidate_index(look, evidence, steps, cursor), cursor
        ),
        "cursor": _cursor(steps, cursor, len(evidence.candidates)),
        "theatre": theatre(cycle, evidence, steps, cursor, look.node, sim.store.epoch),
        "budgets": budgets(sim, cycle, evidence),
    }


def _table(
    evidence: Evidence, steps: list[Step], seen: list[Step], cursor: int, epoch: int
) -> dict[str, Any]:
    rungs = sum(step.kind == "criterion" for step in seen) if cursor else len(evidence.criteria)
    known = {step.candidate for step in seen}
    looked_at = [c for i, c in enumerate(evidence.candidates) if i in known]
    rows = ladder(evidence, looked_at, rungs, epoch)
    if len(seen) < len(steps):
        rows = [{**row, "best": False} for row in rows]
    return {
        "columns": columns(),
        "rows": rows[:CANDIDATES],
        "more": max(len(rows) - CANDIDATES, 0),
        "looked_at": len(looked_at),
    }


def _choose_candidate_index(look: Look, evidence: Evidence, steps: list[Step], cursor: int) -> int:
    """Return the index of the candidate to show: the cursor's, the chosen node's, or the winner's."""
    if cursor and steps[cursor - 1].candidate >= 0:
        return steps[cursor - 1].candidate
    names = [candidate.node for candidate in evidence.candidates]
    if look.node in names:
        return names.index(look.node)
    best = chosen_of(evidence)
    return 0 if best is None else names.index(best.node)


def _dry_run(
    cycle: SchedulingCycleView, evidence: Evidence, steps: list[Step], index: int, cursor: int
) -> dict[str, Any]:
    candidate = evidence.candidates[index]
    mine = [(number, step) for number, step in enumerate(steps, 1) if step.candidate == index]
    last = cursor if cursor and steps[cursor - 1].candidate == index else 0
    start = max(min(last - mine[0][0] - RECORDS // 2, len(mine) - RECORDS), 0)
    return {
        "node": candidate.node,
        "violations": candidate.violations,
        "victims": [{"key": pod.key, "name": short(pod.key)} for pod in candidate.victims],
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


def _cursor(steps: list[Step], cursor: int, candidates: int) -> dict[str, Any]:
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
    }
