"""A sequence diagram as the coordinates of an SVG, in pixels: one row of it for each arrow, one column for each lifeline in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from playground.presenters.amounts import clock, duration
from playground.presenters.sequence.lifelines import OF_A_POD, OF_A_START, TITLES
from playground.presenters.words import Message, gettext_noop, message

WIDTH = 1384
GUTTER = 150  # time and step
WIDEST = 190  # of a column
ROW = 34
NOTE = 40
HEAD = 62
CHARACTER = 7.6  # more than a letter takes at 13 px
LONGEST = 72  # letters of a label; the table has the whole
LOOP = 20
PAUSE = 100_000_000  # ns of virtual time that are worth a word

Say = Callable[[Message], str]


def diagram(rows: Sequence[dict[str, Any]], start_up: bool, say: Say) -> dict[str, Any]:
    """`say` puts a message into plain words of the reader's language."""
    used = {row["from"] for row in rows} | {row["to"] for row in rows}
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


def _head(x: int, spread: int, name: str) -> dict[str, Any]:
    title, role = TITLES[name]
    width = spread - 8
    return {
        "x": str(x),
        "left": str(x - width // 2),
        "width": str(width),
        "title": title,
        "role": role,
    }


def _rows(rows: Sequence[dict[str, Any]], x: dict[str, int], say: Say) -> tuple[list[dict[str, Any]], int]:
    drawn: list[dict[str, Any]] = []
    y, before = 8, None
    for row in rows:
        note = row.get("note")
        if before is not None and row["t"] - before["t"] >= PAUSE:
            text = message(gettext_noop("%(time)s pass"), time=duration(row["t"] - before["t"]))
            drawn.append(_note(text, y, say, "pause"))
            y += NOTE
        if row.get("gap"):
            drawn.append(_note(row["gap"], y, say, "pause"))
            y += NOTE
        if note:
            drawn.append(_note(note, y, say, "part"))
            y += NOTE
        drawn.append(
            _message(row, x, y, say)
            | _when(row, before if drawn and drawn[-1]["kind"] == "message" else None)
        )
        y, before = y + ROW, row
    return drawn, y


def _note(text: Message, y: int, say: Say, kind: str) -> dict[str, Any]:
    return {"kind": kind, "y": str(y + 6), "text_y": str(y + 24), "text": say(text)}


def _when(row: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    """The step and its time stand once, at its first arrow."""
    again = before is not None and before["at"] == row["at"]
    return {"at": row["at"], "clock": "" if again else clock(row["t"]), "again": again}


def _message(row: dict[str, Any], x: dict[str, int], y: int, say: Say) -> dict[str, Any]:
    text = say(row["words"])
    a, b, line = x[row["from"]], x[row["to"]], y + 24
    drawn = {
        "kind": "message",
        "y": str(y),
        "when_y": str(line - 5),
        "no": row["no"],
        "back": bool(row.get("back")),
        "own": a == b,
        "title": f"{TITLES[row['from']][0]} → {TITLES[row['to']][0]}",
    }
    if a == b:
        return drawn | _own(text, a, line)
    way = 1 if b > a else -1
    return drawn | {
        "path": f"M{a} {line}H{b - way * 2}",
        "tip": f"M{b - way} {line}l{-9 * way} -5v10z",
        "text_y": str(line - 7),
        **_place_text(text, min(a, b) + 8, max(a, b) - 8),
    }


def _own(text: str, x: int, line: int) -> dict[str, Any]:
    """A note beside its lifeline: a short loop, and the words to the side with more room."""
    placed = _place_text(text, x + LOOP + 12, x - 10)
    return {
        "path": f"M{x} {line - 11}h{LOOP}v10H{x + 3}",
        "tip": f"M{x + 1} {line - 1}l9 -5v10z",
        "text_y": str(line - 2),
        **placed,
    }


def _place_text(text: str, left: int, right: int) -> dict[str, Any]:
    """Words begin at the left end where there is room for them, else they end at the right one; what has no room is cut."""
    room, other = WIDTH - 8 - left, right - GUTTER
    end = min(len(text), LONGEST) * CHARACTER > room and other > room
    most = min(max(int((other if end else room) / CHARACTER), 8), LONGEST)
    return {
        "text_x": str(right if end else left),
        "end": end,
        "text": text if len(text) <= most else text[: most - 1] + "…",
    }
