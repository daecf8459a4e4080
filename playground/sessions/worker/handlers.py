"""Handlers of the requests that open a session, move its head, search it, serve its API, and write traces."""

import sys
import time
from collections.abc import Generator
from pathlib import Path
from types import GeneratorType

import msgspec

from playground.sessions.protocol import comparing, moving, opening, until
from playground.sessions.protocol.errors import AnswerExpired
from playground.sessions.worker.answers import outlines, rerun
from playground.sessions.worker.checkpoint_store import StoredCheckpoint
from playground.sessions.worker.conditions.matching import require_future as require_future_of
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.engines import Engines, File
from playground.sessions.worker.imports import LargeImport, preview
from playground.sessions.worker.memory import release_memory, trim_memory
from playground.sessions.worker.time_sharing import Steps, answers, answers_as_worker, load
from playground.sessions.worker.traces import Export
from playground.sessions.worker.world import Grain
from scheduler_core.apiserver.door import Failure, Reply, answer_read, as_yaml
from scheduler_core.world.checkpoint import CodecError, fingerprint
from scheduler_core.world.readonly import LoadLimits

# A session with viewers may be released if its replay from the last checkpoint takes less than this, in seconds.
COVERED = 0.5


def restore(engine: Engine, archive: opening.Archive) -> None:
    """Start at the last valid checkpoint of the log instead of at its beginning."""
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


def compare(engine: Engine, saved: list[bytes]) -> opening.Difference | None:
    """Return the first difference between a replay of the whole log and the saved outcomes, or None.

    If there is one, all outcomes will be saved again.
    """
    was = [outcome for data in saved for outcome in opening.unpack(data)]
    difference = opening.difference(was, opening.of(engine.world.journal.attempts, 0, engine.target))
    engine.outcomes_saved = 0 if difference or engine.stuck else len(was)
    if engine.stuck and (difference is None or engine.stuck[0] < difference.position):
        position, why = engine.stuck
        return opening.Difference(0, position, None, None, why)
    return difference


@answers(opening.Save, unhurried=True)
def save(engine: Engine, request: opening.Save) -> Steps[opening.SavedData]:
    """Return the checkpoints and outcomes that are new since the last save."""
    first = engine.outcomes_saved
    attempts = opening.of(engine.world.journal.attempts, first, request.upto)
    engine.outcomes_saved += len(attempts)
    outcomes_ = opening.NewOutcomes(first, len(attempts), opening.pack(attempts)) if attempts else None
    if engine.history.work < request.least:
        return opening.SavedData(outcomes_, None, more=False, covered=True)
    store = engine.history.store
    result = yield from store.save(engine.history.checkpoints(request.upto, engine.world))
    new = opening.NewCheckpoints(
        store.volume,
        None if result.part is None else opening.ArchivePart(*result.part),
        [_travelling(engine, checkpoint) for checkpoint in result.new],
        result.dropped,
    )
    return opening.SavedData(outcomes_, new, result.more, engine.history.uncovered < COVERED)


def _travelling(engine: Engine, one: StoredCheckpoint) -> opening.Checkpoint:
    digest = engine.commands.digest(one.position)
    return opening.Checkpoint(one.position, one.work, one.parts, digest, fingerprint(), one.data)


@answers(moving.Forward)
def forward(engine: Engine, request: moving.Forward) -> Steps[int]:
    """Return the position one step of a grain after this one; a command is a step of its own."""
    if request.position >= request.head:
        return request.head
    return (yield from _next(engine, request.position, request.grain, request.head))


def _next(engine: Engine, at: int, grain: Grain, head: int) -> Steps[int]:
    if at in engine.commands or grain == Grain.CALL:
        return min(at + 1, head)
    world = (yield from engine.at(at)).fork()
    world.step(grain, engine.stops(grain, world))
    after = world.position if world.position > at else at + 1
    return min([after, head] + [where for where in engine.commands if at < where < after])


@answers(moving.Back)
def back(engine: Engine, request: moving.Back) -> Steps[int]:
    """Return the position from which a step of the grain leads to this position, or past it."""
    at, grain = request.position, request.grain
    if at <= 1 or grain == Grain.CALL:
        return max(0, at - 1)
    start = yield from _start_before(engine, at)
    if start in engine.commands:
        return start
    world = (yield from engine.at(start)).fork()
    while True:
        world.step(grain, engine.stops(grain, world))
        if world.position >= at or world.position == start:
            return start
        start = world.position
        if engine.slice.over():
            yield


