"""Between an engine and the database's checkpoints: what is handed over when a session is opened, and what is to be kept.

The log decides: a checkpoint counts only where this very engine wrote it over the same commands, and one that can't be read is let go.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

from playground.sessions.protocol import outcomes
from playground.sessions.worker.checkpoint_store import Kept, Saved
from playground.sessions.worker.engine import Engine
from scheduler_core.codec import CodecError, fingerprint

# A session whose replay from its last checkpoint takes less than this, in seconds, may leave memory while it is watched.
COVERED = 0.5

Header = dict[str, Any]
Steps = Generator[None, None, Any]


def restore(engine: Engine, shelf: Header, parts: list[bytes], worlds: list[bytes]) -> None:
    """Begin at the last checkpoint of those that belong to the log, instead of at its beginning."""
    kept = [
        Kept(mark["position"], mark["work"], mark["parts"], data)
        for mark, data in zip(shelf["marks"], worlds, strict=True)
        if mark["fingerprint"] == fingerprint()
        and mark["position"] <= engine.target
        and mark["digest"] == engine.commands.digest(mark["position"])
    ]
    if not kept:
        return
    stored = engine.history.stored
    try:
        stored.load(shelf["volume"], parts, kept)
    except CodecError as error:
        print(f"checkpoints can't be read, the log is replayed: {error}", file=sys.stderr)
        stored.forget()
        return
    world = engine.history.restore()
    if world is not None:
        engine.world = world


def compare(engine: Engine, told: list[bytes]) -> Header | None:
    """Where a replay of the whole log first came to something else than what is told of it; the rest of what is told is what it came to."""
    was = [one for data in told for one in outcomes.unpack(data)]
    found = outcomes.difference(was, outcomes.of(engine.world.journal.attempts, 0, engine.target))
    engine.told = 0 if found or engine.stuck else len(was)
    if engine.stuck and (found is None or engine.stuck[0] < found["position"]):
        position, why = engine.stuck
        return {"attempt": 0, "position": position, "was": None, "now": None, "why": why}
    return found


def save(engine: Engine, upto: int, least: float) -> Steps:
    """What is new since the last time and at or before a position that is in the log: (header, attachments).

    A world whose replay takes less than `least` seconds of work is not worth a checkpoint.
    """
    attempts = outcomes.of(engine.world.journal.attempts, engine.told, upto)
    header: Header = {
        "told": engine.told,
        "outcomes": len(attempts),
        "marks": [],
        "dropped": [],
        "more": False,
    }
    packed = [outcomes.pack(attempts)] if attempts else []
    engine.told += len(attempts)
    if engine.history.work < least:
        return {**header, "covered": True}, packed
    saved: Saved = yield from engine.history.stored.save(engine.history.marks(upto, engine.world))
    header |= {
        "volume": engine.history.stored.volume,
        "part": saved.part and saved.part[0],
        "dropped": saved.dropped,
        "more": saved.more,
        "covered": engine.history.uncovered < COVERED,
        "fingerprint": fingerprint(),
        "marks": [_told(engine, kept) for kept in saved.new],
    }
    packed += [saved.part[1]] if saved.part else []
    return header, packed + [kept.data for kept in saved.new]


def _told(engine: Engine, kept: Kept) -> Header:
    return {
        "position": kept.position,
        "work": kept.work,
        "parts": kept.parts,
        "digest": engine.commands.digest(kept.position),
    }
