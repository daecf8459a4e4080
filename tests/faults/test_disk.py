"""A disk that takes no more: what is there can be looked at, a change is refused in words and given back, and with room all goes on."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from html import unescape
from http.client import HTTPException
from pathlib import Path
from typing import Protocol, TypeVar

import pytest
from django.db import connection

from playground.sessions.database import log
from playground.sessions.database.asking import ask
from playground.sessions.protocol.errors import StorageFull
from tests.browser.server import ROOT, PlaygroundServer
from tests.faults.kills import children
from tests.faults.redis import a_redis
from tests.faults.servers import serving
from tests.faults.visitor import Visitor
from tests.playground.sessions.wire import Wire

A = TypeVar("A")

TEXT = "apiVersion: v1\nkind: Node\nmetadata: {name: mine}\n"
PATIENCE = 20.0


class Disk(Protocol):
    """Where a server keeps its database."""

    folder: Path

    def fill(self, server: PlaygroundServer) -> None: ...

    def make_room(self, server: PlaygroundServer) -> None: ...


class Quota:
    """The server may write no file beyond its first few bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, server: PlaygroundServer) -> None:
        self._limit(server, 4096)

    def make_room(self, server: PlaygroundServer) -> None:
        self._limit(server, resource.RLIM_INFINITY)

    def _limit(self, server: PlaygroundServer, most: int) -> None:
        assert server.process is not None
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


class SmallDisk:
    """A file system of its own that a file fills to the last byte."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self, server: PlaygroundServer) -> None:
        with self._filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            for size in (1 << 16, 1 << 10, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)):
                        pass

    def make_room(self, server: PlaygroundServer) -> None:
        self._filler.unlink()


THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


@pytest.fixture(params=["quota", "disk"] if THOROUGH else ["quota"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    if request.param == "quota":
        yield Quota(tmp_path)
        return
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(tmp_path)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root may mount a disk of its own")
    yield SmallDisk(tmp_path)
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def until(answer: Callable[[], A], wanted: Callable[[A], bool]) -> A:
    """The first answer that is wanted."""
    deadline = time.monotonic() + PATIENCE
    while not wanted(last := answer()):
        assert time.monotonic() < deadline, last
        time.sleep(0.2)
    return last


def test_a_full_disk_stops_nothing_but_changes(disk: Disk) -> None:
    with serving(disk.folder) as (server,):
        visitor = Visitor(server.url)
        key = visitor.new_session()
        wire = Wire(server.url, key)
        wire.send({"type": "look", "look": {}, "seen": None})
        head = wire.shown()["head"]
        disk.fill(server)

        health = until(lambda: visitor.get("/healthz"), lambda answer: answer.status != 200)
        assert (health.status, json.loads(health.text)["ok"]) == (507, False)
        assert "disk" in json.loads(health.text)["error"]
        for _ in range(2):
            for page in ("", "objects", "yaml", "session"):
                assert visitor.get(f"/s/{key}/{page}").status == 200, page
        assert visitor.get("/").status == 200
        assert Visitor(server.url).get(f"/s/{key}/").status == 200  # somebody who was never here

        refused = visitor.post(f"/s/{key}/yaml", {"text": TEXT, "create": ""})
        shown = unescape(refused.text)
        assert (refused.status, refused.headers["Retry-After"]) == (507, "60")
        assert "its disk is full or not writable" in shown
        assert TEXT in shown
        assert visitor.post("/new", {"start": "empty"}).status == 507
        assert visitor.post(f"/s/{key}/rename", {"name": "another"}).status == 507
        wire.send({"type": "step", "grain": "call"})
        assert wire.until(lambda message: message["type"] == "error")["kind"] == "full"

        disk.make_room(server)
        assert until(lambda: visitor.get("/healthz"), lambda answer: answer.status == 200).text == '{"ok":true}'
        assert visitor.post(f"/s/{key}/yaml", {"text": TEXT, "create": ""}).status == 200
        wire.send({"type": "step", "grain": "call"})
        assert wire.until(lambda message: message["type"] == "delta" and message["head"] > head + 1)["head"] == head + 2


@pytest.mark.django_db(transaction=True)
def test_a_database_that_may_not_grow_is_full() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite says how many pages it may have")
    session = log.create("x" * 100, "", "")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
        try:
            with pytest.raises(StorageFull):
                ask(_grow, session.pk)
        finally:
            cursor.execute("PRAGMA max_page_count = 1073741823")
    ask(_grow, session.pk)


def _grow(session_id: int) -> None:
    row = log.LogRow(1, "command", 0, 1, os.urandom(1 << 20), 1 << 20)
    log.append(session_id, row)


STREAMS = {"full": ">/dev/full 2>/dev/full", "closed": ">&- 2>&-"}


@pytest.mark.parametrize(
    ("streams", "processes"), [("full", 1), ("closed", 1), ("full", 2)] if THOROUGH else [("closed", 1), ("full", 2)]
)
def test_a_server_starts_with_nowhere_to_print(tmp_path: Path, streams: str, processes: int) -> None:
    with contextlib.ExitStack() as stack:
        environment = {}
        if processes > 1:
            environment["REDIS_URL"] = stack.enter_context(a_redis(tmp_path / "redis")).url
        server = PlaygroundServer(tmp_path, ENGINE_WORKERS="1", ENGINE_HEAVY_WORKERS="1", **environment)
        command = f'exec "$0" manage.py serve --port {server.port} --processes {processes} {STREAMS[streams]}'
        server.process = subprocess.Popen(
            ["sh", "-c", command, sys.executable],
            cwd=ROOT,
            env=server.environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        server.groups.append(server.process.pid)
        stack.callback(server.stop)
        visitor = Visitor(server.url)
        until(lambda: is_served(visitor), lambda served: served)
        visitor.new_session()
        for child in children(server.process.pid) if processes > 1 else []:
            os.kill(child, signal.SIGKILL)  # the supervisor starts another, and has nowhere to say so
        until(lambda: is_served(visitor), lambda served: served)
        server.process.terminate()
        assert server.process.wait(30) == 0


def is_served(visitor: Visitor) -> bool:
    """Whether a server answers already."""
    with contextlib.suppress(OSError, HTTPException):
        return visitor.get("/healthz").status == 200
    return False


def test_a_server_starts_on_a_full_disk_and_all_can_be_looked_at(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(tmp_path)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root may mount a disk of its own")
    try:
        disk = SmallDisk(tmp_path)
        with serving(tmp_path) as (server,):
            key = Visitor(server.url).new_session()
            assert server.process is not None
            server.process.terminate()  # its log goes with the last connection
            server.process.wait(20)
            disk.fill(server)
            server.start()
            visitor = Visitor(server.url)
            for path in ("/", f"/s/{key}/", f"/s/{key}/objects"):
                # 202: the session is still being opened.
                assert until(lambda path=path: visitor.get(path), lambda answer: answer.status != 202).status == 200
            assert visitor.get("/healthz").status == 507
            assert visitor.post(f"/s/{key}/yaml", {"text": TEXT, "create": ""}).status == 507
            assert visitor.post("/new", {"start": "empty"}).status == 507
            disk.make_room(server)
            until(lambda: visitor.get("/healthz"), lambda answer: answer.status == 200)
            assert visitor.post(f"/s/{key}/yaml", {"text": TEXT, "create": ""}).status == 200
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)
