"""Two server processes on one database: here two runtimes, whose hints to each other are carried over by the test."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from msgspec import to_builtins

from playground.models import LogEntry, Session
from playground.sessions.database import log
from playground.sessions.protocol.breakpoints import Breakpoint
from playground.sessions.protocol.errors import Conflict
from playground.sessions.protocol.opening import LogRow
from playground.sessions.protocol.until import AttemptEnded, BreakpointHolds
from playground.sessions.web.driver import Drive, Driver, Play, RunTo
from playground.sessions.web.lease import Lease
from playground.sessions.web.live import LiveSession
from playground.sessions.web.messages import Delta, Ended, Gone, Notice, ToPage
from playground.sessions.web.publisher import Viewer
from playground.sessions.web.relay import Hint
from playground.sessions.web.runtime import Runtime
from playground.sessions.web.services import command_data
from playground.sessions.worker.world import Grain
from tests.playground.sessions.worlds import applying, pod

NODE = "apiVersion: v1\nkind: Node\nmetadata: {{name: {}}}\n"
pytestmark = pytest.mark.django_db(transaction=True)


class Process:
    """One server process."""

    def __init__(self) -> None:
        self.runtime = Runtime()
        self.others: list[Process] = []
        self.loop = self.runtime.services.loop.loop
        self.runtime.services.relay.send = self._send  # type: ignore[method-assign]

    async def _send(self, hint: Hint) -> None:
        for other in self.others:
            asyncio.run_coroutine_threadsafe(other.runtime.hear(hint), other.loop)

    def live(self, session: Session) -> LiveSession:
        return self.runtime.live(session.pk)

    async def do(self, work: Any) -> Any:
        return await self.runtime.call(lambda: work)


@pytest.fixture
def processes(transactional_db: None) -> Iterator[tuple[Process, Process]]:
    one, two = Process(), Process()
    one.others, two.others = [two], [one]
    yield one, two
    one.others = two.others = []
    one.runtime.stop()
    two.runtime.stop()


def html_of(message: ToPage) -> str:
    return message.html if isinstance(message, Delta) else ""


async def until(truth: Any, seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not truth():
            await asyncio.sleep(0.02)


async def test_viewers_of_one_process_see_what_the_other_wrote(
    session: Session, processes: tuple[Process, Process]
) -> None:
    one, two = processes
    heard: list[ToPage] = []
    await two.do(two.live(session).ready())
    two.loop.call_soon_threadsafe(two.live(session).publisher.add, Viewer(heard.append, True, ready=True))
    await one.do(one.live(session).changes.apply(command_data(applying(pod("from-the-other-process")), "")))
    await until(lambda: any("from-the-other-process" in html_of(message) for message in heard))
    assert two.live(session).head == 2


def looks(process: Process, session: Session, heard: list[ToPage]) -> None:
    """A viewer comes, once the database was asked where the session is, as each page and socket does (SessionClient.open)."""
    head = Session.objects.get(pk=session.pk).head

    async def join() -> None:
        live = process.live(session)
        live.notice(head)
        live.publisher.add(Viewer(heard.append, True, ready=True))
        live.publisher.wake()

    asyncio.run_coroutine_threadsafe(join(), process.loop).result(10)


def positions(heard: list[ToPage]) -> list[int]:
    return [message.seq for message in heard if isinstance(message, Delta)]


@contextlib.asynccontextmanager
async def opening_slowly(process: Process, session: Session) -> AsyncIterator[None]:
    """A process has read the log of a session, and its worker takes its time to replay it; it is opened in the end."""
    live, workers = process.live(session), process.runtime.services.pool.lane(False)
    for worker in workers:
        await process.do(worker.start())
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGSTOP)
    opening = asyncio.ensure_future(process.do(live.ready()))
    try:
        await until(lambda: any(worker._waiting for worker in workers))
        assert live.engine.is_opening
        yield
    finally:
        for worker in workers:
            os.kill(worker.pid or 0, signal.SIGCONT)
        await opening


@pytest.mark.parametrize("hinted", [True, False], ids=["hints arrive", "hints are lost"])
async def test_who_comes_while_an_older_log_is_replayed_is_shown_what_was_acknowledged(
    session: Session, processes: tuple[Process, Process], hinted: bool
) -> None:
    one, two = processes
    if not hinted:
        one.others = []
    heard: list[ToPage] = []
    await one.do(one.live(session).ready())
    async with opening_slowly(two, session):
        for name in ("second", "third"):
            await one.do(one.live(session).changes.apply(command_data(applying(pod(name)), "")))
        await sync_to_async(looks)(two, session, heard)
    await until(lambda: positions(heard))
    assert positions(heard)[0] == 3


async def test_a_hint_that_comes_while_an_older_log_is_replayed_is_followed(
    session: Session, processes: tuple[Process, Process]
) -> None:
    one, two = processes
    await one.do(one.live(session).ready())
    async with opening_slowly(two, session):
        await one.do(one.live(session).changes.apply(command_data(applying(pod("another")), "")))
        await until(lambda: not one.runtime.services.relay._tasks)
        await two.do(asyncio.sleep(0.1))
    await two.do(two.live(session).ready())
    assert two.live(session).head == 2


async def test_who_comes_while_a_change_is_under_way_is_shown_what_was_acknowledged_elsewhere(
    session: Session, processes: tuple[Process, Process]
) -> None:
    one, two = processes
    one.others = two.others = []
    heard: list[ToPage] = []
    live = two.live(session)
    await two.do(live.ready())
    async with contextlib.AsyncExitStack() as stack:
        await two.do(stack.enter_async_context(live.changes.exclusive()))
        await one.do(one.live(session).changes.apply(command_data(applying(pod("another")), "")))
        await sync_to_async(looks)(two, session, heard)
        await asyncio.sleep(0.1)
        assert positions(heard) in ([], [2])
        await two.do(stack.aclose())
    await until(lambda: positions(heard))
    assert positions(heard)[0] == 2


async def test_who_comes_during_a_run_is_shown_as_much_as_the_other_process_showed(
    session: Session, processes: tuple[Process, Process]
) -> None:
    one, two = processes
    one.others = two.others = []
    live, heard = one.live(session), list[ToPage]()
    await one.do(live.ready())
    await one.do(live.changes.apply(command_data(applying(*(pod(f"p{number}") for number in range(200))), "")))
    live.due = lambda: False  # type: ignore[method-assign]  # nobody who watches is shown anything for now
    await one.do(live.run())
    await until(lambda: live.head > live.shown)
    await two.do(two.live(session).ready())  # who looks there sees the log's end
    await sync_to_async(looks)(one, session, heard)
    await until(lambda: positions(heard))
    assert positions(heard)[0] >= two.live(session).shown


async def test_what_is_written_while_its_worker_dies_is_not_taken_back(
    session: Session, processes: tuple[Process, Process]
) -> None:
    one, _two = processes
    live = one.live(session)
    await one.do(live.ready())
    append = live.log.append

    async def late(*arguments: Any, **more: Any) -> None:
        """The worker dies, and somebody who looks has the session opened from the log, before the entry is in there."""
        assert live.worker is not None
        live.worker.kill()
        await until(lambda: not live.engine.is_open)
        await live.ready()
        await append(*arguments, **more)

    live.log.append = late  # type: ignore[method-assign]
    assert await one.do(live.changes.apply(command_data(applying(pod("another")), ""))) == 2
    live.log.append = append  # type: ignore[method-assign]
    assert await one.do(live.changes.apply(command_data(applying(pod("third")), ""))) == 3
    await one.do(live.ready())
    assert live.shown == 3


async def test_both_may_write_in_turn(session: Session, processes: tuple[Process, Process]) -> None:
    _one, _two = processes
    for number in range(4):
        process = processes[number % 2]
        other = processes[1 - number % 2]
        await process.do(process.live(session).changes.apply(command_data(applying(pod(f"x{number}")), "")))
        await other.do(other.live(session).ready())
        await until(lambda other=other, number=number: other.live(session).head == number + 2)
    assert await LogEntry.objects.acount() == 5


async def test_editors_at_two_processes_save_at_the_same_time(
    session: Session, processes: tuple[Process, Process]
) -> None:
    async def editor(process: Process, who: str) -> None:
        for number in range(10):
            text = NODE.format(f"{who}-{number}").encode()
            done = await process.do(process.live(session).changes.apply_text(text, True))
            assert done.applied is not None

    await asyncio.gather(*(editor(processes[number % 2], f"editor-{number}") for number in range(4)))
    await session.arefresh_from_db()
    assert session.head == 1 + 4 * 10


async def test_one_process_drives_and_the_other_can_pause_it(
    session: Session, processes: tuple[Process, Process]
) -> None:
    one, two = processes
    await two.do(two.live(session).ready())
    await one.do(one.live(session).play(Grain.CALL, 20))
    await until(lambda: two.live(session).elsewhere.running is not None)
    with pytest.raises(Conflict):
        await two.do(_driver(two, session).start())
    await two.do(two.live(session).pause())
    await until(lambda: one.live(session).driver is None)
    await until(lambda: two.live(session).elsewhere.running is None)
    await until(lambda: two.live(session).head == one.live(session).head)
    assert two.live(session).head > 1


async def test_who_only_hears_of_a_pause_neither_passes_it_on_nor_ends_what_is_driven_next(
    session: Session, processes: tuple[Process, Process]
) -> None:
    one, two = processes
    await two.do(two.live(session).ready())
    await one.do(one.live(session).play(Grain.CALL, 5))
    await until(lambda: two.live(session).elsewhere.running is not None)
    said: list[Hint] = []

    async def send(hint: Hint) -> None:
        said.append(hint)

    two.runtime.services.relay.send = send  # type: ignore[method-assign]
    await two.do(two.live(session).hear(Hint("a third process", session.pk, "pause")))
    await session.arefresh_from_db()
    assert session.driver == one.runtime.services.name
    assert not [hint for hint in said if hint.what == "pause"]


async def test_a_lease_of_a_process_that_died_is_taken_over(
    session: Session, processes: tuple[Process, Process]
) -> None:
    two = processes[1]
    await two.do(two.live(session).ready())
    assert await sync_to_async(log.lease, thread_sensitive=False)(session.pk, "a process that is gone", 60.0)
    await two.do(two.live(session).run())
    await until(lambda: two.live(session).driver is None)
    assert two.live(session).head > 1


async def orphaned(session: Session, drive: Drive) -> None:
    """As a process leaves it that is killed while it drives, after its first step."""
    await session.arefresh_from_db()
    row = LogRow(session.log_seq + 1, "run", session.head, session.head + 1, log.pack({}))
    await sync_to_async(log.append, thread_sensitive=False)(session.pk, row)
    lease = sync_to_async(log.lease, thread_sensitive=False)
    assert await lease(session.pk, "a process that is gone", -1.0, to_builtins(drive))


async def test_what_a_process_played_that_is_gone_goes_on_where_somebody_watches(
    session: Session, processes: tuple[Process, Process]
) -> None:
    two = processes[1]
    heard: list[ToPage] = []
    await orphaned(session, Play(Grain.CALL, 20.0))
    live = two.live(session)
    await two.do(live.look())
    assert live.driver is None  # nobody watches
    two.loop.call_soon_threadsafe(live.publisher.add, Viewer(heard.append, True, ready=True))
    await two.do(live.look())
    await until(lambda: live.head > 4)
    assert live.driver is not None
    assert live.driver.drive == Play(Grain.CALL, 20.0)
    assert [message for message in heard if isinstance(message, Notice)] != []


async def test_of_two_processes_one_goes_on(session: Session, processes: tuple[Process, Process]) -> None:
    await orphaned(session, RunTo(AttemptEnded(10**6)))
    lives = [process.live(session) for process in processes]
    for process, live in zip(processes, lives, strict=True):
        process.loop.call_soon_threadsafe(live.publisher.add, Viewer(lambda _: None, True, ready=True))
    await asyncio.gather(*(process.do(live.look()) for process, live in zip(processes, lives, strict=True)))
    await until(lambda: all(live.driver is None for live in lives))
    await session.arefresh_from_db()
    assert session.driver == ""
    assert session.head > 2
    assert await LogEntry.objects.filter(session=session, kind="run").acount() == 2


async def test_a_run_to_breakpoints_goes_on_to_where_one_holds(
    session: Session, processes: tuple[Process, Process]
) -> None:
    """The log has their names alone; what they look for stands with the lease."""
    two = processes[1]
    heard: list[ToPage] = []
    point = Breakpoint(name="mine", kind="pod_assumed")
    await orphaned(session, RunTo(BreakpointHolds((point,))))
    live = two.live(session)
    two.loop.call_soon_threadsafe(live.publisher.add, Viewer(heard.append, True, ready=True))
    await two.do(live.look())
    await until(lambda: any(isinstance(message, Ended) for message in heard))
    [ended] = [message for message in heard if isinstance(message, Ended)]
    assert ended.reason == "until"
    assert "mine" in ended.message
    await until(lambda: live.driver is None)
    await session.arefresh_from_db()
    assert (session.driver, session.drive) == ("", None)


async def test_a_run_that_came_to_its_end_is_gone_on_with_by_nobody_though_its_process_died(
    session: Session, processes: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = processes

    async def died(_lease: Lease) -> None:
        """Before it gave the lease back."""

    monkeypatch.setattr(Lease, "release", died)
    point = Breakpoint(name="mine", kind="pod_assumed")
    live = one.live(session)
    await one.do(live.run(BreakpointHolds((point,))))
    await until(lambda: live.driver is None)
    await session.arefresh_from_db()
    assert (session.driver, session.drive, session.head) == ("", None, live.head)
    watching = two.live(session)
    await two.do(watching.ready())
    two.loop.call_soon_threadsafe(watching.publisher.add, Viewer(lambda _: None, True, ready=True))
    await two.do(watching.look())
    assert (watching.driver, watching.head) == (None, live.head)


async def test_what_the_lease_does_not_say_is_given_up(session: Session, processes: tuple[Process, Process]) -> None:
    two = processes[1]
    await sync_to_async(log.lease, thread_sensitive=False)(session.pk, "a process that is gone", -1.0)
    live = two.live(session)
    two.loop.call_soon_threadsafe(live.publisher.add, Viewer(lambda _: None, True, ready=True))
    await two.do(live.look())
    await session.arefresh_from_db()
    assert (live.driver, session.driver) == (None, "")


async def test_what_was_given_back_is_taken_over_by_nobody(
    session: Session, processes: tuple[Process, Process]
) -> None:
    one, two = processes
    await one.do(one.live(session).play(Grain.CALL, 20))
    await one.do(one.live(session).pause())
    live = two.live(session)
    two.loop.call_soon_threadsafe(live.publisher.add, Viewer(lambda _: None, True, ready=True))
    await two.do(live.look())
    assert live.driver is None


def _driver(process: Process, session: Session) -> Any:
    live = process.live(session)
    live.elsewhere.drives(None)  # as if the hint had been lost
    return Driver(Play(Grain.CALL, 5), live.changes, Lease(live.id, live.services), live)


async def test_a_session_deleted_in_one_process_is_gone_in_the_other(
    session: Session, processes: tuple[Process, Process]
) -> None:
    one, two = processes
    heard: list[ToPage] = []
    live = two.live(session)
    await two.do(live.ready())
    two.loop.call_soon_threadsafe(live.publisher.add, Viewer(heard.append, True, ready=True))
    await one.do(one.live(session).delete())
    await until(lambda: Gone() in heard)
