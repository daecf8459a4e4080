"""Preemption: the candidates with every criterion, each dry run, and a cursor over what was recorded of it."""

from __future__ import annotations

from typing import Any

from playground.presenters.cluster_map.preempting import chosen_of, step_of
from playground.presenters.look import Look
from playground.presenters.plain import in_plain_words
from playground.presenters.scene import cycle_of, last_attempt, scheduler_of, short
from playground.presenters.stage.dry_run import Event, events_of, room
from playground.presenters.stage.ladder import columns, ladder
from playground.presenters.stage.shape import Stage
from playground.presenters.words import gettext_noop, message
from scheduler_core.view import Candidate, Evidence, PluginStep, SchedulingCycleView, WorldView

CANDIDATES = 12
GROUPS = 8
NOMINATED = 10


def present(sim: WorldView, look: Look, key: str) -> Stage:
    """What preemption looked at for the pod."""
    return Stage(
        question=message(gettext_noop("Who must go so that %(pod)s fits?"), pod=short(key) or "…"),
        forms={"theatre": gettext_noop("Theatre"), "nodes": gettext_noop("Nodes")},
        body=_looked_at(sim, look, key),
        map=True,
    )


def _looked_at(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """The preemption of the present cycle where it is the pod's; else why there is none to see, with the way to it."""
    cycle = cycle_of(sim)
    shared = {"pod": short(key), "nominations": _nominations(sim)}
    if cycle is None or cycle.pod.key != key:
        attempt = last_attempt(sim, key) if key else None
        failed = attempt is not None and attempt.outcome != "scheduled"
        return {
            **shared,
            "kind": "elsewhere" if failed else "none",
            "goto": attempt.last_position if failed and attempt is not None else 0,
            "number": attempt.number if failed and attempt is not None else 0,
        }
    step = step_of(cycle)
    if step is None:
        return {**shared, "kind": _without(cycle)}
    return {**shared, **_preemption(sim, look, cycle, step)}


def _without(cycle: SchedulingCycleView) -> str:
    """Why the cycle has no preemption: not yet, not needed, or no plugin for it."""
    if cycle.feasible is not None and len(cycle.feasible):
        return "not needed"
    if cycle.ended is None and cycle.phase not in ("Failed", "Done"):
        return "not yet"
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
        "rejected": _rejected(evidence),
        "helpless": len(cycle.nodes) - evidence.potential,
    }
    if not evidence.eligible:
        return {**base, "kind": "not eligible"}
    if not evidence.candidates:
        return {**base, "kind": "not helpful"}
    return {**base, "kind": "candidates", **_candidates(sim, look, cycle, evidence)}


def _rejected(evidence: Evidence) -> list[dict[str, Any]]:
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
    events = events_of(evidence, cycle.pod)
    cursor = min(look.dry, len(events))  # 0: all of it at once
    seen = events[:cursor] if cursor else events
    rungs = sum(event["kind"] == "criterion" for event in seen)
    known = {event["candidate"] for event in seen}
    looked_at = [c for i, c in enumerate(evidence.candidates) if i in known]
    rows = ladder(evidence, looked_at, rungs if cursor else len(evidence.criteria), sim.store.epoch)
    if not any(event["kind"] == "choice" for event in seen):
        rows = [{**row, "best": False} for row in rows]
    shown = _shown(look, evidence, events, cursor)
    return {
        "columns": columns(),
        "rows": rows[:CANDIDATES],
        "more": max(len(rows) - CANDIDATES, 0),
        "count": len(evidence.candidates),
        "looked_at": len(looked_at),
        "wanted": evidence.wanted,
        "draw": evidence.draw,
        "nominated": evidence.nominated if not cursor or cursor == len(events) else "",
        "now": events[cursor - 1] if cursor and events[cursor - 1]["candidate"] < 0 else None,
        "shown": _dry_run(cycle, evidence.candidates[shown], events, shown, cursor),
        "cursor": _cursor(events, cursor, len(evidence.candidates)),
    }


def _shown(look: Look, evidence: Evidence, events: list[Event], cursor: int) -> int:
    """Which candidate's dry run is shown: the cursor's, the chosen node's, the winner's."""
    if cursor and events[cursor - 1]["candidate"] >= 0:
        return int(events[cursor - 1]["candidate"])
    names = [candidate.node for candidate in evidence.candidates]
    if look.node in names:
        return names.index(look.node)
    best = chosen_of(evidence)
    return 0 if best is None else names.index(best.node)


def _dry_run(
    cycle: SchedulingCycleView, candidate: Candidate, events: list[Event], index: int, cursor: int
) -> dict[str, Any]:
    mine = [(number, event) for number, event in enumerate(events, 1) if event["candidate"] == index]
    last = cursor if cursor and events[cursor - 1]["candidate"] == index else 0
    return {
        "node": candidate.node,
        "violations": candidate.violations,
        "victims": [{"key": pod.key, "name": short(pod.key)} for pod in candidate.victims],
        "events": [
            {**event, "number": number, "now": number == last, "todo": bool(last) and number > last}
            for number, event in mine
        ],
        "room": room(candidate, cycle.pod, cycle.nodes),
        "first": mine[0][0],
    }


def _cursor(events: list[Event], cursor: int, candidates: int) -> dict[str, Any]:
    """Where the links lead: one record on or back, one candidate on or back; 0 where there is none."""
    starts = [number for number, event in enumerate(events, 1) if event["kind"] in ("remove",)]
    choosing = next((n for n, event in enumerate(events, 1) if event["candidate"] < 0), 0)
    stations = [*starts, *([choosing] if choosing else [])]
    return {
        "at": cursor,
        "of": len(events),
        "back": cursor - 1,
        "on": cursor + 1 if cursor < len(events) else 0,
        "candidate_back": max((n for n in stations if n < cursor), default=0),
        "candidate_on": min((n for n in stations if n > cursor), default=0),
        "candidates": candidates,
    }
