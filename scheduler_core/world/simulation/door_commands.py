"""Requests of clients to the API server, and the calendar of a live world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import msgspec

from scheduler_core.apimachinery.objects.times import parse_time
from scheduler_core.apiserver.door import Call, Reply, answer_write
from scheduler_core.controllers.contract import World
from scheduler_core.world.commands import BeginLife, CallAPI


class ServedWorld(World, Protocol):
    """A world that answers clients."""

    answered: Reply | None


def _call(world: ServedWorld, command: CallAPI) -> None:
    query = dict(command.query)
    form = query.pop("form", "object")
    call = msgspec.convert({"method": command.method, "path": command.path, "query": query, "form": form}, Call)
    agent = command.manager or command.agent
    world.answered = answer_write(replace(world.api, typed=False), call, command.body, command.content_type, agent)


def _begin(world: ServedWorld, command: BeginLife) -> None:
    world.store.begin_at(parse_time(command.start) - world.now, command.live)


EXECUTORS: Mapping[type, Callable[[Any, Any], None]] = {CallAPI: _call, BeginLife: _begin}
