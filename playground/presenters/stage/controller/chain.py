"""Cause and effect: who acted, and what followed from it in the same transition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.presenters.scene import short
from playground.presenters.sentences.records import row
from playground.presenters.sequence import lifelines, lines
from playground.presenters.words import Message, brief, exactly, gettext_noop, message
from scheduler_core.base.trace.kinds import (
    CommandApplied,
    LeaderElection,
    Reconciled,
    SchedulerStage,
    TimerFired,
    WatchEventHeard,
)
from scheduler_core.world.readonly import Record, WorldView

LOOKED_THROUGH = 64  # records of one transition; an import makes thousands
EFFECTS = 10
_CAUSES = (CommandApplied.KIND, Reconciled.KIND, WatchEventHeard.KIND, TimerFired.KIND)


def chain(sim: WorldView) -> dict[str, Any]:
    """{"actor", "effects", "more"}: a controller's own record comes last, and is told first, for it is the cause."""
    records = sim.last[:LOOKED_THROUGH]
    if len(sim.last) > LOOKED_THROUGH:
        records = [*records, sim.last[-1]]
    cause = _cause(records)
    effects = _fold_repeats([row(record) for record in records if record is not cause])
    shown = effects[:EFFECTS]
    listed = sum(effect["times"] for effect in shown) + (cause is not None)
    return {
        "actor": None if cause is None else _actor(cause),
        "effects": shown,
        "more": len(sim.last) - listed,
    }


def _fold_repeats(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same thing several times in a row is told once."""
    out: list[dict[str, Any]] = []
    for each in rows:
        if out and {**out[-1], "times": 1} == {**each, "times": 1}:
            out[-1]["times"] += 1
        else:
            out.append({**each, "times": 1})
    return out


def _cause(records: Sequence[Record]) -> Record | None:
    for kind in _CAUSES:
        found = next((record for record in records if record.kind == kind), None)
        if found is not None:
            return found
    return next(iter(records), None)


def _actor(record: Record) -> dict[str, Any]:
    """`who` acts, `key` is the key of its work queue, `did` says what and why."""
    facts = record.facts
    if isinstance(facts, Reconciled):
        did = exactly(brief(facts.did)) if facts.did else message(gettext_noop("Nothing is to be done."))
        return {
            "who": exactly(facts.controller),
            "controller": facts.controller,
            "key": short(facts.key),
            "did": did,
            "idle": not facts.did,
        }
    if isinstance(facts, CommandApplied):
        words = lines.BY_KIND[record.kind].words(facts)
        return {"who": _title(lifelines.USER), "key": "", "did": words, "idle": False}
    line = row(record)
    who = record.scheduler if isinstance(facts, LeaderElection | SchedulerStage) else ""
    return {
        "who": exactly(who) if who else message(line["head"]),
        "key": "",
        "did": line["sentence"],
        "idle": False,
    }


def _title(lifeline: str) -> Message:
    return message(lifelines.TITLES[lifeline][0])
