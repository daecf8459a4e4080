"""The arrows of a step's records, as plain data: from, to, words; what passes without a word of its own is folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from playground.presenters.scene import short
from playground.presenters.sentences.records import row
from playground.presenters.sequence.lifelines import BINDING, CYCLE
from playground.presenters.sequence.lines import BY_KIND, Standing, Who
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.base.trace.kinds import (
    ApiCall,
    AttemptStarted,
    BindingStarted,
    Facts,
    LeaderElection,
    PluginRan,
    PointStarted,
    PreemptionStarted,
    Reconciled,
)
from scheduler_core.world.readonly import Point, Record, StepFacts

Arrow = dict[str, Any]
_BEFORE_THE_POP = (Point.PRE_ENQUEUE, Point.QUEUE_SORT)
_TELLING = (Point.SCORE,)  # these say more than that a pod may pass


def facts_of(record: Record) -> Facts:
    """Return a record's facts, without the results per node."""
    source = record.source
    return msgspec.convert(source.brief(), PluginRan) if isinstance(source, StepFacts) else record.facts


def in_causal_order(records: Sequence[Record]) -> list[Record]:
    """Sort causes before their effects: records of one step are written when each becomes known.

    PreEnqueue and QueueSort ran before the pop, a controller's request before the change, a binding's call after Bind began.
    """
    bind = next((r for r in records if isinstance(r.source, ApiCall) and r.source.verb == "BIND"), None)
    first = next((r for r in records if _begins(r, Point.BIND)), None)
    if bind is None or first is None:
        popped = any(isinstance(record.source, AttemptStarted) for record in records)
        return sorted(records, key=lambda record: _rank(record, popped))
    changes = [record for record in records[: records.index(first)] if record is not bind]
    rest = [record for record in records[records.index(first) + 1 :] if record is not bind]
    return [first, bind, *changes, *rest]


def _rank(record: Record, popped: bool) -> int:
    source = record.source
    if record.kind == "command":
        return 0
    if isinstance(source, Reconciled) or (isinstance(source, LeaderElection) and source.what in _WRITES):
        return 1
    point = source.step.point if isinstance(source, StepFacts) else getattr(source, "point", "")
    return 2 if popped and point in _BEFORE_THE_POP else 3


_WRITES = ("acquired", "renewed", "released")


def _begins(record: Record, point: Point) -> bool:
    return isinstance(record.source, PointStarted) and record.source.point == point


def arrows(records: Iterable[Record], position: int, standing: Standing) -> tuple[list[Arrow], Standing]:
    """The arrows of one step, and which cycle the pod is in after it. `note` opens a part of the diagram."""
    out: list[Arrow] = []
    for record in records:
        facts = facts_of(record)
        if isinstance(facts, BindingStarted):
            standing = standing._replace(cycle=BINDING)
        elif isinstance(facts, AttemptStarted):
            standing = standing._replace(cycle=CYCLE)
        out += _of(record, facts, position, standing)
    if out and (note := _note(records)) is not None:
        out[0]["note"] = note
    return out, standing


def _of(record: Record, facts: Facts, position: int, standing: Standing) -> list[Arrow]:
    line, said = BY_KIND[facts.KIND], row(record)
    source, target = _who(line.source, facts, standing), _who(line.target, facts, standing)
    asked: Arrow = {
        "from": source,
        "to": target,
        "words": line.words(facts),
        "head": said["head"],
        "sentence": said["sentence"],
        "no": said["no"],
        "kind": facts.KIND,
        "point": facts.point if isinstance(facts, PluginRan) else "",
        "plugin": facts.plugin if isinstance(facts, PluginRan) else "",
        "t": record.t,
        "at": position,
    }
    answer = line.answer(facts)
    if answer is None:
        return [asked]
    return [{**asked, "no": False}, {**asked, "from": target, "to": source, "words": answer, "back": True}]


def _who(who: Who[Any], facts: Facts, standing: Standing) -> str:
    return who if isinstance(who, str) else who(facts, standing)


def _note(records: Iterable[Record]) -> Message | None:
    for record in records:
        source = record.source
        if isinstance(source, AttemptStarted):
            text = gettext_noop("Scheduling cycle of %(pod)s: attempt %(n)s")
            return message(text, pod=short(source.pod), n=source.tries)
        if isinstance(source, PreemptionStarted):
            return message(gettext_noop("Preemption: API calls beside the scheduling loop"))
    return None


def fold_passing_plugins(rows: list[Arrow]) -> list[Arrow]:
    """Plugins of one extension point that let the pod pass, one after the other, as one note."""
    out: list[Arrow] = []
    for arrow in rows:
        last = out[-1] if out else None
        if last is None or not _passes(arrow) or not _passes(last) or last["point"] != arrow["point"]:
            out.append({**arrow, "names": [arrow["plugin"]]} if _passes(arrow) else arrow)
            continue
        names = [*last["names"], arrow["plugin"]]
        text = gettext_noop("%(plugin)s and %(n)s more: nothing against it")
        out[-1] = {
            **arrow,
            "note": last.get("note"),
            "names": names,
            "words": message(text, plugin=names[0], n=len(names) - 1),
            "head": arrow["point"],
            "sentence": message(
                gettext_noop("%(names)s let it pass, or have nothing to do"), names=", ".join(names)
            ),
        }
    return out


def _passes(arrow: Arrow) -> bool:
    return bool(arrow["plugin"]) and arrow["from"] == arrow["to"] and arrow["point"] not in _TELLING
