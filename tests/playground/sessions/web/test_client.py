"""What views may ask of a session."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest
import yaml
from asgiref.sync import sync_to_async
from django.db import OperationalError

from playground.models import LogEntry, Session
from playground.presenters import Look
from playground.sessions.database import log, markers
from playground.sessions.protocol.errors import (
    CommandRefused,
    LimitReached,
    NotAllowed,
    PastPosition,
    SessionError,
    SessionGone,
    Unavailable,
)
from playground.sessions.protocol.looking import Objects
from playground.sessions.protocol.opening import LogRow
from playground.sessions.web import engine_connection, engines
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.engines import Worker
from playground.sessions.web.live import LiveSession
from playground.sessions.web.runtime import runtime
from playground.sessions.worker.world import Grain
from tests.playground.sessions.worlds import applying, node, pod

pytestmark = pytest.mark.django_db(transaction=True)

BOMB = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))


async def names(client: SessionClient, at: int | None = None) -> list[str]:
    return [pod.name for pod in await client.ask(Objects(at=at, kind="Pod"))]


async def nodes(client: SessionClient) -> int:
    return len(await client.ask(Objects(kind="Node")))


async def head_of(client: SessionClient) -> int:
    return await client.head()


async def step(client: SessionClient, grain: Grain = Grain.CALL) -> None:
    await client.on_loop(lambda live: live.changes.step(grain))


async def keep(client: SessionClient, *objects: Any, author: str = "") -> str:
    """Preview an import; the token of what is kept."""
    return (await client.keep_preview(yaml.safe_dump_all(objects).encode(), author=author)).token


async def kill_worker(client: SessionClient) -> None:
    """End the process that has the session's engine, as a crash would."""
    worker = client.live().engine.worker
    assert worker is not None
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    while worker.alive:
        await asyncio.sleep(0.01)


async def test_a_key_nobody_has_opens_nothing(transactional_db: None) -> None:
    with pytest.raises(SessionGone):
        await SessionClient.open("x" * 32)


async def test_an_accepted_command_is_in_the_log_and_in_the_world(client: SessionClient) -> None:
    applied = await client.apply(applying(pod("new")))
    assert (applied.position, applied.forked) == (2, None)
    assert "new" in await names(client)
    assert await LogEntry.objects.filter(session=client.session, kind="command").acount() == 2


async def test_a_refused_command_leaves_no_trace(client: SessionClient) -> None:
    bad = pod("bad", cpu="10x")
    with pytest.raises(CommandRefused) as refused:
        await client.apply(applying(pod("good"), bad))
    assert "10x" in refused.value.errors[0].received
    assert refused.value.errors[0].object == "Pod default/bad"
    assert await LogEntry.objects.acount() == 1
    assert "good" not in await names(client)


async def test_a_name_that_is_taken_is_refused(client: SessionClient) -> None:
    with pytest.raises(CommandRefused, match='pods "p0" already exists'):
        await client.apply(applying(pod("p0"), create_only=True))


async def test_deleting_what_does_not_exist_is_refused(client: SessionClient) -> None:
    ref = {"kind": "Pod", "namespace": "default", "name": "nobody"}
    with pytest.raises(CommandRefused, match='pods "nobody" not found'):
        await client.apply({"kind": "DeleteObjects", "refs": [ref]})


async def test_a_view_key_shows_but_does_not_edit(session: Session) -> None:
    viewer = await SessionClient.open(session.view_key)
    assert await nodes(viewer) == 3
    with pytest.raises(NotAllowed):
        await viewer.apply(applying(pod("x")))
    with pytest.raises(NotAllowed):
        await viewer.preview(b"{}")
    with pytest.raises(NotAllowed):
        await viewer.delete()
    assert viewer.key == session.view_key


async def test_acting_in_the_past_forks(client: SessionClient) -> None:
    await step(client)
    await step(client)
    client.past = "fork"
    applied = await client.apply(applying(pod("what-if")), at=2)
    fork = applied.forked
    assert fork is not None
    assert applied.position == 3
    assert "what-if" in await names(fork)
    assert "what-if" not in await names(client)
    assert await head_of(client) == 3
    assert (fork.session.origin_id, fork.session.origin_position) == (client.session.pk, 2)


async def test_acting_in_the_past_asks_first(client: SessionClient) -> None:
    await step(client)
    with pytest.raises(PastPosition, match="Step 1 of 2 is not the newest one"):
        await client.apply(applying(pod("what-if")), at=1)
    assert await head_of(client) == 2
    assert await Session.objects.acount() == 1