def _start_before(engine: Engine, at: int) -> Steps[int]:
    """Return the start of the last attempt or command before a position: both end a step of any grain."""
    world = yield from engine.at(at)
    starts = [where + 1 for where in engine.commands if where + 1 < at]
    starts += [where for where in engine.commands if where < at]
    for attempt in reversed(world.journal.attempts):
        if attempt.first_position < at:
            starts.append(attempt.first_position)
            break
    return max(starts, default=0)


# Opening, following, saving


@answers_as_worker(opening.Open, slow=True)
def open_session(engines: Engines, session: int, request: opening.Open) -> Steps[opening.OpenedEngine]:
    """Make a session's engine, starting at the last checkpoint that can be used."""
    engine = Engine(request.seed, engines.slice, request.story, request.lesson)
    engine.outcomes_saved, engine.target = request.outcomes_saved, request.head
    engines.put(session, engine)
    yield from engine.take(request.rows)
    restore(engine, request.archive)
    restored = engine.world.position
    yield
    yield from engine.go_on(request.head)
    differs = None if restored else compare(engine, request.outcomes)
    return opening.OpenedEngine(restored, differs)


@answers_as_worker(opening.Fork)
def fork(engines: Engines, session: int, request: opening.Fork) -> Steps[None]:
    """Copy an engine for a new session."""
    origin = engines.get(session)
    twin = yield from origin.twin(request.at)
    twin.outcomes_saved = request.outcomes_saved
    if request.volume == origin.history.store.volume:
        twin.history.store = origin.history.store.twin(request.parts, request.checkpoints)
    engines.put(request.new, twin)


@answers_as_worker(opening.ClearUp)
def clear_up(engines: Engines, session: int, request: opening.ClearUp) -> Steps[None]:
    yield
    engines.prepare(0, "", None)
    release_memory()


@answers(opening.Extend)
def extend(engine: Engine, request: opening.Extend) -> Steps[None]:
    yield from engine.follow(request.rows, request.head, request.keep)


@answers(opening.ForgetSaved)
def forget_saved(engine: Engine, request: opening.ForgetSaved) -> Steps[None]:
    yield
    engine.history.store.forget()
    engine.outcomes_saved = request.outcomes_saved


# Moving the head


@answers(moving.PreviewImport)
def preview_import(engine: Engine, request: moving.PreviewImport) -> Steps[moving.ImportPlan]:
    yield
    return preview(engine.world, request.text, request.rename)


@answers(moving.ApplyText)
def apply_text(engine: Engine, request: moving.ApplyText) -> Steps[moving.TextApplied]:
    yield
    plan = preview(engine.world, request.text)
    shown = msgspec.structs.replace(plan, command=b"", kept=b"")
    if not plan.command or plan.obstacles(request.create_only):
        return moving.TextApplied(shown)
    return moving.TextApplied(shown, engine.apply_data(plan.command, request.max_objects, request.followers))


@answers(moving.Step)
def step(engine: Engine, request: moving.Step) -> Steps[moving.Movement]:
    return (yield from engine.step(request.grain, request.times, request.keep, request.followers))


@answers(moving.Run, slow=True)
def run(engine: Engine, request: moving.Run) -> Steps[moving.Movement]:
    return (yield from engine.run(request.seconds, request.keep, request.until, request.most))


@answers(moving.RequireFuture)
def require_future(engine: Engine, request: moving.RequireFuture) -> Steps[None]:
    yield
    require_future_of(engine.world, request.until)


# Tasks that continue over several requests


@answers_as_worker(until.Search)
def search_on(engines: Engines, session: int, request: until.Search) -> Steps[until.SearchProgress]:
    """Begin or continue a search, for some time."""
    engine = engines.get(session)
    going = None if request.begin else engines.take_task(session, request.token, outlines.Search)
    if going is None:
        going = outlines.Search(engine, request.points, request.position, request.back, request.head, request.most)
    return (yield from engines.go_on(session, request.token, going, request.seconds))


@answers_as_worker(comparing.Rerun)
def rerun_on(engines: Engines, session: int, request: comparing.Rerun) -> Steps[comparing.RerunProgress]:
    """Begin or continue a re-run without some commands or with another seed, for some time."""
    engine = engines.get(session)
    going = engines.take_task(session, request.token, rerun.Rerun) or rerun.Rerun(
        engine, request.position, request.skip, request.max_objects, request.max_steps, request.seed
    )
    return (yield from engines.go_on(session, request.token, going, request.seconds))


