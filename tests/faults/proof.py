"""What the database has of a session, held against what was acknowledged; and what a server makes of it that knows nothing else."""

from __future__ import annotations

import contextlib
import sqlite3
import time
import zlib
from collections import Counter
from http.client import HTTPException
from pathlib import Path
from typing import Any, Protocol

import orjson
import psycopg

from tests.faults.clients import Ledger
from tests.faults.postgresql import PostgreSQL
from tests.faults.visitor import Visitor

LOG = 'SELECT l.seq, l.kind, l.at, l."to", l.payload FROM playground_logentry l JOIN playground_session s ON s.id = l.session_id '
PATIENCE = 30.0  # seconds until a database that was killed answers


class Database(Protocol):
    """Where sessions are kept."""

    @property
    def url(self) -> str: ...

    def ask(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a query, whose parameters are question marks."""


class SQLite:
    """A file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "sessions.sqlite3"
        self.url = f"sqlite:///{self._file}"

    def ask(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(self._file, timeout=20)) as connection:
            return connection.execute(query, parameters).fetchall()


class Server:
    """A database of a PostgreSQL."""

    def __init__(self, server: PostgreSQL) -> None:
        self._server = server
        self.url = server.make_database("playground")

    def ask(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self._server.ask(query.replace("?", "%s"), *parameters, database="playground")


def log_of(database: Database, key: str) -> list[tuple[Any, ...]]:
    """The entries of a session: number, kind, from where to where, payload."""
    return database.ask(LOG + "WHERE s.edit_key = ? ORDER BY l.seq", key)


def head_of(database: Database, key: str) -> int:
    """How far a session is, as soon as the database says it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            ((head,),) = database.ask("SELECT head FROM playground_session WHERE edit_key = ?", key)
        except (sqlite3.OperationalError, psycopg.OperationalError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return int(head)


def names_in(entries: list[tuple[Any, ...]]) -> Counter[str]:
    """How often the log makes each pod of the clients."""
    commands = (orjson.loads(zlib.decompress(entry[4])) for entry in entries if entry[1] == "command")
    made = (each for command in commands for each in command["command"].get("objects", ()))
    names = (each["metadata"]["name"] for each in made if each["kind"] == "Pod")
    return Counter(name for name in names if name.startswith("pod-"))


def is_whole(entries: list[tuple[Any, ...]]) -> bool:
    """Whether the entries are numbered without a gap, and each begins where the one before ended."""
    numbers = [entry[0] for entry in entries]
    ends = [0, *(entry[3] for entry in entries)]
    begins = [entry[2] for entry in entries]
    return numbers == list(range(1, len(entries) + 1)) and begins == ends[:-1]


def count_faults(database: Database, ledger: Ledger) -> tuple[int, int]:
    """Of what was acknowledged, how much is lost; and how much is there twice."""
    lost = doubled = 0
    for key, names in ledger.names.items():
        entries = log_of(database, key)
        found = names_in(entries)
        lost += sum(name not in found for name in names)
        lost += ledger.seen[key] > (entries[-1][3] if entries else 0)
        doubled += sum(count > 1 for count in found.values())
    return lost, doubled


def is_readable(database: Database, key: str, living: Visitor, replaying: Visitor) -> bool:
    """Whether the log is whole, and a replay of all of it comes to the world that the server shows which lived through everything."""
    if not is_whole(log_of(database, key)):
        return False
    worlds = [_world(visitor, key) for visitor in (living, replaying)]
    return worlds[0] is not None and worlds[0] == worlds[1]


def _world(visitor: Visitor, key: str) -> str | None:
    """The objects at the newest step; None where they can't be had."""
    if not is_served(visitor, key):
        return None
    answer = visitor.get(f"/s/{key}/cluster.yaml")
    return answer.text if answer.status == 200 else None


def is_served(visitor: Visitor, key: str, patience: float = 60) -> bool:
    """Wait until a session is shown; whether it came to that."""
    deadline = time.monotonic() + patience
    while not _is_shown(visitor, key):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def _is_shown(visitor: Visitor, key: str) -> bool:
    """A server that is being started may take the request and never answer it."""
    try:
        return visitor.get(f"/s/{key}/").status == 200
    except (OSError, HTTPException):
        return False
