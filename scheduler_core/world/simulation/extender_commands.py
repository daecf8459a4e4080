"""Commands about extenders: what their servers do, and answers that came from outside."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.core.steps import extender_calls
from scheduler_core.scheduler.extenders.behaviour import Behaviours
from scheduler_core.scheduler.extenders.exchange import Answer
from scheduler_core.scheduler.extenders.written import Written, problems_of
from scheduler_core.world.commands import AnswerExtender, SetExtender, refuse
from scheduler_core.world.simulation.edits import EditableWorld

MOST = 100  # servers that are told of


def _set(world: EditableWorld, command: SetExtender) -> None:
    inputs = world.surroundings.inputs
    behaviours = dict(inputs.extenders)
    if isinstance(command.behaviour, Written):
        # Refused, with the place of every error.
        written = command.behaviour
        errors = [
            FieldError(
                f"behaviour.{wrong.verb}",
                repr(getattr(written, wrong.verb)),
                f"an expression that compiles. Line {wrong.line}, column {wrong.column + 1}: {wrong.message}",
                line=wrong.line,
                column=wrong.column + 1,
            )
            for wrong in problems_of(written)
        ]
        if errors:
            raise Refused(errors)
    if command.behaviour is None:
        behaviours.pop(command.url_prefix, None)
    else:
        behaviours[command.url_prefix] = command.behaviour
    if len(behaviours) > MOST:
        raise refuse("url_prefix", command.url_prefix, f"one of at most {MOST} servers")
    ordered: Behaviours = tuple(sorted(behaviours.items(), key=lambda item: item[0]))
    world.surroundings.inputs = replace(inputs, extenders=ordered)


def _answer(world: EditableWorld, command: AnswerExtender) -> None:
    came = command.answer
    answer = Answer(came.status, came.body, came.error, came.latency, came.in_body)
    for scheduler in world.schedulers:
        if scheduler.name == command.scheduler:
            if extender_calls.answer(scheduler, command.attempt, command.number, answer):
                return
    raise refuse("number", command.number, "a call in progress")


EXECUTORS: Mapping[type, Callable[[Any, Any], None]] = {SetExtender: _set, AnswerExtender: _answer}
