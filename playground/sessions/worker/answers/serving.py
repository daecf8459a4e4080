"""The API server of a session: reads, writes, watches, and a live world's time."""

from __future__ import annotations

import time

import msgspec

from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.moving import (
    Answered,
    BeginWatch,
    EndWatch,
    GoLive,
    Moved,
    NextSeen,
    Read,
    Seen,
    Watched,
    Write,
)
from playground.sessions.worker.engine import Engine, Unwanted
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import Simulation
from scheduler_core.apiserver.door import Call, Failure, Reply, answer_read, as_yaml, changes_nothing, read_body


def _finish(reply: Reply, world: Simulation, call: Call) -> Answered:
    reply = as_yaml(reply) if call.as_yaml else reply
    return Answered(reply.status, reply.data, reply.content_type, list(reply.headers), world.store.live)


@answers(Read)
def read(engine: Engine, request: Read) -> Steps[Answered]:
    """Answer a GET."""
    world = yield from engine.at(request.position)
    now = time.time_ns() if world.store.live and request.position == engine.world.position else 0
    release = world.settings.release
    call = msgspec.structs.replace(request.call, oldest=engine.watches.oldest, release=release, now=now)
    return _finish(answer_read(world, call), world, call)


@answers(Write)
def write(engine: Engine, request: Write) -> Steps[Answered]:
    """Carry out a request as one command; one that changes nothing leaves no command behind."""
    yield
    world, call = engine.world, request.call
    try:
        body = read_body(world, call, request.body, request.content_type)
    except Failure as failure:
        return _finish(failure.reply, world, call)
    moment = max(0, request.wall - world.store.epoch) if world.store.live else 0
    command = {
        "kind": "CallAPI",
        "method": call.method,
        "path": call.path,
        "query": {**call.query, **({"form": call.form} if call.form != "object" else {})},
        "body": body,
        "content_type": request.content_type,
        "agent": request.agent,
        "manager": request.manager,
        "time": moment,
    }
    data = msgspec.json.encode({"command": command, "source": "kubectl"})
    version, events, stays = world.store.resource_version, len(world.store.events), not changes_nothing(call, body)
    faults = dict(world.faults)

    def wanted(after: Simulation) -> bool:
        there = (after.store.resource_version, len(after.store.events), after.faults)
        return stays and there != (version, events, faults)

    try:
        applied = engine.apply_data(data, request.max_objects, request.followers, wanted)
    except Unwanted as unwanted:
        return _finish(unwanted.world.answered or Reply(200, {}), world, call)
    except Failure as failure:
        return _finish(failure.reply, world, call)
    except SessionError as error:
        return _finish(Failure(403, "Forbidden", str(error)).reply, world, call)
    assert engine.world.answered is not None
    return msgspec.structs.replace(_finish(engine.world.answered, engine.world, call), applied=applied)


@answers(GoLive)
def go_live(engine: Engine, request: GoLive) -> Steps[Moved]:
    return (yield from engine.live(request.wall, request.followers))


@answers(BeginWatch)
def begin_watch(engine: Engine, request: BeginWatch) -> Steps[Watched]:
    """Begin a watch at the head."""
    yield
    world = engine.world
    try:
        number, watcher, first = engine.watches.begin(world, request.call)
    except Failure as failure:
        return Watched(0, b"", "", "", _finish(failure.reply, world, request.call))
    resource = watcher.resource
    return Watched(number, first, resource.kind, resource.api_version, live=world.store.live)


@answers(NextSeen)
def next_seen(engine: Engine, request: NextSeen) -> Steps[Seen]:
    yield
    parts, alive = engine.watches.next(engine.world)
    return Seen(parts, alive, engine.world.store.resource_version)


@answers(EndWatch)
def end_watch(engine: Engine, request: EndWatch) -> Steps[None]:
    yield
    engine.watches.end(request.number)
