"""Requests of clients to the API server, and the calendar of a live world."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from scheduler_core.apimachinery.objects.times import parse_time
from scheduler_core.apiserver.door import Call, Failure, answer_write
from scheduler_core.apiserver.faults import BIND, DELETE, STATUS, take
from scheduler_core.world.commands import BeginLife, CallAPI
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


def _begin(world: EditableWorld, command: BeginLife) -> None:
    world.store.begin_at(parse_time(command.start) - world.now, command.live)


EXECUTORS: Mapping[type, Callable[[Any, Any], None]] = {CallAPI: _call, BeginLife: _begin}
