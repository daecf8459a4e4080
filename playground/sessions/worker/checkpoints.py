"""Between an engine and the database's checkpoints: what is handed over when a session is opened, and what is to be kept.

The log decides: a checkpoint counts only where this very engine wrote it over the same commands, and one that can't be read is let go.
"""

import sys

from playground.sessions.protocol import opening
from playground.sessions.protocol.opening import (
    Archive,
    ArchivePart,
    Checkpoint,
    Difference,
    NewCheckpoints,
    NewOutcomes,
    Save,
    Saved,
)
from playground.sessions.worker.checkpoint_store import StoredCheckpoint
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.world.checkpoint import CodecError, fingerprint

# A session whose replay from its last checkpoint takes less than this, in seconds, may leave memory while it is watched.
COVERED = 0.5


def restore(engine: Engine, archive: Archive) -> None:
    """Begin at the last checkpoint of those that belong to the log, instead of at its beginning."""
    fitting = [
        StoredCheckpoint(one.position, one.work, one.parts, one.data)
        for one in archive.checkpoints
        if one.fingerprint == fingerprint()
        and one.position <= engine.target
        and one.digest == engine.commands.digest(one.position)
    ]
    if not fitting:
        return
    store = engine.history.store
    try:
        store.load(archive.volume, archive.parts, fitting)
    except CodecError as error:
        print(f"checkpoints can't be read, the log is replayed: {error}", file=sys.stderr)
        store.forget()
        return
    world = engine.history.restore()
    if world is not None:
        engine.world = world


def compare(engine: Engine, saved: list[bytes]) -> Difference | None:
    """Return the first difference between a replay of the whole log and the saved outcomes.

    The rest of the saved outcomes is up to date.
    """
    was = [outcome for data in saved for outcome in opening.unpack(data)]
    difference = opening.difference(was, opening.of(engine.world.journal.attempts, 0, engine.target))
    engine.outcomes_saved = 0 if difference or engine.stuck else len(was)
    if engine.stuck and (difference is None or engine.stuck[0] < difference.position):
        position, why = engine.stuck
        return Difference(0, position, None, None, why)
    return difference


@answers(Save, unhurried=True)
def save(engine: Engine, request: Save) -> Steps[Saved]:
    """Return the checkpoints and outcomes that are new since the last save."""
    outcomes_ = _new_outcomes(engine, request.upto)
    if engine.history.work < request.least:
        return Saved(outcomes_, None, more=False, covered=True)
    store = engine.history.store
    result = yield from store.save(engine.history.checkpoints(request.upto, engine.world))
    new = NewCheckpoints(
        store.volume,
        None if result.part is None else ArchivePart(*result.part),
        [_travelling(engine, checkpoint) for checkpoint in result.new],
        result.dropped,
    )
    return Saved(outcomes_, new, result.more, engine.history.uncovered < COVERED)


def _new_outcomes(engine: Engine, upto: int) -> NewOutcomes | None:
    first = engine.outcomes_saved
    attempts = opening.of(engine.world.journal.attempts, first, upto)
    engine.outcomes_saved += len(attempts)
    return NewOutcomes(first, len(attempts), opening.pack(attempts)) if attempts else None


def _travelling(engine: Engine, one: StoredCheckpoint) -> Checkpoint:
    digest = engine.commands.digest(one.position)
    return Checkpoint(one.position, one.work, one.parts, digest, fingerprint(), one.data)