async def test_a_fork_outlives_its_worker(client: SessionClient) -> None:
    await step(client)
    fork = await client.fork(at=1)
    await fork.apply(applying(pod("mine")))
    await kill_worker(fork)
    assert "mine" in await names(fork)
    assert "mine" not in await names(client)


@pytest.mark.parametrize("steps", range(2, 20, 3))
async def test_a_node_may_go_while_a_cycle_uses_it(client: SessionClient, steps: int) -> None:
    for _ in range(steps):
        await step(client)
    refs = [{"kind": "Node", "namespace": "", "name": f"n{i}"} for i in range(3)]
    await client.apply({"kind": "DeleteObjects", "refs": refs})
    for _ in range(8):
        await step(client, Grain.POD)
    before = await client.view(Look())
    await kill_worker(client)
    assert await client.view(Look()) == before


async def test_undo_takes_back_and_redo_makes_again_without_cutting_the_log(client: SessionClient) -> None:
    await client.apply(applying(pod("new")))
    await client.apply({"kind": "Undo"})
    assert "new" not in await names(client)
    await client.apply({"kind": "Redo"})
    assert "new" in await names(client)
    assert await LogEntry.objects.acount() == 4


async def test_a_killed_worker_loses_nothing(client: SessionClient) -> None:
    await client.apply(applying(pod("new")))
    await step(client, Grain.POD)
    head, before = await head_of(client), await client.view(Look())
    await kill_worker(client)
    assert await client.view(Look()) == before
    assert await head_of(client) == head


async def test_what_cannot_be_written_did_not_happen(client: SessionClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(log, "append", full)
        with pytest.raises(Unavailable, match="does not respond"):
            await client.apply(applying(pod("new")))
    assert await head_of(client) == 1
    assert "new" not in await names(client)
    assert (await client.apply(applying(pod("next")))).position == 2


async def test_what_another_process_wrote_first_stands_and_ours_follows(client: SessionClient) -> None:
    await head_of(client)
    row = LogRow(2, "command", 1, 2, log.pack({"command": applying(pod("theirs")), "source": ""}))
    await sync_to_async(log.append)(client.session.pk, row)
    assert (await client.apply(applying(pod("ours")))).position == 3
    assert set(await names(client)) >= {"theirs", "ours"}


async def test_what_another_process_wrote_is_followed(client: SessionClient) -> None:
    await head_of(client)
    row = LogRow(2, "command", 1, 2, log.pack({"command": applying(pod("theirs")), "source": ""}))
    await sync_to_async(log.append)(client.session.pk, row)
    await sync_to_async(log.append)(client.session.pk, LogRow(3, "step", 2, 9, log.pack({})))
    await client.on_loop(LiveSession.catch_up)
    assert await head_of(client) == 9
    assert "theirs" in await names(client)


async def test_a_large_import_moves_to_a_process_of_the_large_ones(client: SessionClient, settings: Any) -> None:
    settings.HEAVY_COMMAND_BYTES = 2000
    await client.apply(applying(*(pod(f"many{i}") for i in range(50))))
    assert client.live().engine.worker in runtime().services.pool.lane(True)
    assert len(await names(client)) == 54


async def test_a_full_log_says_so(client: SessionClient, settings: Any) -> None:
    settings.MAX_LOG_ENTRIES = 2
    await client.apply(applying(pod("a")))
    with pytest.raises(LimitReached, match="full"):
        await client.apply(applying(pod("b")))
    assert "b" not in await names(client)


async def test_a_log_that_would_be_too_large_says_so(client: SessionClient, settings: Any) -> None:
    settings.MAX_LOG_BYTES = 4000
    with pytest.raises(LimitReached, match="The limit is 4,000"):
        await client.apply(applying(*(pod(f"pod-{i}-{i * i}") for i in range(40))))
    assert len(await names(client)) == 4
    assert await head_of(client) == 1


async def test_too_many_objects_are_refused(client: SessionClient, settings: Any) -> None:
    settings.MAX_OBJECTS = 8
    before = await client.ask(Objects())
    with pytest.raises(LimitReached, match=r"9 objects\. The limit is 8"):
        await client.apply(applying(node("a"), node("b")))
    assert await client.ask(Objects()) == before


async def test_a_deleted_session_is_gone_for_everybody(client: SessionClient) -> None:
    await client.delete()
    for key in (client.session.edit_key, client.session.view_key):
        with pytest.raises(SessionGone):
            await SessionClient.open(key)


async def test_a_session_whose_beginning_is_refused_does_not_stay(transactional_db: None) -> None:
    with pytest.raises(CommandRefused):
        await create_session("Bad", commands=[applying(pod("x", cpu="ten"))])
    assert not await Session.objects.filter(deleted=None).aexists()


async def test_an_import_is_previewed_then_applied_as_one_command(client: SessionClient) -> None:
    token = await keep(client, node("new"), pod("p0"), {"kind": "Nonsense"})
    plan = await client.kept_preview(token)
    actions = {"new": "created", "p0": "unchanged"}
    assert {item.name: item.action for item in plan.items[:2]} == actions
    assert await nodes(client) == 3
    applied = await client.apply_preview(token)
    assert applied.position == 2
    assert await nodes(client) == 4


async def test_a_preview_outlives_its_worker(client: SessionClient) -> None:
    token = await keep(client, node("new"))
    await kill_worker(client)
    await client.apply_preview(token)
    assert await nodes(client) == 4


async def test_a_preview_is_applied_once(client: SessionClient) -> None:
    token = await keep(client, node("new"))
    await client.apply_preview(token)
    with pytest.raises(SessionError, match="has expired"):
        await client.apply_preview(token)


async def test_several_people_preview_side_by_side(client: SessionClient) -> None:
    mine = await keep(client, node("mine"), author="me")
    theirs = await keep(client, node("theirs"), author="they")
    await client.apply_preview(mine)
    await client.apply_preview(theirs)
    assert await nodes(client) == 5


async def test_of_one_author_only_the_latest_previews_are_kept(client: SessionClient) -> None:
    tokens = [await keep(client, node(f"n{i}"), author="me") for i in range(markers.OF_AN_AUTHOR + 1)]
    with pytest.raises(SessionError, match="has expired"):
        await client.kept_preview(tokens[0])
    assert len((await client.kept_preview(tokens[1])).items) == 1


async def test_a_preview_is_looked_at_again_where_it_is_applied_in_the_past(client: SessionClient) -> None:
    await client.apply(applying(node("early")))
    token = await keep(client, node("early"), node("late"))
    client.past = "fork"
    applied = await client.apply_preview(token, at=1)
    assert applied.forked is not None
    assert (await nodes(applied.forked), await nodes(client)) == (5, 4)


async def test_an_import_that_would_change_nothing_is_refused(client: SessionClient) -> None:
    token = await keep(client, node("n0"))
    with pytest.raises(CommandRefused, match="would change nothing"):
        await client.apply_preview(token)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"{", "line=2"),
        (b"a: [1, 2", "line"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"a: *nowhere", "nowhere"),
        (BOMB.encode(), "alias"),
    ],
)
async def test_a_text_that_cannot_be_read_is_refused(client: SessionClient, text: bytes, says: str) -> None:
    with pytest.raises(CommandRefused) as refused:
        await client.preview(text)
    assert says in f"{refused.value.message} {refused.value.errors}"


