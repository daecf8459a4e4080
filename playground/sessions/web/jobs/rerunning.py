"""Leaving commands out: a session's history without them becomes a branch, with a log of its own.

The session's worker makes the history again (rerun.py); here that is asked for piece by piece, and then written. A re-run is a task on
the runtime's loop, known by a token that only who asked for it has; what became of it is kept for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from playground.models import LogEntry, LogKind, Session
from playground.sessions.database import log
from playground.sessions.protocol.errors import LimitReached, SessionError, SessionGone

if TYPE_CHECKING:
    from playground.sessions.web.runtime import Runtime

KEPT = 200
AT_ONCE = 8  # re-runs that go on in this process
PIECE = 0.5  # seconds that the worker spends on a re-run before it answers
SECONDS = 300.0

Data = dict[str, Any]


@dataclass
class Work:
    """A re-run on its way; `done` of `total` steps of the history. `result` is as rerun.Rerun says."""

    origin: int
    skip: list[int]
    done: int = 0
    total: int = 0
    result: Data | None = None
    branch: Session | None = None
    error: SessionError | None = None
    finished: asyncio.Event = field(default_factory=asyncio.Event)


class Reruns:
    """The re-runs of this process by their tokens. Lives on the runtime's loop."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._works: OrderedDict[str, Work] = OrderedDict()

    async def begin(self, origin: Session, skip: list[int], name: str, creator: str, patience: float) -> str:
        """Begin a re-run without the commands at some positions; its token, once it is over or some time has passed.

        Whoever asks for the very one that is on its way, as a double click does, is given that one's.
        """
        going = {token: work for token, work in self._works.items() if not work.finished.is_set()}
        for token, work in going.items():
            if (work.origin, work.skip) == (origin.pk, skip):
                return token
        if len(going) >= AT_ONCE or any(work.origin == origin.pk for work in going.values()):
            raise LimitReached(
                "A history is being made again here just now. Please try again when that is done."
            )
        token = secrets.token_urlsafe(12)
        work = self._works[token] = Work(origin.pk, skip)
        while len(self._works) > KEPT:
            self._works.popitem(last=False)
        self._runtime.begin(self._make(token, work, name, creator))
        await _finished(work, patience)
        return token

    async def wait(self, origin: int, token: str, patience: float) -> Work:
        """The re-run with a token, waited for a while. Raises SessionGone where it is not known."""
        work = self._works.get(token)
        if work is None or work.origin != origin:
            raise SessionGone(
                "This re-run is not known any more. If it came to its end, its branch is among the session's branches."
            )
        await _finished(work, patience)
        return work

    async def _make(self, token: str, work: Work, name: str, creator: str) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                result = await self._compute(token, work)
            work.branch = await self._runtime.db(write, work.origin, result, name, creator)
            work.result = result
        except SessionError as error:
            work.error = error
        except TimeoutError:
            work.error = LimitReached(
                f"The re-run had not come to its end after {SECONDS:.0f} s and was stopped. Nothing was kept of it."
            )
        except Exception:
            work.error = SessionError("The re-run failed. The session is as it was.")
            raise
        finally:
            work.finished.set()

    async def _compute(self, token: str, work: Work) -> Data:
        live = self._runtime.live(work.origin)
        await live.ready()
        limits = {"objects": settings.MAX_OBJECTS, "steps": settings.MAX_RUN_STEPS}
        asked = {"at": live.head, "token": token, "skip": work.skip, "limits": limits, "seconds": PIECE}
        try:
            while True:
                told = await live.ask("rerun", **asked)
                work.done, work.total = told["done"], told["total"]
                if told["result"] is not None:
                    return dict(told["result"])
        except asyncio.CancelledError:
            with contextlib.suppress(SessionError):
                await live.ask("rerun_dropped", token=token)
            raise


async def _finished(work: Work, patience: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(work.finished.wait(), patience)


@transaction.atomic
def write(origin: int, result: Data, name: str, creator: str) -> Session:
    """A branch with the history that a re-run made, in a database thread."""
    session = log.copy(origin, result["first"], name, creator, True)
    _, rows = log.read(origin)
    payloads = {row.at: row for row in rows if row.kind == LogKind.COMMAND and row.at >= result["first"]}
    entries: list[LogEntry] = []
    done, size = result["first"], session.log_bytes

    def add(kind: str, to: int, payload: bytes, length: int = 0) -> None:
        nonlocal done
        number = session.log_seq + len(entries) + 1
        entries.append(
            LogEntry(session=session, seq=number, kind=kind, at=done, to=to, payload=payload, size=length)
        )
        done = to

    for old, new in [*result["kept"], (None, result["head"])]:
        if new > done:
            add(LogKind.RUN, new, log.pack({"source": "rerun"}))
        if old is not None:
            add(LogKind.COMMAND, new + 1, payloads[old].payload, payloads[old].size)
            size += payloads[old].size
    LogEntry.objects.bulk_create(entries)
    Session.objects.filter(pk=session.pk).update(
        head=done, log_seq=session.log_seq + len(entries), log_bytes=size
    )
    session.refresh_from_db()
    return session
