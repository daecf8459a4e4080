"""Answers to the requests that open a session, move its head, and show it; and the start of any request's work."""

from pathlib import Path

import msgspec

from playground.lessons.authoring import Checked
from playground.sessions.protocol import comparing, moving, opening, until
from playground.sessions.protocol import lessons as teaching
from playground.sessions.protocol import traces as tracing
from playground.sessions.worker import checkpoints, traces
from playground.sessions.worker.answers import rerun, search
from playground.sessions.worker.answers.teaching import lessons
from playground.sessions.worker.conditions.until import require_future as require_future_of
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.engines import Engines, File
from playground.sessions.worker.imports import LargeImport, preview
from playground.sessions.worker.memory import release_memory, trim_memory
from playground.sessions.worker.registry import answers, answers_as_worker, load
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.world.readonly import LoadLimits

# Opening, following, saving


@answers_as_worker(opening.Open, slow=True)
def open_session(engines: Engines, session: int, request: opening.Open) -> Steps[opening.Opened]:
    """Make a session's engine, from its last checkpoint on where there is one that can be used."""
    engine = Engine(request.seed, engines.slice, request.story, request.lesson)
    engine.outcomes_saved, engine.target = request.outcomes_saved, request.head
    engines.put(session, engine)
    yield from engine.take(request.rows)
    checkpoints.restore(engine, request.archive)
    restored = engine.world.position
    yield
    yield from engine.go_on(request.head)
    differs = None if restored else checkpoints.compare(engine, request.outcomes)
    return opening.Opened(restored, differs)


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
def step(engine: Engine, request: moving.Step) -> Steps[moving.Moved]:
    return (yield from engine.step(request.grain, request.times, request.keep, request.followers))


@answers(moving.Run, slow=True)
def run(engine: Engine, request: moving.Run) -> Steps[moving.Moved]:
    return (yield from engine.run(request.seconds, request.keep, request.until, request.most))


@answers(moving.RequireFuture)
def require_future(engine: Engine, request: moving.RequireFuture) -> Steps[None]:
    yield
    require_future_of(engine.world, request.until)


# What goes on in turns


@answers_as_worker(until.Search)
def search_on(engines: Engines, session: int, request: until.Search) -> Steps[until.SearchProgress]:
    """Begin a search or go on with it, for some time."""
    engine = engines.get(session)
    going = None if request.begin else engines.take_task(session, request.token, search.Search)
    if going is None:
        going = search.Search(engine, request.points, request.position, request.back, request.head, request.most)
    progress = yield from going.work(request.seconds)
    if not progress.done:
        engines.keep_task(session, request.token, going)
    return progress


@answers_as_worker(comparing.Rerun)
def rerun_on(engines: Engines, session: int, request: comparing.Rerun) -> Steps[comparing.RerunProgress]:
    """Make a history again without some commands or with another seed, or go on with that for some time."""
    engine = engines.get(session)
    going = engines.take_task(session, request.token, rerun.Rerun)
    if going is None:
        going = rerun.Rerun(
            engine, request.position, request.skip, request.max_objects, request.max_steps, request.seed
        )
    progress = yield from going.work(request.seconds)
    if progress.result is None:
        engines.keep_task(session, request.token, going)
    return progress


@answers_as_worker(moving.ReadImport)
def read_import(engines: Engines, session: int, request: moving.ReadImport) -> Steps[moving.ImportProgress]:
    """Begin to look at a large import or go on with that, for some time."""
    engine = engines.get(session)
    going = engines.take_task(session, request.token, LargeImport)
    if going is None:
        engines.prepare(0, "", None)
        limits = LoadLimits(max_bytes=request.most_bytes)
        going = LargeImport(engine, Path(request.file), request.rename, limits)
    progress = yield from going.work(request.seconds)
    if progress.made is None:
        engines.keep_task(session, request.token, going)
    else:
        engines.prepare(session, request.token, going.prepared)
        trim_memory()
    return progress


@answers_as_worker(moving.ApplyImport)
def apply_import(engines: Engines, session: int, request: moving.ApplyImport) -> Steps[moving.ImportApplied]:
    """Apply a large import, where nothing has happened since it was tried."""
    yield
    engine, prepared = engines.get(session), engines.take_prepared(session, request.token)
    if prepared is None or not prepared.holds(engine.world):
        return moving.ImportApplied()
    return moving.ImportApplied(engine.apply_tried(prepared, engines.advance, request.max_objects, request.followers))


# Traces


@answers_as_worker(tracing.OpenTrace)
def open_trace(engines: Engines, session: int, request: tracing.OpenTrace) -> Steps[None]:
    yield
    engines.export = traces.Export(request)


@answers_as_worker(tracing.NextTraceLines)
def next_trace_lines(engines: Engines, session: int, request: tracing.NextTraceLines) -> Steps[tracing.TraceLines]:
    yield
    assert engines.export is not None
    return engines.export.next()


@answers_as_worker(tracing.CheckTrace)
def check_trace(engines: Engines, session: int, request: tracing.CheckTrace) -> Steps[tracing.TraceChecked]:
    yield
    return traces.check(request)


@answers_as_worker(tracing.OpenFile)
def open_file(engines: Engines, session: int, request: tracing.OpenFile) -> Steps[None]:
    yield
    engines.file = File(request)


@answers_as_worker(tracing.NextFilePart)
def next_file_part(engines: Engines, session: int, request: tracing.NextFilePart) -> Steps[tracing.FilePart]:
    yield
    assert engines.file is not None
    return engines.file.next()


# Lessons


@answers_as_worker(teaching.CheckLesson)
def check_lesson(engines: Engines, session: int, request: teaching.CheckLesson) -> Steps[Checked]:
    yield
    return lessons.check_lesson(request)


@answers_as_worker(teaching.DrawVariant)
def draw_variant(engines: Engines, session: int, request: teaching.DrawVariant) -> Steps[teaching.Variant]:
    yield
    return lessons.draw_variant(request)


def progress(engines: Engines, session: int) -> opening.ReplayProgress:
    """Return the progress of opening a session; answered in the middle of other work."""
    engine = engines.find(session)
    return opening.ReplayProgress(engine.world.position, engine.target) if engine else opening.ReplayProgress(0, 0)


load()  # the other modules: whoever imports this one has all handlers