async def test_an_engine_that_takes_too_long_is_stopped_and_the_session_goes_on(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await head_of(client)
    with monkeypatch.context() as patch:
        patch.setitem(engine_connection.TIMEOUTS, False, 0.001)
        with pytest.raises(SessionError, match="took too long"):
            await client.apply(applying(*(pod(f"x{i}") for i in range(400))))
    assert await head_of(client) == 1
    assert len(await names(client)) == 4


async def the_end_of(worker: Worker | None) -> None:
    while worker is not None and worker.alive:
        await asyncio.sleep(0.01)


async def test_a_session_that_keeps_killing_its_engine_has_to_wait(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await head_of(client)
    monkeypatch.setattr(engines, "MAX_CRASHES", 2)
    with monkeypatch.context() as patch:
        patch.setitem(engine_connection.TIMEOUTS, False, 0.0)
        for _ in range(engines.MAX_CRASHES):
            with pytest.raises(SessionError):
                await client.ask(Objects())
            await the_end_of(client.live().engine.worker)
    with pytest.raises(SessionError, match="Try again in"):
        await client.ask(Objects())
    monkeypatch.setattr(engines, "CRASH_WINDOW", 0.0)
    assert len(await names(client)) == 4


async def test_a_workload_of_many_pods_is_planned_among_the_large_ones(client: SessionClient) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod("x")["spec"]}
    spec = {"replicas": 800, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    workload = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "many"}, "spec": spec}
    await client.preview(yaml.safe_dump(workload).encode())
    assert client.live().engine.worker in runtime().services.pool.lane(True)


async def test_an_idle_session_leaves_its_worker_and_comes_back(client: SessionClient) -> None:
    await step(client)
    here = client.live()
    await client.on_loop(LiveSession.close)
    assert here.engine.worker is None
    assert await head_of(client) == 2
