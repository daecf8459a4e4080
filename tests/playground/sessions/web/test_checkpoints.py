"""Checkpoints in the database: a session comes back from them, they are never trusted over the log, and they go with the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import reverse

from playground.models import Checkpoint, CheckpointPart, Outcomes, Session
from playground.presenters import Look
from playground.sessions.database import checkpoints
from playground.sessions.protocol import opening as outcomes
from playground.sessions.protocol.comparing import AttemptDigests
from playground.sessions.protocol.looking import Objects
from playground.sessions.protocol.opening import Outcome
from playground.sessions.web.client import SessionClient
from playground.sessions.web.publisher import Viewer
from playground.sessions.web.runtime import runtime
from playground.sessions.worker.world import Grain
from tests.playground.sessions.worlds import applying, pod


@pytest.fixture(autouse=True)
def every_session_is_worth_one(settings: Any) -> None:
    settings.CHECKPOINT_WORK = 0.0


async def db(function: Callable[..., Any], *arguments: Any) -> Any:
    return await sync_to_async(function, thread_sensitive=False)(*arguments)


async def counts(client: SessionClient) -> tuple[int, int, int]:
    tables = (Checkpoint, CheckpointPart, Outcomes)
    return tuple([await rows.objects.filter(session=client.session).acount() for rows in tables])  # type: ignore[return-value]


async def finish(client: SessionClient) -> int:
    """Run to the end and leave memory; the head."""
    live = client.live()

    async def run() -> None:
        while await live.changes.step(Grain.POD):
            pass

    await runtime().call(run)
    await runtime().call(live.close)
    return live.head


async def restored(client: SessionClient) -> int:
    """Open again; the position that the engine did not have to replay."""
    live = client.live()
    assert not live.engine.is_open
    await runtime().call(live.ready)
    return live.engine.restored


async def panels(client: SessionClient, at: int) -> Any:
    return await client.view(Look(at=at))


async def test_a_session_comes_back_from_its_last_checkpoint(client: SessionClient) -> None:
    head = await finish(client)
    assert (await counts(client))[0] >= 1
    assert await restored(client) == head


async def test_what_comes_back_looks_as_it_looked(client: SessionClient, settings: Any) -> None:
    head = await finish(client)
    settings.CHECKPOINTS = False
    plain = [await panels(client, at) for at in range(1, head, 9)]
    await runtime().call(client.live().close)
    settings.CHECKPOINTS = True
    assert await restored(client) == head
    assert [await panels(client, at) for at in range(1, head, 9)] == plain


async def history(client: SessionClient, head: int) -> Any:
    """Each attempt's digest, and how it ended."""
    digests = await client.ask(AttemptDigests(at=head, first=0, most=99))
    assert len(digests) > 1
    return digests, await panels(client, head)


async def test_what_goes_on_from_a_checkpoint_comes_to_the_same_end(client: SessionClient, settings: Any) -> None:
    live = client.live()
    await runtime().call(lambda: live.changes.step(Grain.POD))
    await runtime().call(live.close)
    assert await restored(client) == live.head
    head = await finish(client)
    assert await restored(client) == head
    quick = await history(client, head)
    settings.CHECKPOINTS = False
    await runtime().call(live.close)
    assert await restored(client) == 0
    assert await history(client, head) == quick


async def test_a_session_that_came_back_goes_on_and_is_saved_again(client: SessionClient) -> None:
    await finish(client)
    before = await counts(client)
    await client.apply(applying(pod("more")))
    head = await finish(client)
    assert (await counts(client))[1] == before[1] + 1
    assert await restored(client) == head


async def test_a_session_that_nobody_uses_leaves_memory(client: SessionClient) -> None:
    live = client.live()
    await runtime().call(live.ready)
    await runtime().call(lambda: live.changes.step(Grain.POD))
    assert await runtime().call(lambda: live.release_when_idle(-1.0))
    assert live.engine.worker is None
    assert await restored(client) == live.head


async def test_a_watched_session_leaves_memory_and_stays_known(client: SessionClient) -> None:
    live = client.live()
    await runtime().call(live.ready)
    live.publisher.viewers.add(Viewer(lambda message: None, True))
    assert not await runtime().call(lambda: live.release_when_idle(-1.0))
    assert live.engine.worker is None
    assert len(await client.ask(Objects(kind="Node"))) == 3


async def test_a_session_that_is_being_asked_is_not_idle(client: SessionClient) -> None:
    live = client.live()

    async def meanwhile() -> float:
        await live.ready()
        asking = asyncio.create_task(live.ask(Objects(kind="Node")))
        await asyncio.sleep(0)
        idle = live.idle_for()
        await asking
        return idle

    assert await runtime().call(meanwhile) == 0.0


