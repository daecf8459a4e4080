"""Large imports as jobs: their file goes whatever becomes of them, one at a time, and the former names are told once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile

from playground.sessions.database import markers
from playground.sessions.protocol.comparing import DropTask
from playground.sessions.protocol.errors import CommandRefused, LimitReached
from playground.sessions.protocol.moving import ImportProgress, PackedPlan, ReadImport
from playground.sessions.web.jobs.imports import MOST_WAITING, ImportResult, Imports, take_file
from playground.sessions.web.jobs.registry import Cancelled, Job, Jobs

PACKED = PackedPlan(b"plan", b"command", b"text", 7, 3, [("old", "new")])


class Changes:
    """Of a session whose worker has read a file after so many pieces; `fails`: with which error. Each piece waits for the gate."""

    def __init__(self, pieces: int = 2, fails: Exception | None = None) -> None:
        self.pieces, self.fails = pieces, fails
        self.gate = asyncio.Event()
        self.asked: list[ReadImport] = []
        self.applied: list[bytes] = []

    async def make_room_for_large(self) -> None:
        pass

    async def read_import(self, request: ReadImport) -> ImportProgress:
        self.asked.append(request)
        assert Path(request.file).exists()
        await self.gate.wait()
        if self.fails is not None:
            raise self.fails
        done = len(self.asked)
        return ImportProgress("try", done, self.pieces, PACKED if done == self.pieces else None)

    async def apply_import(self, token: str, command: Callable[[], Awaitable[bytes]]) -> int:
        self.applied.append(await command())
        return 1


class Session:
    worker = None

    def __init__(self, number: int = 1, **changes: Any) -> None:
        self.id = number
        self.changes = Changes(**changes)
        self.notices: list[object] = []

    def notify(self, notice: object) -> None:
        self.notices.append(notice)


class Loop:
    """The sessions' loop, whose database is at hand."""

    async def db(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was to be kept in the database, and what dropped."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(markers, "keep_packed", lambda *given: calls.append(("keep", *given)))
    monkeypatch.setattr(markers, "drop", lambda *given: calls.append(("drop", *given)))
    monkeypatch.setattr(markers, "get_packed_command", lambda *given: b"command")
    return calls


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "upload"
    found.write_bytes(b"{}")
    return found


def begin(session: Session, file: Path, jobs: Jobs | None = None, *, rename: bool = False) -> Job[ImportResult]:
    large = Imports(jobs or Jobs(), Loop())  # type: ignore[arg-type]  # of the loop the database is all that is asked for
    return large.look_at(session, file, "cluster.json", "me", rename)  # type: ignore[arg-type]


async def over(job: Job[ImportResult]) -> None:
    """The job's task has gone, with what it leaves to do."""
    assert job.task is not None
    await asyncio.wait([job.task])
    await asyncio.sleep(0)


async def test_it_is_read_piece_by_piece_and_says_how_far_it_is(kept: list[Any], file: Path) -> None:
    session = Session(pieces=3)
    job = begin(session, file)
    await asyncio.sleep(0)
    assert (job.stage, job.done, job.total) == ("read", 0, 0)
    session.changes.gate.set()
    await over(job)
    assert job.result == ImportResult(job.token, PACKED.names)
    assert [request.token for request in session.changes.asked] == [job.token] * 3
    assert kept == [("keep", 1, "me", "cluster.json", PACKED, job.token)]
    assert (job.stage, file.exists()) == ("save", False)


async def test_the_file_of_a_renamed_import_has_no_name(kept: list[Any], file: Path) -> None:
    session = Session()
    session.changes.gate.set()
    await over(begin(session, file, rename=True))
    assert kept[0][3] == ""


async def test_a_file_goes_where_its_import_fails_and_the_worker_forgets_it(kept: list[Any], file: Path) -> None:
    session = Session(fails=CommandRefused("not readable"))
    session.changes.gate.set()
    job = begin(session, file)
    await over(job)
    with pytest.raises(CommandRefused, match="not readable"):
        job.check()
    assert (file.exists(), kept) == (False, [])
    assert session.notices == [DropTask(token=job.token)]


async def test_a_file_goes_where_its_import_is_cancelled(kept: list[Any], file: Path) -> None:
    session = Session()
    job = begin(session, file)
    await asyncio.sleep(0)
    assert job.cancel()
    await over(job)
    with pytest.raises(Cancelled, match="Nothing was saved"):
        job.check()
    assert (file.exists(), kept) == (False, [])
    assert session.notices == [DropTask(token=job.token)]


async def test_one_is_read_at_a_time_and_a_few_wait(kept: list[Any], tmp_path: Path) -> None:
    jobs, waiting = Jobs(), []
    for number in range(1 + MOST_WAITING):
        each = tmp_path / f"upload-{number}"
        each.write_bytes(b"{}")
        waiting.append((Session(number), each))
    going = [begin(session, each, jobs) for session, each in waiting]
    await asyncio.sleep(0)
    assert [len(session.changes.asked) for session, _ in waiting] == [1, 0, 0, 0, 0]
    late = tmp_path / "late"
    late.write_bytes(b"{}")
    with pytest.raises(LimitReached, match="Try again"):
        begin(Session(99), late, jobs)
    assert not late.exists()
    for session, _ in waiting:
        session.changes.gate.set()
    await asyncio.gather(*map(over, going))
    assert [job.result is not None for job in going] == [True] * len(going)
    assert not any(each.exists() for _, each in waiting)


async def test_a_session_has_one_at_a_time(kept: list[Any], tmp_path: Path) -> None:
    jobs, session = Jobs(), Session()
    first, second = tmp_path / "first", tmp_path / "second"
    for each in (first, second):
        each.write_bytes(b"{}")
    job = begin(session, first, jobs)
    with pytest.raises(LimitReached):
        begin(session, second, jobs)
    assert (first.exists(), second.exists()) == (True, False)
    job.cancel()
    await over(job)


async def test_former_names_are_told_once(kept: list[Any], file: Path) -> None:
    session, jobs = Session(), Jobs()
    session.changes.gate.set()
    job = begin(session, file, jobs, rename=True)
    await over(job)
    large = Imports(jobs, Loop())  # type: ignore[arg-type]
    first, second = large.outcome(job), large.outcome(job)
    assert first is not None
    assert second is not None
    assert (first.names, second.names) == ([("old", "new")], [])


async def test_what_was_looked_at_is_applied_and_its_preview_goes(kept: list[Any]) -> None:
    session = Session()
    job = Imports(Jobs(), Loop()).apply(session, "token", 3)  # type: ignore[arg-type]
    await over(job)
    assert job.result == ImportResult("token", [], 3)
    assert session.changes.applied == [b"command"]
    assert kept == [("drop", 1, "token")]


def test_an_upload_is_taken_under_a_name_of_its_own(settings: Any, tmp_path: Path) -> None:
    settings.UPLOADS = tmp_path / "uploads"
    in_memory = SimpleUploadedFile("../../cluster.json", b"in memory")
    on_disk = TemporaryUploadedFile("cluster.json", "application/json", 7, None)
    on_disk.write(b"on disk")
    on_disk.flush()
    was = Path(on_disk.temporary_file_path())
    taken = [take_file(each) for each in (in_memory, on_disk)]
    assert [each.read_bytes() for each in taken] == [b"in memory", b"on disk"]
    assert {each.parent for each in taken} == {settings.UPLOADS}
    assert not any("cluster" in each.name for each in taken)
    assert not was.exists()
    on_disk.close()
