"""Room in the workers' memory: sessions are placed by it, leave before it is full, and are refused in words."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import AsyncClient

from playground.sessions.protocol.opening import ClearUp
from playground.sessions.web import engines
from playground.sessions.web.client import SessionClient
from playground.sessions.web.engines import FULL, SHORT, UNUSED, NoRoom, Pool, Room, Worker
from playground.sessions.web.runtime import runtime

MUCH = settings.ENGINE_MEMORY


@dataclass(eq=False)
class Tenant:
    """A session that takes a share of its worker's memory."""

    share: float
    idle: float
    worker: Worker | None
    left: list[Tenant]
    stays: bool = False

    def idle_for(self) -> float:
        return self.idle

    async def release_when_idle(self, after: float) -> bool:
        if self.stays:
            return False
        self.worker = None
        self.left.append(self)
        return True


@dataclass
class House:
    """A pool of two workers that do not run, and the sessions that are said to be in them."""

    pool: Pool = field(default_factory=lambda: Pool(2, 1))
    tenants: list[Tenant] = field(default_factory=list)
    left: list[Tenant] = field(default_factory=list)

    @property
    def room(self) -> Room:
        return Room(self.pool, lambda: self.tenants)

    @property
    def first(self) -> Worker:
        return self.pool.lane(False)[0]

    def memory_of(self, worker: Worker) -> int:
        return round(MUCH * sum(each.share for each in self.tenants if each.worker is worker))

    def move_in(self, share: float, idle: float, number: int = 0, stays: bool = False) -> Tenant:
        tenant = Tenant(share, idle, self.pool.lane(False)[number], self.left, stays)
        self.tenants.append(tenant)
        return tenant


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    house = House()
    monkeypatch.setattr(Worker, "memory", lambda worker: house.memory_of(worker))
    monkeypatch.setattr(engines, "_clear_up", nothing)
    return house


async def nothing(*_what: Any) -> None:
    """There is nothing to clear up."""


def test_a_session_comes_to_the_worker_with_the_most_memory_left(house: House) -> None:
    first, second = house.pool.lane(False)
    house.move_in(0.4, 0.0)
    assert [house.pool.assign(number, False) for number in (1, 2, 3)] == [second] * 3
    house.move_in(0.4, 0.0, 1)
    assert house.pool.assign(4, False) is first


async def test_those_that_nobody_uses_leave_the_longest_unused_first(house: House) -> None:
    used = house.move_in(0.3, UNUSED / 2)
    oldest, older, old = (house.move_in(0.2, UNUSED * times) for times in (4, 3, 2))
    await house.room.clear(house.first)
    assert house.left == [oldest, older]
    assert used.worker is old.worker is house.first


async def test_nobody_leaves_while_there_is_room(house: House) -> None:
    house.move_in(SHORT - 0.01, UNUSED * 9)
    await house.room.clear(house.first)
    assert house.left == []


async def test_where_all_are_in_use_one_more_is_refused_in_words(house: House) -> None:
    for number in (0, 1):
        house.pool.lane(False)[number].sessions.add(number)
        house.move_in(FULL + 0.01, 0.0, number)
    with pytest.raises(NoRoom, match="no memory for another session: 2 sessions are in use") as refused:
        await house.room.make(False)
    assert (refused.value.status, refused.value.retry_after) == (503, 30)
    await house.room.make(True)  # the other lane has room


async def test_one_that_cannot_leave_is_passed_over(house: House) -> None:
    watched, unused = house.move_in(0.4, UNUSED * 3, stays=True), house.move_in(0.4, UNUSED * 2)
    await house.room.clear(house.first)
    assert (house.left, watched.worker) == ([unused], house.first)


async def test_a_session_that_left_for_room_is_as_it_was_when_it_is_asked_for(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, head = client.live(), await client.head()
    worker = live.engine.worker
    assert worker is not None and worker.memory() > 20 << 20
    monkeypatch.setattr(engines, "UNUSED", -1.0)
    monkeypatch.setattr(settings, "ENGINE_MEMORY", worker.memory())
    await runtime().call(lambda: runtime().services.room.clear(worker))
    assert live.engine.worker is None
    monkeypatch.undo()
    assert await client.head() == head


async def test_a_page_that_there_is_no_room_for_says_so_and_when_to_come_again(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await client.head()
    await runtime().call(client.live().close)
    monkeypatch.setattr(Worker, "memory", lambda self: MUCH)
    monkeypatch.setattr(engines, "_clear_up", nothing)
    answer = await AsyncClient().get(f"/s/{client.key}/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert "The server has no memory for another session" in answer.content.decode()


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux about the priority")
async def test_a_process_for_experiments_takes_only_what_processors_have_left() -> None:
    priorities = []
    for idle in (False, True):
        worker = Worker(idle)
        await worker.call(0, ClearUp())
        assert worker.pid is not None
        group = Path(f"/proc/{worker.pid}/autogroup")
        priorities.append(
            (os.sched_getscheduler(worker.pid), group.read_text().split()[-1] if group.exists() else None)
        )
        await worker.stop()
    assert [policy for policy, _ in priorities] == [os.SCHED_OTHER, os.SCHED_IDLE]
    assert [nice for _, nice in priorities] in (["0", "19"], [None, None])
