"""A database of version 0.6 is upgraded, backed up, and restored, and everything in it opens and replays the same. See tests/recorded."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from playground.classroom.rooms import COOKIE
from tests.browser.server import PlaygroundServer
from tests.faults.visitor import Answer, Visitor
from tests.recorded import read_database, read_traces

# The fields of a header that name the version and the time of an export.
VERSIONED = ("engine", "created", "lesson")
# The lesson volume-zone. Since engine 2 the controller that attaches volumes takes steps of its own, and the kubelet waits for it.
# So what its attempts came to is the same, as docs/time-travel.md promises; the steps are counted differently.
ATTACHING = {14}
COUNTED = ("position", "seq", "parent")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """The present version on a backup of the older database, restored into an empty folder."""
    older, folder = tmp_path_factory.mktemp("older"), tmp_path_factory.mktemp("restored")
    (older / "playground.sqlite3").write_bytes(read_database())
    upgraded = PlaygroundServer(older)
    upgraded.manage("migrate", "--verbosity", "0")
    upgraded.manage("backup", str(folder / "backup"))
    server = PlaygroundServer(folder)
    server.manage("restore", str(folder / "backup"))
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def visitor(server: PlaygroundServer) -> Visitor:
    return Visitor(server.url, patience=60)


def read_rows(server: PlaygroundServer, query: str) -> list[Any]:
    with sqlite3.connect(server.folder / "playground.sqlite3") as database:
        return database.execute(query).fetchall()


def read_lines(trace: bytes) -> list[dict[str, Any]]:
    header, *rest = (json.loads(line) for line in trace.splitlines())
    return [{name: value for name, value in header.items() if name not in VERSIONED}, *rest]


def read_steps(number: int, trace: bytes) -> list[dict[str, Any]]:
    """Return the lines of a session's trace as they have to be the same."""
    omitted = COUNTED if number in ATTACHING else ()
    return [{name: line[name] for name in line if name not in omitted} for line in read_lines(trace)]


def fetch(visitor: Visitor, path: str) -> Answer:
    """Return the answer; a page that is still being computed loads itself again, and so does this."""
    while (answer := visitor.get(path)).status == 202:
        time.sleep(int(answer.headers.get("Retry-After", 1)))
    assert answer.status == 200, f"{path}: {answer.status}"
    return answer


def test_each_session_replays_to_the_trace_that_it_had(server: PlaygroundServer) -> None:
    keys = dict(read_rows(server, "select id, edit_key from playground_session order by id"))
    recorded = read_traces()
    assert keys.keys() == recorded.keys()

    def differs(number: int) -> bool:
        exported = fetch(Visitor(server.url, 60), f"/s/{keys[number]}/export.jsonl?first=2&last=3")
        return read_steps(number, exported.text.encode()) != read_steps(number, recorded[number])

    with ThreadPoolExecutor(2) as pool:
        different = list(pool.map(differs, recorded))
    assert [number for number, wrong in zip(recorded, different, strict=True) if wrong] == []


def test_each_session_opens_at_its_head_without_a_difference(server: PlaygroundServer, visitor: Visitor) -> None:
    for key, head in read_rows(server, "select edit_key, head from playground_session"):
        page = fetch(visitor, f"/s/{key}/").text
        assert f'data-seen="{head}"' in page
        assert 'id="differs"' not in page


def test_a_fork_still_has_its_origin(server: PlaygroundServer, visitor: Visitor) -> None:
    ((key, origin, at),) = read_rows(
        server,
        "select fork.edit_key, origin.name, fork.origin_position from playground_session fork "
        "join playground_session origin on origin.id = fork.origin_id",
    )
    page = " ".join(fetch(visitor, f"/s/{key}/").text.split())
    assert f"Fork of {origin} at step {at}" in page


def test_a_view_link_still_shows_its_session(server: PlaygroundServer, visitor: Visitor) -> None:
    ((key,),) = read_rows(server, "select key from playground_viewlink")
    assert "Six nodes in three zones" in fetch(visitor, f"/s/{key}/").text


def test_a_lesson_of_somebodys_own_still_starts(server: PlaygroundServer, visitor: Visitor) -> None:
    ((key,),) = read_rows(server, "select key from playground_ownlesson")
    started = visitor.post(f"/lesson/{key}/", {})
    assert started.status == 200
    assert urlsplit(started.url).path.startswith("/s/")


def test_a_classroom_still_has_its_student(server: PlaygroundServer, visitor: Visitor) -> None:
    ((key, code),) = read_rows(server, "select key, code from playground_room")
    assert code in fetch(visitor, f"/room/{key}/").text
    ((student, name),) = read_rows(server, "select key, name from playground_student")
    assert name == "Mei"
    known, unknown = (visitor.get(f"/join/{code}/", Cookie=f"{COOKIE}{code}={of}") for of in (student, "x"))
    assert ('id="room-hand"' in known.text, 'id="room-hand"' in unknown.text) == (True, False)


def test_a_trace_comes_back_as_a_session(visitor: Visitor) -> None:
    fields, boundary = read_traces()[3], "part"
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', visitor.get("/").text)
    assert token is not None
    body = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{token[1]}\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="trace.jsonl"\r\n\r\n'
    ).encode()
    answer = visitor.upload("/import-trace", body + fields + f"\r\n--{boundary}--\r\n".encode(), boundary)
    assert answer.status == 200
    assert "<h1>Trace verified: every decision is the same</h1>" in answer.text


def test_a_session_from_before_0_5_says_which_version_opens_it(server: PlaygroundServer, visitor: Visitor) -> None:
    key = visitor.new_session("story:gate")
    with sqlite3.connect(server.folder / "playground.sqlite3") as database:
        database.execute("update playground_session set edition = 2 where edit_key = ?", (key,))
    answer = visitor.get(f"/s/{key}/")
    assert answer.status == 404
    assert "You can open it with Scheduler Playground 0.6.0" in answer.text


def test_a_database_from_before_0_6_says_which_version_migrates_it(tmp_path: Path) -> None:
    file = tmp_path / "playground.sqlite3"
    file.write_bytes(read_database())
    with sqlite3.connect(file) as database:
        database.execute("delete from django_migrations where name > '0008'")
    for command in (("migrate",), ("serve", "--port", "1")):
        with pytest.raises(
            AssertionError, match=re.escape("“manage.py migrate” of Scheduler Playground 0.6.0")
        ) as failed:
            PlaygroundServer(tmp_path).manage(*command)
        assert "Traceback" not in str(failed.value)
