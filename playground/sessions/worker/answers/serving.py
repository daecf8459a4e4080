"""The API server of a session: writes, watches, and a live world's time."""

from collections.abc import Callable

import msgspec

from playground.sessions.protocol import moving
from playground.sessions.protocol.errors import SessionError
from playground.sessions.worker.engine import DiscardedCommand, Engine
from playground.sessions.worker.time_sharing import Steps, answers
from playground.sessions.worker.world import Simulation
from scheduler_core.apiserver.door import Call, Failure, Reply, as_yaml, changes_nothing, read_body

APART, MOST_APART = 8, 32  # writes between copies of the world: more after consecutive writes without a refusal


def _finish(reply: Reply, world: Simulation, call: Call) -> moving.ApiAnswer:
    reply = as_yaml(reply) if call.as_yaml else reply
    return moving.ApiAnswer(reply.status, reply.data, reply.content_type, list(reply.headers), world.store.live)


@answers(moving.Write)
def write(engine: Engine, request: moving.Write) -> Steps[moving.WriteResult]:
    """Execute each request as one command; one that changes nothing is not recorded as a command."""
    engine.interrupted = False  # before the first turn: a change that waits for the session may interrupt from now on
    return _write_all(engine, request)


def _write_all(engine: Engine, request: moving.Write) -> Steps[moving.WriteResult]:
    answered: list[moving.ApiAnswer] = []
    applied: list[moving.AppliedCommand] = []
    for call in request.calls:
        yield
        if engine.interrupted and answered:
            break
        warnings: list[tuple[str, str]] = []
        answer = _write(engine, call, request.max_objects, applied.append, warnings)
        answered.append(msgspec.structs.replace(answer, headers=[*answer.headers, *warnings]))
    if applied:
        applied[-1] = msgspec.structs.replace(applied[-1], deltas=engine.deltas(request.followers))
    return moving.WriteResult(answered, applied)


def _write(
    engine: Engine,
    request: moving.APIWrite,
    max_objects: int,
    add: Callable[[moving.AppliedCommand], None],
    warnings: list[tuple[str, str]],
) -> moving.ApiAnswer:
    world, call = engine.world, request.call
    try:
        body = read_body(world, call, request.body, request.content_type, warnings)
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

    apart, engine.unrefused = min(max(APART, engine.unrefused), MOST_APART), 0
    try:
        add(engine.apply_data(data, max_objects, wanted=wanted, apart=apart))
    except DiscardedCommand as unwanted:
        return _finish(unwanted.world.answered or Reply(200, {}), world, call)
    except Failure as failure:
        return _finish(failure.reply, world, call)
    except SessionError as error:
        return _finish(Failure(403, "Forbidden", str(error)).reply, world, call)
    assert engine.world.answered is not None
    engine.unrefused = apart + 1
    return _finish(engine.world.answered, engine.world, call)


@answers(moving.GoLive)
def go_live(engine: Engine, request: moving.GoLive) -> Steps[moving.Movement]:
    return (yield from engine.live(request.wall, request.followers))


@answers(moving.NextSeen)
def next_seen(engine: Engine, request: moving.NextSeen) -> Steps[moving.WatchedEvents]:
    yield
    parts, alive = engine.watches.next(engine.world)
    return moving.WatchedEvents(parts, alive, engine.world.store.resource_version)


@answers(moving.EndWatch)
def end_watch(engine: Engine, request: moving.EndWatch) -> Steps[None]:
    yield
    engine.watches.end(request.number)
