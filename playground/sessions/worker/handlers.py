"""What a worker does for each request: two tables, of what is asked of an open session and of what is asked of the worker itself.

A handler is a generator that yields between its slices of time and returns the answer (time_sharing.py).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from playground.lessons.authoring import Checked
from playground.sessions.protocol import (
    adopting,
    comparing,
    finding,
    lockstep,
    looking,
    moving,
    opening,
    plugins,
)
from playground.sessions.protocol import lessons as teaching
from playground.sessions.protocol import traces as tracing
from playground.sessions.protocol.base import Request
from playground.sessions.worker import checkpoints, cursor, files, rerun, search, traces
from playground.sessions.worker.answers import (
    adoption,
    cluster,
    configurations,
    device_search,
    fixes,
    journeys,
    metrics,
    objects,
    outlines,
    overview,
    own_plugins,
    records,
    sequences,
    subjects,
)
from playground.sessions.worker.answers import lockstep as side_by_side
from playground.sessions.worker.answers.teaching import foresight, lessons
from playground.sessions.worker.conditions.until import require_future as require_future_of
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.engines import Engines
from playground.sessions.worker.imports import LargeImport, preview
from playground.sessions.worker.memory import release_memory, trim_memory
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.world.readonly import LoadLimits

# Opening, following, saving


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


def fork(engines: Engines, session: int, request: opening.Fork) -> Steps[None]:
    """Copy an engine for a new session."""
    origin = engines.get(session)
    twin = yield from origin.twin(request.at)
    twin.outcomes_saved = request.outcomes_saved
    if request.volume == origin.history.store.volume:
        twin.history.store = origin.history.store.twin(request.parts, request.checkpoints)
    engines.put(request.new, twin)


def clear_up(engines: Engines, session: int, request: opening.ClearUp) -> Steps[None]:
    yield
    engines.prepare(0, "", None)
    release_memory()


def extend(engine: Engine, request: opening.Extend) -> Steps[None]:
    yield from engine.follow(request.rows, request.head, request.keep)


def forget_saved(engine: Engine, request: opening.ForgetSaved) -> Steps[None]:
    yield
    engine.history.store.forget()
    engine.outcomes_saved = request.outcomes_saved


# Moving the head


def preview_import(engine: Engine, request: moving.PreviewImport) -> Steps[moving.ImportPlan]:
    yield
    return preview(engine.world, request.text, request.rename)


def apply_text(engine: Engine, request: moving.ApplyText) -> Steps[moving.TextApplied]:
    yield
    plan = preview(engine.world, request.text)
    shown = msgspec.structs.replace(plan, command=b"", kept=b"")
    if not plan.command or plan.obstacles(request.create_only):
        return moving.TextApplied(shown)
    return moving.TextApplied(shown, engine.apply_data(plan.command, request.max_objects, request.followers))


def step(engine: Engine, request: moving.Step) -> Steps[moving.Moved]:
    return (yield from engine.step(request.grain, request.times, request.keep, request.followers))


def run(engine: Engine, request: moving.Run) -> Steps[moving.Moved]:
    return (yield from engine.run(request.seconds, request.keep, request.until, request.most))


def require_future(engine: Engine, request: moving.RequireFuture) -> Steps[None]:
    yield
    require_future_of(engine.world, request.until)


# What goes on in turns


def search_on(engines: Engines, session: int, request: finding.Search) -> Steps[finding.SearchProgress]:
    """Begin a search or go on with it, for some time."""
    engine = engines.get(session)
    going = None if request.begin else engines.take_task(session, request.token, search.Search)
    if going is None:
        going = search.Search(
            engine, request.points, request.position, request.back, request.head, request.most
        )
    progress = yield from going.work(request.seconds)
    if not progress.done:
        engines.keep_task(session, request.token, going)
    return progress


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


def apply_import(engines: Engines, session: int, request: moving.ApplyImport) -> Steps[moving.ImportApplied]:
    """Apply a large import, where nothing has happened since it was tried."""
    yield
    engine, prepared = engines.get(session), engines.take_prepared(session, request.token)
    if prepared is None or not prepared.holds(engine.world):
        return moving.ImportApplied()
    return moving.ImportApplied(
        engine.apply_tried(prepared, engines.advance, request.max_objects, request.followers)
    )


# Traces


def open_trace(engines: Engines, session: int, request: tracing.OpenTrace) -> Steps[None]:
    yield
    engines.export = traces.Export(request)


def next_trace_lines(
    engines: Engines, session: int, request: tracing.NextTraceLines
) -> Steps[tracing.TraceLines]:
    yield
    assert engines.export is not None
    return engines.export.next()


def check_trace(engines: Engines, session: int, request: tracing.CheckTrace) -> Steps[tracing.TraceChecked]:
    yield
    return traces.check(request)


def open_file(engines: Engines, session: int, request: tracing.OpenFile) -> Steps[None]:
    yield
    engines.file = files.File(request)


def next_file_part(engines: Engines, session: int, request: tracing.NextFilePart) -> Steps[tracing.FilePart]:
    yield
    assert engines.file is not None
    return engines.file.next()


# Lessons


def check_lesson(engines: Engines, session: int, request: teaching.CheckLesson) -> Steps[Checked]:
    yield
    return lessons.check_lesson(request)


def draw_variant(engines: Engines, session: int, request: teaching.DrawVariant) -> Steps[teaching.Variant]:
    yield
    return lessons.draw_variant(request)


class Handler(NamedTuple):
    """`slow`: takes turns with other slow work from the start; `unhurried`: nobody waits for it; `too_much`: what is said where it takes
    more memory than one job may, none where it needs no such budget.
    """

    work: Callable[..., Steps[Any]]
    slow: bool = False
    unhurried: bool = False
    too_much: str = ""


OF_A_SESSION: dict[type[Request[Any]], Handler] = {
    opening.Extend: Handler(extend),
    opening.Save: Handler(checkpoints.save, unhurried=True),
    opening.ForgetSaved: Handler(forget_saved),
    moving.Apply: Handler(Engine.apply),
    moving.PreviewImport: Handler(preview_import),
    moving.ApplyText: Handler(apply_text),
    moving.Step: Handler(step),
    moving.Run: Handler(run, slow=True),
    moving.RequireFuture: Handler(require_future),
    moving.Forward: Handler(cursor.forward),
    moving.Back: Handler(cursor.back),
    looking.View: Handler(Engine.view),
    looking.Compare: Handler(Engine.compare),
    looking.Objects: Handler(objects.objects),
    looking.ObjectYaml: Handler(objects.object_yaml),
    looking.SubjectOf: Handler(subjects.subject_of),
    looking.Configuration: Handler(configurations.configuration),
    looking.EffectiveConfiguration: Handler(configurations.effective_configuration),
    looking.ReadConfiguration: Handler(configurations.read_configuration),
    adopting.AdoptConfiguration: Handler(adoption.adopt_configuration),
    looking.NodeNames: Handler(objects.node_names),
    looking.NodeFacts: Handler(objects.node_facts),
    looking.FindNames: Handler(overview.find_names),
    looking.LessonHolds: Handler(overview.lesson_holds),
    looking.AttemptEnds: Handler(overview.attempt_ends),
    looking.ClusterYaml: Handler(objects.cluster_yaml),
    looking.Metrics: Handler(metrics.metrics),
    looking.Statistics: Handler(metrics.statistics),
    looking.Cluster: Handler(cluster.cluster),
    looking.DeviceSearch: Handler(device_search.device_search),
    looking.Fixes: Handler(fixes.fixes),
    looking.WhyNot: Handler(fixes.why_not_there),
    looking.Foresee: Handler(foresight.foresee),
    looking.Journey: Handler(journeys.journey),
    looking.Sequence: Handler(sequences.sequence),
    looking.CycleState: Handler(journeys.cycle_state),
    looking.Changes: Handler(records.changes),
    plugins.TryPlugin: Handler(own_plugins.try_plugin),
    finding.CheckExpression: Handler(search.check_expression),
    finding.Hits: Handler(search.hits),
    finding.Records: Handler(records.records),
    comparing.Outline: Handler(outlines.outline, too_much=outlines.TOO_MUCH),
    comparing.AttemptDigests: Handler(outlines.digests, too_much=outlines.TOO_MUCH),
    comparing.Attempt: Handler(outlines.attempt, too_much=outlines.TOO_MUCH),
    comparing.Moments: Handler(rerun.moments),
    teaching.JudgeAnswer: Handler(lessons.judge_answer),
    teaching.OpenQuestion: Handler(lessons.open_question),
    lockstep.StretchOf: Handler(side_by_side.stretch_of),
    lockstep.Stretch: Handler(side_by_side.stretch, too_much=outlines.TOO_MUCH),
    lockstep.Moment: Handler(side_by_side.moment),
}

OF_THE_WORKER: dict[type[Request[Any]], Handler] = {
    opening.Open: Handler(open_session, slow=True),
    opening.Fork: Handler(fork),
    opening.ClearUp: Handler(clear_up),
    finding.Search: Handler(search_on),
    comparing.Rerun: Handler(rerun_on),
    moving.ReadImport: Handler(read_import),
    moving.ApplyImport: Handler(apply_import),
    tracing.OpenTrace: Handler(open_trace),
    tracing.NextTraceLines: Handler(next_trace_lines),
    tracing.CheckTrace: Handler(check_trace),
    teaching.CheckLesson: Handler(check_lesson),
    teaching.DrawVariant: Handler(draw_variant),
    tracing.OpenFile: Handler(open_file),
    tracing.NextFilePart: Handler(next_file_part),
}


def progress(engines: Engines, session: int) -> opening.ReplayProgress:
    """Return the progress of opening a session; answered in the middle of other work."""
    engine = engines.find(session)
    return (
        opening.ReplayProgress(engine.world.position, engine.target)
        if engine
        else opening.ReplayProgress(0, 0)
    )
