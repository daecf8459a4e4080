"""Commands from outside: requests of clients to the API server, the calendar of a live world, extenders and their answers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apiserver.door import Call, Failure, answer_write
from scheduler_core.apiserver.faults import BIND, DELETE, STATUS, take
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.core.steps import extender_calls
from scheduler_core.scheduler.extenders.behaviour import Behaviours
from scheduler_core.scheduler.extenders.exchange import Answer
from scheduler_core.scheduler.extenders.written import WrittenServer, problems_of
from scheduler_core.world.commands import AnswerExtender, BeginLife, CallAPI, SetExtender, refuse
from scheduler_core.world.simulation.cluster_commands import begin_at
from scheduler_core.world.simulation.edits import EditableWorld

_OF_POD = re.compile(r"/api/v1/namespaces/([^/]+)/pods/([^/]+)(?:/(binding|status))?")
_CALLS = {("POST", "binding"): BIND, ("PATCH", "status"): STATUS, ("DELETE", ""): DELETE}


def _call(world: EditableWorld, command: CallAPI) -> None:
    query = dict(command.query)
    form = query.pop("form", "object")
    call = msgspec.convert({"method": command.method, "path": command.path, "query": query, "form": form}, Call)
    agent = command.manager or command.agent
    found = _OF_POD.fullmatch(call.path)
    kind = _CALLS.get((call.method, found[3] or "")) if found else None
    fault = take(world.faults, kind, f"{found[1]}/{found[2]}") if found and kind else None
    if fault is None or not fault.code or fault.after_write:
        world.answered = answer_write(replace(world.api, typed=False), call, command.body, command.content_type, agent)
    if fault is not None and fault.code:
        answer = fault.answer()
        world.answered = Failure(answer.code, answer.reason, answer.message).reply


# Extenders: what their servers do, and answers that came from outside.

MOST = 100  # servers that are told of


def _set_extender(world: EditableWorld, command: SetExtender) -> None:
    inputs = world.surroundings.inputs
    behaviours = dict(inputs.extenders)
    if isinstance(command.behaviour, WrittenServer):
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


def _answer_extender(world: EditableWorld, command: AnswerExtender) -> None:
    came = command.answer
    answer = Answer(came.status, came.body, came.error, came.latency, came.in_body)
    for scheduler in world.schedulers:
        if scheduler.name == command.scheduler:
            if extender_calls.answer(scheduler, command.attempt, command.number, answer):
                return
    raise refuse("number", command.number, "a call in progress")


EXECUTORS: Mapping[type, Callable[[Any, Any], None]] = {
    CallAPI: _call,
    BeginLife: lambda world, command: begin_at(world, command.start, command.live),
    SetExtender: _set_extender,
    AnswerExtender: _answer_extender,
}