@pytest.mark.parametrize(
    "spoil",
    [
        {"data": b"nothing"},
        {"digest": "of other commands"},
        {"fingerprint": "1/0/another engine"},
        {"position": 10_000},
    ],
)
async def test_a_checkpoint_that_does_not_fit_is_not_used(client: SessionClient, spoil: dict[str, Any]) -> None:
    head = await finish(client)
    last = await Checkpoint.objects.filter(session=client.session).alatest("position")
    await Checkpoint.objects.filter(session=client.session).exclude(pk=last.pk).adelete()
    await Checkpoint.objects.filter(pk=last.pk).aupdate(**spoil)
    assert await restored(client) == 0
    assert client.live().head == head


@pytest.mark.parametrize("damage", [lambda data: b"nothing", lambda data: data[: len(data) // 2], lambda data: b""])
async def test_parts_that_are_damaged_are_not_used(client: SessionClient, damage: Callable[[bytes], bytes]) -> None:
    head = await finish(client)
    async for part in CheckpointPart.objects.filter(session=client.session):
        part.data = damage(bytes(part.data))
        await part.asave()
    assert await restored(client) == 0
    assert await panels(client, head)


async def test_checkpoints_written_by_half_are_not_used(client: SessionClient) -> None:
    """As a file system may leave them that lost what was written last."""
    head = await finish(client)
    async for one in Checkpoint.objects.filter(session=client.session):
        one.data = bytes(one.data)[: len(one.data) // 2]
        await one.asave()
    assert await restored(client) == 0
    assert await panels(client, head)


async def test_a_fork_comes_back_from_what_its_origin_had(client: SessionClient) -> None:
    head = await finish(client)
    fork = await client.fork(head)
    assert (await counts(fork))[:2] == (await counts(client))[:2]
    await runtime().call(fork.live().close)
    assert await restored(fork) == head


async def test_a_deleted_session_leaves_no_checkpoints(client: SessionClient) -> None:
    await finish(client)
    await client.delete()
    assert await counts(client) == (0, 0, 0)


async def test_who_writes_second_begins_anew(client: SessionClient) -> None:
    await finish(client)
    await runtime().call(client.live().ready)
    await Outcomes.objects.filter(session=client.session).aupdate(count=9_999)
    await client.apply(applying(pod("more")))
    await finish(client)
    assert await runtime().call(client.live().ready) is None


async def another_engine_made(client: SessionClient, node: str) -> Outcome:
    """As if an older engine had placed the second pod on another node; what it came to in fact."""
    rows = await Outcomes.objects.filter(session=client.session).aget()
    was = outcomes.unpack(bytes(rows.data))
    changed = [was[0], was[1]._replace(node=node), *was[2:]]
    await Outcomes.objects.filter(pk=rows.pk).aupdate(data=outcomes.pack(changed))
    await Checkpoint.objects.filter(session=client.session).aupdate(fingerprint="1/0/older")
    await Session.objects.filter(pk=client.session.pk).aupdate(engine_version="0")
    return was[1]


async def test_a_replay_that_differs_under_another_engine_says_where(client: SessionClient) -> None:
    await finish(client)
    now = await another_engine_made(client, "elsewhere")
    assert await restored(client) == 0
    session = await Session.objects.aget(pk=client.session.pk)
    assert session.differs is not None
    assert (session.differs["attempt"], session.differs["position"]) == (2, now.position)
    assert (session.differs["was"]["node"], session.differs["now"]["node"]) == ("elsewhere", now.node)
    assert (session.differs["from"], session.engine_version) == ("0", session.differs["to"])


async def test_the_new_result_is_kept_from_then_on(client: SessionClient) -> None:
    head = await finish(client)
    now = await another_engine_made(client, "elsewhere")
    await restored(client)
    await runtime().call(client.live().close)
    rows = await db(checkpoints.read, client.session.pk)
    assert outcomes.unpack(rows.outcomes[0])[1] == now
    assert rows.archive.checkpoints[-1].position == head


async def test_a_replay_that_does_not_differ_says_nothing(client: SessionClient) -> None:
    await finish(client)
    await Checkpoint.objects.filter(session=client.session).aupdate(fingerprint="1/0/older")
    await Session.objects.filter(pk=client.session.pk).aupdate(engine_version="0")
    assert await restored(client) == 0
    session = await Session.objects.aget(pk=client.session.pk)
    assert (session.differs, session.engine_version != "0") == (None, True)


async def test_the_studio_tells_the_difference_until_somebody_has_read_it(client: SessionClient) -> None:
    await finish(client)
    now = await another_engine_made(client, "elsewhere")
    await restored(client)
    browser, address = AsyncClient(), reverse("studio", args=[client.session.edit_key])
    page = (await browser.get(address)).content.decode()
    assert "elsewhere" in page.split('id="differs"')[1][:900]
    assert f"?at={now.position}" in page
    await browser.post(reverse("differs", args=[client.session.edit_key]))
    assert 'id="differs"' not in (await browser.get(address)).content.decode()


async def test_a_viewer_may_not_put_the_difference_away(client: SessionClient) -> None:
    answer = await AsyncClient().post(reverse("differs", args=[client.session.view_key]))
    assert answer.status_code == 403
