"""Extender calls: the parts that all verbs share. An answer comes from outside, so the cycle waits for it.

kube: pkg/scheduler/extender.go @ v1.34.1
"""

from collections.abc import Callable
from dataclasses import replace

from scheduler_core.scheduler.core.cycles.phases import Extension
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.exchange import Effect, Exchange
from scheduler_core.scheduler.extenders.extender import Extender, Request, Verb
from scheduler_core.scheduler.extenders.results import ExtenderError, read_bind
from scheduler_core.scheduler.framework import SUCCESS, Code, PluginStep, Point, Rows, Scores, Status, Verdicts, error
from scheduler_core.scheduler.framework.runtime.framework import Cycle
from scheduler_core.scheduler.framework.runtime.points import extender_answered

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
    """Process an answer and return the step that records it.

    `problem`: the scheduler's error, or "". `skipped`: the error is ignored, and the next extender is called.
    """
    exchange = extension.take(replace(extension.current(), effect=effect, error=problem))
    status = error(problem) if problem else SUCCESS
    if problem and skipped:
        status = Status(Code.SKIP, (problem,))
    return extender_answered(
        POINTS[exchange.verb],
        exchange.extender.url_prefix,
        cycle,
        status,
        exchange,
        rows=rows,
        verdicts=verdicts,
        scores=scores,
        stage=stage,
    )


def take_binding(extension: Extension, cycle: Cycle, bind: Callable[[], str]) -> PluginStep:
    """Process the answer of an extender that binds. Status Skip: an ignorable one failed. `bind` returns the API server's error."""
    exchange = extension.current()
    try:
        read_bind(exchange)
        problem = bind()
    except ExtenderError as failed:
        problem = str(failed)
    ignored = bool(problem) and exchange.extender.ignorable
    return take(extension, cycle, Effect(bound=not problem, ignored=ignored), problem, skipped=ignored)
