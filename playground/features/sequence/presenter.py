"""Sequence diagrams of a pod's history, or of a scheduler's start: the run's own records as arrows between lifelines."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Required, TypedDict

import msgspec

from playground.features.sequence.query import Arrow, FoundSequence
from playground.presenters.scene import short
from playground.presenters.sentences.kinds import BY_KIND
from playground.presenters.sentences.kinds import row as row_of
from playground.presenters.sentences.lines import BINDING, CYCLE, OF_A_POD, OF_A_START, TITLES, RecordContext, Who
from playground.presenters.words import Message, clock, duration, message
from scheduler_core.base.trace import kinds as trace
from scheduler_core.world.readonly import Point, Record, StepFacts

__all__ = ["present"]


class TableRow(Arrow):
    """An arrow as a row of the table. `goes_to` is "" for an arrow to its own lifeline."""

    clock: str
    comes_from: str
    goes_to: str


class Page(FoundSequence):
    every: bool
    clock: str
    diagram: "Diagram | None"
    table: list[TableRow]


class Head(TypedDict):
    x: str
    left: str
    width: str
    title: str
    role: str


class DiagramRow(TypedDict, total=False):
    """A row of the picture: an arrow ("message"), or a note across it ("part", "pause")."""

    kind: Required[str]
    y: Required[str]
    text_y: Required[str]
    text: Required[str]
    when_y: str
    no: bool
    back: bool
    own: bool
    title: str
    path: str
    tip: str
    text_x: str
    end: bool
    at: int
    clock: str
    again: bool


class Diagram(TypedDict):
    width: str
    height: str
    head: str
    heads: list[Head]
    rows: list[DiagramRow]


def present(found: FoundSequence, every: bool, say: Callable[[Message], str]) -> Page:
    """Return the diagram of the findings of worker.py, and its rows as a table. `every` shows each plugin alone."""
    rows = found["rows"] if every else fold_passing_plugins(found["rows"])
    return {
        **found,
        "every": every,
        "clock": clock(found["now"]),
        "diagram": diagram(rows, bool(found["scheduler"]), say) if rows else None,
        "table": [
            {
                **row,
                "clock": clock(row["t"]),
                "comes_from": TITLES[row["source"]][0],
                "goes_to": TITLES[row["target"]][0] if row["target"] != row["source"] else "",
            }
            for row in rows
        ],
    }


_BEFORE_THE_POP = (Point.PRE_ENQUEUE, Point.QUEUE_SORT)
_TELLING = (Point.SCORE,)  # plugins' results matter even if the pod passes


def facts_of(record: Record) -> trace.Facts:
    """Return a record's facts, without the results per node."""
    source = record.source
    return msgspec.convert(source.brief(), trace.PluginRan) if isinstance(source, StepFacts) else record.facts


def in_causal_order(records: Sequence[Record]) -> list[Record]:
    """Sort causes before their effects. The records of one step are in the order in which their data became known.

    PreEnqueue and QueueSort ran before the pop, a controller's request before the change, a binding's call after Bind began.
    """
    bind = next((r for r in records if isinstance(r.source, trace.ApiCall) and r.source.verb == "BIND"), None)
    first = next(
        (r for r in records if (isinstance(r.source, trace.PointStarted) and r.source.point == Point.BIND)), None
    )
    if bind is None or first is None:
        popped = any(isinstance(record.source, trace.AttemptStarted) for record in records)
        return sorted(records, key=lambda record: _rank(record, popped))
    changes = [record for record in records[: records.index(first)] if record is not bind]
    rest = [record for record in records[records.index(first) + 1 :] if record is not bind]
    return [first, bind, *changes, *rest]


def _rank(record: Record, popped: bool) -> int:
    source = record.source
    if record.kind == "command":
        return 0
    if isinstance(source, trace.Reconciled) or (isinstance(source, trace.LeaderElection) and source.what in _WRITES):
        return 1
    point = source.step.point if isinstance(source, StepFacts) else getattr(source, "point", "")
    return 2 if popped and point in _BEFORE_THE_POP else 3


_WRITES = ("acquired", "renewed", "released")


def arrows(records: Iterable[Record], position: int, standing: RecordContext) -> tuple[list[Arrow], RecordContext]:
    """Return the arrows of one step, and the pod's cycle after it. `note` starts a part of the diagram."""
    out: list[Arrow] = []
    for record in records:
        facts = facts_of(record)
        if isinstance(facts, trace.BindingStarted):
            standing = standing._replace(cycle=BINDING)
        elif isinstance(facts, trace.AttemptStarted):
            standing = standing._replace(cycle=CYCLE)
        out += _of(record, facts, position, standing)
    if out and (note := _note(records)) is not None:
        out[0]["note"] = note
    return out, standing


def _of(record: Record, facts: trace.Facts, position: int, standing: RecordContext) -> list[Arrow]:
    line, said = BY_KIND[facts.KIND].line, row_of(record)
    source, target = _who(line.source, facts, standing), _who(line.target, facts, standing)
    asked: Arrow = {
        "source": source,
        "target": target,
        "words": line.words(facts),
        "head": said["head"],
        "sentence": said["sentence"],
        "no": said["no"],
        "kind": facts.KIND,
        "point": facts.point if isinstance(facts, trace.PluginRan) else "",
        "plugin": facts.plugin if isinstance(facts, trace.PluginRan) else "",
        "t": record.t,
        "at": position,
    }
    answer = line.answer(facts)
    if answer is None:
        return [asked]
    return [{**asked, "no": False}, {**asked, "source": target, "target": source, "words": answer, "back": True}]


def _who(who: Who[Any], facts: trace.Facts, standing: RecordContext) -> str:
    return who if isinstance(who, str) else who(facts, standing)


