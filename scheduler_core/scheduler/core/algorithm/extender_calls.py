"""Asking an extender, and what is the same for all its answers. An answer comes from outside: the cycle waits for it.

kube: pkg/scheduler/extender.go @ v1.34.1
"""

from dataclasses import replace

import numpy as np

from scheduler_core.scheduler.core.cycles.phases import Extension
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.exchange import Effect, Exchange
from scheduler_core.scheduler.extenders.extender import Extender, Request, Verb
from scheduler_core.scheduler.framework import SUCCESS, Code, PluginStep, Point, Rows, Scores, Status, Verdicts, error
from scheduler_core.scheduler.framework.runtime.framework import Cycle

POINTS = {
    Verb.FILTER: Point.EXTENDER_FILTER,
    Verb.PRIORITIZE: Point.EXTENDER_PRIORITIZE,
    Verb.PREEMPT: Point.EXTENDER_PREEMPT,
    Verb.BIND: Point.EXTENDER_BIND,
}


def serving(extenders: tuple[Extender, ...], verb: Verb, cycle: Cycle) -> tuple[int, ...]:
    """Return the indexes of the extenders that serve the verb for the cycle's pod."""
    return tuple([i for i, extender in enumerate(extenders) if extender.serves(verb, cycle.pod)])


def extension_of(cycle: SchedulingCycle) -> Extension:
    """Return the extender calls of a cycle, which begin with the first one: most cycles have none."""
    if cycle.extension is None:
        cycle.extension = Extension()
    return cycle.extension


def ask(extension: Extension, cycle: Cycle, extender: Extender, verb: Verb, request: Request) -> None:
    """Begin a call. The cycle waits for the answer."""
    number = extension.numbers_from + len(extension.exchanges)
    extension.add(Exchange(number, extender, verb, request, cycle.t, extension.nominated and verb is Verb.FILTER))


def take(
    extension: Extension,
    cycle: Cycle,
    effect: Effect,
    problem: str = "",
    *,
    rows: Rows | None = None,
    verdicts: Verdicts | None = None,
    scores: Scores | None = None,
    stage: str = "",
    skipped: bool = False,
) -> PluginStep:
    """Take an answer, and return the step that records it, with what the extender was asked and answered as evidence.

    `problem`: the scheduler's error, if there is one; `skipped`: the error is ignored, and it is the next one's turn.
    """
    exchange = extension.take(replace(extension.current(), effect=effect, error=problem))
    status = error(problem) if problem else SUCCESS
    if problem and skipped:
        status = Status(Code.SKIP, (problem,))
    name = exchange.extender.url_prefix
    step = PluginStep(
        POINTS[exchange.verb],
        name,
        status.by(name),
        cycle.t,
        cycle.position,
        0 if rows is None else len(rows),
        0 if verdicts is None else int(np.count_nonzero(verdicts.refused)),
        rows,
        verdicts,
        scores,
        stage=stage,
        evidence=exchange,
    )
    cycle.steps.append(step)
    return step
