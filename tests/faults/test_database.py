"""PostgreSQL goes away under a server, for a moment or for longer, and comes back."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any

import psycopg
import pytest

from playground.urls import urlpatterns
from tests.browser.server import PlaygroundServer
from tests.faults.postgresql import PostgreSQL, a_postgresql
from tests.faults.servers import serving
from tests.faults.test_disk import until
from tests.faults.visitor import Visitor
from tests.playground.sessions.wire import Closed, Wire

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: mine}\nspec: {containers: [{name: main, image: pause}]}\n"
WORDS = "The database does not respond"
# Seconds for which this server waits for its database, and for the answer to a statement.
WAIT, ANSWER = 2, 3
HURRIED = {"DATABASE_WAIT_SECONDS": str(WAIT), "DATABASE_ANSWER_SECONDS": str(ANSWER)}


@pytest.fixture(scope="module")
def database() -> Iterator[PostgreSQL]:
    with a_postgresql() as server:
        yield server


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, database: PostgreSQL) -> Iterator[PlaygroundServer]:
    """A server that is never restarted, whatever happens to its database."""
    url = database.make_database("playground")
    with serving(tmp_path_factory.mktemp("server"), DATABASE_URL=url, **HURRIED) as (server,):
        yield server


@pytest.fixture
def server(shared: PlaygroundServer, database: PostgreSQL) -> Iterator[PlaygroundServer]:
    """The same; its database runs again afterwards."""
    yield shared
    database.resume()
    if not database.runs:
        database.start()


def looking(server: PlaygroundServer, key: str) -> tuple[Wire, dict[str, Any]]:
    """A viewer of a session, and the first delta that it got."""
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    return wire, wire.until(lambda message: message["type"] == "delta")


def log_of(database: PostgreSQL, key: str) -> list[tuple[Any, ...]]:
    """The entries of a session: number, kind, from where to where."""
    return database.ask(
        'SELECT seq, kind, "at", "to" FROM playground_logentry WHERE session_id = '
        "(SELECT id FROM playground_session WHERE edit_key = %s) ORDER BY seq",
        key,
        database="playground",
    )


def is_whole(entries: list[tuple[Any, ...]]) -> bool:
    """Whether each entry begins where the one before ended, and none is there twice."""
    numbers = [entry[0] for entry in entries]
    ends = [0, *(entry[3] for entry in entries)]
    return numbers == list(range(1, len(entries) + 1)) and all(
        entry[2] == end for entry, end in zip(entries, ends, strict=False)
    )


def test_pages_notice_no_restart(server: PlaygroundServer, database: PostgreSQL) -> None:
    visitor = Visitor(server.url)
    key = visitor.new_session()
    paths = ["/", f"/s/{key}/", f"/s/{key}/records", f"/s/{key}/commands", f"/s/{key}/branches", "/healthz"]
    with ThreadPoolExecutor(8) as threads:  # so that many threads have a connection
        list(threads.map(visitor.get, paths * 4))
    database.restart()
    answers = [visitor.get(path) for path in paths * 4]
    assert [answer.status for answer in answers] == [200] * len(answers)


def test_who_asks_during_a_short_outage_waits(server: PlaygroundServer, database: PostgreSQL) -> None:
    visitor = Visitor(server.url)
    key = visitor.new_session()
    wire, seen = looking(server, key)
    database.stop()
    back = threading.Timer(WAIT / 2, database.start)
    back.start()
    wire.send({"type": "step", "grain": "call"})
    assert visitor.get(f"/s/{key}/").status == 200
    assert wire.until(lambda message: message["type"] == "delta")["seq"] == seen["seq"] + 1
    back.join()


def test_a_longer_outage_is_answered_in_words_and_ends_by_itself(
    server: PlaygroundServer, database: PostgreSQL
) -> None:
    visitor = Visitor(server.url)
    key = visitor.new_session()
    wire, seen = looking(server, key)
    database.stop()
    began = time.monotonic()
    first = visitor.get(f"/s/{key}/")
    assert WAIT - 1 < time.monotonic() - began < WAIT + 2, "a short outage is waited for, a longer one is not"
    began = time.monotonic()
    answers = [
        first,
        visitor.get("/"),
        visitor.get(f"/s/{key}/records"),
        visitor.get(f"/s/{key}/panel/queues", HX_Request="true"),
        visitor.get(f"/s/{key}/yaml", HX_Request="true", X_Drawer="1"),
        visitor.post(f"/s/{key}/step", {"grain": "call"}, HX_Request="true"),
        visitor.post(f"/s/{key}/rename", {"name": "Another"}),
    ]
    assert time.monotonic() - began < WAIT, "once it is known to be away, nobody waits"
    assert [answer.status for answer in answers] == [503] * len(answers)
    for answer in answers:
        assert WORDS in answer.text
        assert int(answer.headers["Retry-After"]) > 0
    assert "Another" in answers[-1].text, "what was sent is given back"
    wire.send({"type": "step", "grain": "call"})
    error = wire.until(lambda message: message["type"] == "error")
    assert error["kind"] == "unavailable"
    assert WORDS in error["message"]
    health = visitor.get("/healthz")
    assert (health.status, json.loads(health.text)["ok"]) == (503, False)
    late = Wire(server.url, key)
    assert WORDS in late.receive()["message"]
    with pytest.raises(Closed) as closed:
        late.receive()
    assert closed.value.code == 4503
    database.start()
    until(lambda: visitor.get("/healthz"), lambda health: health.status == 200)
    assert visitor.get(f"/s/{key}/").status == 200
    wire.send({"type": "step", "grain": "call"})
    assert wire.until(lambda message: message["type"] == "delta")["seq"] == seen["seq"] + 1
    assert is_whole(log_of(database, key))


def test_a_play_goes_on_when_the_database_is_back(server: PlaygroundServer, database: PostgreSQL) -> None:
    key = Visitor(server.url).new_session()
    wire, seen = looking(server, key)
    wire.send({"type": "play", "grain": "call", "rate": 10})
    wire.until(lambda message: message["type"] == "delta" and message["seq"] > seen["seq"] + 5)
    database.stop()
    said = wire.until(lambda message: message["type"] == "error")
    assert WORDS in said["message"]
    database.start()
    wire.until(lambda message: message["type"] == "notice" and "the session continues" in message["message"])
    shown = wire.until(lambda message: message["type"] == "delta" and message["running"])
    wire.until(lambda message: message["type"] == "delta" and message["seq"] > shown["seq"] + 5)
    wire.send({"type": "pause"})
    rest = wire.until(lambda message: message["type"] == "delta" and message["running"] is None)
    entries = log_of(database, key)
    assert is_whole(entries)
    assert entries[-1][3] == rest["seq"]


def test_a_play_can_be_paused_while_the_database_is_away(server: PlaygroundServer, database: PostgreSQL) -> None:
    key = Visitor(server.url).new_session()
    wire, seen = looking(server, key)
    wire.send({"type": "play", "grain": "call", "rate": 10})
    wire.until(lambda message: message["type"] == "delta" and message["seq"] > seen["seq"] + 3)
    database.stop()
    wire.until(lambda message: message["type"] == "error")
    wire.send({"type": "pause"})
    rest = wire.until(lambda message: message["type"] == "delta" and message["running"] is None)
    database.start()
    time.sleep(1)
    wire.send({"type": "step", "grain": "call"})
    wire.until(lambda message: message["type"] == "delta" and message["seq"] == rest["seq"] + 1)
    assert is_whole(log_of(database, key))


def test_a_database_that_hangs_holds_nobody_for_long(server: PlaygroundServer, database: PostgreSQL) -> None:
    visitor = Visitor(server.url)
    key = visitor.new_session()
    wire, seen = looking(server, key)
    database.freeze()
    began = time.monotonic()
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(lambda _: visitor.get(f"/s/{key}/"), range(10)))
    assert time.monotonic() - began < ANSWER + WAIT + 5  # an attempt to connect takes up to 4 s
    assert {answer.status for answer in answers} == {503}
    database.resume()
    time.sleep(1)
    assert visitor.get(f"/s/{key}/").status == 200
    wire.send({"type": "step", "grain": "call"})
    assert wire.until(lambda message: message["type"] == "delta")["seq"] == seen["seq"] + 1


def test_a_statement_that_takes_too_long_is_ended_by_the_server(server: PlaygroundServer, database: PostgreSQL) -> None:
    visitor = Visitor(server.url)
    key = visitor.new_session()
    logged, url = len(server.log.read_text()), database.url_of("playground")
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE playground_session IN ACCESS EXCLUSIVE MODE")
        assert visitor.get(f"/s/{key}/").status == 503
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        until(lambda: database.ask(waiting)[0][0], lambda count: count == 0)
        other.rollback()
    assert visitor.get(f"/s/{key}/").status == 200
    assert "canceling statement" in (log := server.log.read_text()[logged:])
    assert "does not answer" not in log, "the database is not taken for away"


class ReadOnly:
    """Its operator, or a quota, lets nobody write (25006)."""

    words = "its disk is full or not writable"

    def __init__(self, database: PostgreSQL) -> None:
        self.database = database

    def begin(self) -> None:
        self._set("on")

    def end(self) -> None:
        self._set("off")

    def _set(self, value: str) -> None:
        self.database.ask(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
        self.database.ask("SELECT pg_reload_conf()")
        shown = "SHOW default_transaction_read_only"
        until(lambda: self.database.ask(shown)[0][0], lambda found: found == value)


class Standby(ReadOnly):
    """A failover left the server with a standby (25006)."""

    def begin(self) -> None:
        self._restart((self.database.data / "standby.signal").touch)

    def end(self) -> None:
        self._restart((self.database.data / "standby.signal").unlink)

    def _restart(self, change: Callable[[], None]) -> None:
        self.database.stop()
        change()
        self.database.start()


class FullDisk(ReadOnly):
    """Each row that is written is answered as PostgreSQL answers where its disk is full (53100)."""

    def begin(self) -> None:
        self._ask(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
        )
        for table, event in self._tables():
            self._ask(f"CREATE TRIGGER full_disk BEFORE {event} ON {table} EXECUTE FUNCTION full_disk()")

    def end(self) -> None:
        self._ask("DROP FUNCTION full_disk CASCADE")

    def _tables(self) -> list[tuple[str, str]]:
        found = self._ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return [(table, "INSERT OR UPDATE OR DELETE") for (table,) in found]

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        return self.database.ask(query, database="playground")


OF_A_SESSION = "s/<str:key>/"
PAGES = [
    route.removeprefix(OF_A_SESSION)
    for route in (str(each.pattern) for each in urlpatterns)
    if route.startswith(OF_A_SESSION) and route.count("<") == 1
]


@pytest.mark.parametrize("fault", [ReadOnly, Standby, FullDisk])
def test_a_database_that_takes_nothing_can_be_looked_at(
    server: PlaygroundServer, database: PostgreSQL, fault: type[ReadOnly]
) -> None:
    visitor = Visitor(server.url)
    keys = [visitor.new_session() for _ in range(2)]
    wire, seen = looking(server, keys[0])
    database_fault = fault(database)
    database_fault.begin()
    try:
        health = until(lambda: visitor.get("/healthz"), lambda answer: answer.status == 507)
        assert fault.words in json.loads(health.text)["error"]
        # Of who was here before, these change places in the list of sessions, which is written.
        for who in (visitor, Visitor(server.url)):
            assert [who.get(f"/s/{key}/").status for key in keys] == [200, 200]
            assert [who.get(path).status for path in ("/", "/terms", "/status", "/metrics")] == [200] * 4
        for path, fields in (
            ("/new", {"start": "empty"}),
            (f"/s/{keys[0]}/rename", {"name": "another"}),
            (f"/s/{keys[0]}/step", {"grain": "call"}),
            (f"/s/{keys[0]}/yaml", {"text": POD, "create": ""}),
        ):
            refused = visitor.post(path, fields)
            assert (refused.status, refused.headers["Retry-After"]) == (507, "60"), path
            assert fault.words in unescape(refused.text)
        wire.send({"type": "step", "grain": "call"})
        assert wire.until(lambda message: message["type"] == "error" and message["kind"] == "full")
        late, shown = looking(server, keys[1])
        late.close()
        assert shown["seq"] > 0
    finally:
        database_fault.end()
    until(lambda: visitor.get("/healthz"), lambda answer: answer.status == 200)
    assert visitor.post(f"/s/{keys[0]}/yaml", {"text": POD, "create": ""}).status == 200
    wire.send({"type": "step", "grain": "call"})
    assert wire.until(lambda message: message["type"] == "delta" and message["head"] == seen["head"] + 2)


def test_no_page_of_a_session_has_to_write(server: PlaygroundServer, database: PostgreSQL) -> None:
    visitor = Visitor(server.url)
    key = visitor.new_session()
    usual = {page: visitor.get(f"/s/{key}/{page}").status for page in PAGES}
    assert list(usual.values()).count(200) > 40
    fault = ReadOnly(database)
    fault.begin()
    try:
        until(lambda: visitor.get("/healthz"), lambda answer: answer.status == 507)
        assert usual == {page: visitor.get(f"/s/{key}/{page}").status for page in PAGES}
    finally:
        fault.end()


def test_steps_during_restarts_are_in_the_log_once_if_they_were_acknowledged(
    server: PlaygroundServer, database: PostgreSQL
) -> None:
    key = Visitor(server.url).new_session()
    wire, seen = looking(server, key)
    over = threading.Event()

    def restart() -> None:
        for how in (database.restart, database.kill, database.kill):
            time.sleep(0.4)
            how()
            if not database.runs:
                database.start()
        over.set()

    thread = threading.Thread(target=restart)
    thread.start()
    head = seen["seq"]
    while not over.is_set():
        wire.send({"type": "step", "grain": "call"})
        answer = wire.until(lambda message: message["type"] in ("delta", "error", "idle"))
        assert answer["type"] == "delta", answer
        assert answer["seq"] == head + 1
        head = answer["seq"]
        time.sleep(0.06)  # the story has 68 steps
    thread.join()
    entries = log_of(database, key)
    assert is_whole(entries)
    assert entries[-1][3] == head
    steps = [entry for entry in entries if entry[1] == "step"]
    assert len(steps) == head - seen["seq"]


FORMS = {
    "rename": ("name", "back"),
    "bookmarks": ("name", "position"),
    "breakpoints": ("name", "pod", "cel"),
    "import": ("text",),
    "import/apply": ("token",),
    "yaml": ("text", "for_name"),
    "configuration": ("text", "scheduler", "new"),
    "fork": ("name", "at"),
    "duplicate": ("name",),
    "rerun": ("name", "skip"),
    "calls": ("pod", "call"),
    "objects/delete": ("name",),
    "build/pods": ("name",),
    "goto": ("pod", "at"),
}
ADDRESSES = (
    "yaml?kind=Pod&name=%00",
    "import?token=%00",
    "rerun/%00",
    "%00",
    "objects?q=%00",
    "?pod=%00",
    "bookmarks/%00",
)


def test_the_character_0_reaches_no_database(server: PlaygroundServer) -> None:
    visitor = Visitor(server.url)
    key = visitor.new_session()
    answers = {
        f"{path} {field}": visitor.post(f"/s/{key}/{path}", {field: "a\0b"}).status
        for path, fields in FORMS.items()
        for field in fields
    }
    answers |= {path: visitor.get(f"/s/{key}/{path}").status for path in ADDRESSES}
    answers["a name"] = visitor.post("/new", {"start": "empty", "name": "a\0b"}).status
    answers["a key"] = visitor.get("/s/%00/").status
    answers["a cookie"] = Visitor(server.url).get("/", Cookie=r'sessionid="\000aaaaaaaaaaaaaaaa"').status
    assert {what: status for what, status in answers.items() if status >= 500} == {}
