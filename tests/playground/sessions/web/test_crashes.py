"""A worker that dies: who asked hears what became of it, and a session that keeps killing workers waits, but can be looked at."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from playground.models import LogEntry
from playground.sessions.protocol.looking import Objects
from playground.sessions.protocol.opening import ClearUp
from playground.sessions.protocol.wire import AtWork
from playground.sessions.web import engines
from playground.sessions.web.client import SessionClient
from playground.sessions.web.engines import MAX_CRASHES, Crashes, KeepsCrashing, TooSlow, Worker, WorkerDied
from playground.sessions.web.messages import Error
from tests.playground.sessions.worlds import applying, node

TEXT = "apiVersion: v1\nkind: Node\nmetadata: {name: mine}\n"
NOTHING = "Nothing was changed."
ROOT = Path(__file__).resolve().parents[4]


async def worker_of(client: SessionClient) -> Worker:
    await client.head()
    worker = client.live().engine.worker
    assert worker is not None
    return worker


async def killed_during(client: SessionClient, *asked: Coroutine[Any, Any, Any], idle: bool = False) -> list[Any]:
    """What comes of requests whose worker is killed once it has them all; it works on the first of them, unless it is `idle`."""
    worker = await worker_of(client)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGSTOP)
    waiting = worker._waiting
    tasks = [asyncio.create_task(each) for each in asked]
    async with asyncio.timeout(10):
        while not waiting:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
    first = 0 if idle else min(waiting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AtWork, "said", lambda _: first)
        os.kill(worker.pid, signal.SIGKILL)
        return await asyncio.gather(*tasks, return_exceptions=True)


def page(client: SessionClient, name: str = "") -> str:
    return f"/s/{client.key}/{name}"


async def test_who_applies_while_the_worker_is_killed_hears_that_it_was_not_taken(client: SessionClient) -> None:
    browser = AsyncClient()
    (answer,) = await killed_during(client, browser.post(page(client, "yaml"), {"text": TEXT, "create": ""}))
    shown = unescape(answer.content.decode())
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert "The engine stopped during this request" in shown
    assert shown.count(NOTHING) == 1
    assert TEXT in shown
    assert await LogEntry.objects.acount() == 1
    assert (await browser.post(page(client, "yaml"), {"text": TEXT, "create": ""})).status_code == 302
    assert await LogEntry.objects.acount() == 2


async def test_every_form_says_once_that_nothing_was_changed(client: SessionClient) -> None:
    fields = {"pod": "default/p0", "call": "bind", "code": "500", "times": "1"}
    (answer,) = await killed_during(client, AsyncClient().post(page(client, "calls"), fields))
    assert (answer.status_code, answer.content.decode().count(NOTHING)) == (503, 1)


def test_a_socket_says_so_too() -> None:
    assert Error.of(WorkerDied()).message.count(NOTHING) == 1
    assert Error.of(ValueError()).message.count(NOTHING) == 1


def test_pages_and_sockets_alone_say_that_nothing_was_changed() -> None:
    sources = [path for ending in ("py", "yaml") for path in (ROOT / "playground").rglob(f"*.{ending}")]
    sources += (ROOT / "templates").rglob("*.html")
    said = {path.name for path in sources if NOTHING in " ".join(path.read_text().split())}
    dry_run = "actions.yaml"  # says so of an eviction that was only tried, and not of a failure
    assert said == {"messages.py", "refusal.html", "editor.html", dry_run}


async def test_six_requests_that_meet_one_death_lock_nobody_out(client: SessionClient) -> None:
    died = await killed_during(
        client, *(client.on_loop(lambda live: live.engine.call(Objects(at=1))) for _ in range(6))
    )
    assert [type(each) for each in died] == [WorkerDied] * 6
    await client.apply(applying(node("after")))
    assert len(await client.ask(Objects(kind="Node"))) == 4


async def test_a_death_counts_against_the_session_alone_whose_work_it_came_of(client: SessionClient) -> None:
    other = await client.fork(name="Other")
    assert await worker_of(other) is await worker_of(client)
    died = await killed_during(client, client.apply(applying(node("n"))), other.apply(applying(node("n"))))
    assert [type(each) for each in died] == [WorkerDied] * 2
    assert [len(each.live().engine.crashes._crashes) for each in (client, other)] == [1, 0]


async def test_a_worker_that_dies_while_it_waits_is_nobodys_fault(client: SessionClient) -> None:
    (died,) = await killed_during(client, client.apply(applying(node("n"))), idle=True)
    assert isinstance(died, WorkerDied)
    assert client.live().engine.crashes._crashes == {}


async def test_who_is_ended_for_the_sake_of_another_is_not_at_fault() -> None:
    worker = Worker()
    await worker.start()
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AtWork, "said", lambda _: 2)
        slow, other = (worker.call(0, ClearUp(), seconds) for seconds in (0.2, 20))
        ended = await asyncio.gather(slow, other, return_exceptions=True)
    assert [(type(each), each.at_fault) for each in ended] == [(TooSlow, True), (WorkerDied, False)]
    await worker.stop()


async def test_who_asks_at_once_after_a_worker_was_ended_is_answered_by_the_next() -> None:
    worker = Worker()
    await worker.start()
    first = worker.generation
    for _ in range(3):
        worker.kill()
        await worker.call(0, ClearUp())
    assert worker.generation == first + 3
    await worker.stop()


async def test_a_worker_whose_pipe_is_broken_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail() -> None:
        raise BrokenPipeError

    worker = Worker()
    await worker.start()
    first, process = worker.generation, worker._process
    assert process is not None
    monkeypatch.setattr(process.stdin, "drain", fail)
    with pytest.raises(WorkerDied):
        await worker.call(0, ClearUp())
    await worker.call(0, ClearUp())
    assert worker.generation == first + 1
    await worker.stop()


async def test_a_session_that_keeps_crashing_when_it_is_changed_can_be_looked_at(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "MAX_CRASHES", 2)
    for number in range(2):
        (died,) = await killed_during(client, client.apply(applying(node(f"n-{number}"))))
        assert isinstance(died, WorkerDied)
    browser = AsyncClient()
    refused = await browser.post(page(client, "yaml"), {"text": TEXT, "create": ""})
    assert (refused.status_code, int(refused["Retry-After"]) in range(1, 61)) == (503, True)
    assert "You can view the session" in refused.content.decode()
    assert (await browser.get(page(client))).status_code == 200
    assert (await browser.get(page(client, "objects"))).status_code == 200
    monkeypatch.setattr(engines, "CRASH_WINDOW", 0.0)
    await client.apply(applying(node("after")))


def test_a_death_is_one_crash_and_a_change_is_blamed_before_a_look() -> None:
    crashes, worker = Crashes(), Worker()
    for generation in range(MAX_CRASHES):
        for reading in (True, False, True):
            crashes.count((worker, generation), reading)
    crashes.require_calm(reading=True)
    with pytest.raises(KeepsCrashing):
        crashes.require_calm(reading=False)


def test_what_crashes_when_it_is_opened_is_not_opened_on_and_on() -> None:
    crashes, worker = Crashes(), Worker()
    for generation in range(MAX_CRASHES):
        crashes.require_calm(reading=True)
        crashes.count((worker, generation), reading=True)
    with pytest.raises(KeepsCrashing):
        crashes.require_calm(reading=True)


async def test_when_the_process_that_forks_dies_its_workers_end_and_others_are_forked() -> None:
    worker, other = Worker(), Worker()
    for each in (worker, other):
        await each.call(0, ClearUp())
    assert worker.pid is not None
    os.kill(int(Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
    async with asyncio.timeout(20):
        while worker.alive or other.alive:
            await asyncio.sleep(0.02)
    for each in (worker, other):
        await each.call(0, ClearUp())
        assert each.generation == 2
        await each.stop()