@answers_as_worker(moving.ReadImport)
def read_import(engines: Engines, session: int, request: moving.ReadImport) -> Steps[moving.ImportProgress]:
    """Begin or continue to plan a large import, for some time."""
    engine = engines.get(session)
    going = engines.take_task(session, request.token, LargeImport)
    if going is None:
        engines.prepare(0, "", None)
        limits = LoadLimits(max_bytes=request.most_bytes)
        going = LargeImport(engine, Path(request.file), request.rename, limits)
    progress = yield from engines.go_on(session, request.token, going, request.seconds)
    if going.done:
        engines.prepare(session, request.token, going.prepared)
        trim_memory()
    return progress


@answers_as_worker(moving.ApplyImport)
def apply_import(engines: Engines, session: int, request: moving.ApplyImport) -> Steps[moving.ImportApplied]:
    """Apply a large import, if nothing has happened since its rehearsal."""
    yield
    engine, prepared = engines.get(session), engines.take_prepared(session, request.token)
    if prepared is None or not prepared.holds(engine.world):
        return moving.ImportApplied()
    return moving.ImportApplied(engine.apply_tried(prepared, engines.advance, request.max_objects, request.followers))


# Reads of the API server: a long answer is sent in parts

AT_ONCE = 1 << 20  # bytes of a part, which one more entry of a list may exceed
EXPIRED = "The resourceVersion for the provided list is too old."


@answers_as_worker(moving.Read)
def read(engines: Engines, session: int, request: moving.Read) -> Steps[moving.ApiAnswer]:
    """Answer a GET. All parts of a long answer are of the same moment."""
    engine = engines.get(session)
    world = yield from engine.at(request.position)
    now = time.time_ns() if world.store.live and request.position == engine.world.position else 0
    release = world.settings.release
    call = msgspec.structs.replace(request.call, oldest=engine.watches.oldest, release=release, now=now)
    reply = answer_read(world, call)
    return _next_of(engines, session, request.token, _cut(as_yaml(reply) if call.as_yaml else reply, world.store.live))


@answers_as_worker(moving.ReadOn)
def read_on(engines: Engines, session: int, request: moving.ReadOn) -> Steps[moving.ApiAnswer]:
    yield
    parts = engines.take_task(session, request.token, GeneratorType)
    if parts is None:
        raise AnswerExpired(EXPIRED)
    return _next_of(engines, session, request.token, parts)


@answers_as_worker(moving.BeginWatch)
def begin_watch(engines: Engines, session: int, request: moving.BeginWatch) -> Steps[moving.StartedWatch]:
    """Begin a watch at the head. Its first events are all of this moment, and are also sent in parts."""
    yield
    engine = engines.get(session)
    live = engine.world.store.live
    try:
        number, watcher, first = engine.watches.begin(engine.world, request.call)
    except Failure as failure:
        return moving.StartedWatch(0, next(_cut(failure.reply, live)), b"")
    answered = _next_of(engines, session, request.token, _cut(Reply(200, lambda: first), live))
    return moving.StartedWatch(number, answered, watcher.mark("0"))


def _cut(reply: Reply, live: bool) -> Generator[moving.ApiAnswer, None, None]:
    """Yield an answer in parts. One entry is read ahead to know which part is the last."""
    answered = moving.ApiAnswer(reply.status, b"", reply.content_type, list(reply.headers), live)
    body = bytearray()
    for entry in reply.parts():
        if len(body) > AT_ONCE:
            yield msgspec.structs.replace(answered, body=bytes(body), more=True)
            body.clear()
        body += entry
    yield msgspec.structs.replace(answered, body=bytes(body))


def _next_of(
    engines: Engines, session: int, token: str, parts: Generator[moving.ApiAnswer, None, None]
) -> moving.ApiAnswer:
    answered = next(parts)
    if answered.more:
        engines.keep_task(session, token, parts)
    return answered


# Traces, and other files


@answers_as_worker(comparing.OpenTrace)
def open_trace(engines: Engines, session: int, request: comparing.OpenTrace) -> Steps[None]:
    yield
    engines.writing = Export(request)


@answers_as_worker(comparing.OpenFile)
def open_file(engines: Engines, session: int, request: comparing.OpenFile) -> Steps[None]:
    yield
    engines.writing = File(request)


@answers_as_worker(comparing.NextPart)
def next_part(engines: Engines, session: int, request: comparing.NextPart) -> Steps[comparing.FilePart]:
    yield
    assert engines.writing is not None
    return engines.writing.next()


def progress(engines: Engines, session: int) -> opening.ReplayProgress:
    """Return the progress of opening a session; answered in the middle of other work."""
    engine = engines.find(session)
    return opening.ReplayProgress(engine.world.position, engine.target) if engine else opening.ReplayProgress(0, 0)


load()  # the other modules, so that an import of this one registers all handlers
