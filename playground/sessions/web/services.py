"""The services that all live sessions of a process share."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson
from django.conf import settings

from playground.models import Session
from playground.presenters.problems import WHOLE_NUMBER, WHOLE_TEXT
from playground.presenters.problems import problem as in_words
from playground.presenters.words import message
from playground.sessions.database import log
from playground.sessions.protocol.errors import CommandRefused, FieldProblem, LimitReached
from playground.sessions.protocol.moving import AppliedCommand
from playground.sessions.protocol.opening import LogRow, RowKind
from playground.sessions.web.engines import Pool, Room
from playground.sessions.web.jobs.registry import Jobs
from playground.sessions.web.loop import SessionsLoop
from playground.sessions.web.relay import Relay
from scheduler_core.world.commands import Command

# Turns: only a few plays work at the same time, the others wait in a queue.
#
# So a user's step does not wait for all plays in each queue on the way: the worker's, the database's, the sockets'.

PLAYS_AT_ONCE = max(2, os.cpu_count() or 2)
PATIENCE = 2.0  # seconds of waiting after which the plays ahead are assumed to hang


class Turns:
    """The queue of plays for turns, first come, first served."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(PLAYS_AT_ONCE)

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Hold a turn; after PATIENCE seconds of waiting, continue without one."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._free.acquire()
        except TimeoutError:
            yield
            return
        try:
            yield
        finally:
            self._free.release()


@dataclass(frozen=True)
class Services:
    """The parts that all live sessions of a process share; `name` distinguishes the process from other server processes."""

    name: str
    loop: SessionsLoop
    pool: Pool
    room: Room
    relay: Relay
    jobs: Jobs
    turns: Turns = field(default_factory=Turns)


INTEGERS = range(-(2**63), 2**64)  # the integers that orjson can encode
MOST_SHOWN = 200


class SessionLog:
    """A session's log in the database; `head` and `seq` are its end, `size` its bytes."""

    def __init__(self, session_id: int, services: Services) -> None:
        self.head = 0
        self.seq = 0
        self.size = 0
        self._id = session_id
        self._db = services.loop.db

    async def read(self, after: int = 0) -> tuple[Session, list[LogRow]]:
        """Return the session and its entries from number `after` on."""
        return await self._db(log.read, self._id, after)

    def follow(self, session: Session) -> None:
        """Set the log's end to that of a session that was read."""
        self.head, self.seq, self.size = session.head, session.log_seq, session.log_bytes

    async def append(self, kind: RowKind, to: int, payload: bytes, size: int = 0, last_of: str = "") -> None:
        """Write the next entry; `last_of` is the holder whose lease ends with it."""
        row = LogRow(self.seq + 1, kind, self.head, to, payload, size)
        await self._db(log.append, self._id, row, last_of=last_of)
        self.seq, self.head = row.seq, to
        self.size += size

    async def append_commands(self, commands: Sequence[AppliedCommand]) -> None:
        """Write several commands at once."""
        # One more start than commands: the last one is the start of the next entry.
        starts = [self.head, *(each.to for each in commands)]
        rows = [
            LogRow(self.seq + number, "command", at, each.to, each.payload, each.size)
            for number, (at, each) in enumerate(zip(starts, commands, strict=False), 1)
        ]
        await self._db(log.append, self._id, *rows)
        self.seq, self.head = rows[-1].seq, rows[-1].to
        self.size += sum(row.size for row in rows)

    async def extend(self, to: int, last_of: str = "") -> None:
        """Extend the last entry to position `to`; `last_of` is the holder whose lease ends with it."""
        await self._db(log.advance, self._id, self.seq, self.head, to, last_of)
        self.head = to

    def require_room(self, size: int = 0) -> None:
        """Raise LimitReached if the log is full."""
        if self.seq >= settings.MAX_LOG_ENTRIES:
            raise LimitReached(
                message(
                    "The log of this session is full: %(has)s of at most %(most)s entries. To continue, duplicate the "
                    "cluster into a new session.",
                    has=f"{self.seq:,}",
                    most=f"{settings.MAX_LOG_ENTRIES:,}",
                )
            )
        if self.size + size > settings.MAX_LOG_BYTES:
            raise LimitReached(
                message(
                    "The log of this session would have %(has)s bytes. The limit is %(most)s.",
                    has=f"{self.size + size:,}",
                    most=f"{settings.MAX_LOG_BYTES:,}",
                )
            )


def command_data(command: Command, source: str) -> bytes:
    """Return a command in the form of the log. Raise LimitReached if it is too long, CommandRefused if JSON cannot encode a value."""
    try:
        data = orjson.dumps({"command": command, "source": source}, default=msgspec.to_builtins)
    except orjson.JSONEncodeError as error:
        raise _refusal(msgspec.to_builtins(command)) or error from None
    if len(data) > settings.MAX_COMMAND_BYTES:
        raise LimitReached(f"The command takes {len(data):,} bytes; at most {settings.MAX_COMMAND_BYTES:,} are taken.")
    return data


def _refusal(command: dict[str, Any]) -> CommandRefused | None:
    """Return the refusal of the first field that JSON cannot encode, or None."""
    for path, value in _leaves(command, ""):
        expected = _describe_expected_value(value)
        if expected:
            problem = FieldProblem(path, repr(value)[:MOST_SHOWN], expected)
            return CommandRefused(in_words(problem), [problem])
    return None


def _describe_expected_value(value: Any) -> str:
    """Return the description of a valid value if JSON cannot encode this one, or ""."""
    if isinstance(value, int) and value not in INTEGERS:
        return WHOLE_NUMBER
    if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
        return WHOLE_TEXT
    return ""


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield each key and each plain value of some data, with its path."""
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield path, name
            yield from _leaves(below, f"{path}.{name}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for number, below in enumerate(value):
            yield from _leaves(below, f"{path}[{number}]")
    else:
        yield path, value