def _note(records: Iterable[Record]) -> Message | None:
    for record in records:
        source = record.source
        if isinstance(source, trace.AttemptStarted):
            return message("Scheduling cycle of %(pod)s: attempt %(n)s", pod=short(source.pod), n=source.tries)
        if isinstance(source, trace.PreemptionStarted):
            return message("Preemption: API calls in parallel with the scheduling loop")
    return None


def fold_passing_plugins(rows: list[Arrow]) -> list[Arrow]:
    """Fold consecutive plugins of one extension point that pass the pod into one note."""
    out: list[Arrow] = []
    for arrow in rows:
        last = out[-1] if out else None
        if last is None or not _passes(arrow) or not _passes(last) or last["point"] != arrow["point"]:
            out.append({**arrow, "names": [arrow["plugin"]]} if _passes(arrow) else arrow)
            continue
        names = [*last["names"], arrow["plugin"]]
        out[-1] = {
            **arrow,
            "note": last.get("note"),
            "names": names,
            "words": message("%(plugin)s and %(n)s more: no objection", plugin=names[0], n=len(names) - 1),
            "head": arrow["point"],
            "sentence": message("%(names)s pass or skip", names=", ".join(names)),
        }
    return out


def _passes(arrow: Arrow) -> bool:
    return bool(arrow["plugin"]) and arrow["source"] == arrow["target"] and arrow["point"] not in _TELLING


WIDTH = 1384
GUTTER = 150  # time and step
WIDEST = 190  # of a column
ROW = 34
NOTE = 40
HEAD = 62
CHARACTER = 7.6  # more than the width of a character at 13 px
LONGEST = 72  # letters of a label; the table has the whole
LOOP = 20
PAUSE = 100_000_000  # ns of virtual time; longer pauses are shown

Say = Callable[[Message], str]


def diagram(rows: Sequence[Arrow], start_up: bool, say: Say) -> Diagram:
    """Lay out the diagram. `say` translates a message into plain text in the reader's language."""
    used = {row["source"] for row in rows} | {row["target"] for row in rows}
    order = [name for name in (OF_A_START if start_up else OF_A_POD) if name in used]
    spread = min((WIDTH - GUTTER) // max(len(order), 1), WIDEST)
    x = {name: GUTTER + spread * i + spread // 2 for i, name in enumerate(order)}
    drawn, y = _rows(rows, x, say)
    return {
        "width": str(WIDTH),
        "height": str(y + 12),
        "head": str(HEAD),
        "heads": [_head(x[name], spread, name) for name in order],
        "rows": drawn,
    }


def _head(x: int, spread: int, name: str) -> Head:
    title, role = TITLES[name]
    width = spread - 8
    return {"x": str(x), "left": str(x - width // 2), "width": str(width), "title": title, "role": role}


def _rows(rows: Sequence[Arrow], x: dict[str, int], say: Say) -> tuple[list[DiagramRow], int]:
    drawn: list[DiagramRow] = []
    y = 8
    before: Arrow | None = None
    for row in rows:
        note = row.get("note")
        if before is not None and row["t"] - before["t"] >= PAUSE:
            text = message("%(time)s later", time=duration(row["t"] - before["t"]))
            drawn.append(_draw_note(text, y, say, "pause"))
            y += NOTE
        if row.get("gap"):
            drawn.append(_draw_note(row["gap"], y, say, "pause"))
            y += NOTE
        if note:
            drawn.append(_draw_note(note, y, say, "part"))
            y += NOTE
        drawn.append(_message(row, x, y, say, before if drawn and drawn[-1]["kind"] == "message" else None))
        y, before = y + ROW, row
    return drawn, y


def _draw_note(text: Message, y: int, say: Say, kind: str) -> DiagramRow:
    return {"kind": kind, "y": str(y + 6), "text_y": str(y + 24), "text": say(text)}


def _message(row: Arrow, x: dict[str, int], y: int, say: Say, before: Arrow | None) -> DiagramRow:
    """Lay out an arrow. Its step and time are shown once, at the first arrow."""
    again = before is not None and before["at"] == row["at"]
    text = say(row["words"])
    a, b, line = x[row["source"]], x[row["target"]], y + 24
    own = a == b  # a note beside its lifeline: a short loop, and the words to the side with more room
    way = 1 if b > a else -1
    left, right = (a + LOOP + 12, a - 10) if own else (min(a, b) + 8, max(a, b) - 8)
    text_x, end, words = _place_text(text, left, right)
    return {
        "kind": "message",
        "y": str(y),
        "when_y": str(line - 5),
        "no": row["no"],
        "back": bool(row.get("back")),
        "own": own,
        "title": f"{TITLES[row['source']][0]} → {TITLES[row['target']][0]}",
        "at": row["at"],
        "clock": "" if again else clock(row["t"]),
        "again": again,
        "path": f"M{a} {line - 11}h{LOOP}v10H{a + 3}" if own else f"M{a} {line}H{b - way * 2}",
        "tip": f"M{a + 1} {line - 1}l9 -5v10z" if own else f"M{b - way} {line}l{-9 * way} -5v10z",
        "text_y": str(line - 2 if own else line - 7),
        "text_x": text_x,
        "end": end,
        "text": words,
    }


def _place_text(text: str, left: int, right: int) -> tuple[str, bool, str]:
    """Align a text left if there is room, else right. A text without enough room is truncated."""
    room, other = WIDTH - 8 - left, right - GUTTER
    end = min(len(text), LONGEST) * CHARACTER > room and other > room
    most = min(max(int((other if end else room) / CHARACTER), 8), LONGEST)
    return str(right if end else left), end, text if len(text) <= most else text[: most - 1] + "…"
