"""Driver: what moves a session's head by itself - play (paced, watched) or run (as fast as possible, watched or not).

One per session whatever the number of viewers and processes: it holds the session's lease in the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from django.conf import settings

from playground.models import LogKind
from playground.sessions.database import log, markers
from playground.sessions.protocol.errors import Conflict, LimitReached, SessionError
from playground.sessions.web.jobs.searching import held
from playground.sessions.worker.conditions.until import Until, told, words

if TYPE_CHECKING:
    from playground.sessions.web.live import LiveSession

RUN_SLICE = 0.1
PLAY_TICK = 0.05
LEASE = 15.0
RENEW = 5.0
TRIES = 3


class Driver:
    """`grain` and `rate` (steps a second) are for a play only, `until` for a run."""

    def __init__(
        self,
        live: LiveSession,
        kind: LogKind,
        grain: str = "",
        rate: float = 0.0,
        until: Until | None = None,
    ) -> None:
        self.live = live
        self.until = until
        self._steps = 0
        self._hit: dict[str, Any] | None = None
        self._doing = ""
        self.kind = kind
        self.grain = grain
        self.rate = rate
        self.last_watched = time.monotonic()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._entry = -1
        self._started = time.monotonic()
        self._first: dict[str, int] | None = None
        self._progress: dict[str, int] = {}
        self._renewed = 0.0

    async def start(self) -> None:
        """Take the lease and begin. Raises Conflict while another process drives the session."""
        await self._renew()
        self.live.driver = self
        self._task = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """Stop after the present slice and wait until that is logged."""
        self._stop.set()
        self.live.interrupt()
        if self._task is not None and self._task is not asyncio.current_task():
            await asyncio.wait({self._task})

    def status(self) -> dict[str, Any]:
        """{"kind", "grain", "rate", "done", "total", "left"}: pods decided since the start, pods waiting, seconds left."""
        done = self._progress.get("decided", 0) - (self._first or {}).get("decided", 0)
        waiting = self._progress.get("waiting", 0)
        seconds = max(time.monotonic() - self._started, 1e-3)
        speed = done / seconds
        return {
            "kind": str(self.kind),
            "grain": self.grain,
            "rate": round(speed, 1) if self.kind == LogKind.RUN else self.rate,
            "done": done,
            "total": done + waiting,
            "left": round(waiting / speed, 1) if speed > 0 and not self.until else None,
            "until": words(self.until),
        }

    async def _work(self) -> None:
        due = time.monotonic()
        try:
            while not self._stop.is_set() and self._watched():
                if self.kind == LogKind.PLAY:
                    due = await self._pace(due)
                if self._stop.is_set() or await self._retry_on_conflict():
                    break
                await self._renew()
        except (SessionError, OSError) as error:
            self.live.publisher.tell_all(error)
        except Exception:
            self.live.mark_stale()
            raise
        finally:
            self.live.driver = None
            self.live.shown = self.live.head
            with contextlib.suppress(Exception):
                await self.live.runtime.db(log.release, self.live.id, self.live.runtime.name)
            self.live.publisher.wake()
            self.live.runtime.relay.tell(self.live.id, "moved", running=None)

    async def _pace(self, due: float) -> float:
        """Wait for the next step, keeping the lease; when the step is late by much, do not hurry after it."""
        if due - time.monotonic() < -1:
            due = time.monotonic()
        while (wait := due - time.monotonic()) > 0 and not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), min(wait, RENEW))
            await self._renew()
        return due + self._steps_at_once() / self.rate

    def _steps_at_once(self) -> int:
        return max(1, int(self.rate * PLAY_TICK))

    async def _retry_on_conflict(self) -> bool:
        """A slice; when another process has changed the session meanwhile, go on from there."""
        for _ in range(TRIES):
            with contextlib.suppress(Conflict):
                return await self._slice()
        return await self._slice()

    async def _slice(self) -> bool:
        """One slice of work, logged; True where nothing is left to do."""
        live = self.live
        async with live.exclusive():
            keep = live.publisher.due()
            if self.kind == LogKind.RUN:
                most = settings.MAX_RUN_STEPS - self._steps
                run = {"seconds": RUN_SLICE, "keep": keep, "until": self.until, "most": most}
                header, _ = await live.call("run", run)
            else:
                steps = {"grain": self.grain, "times": self._steps_at_once(), "keep": keep}
                header, _ = await live.call("step", steps)
            result = header["result"]
            self._progress = result["progress"]
            self._first = self._first or result["before"]
            if result["to"] > live.head:
                await self._write(result["to"], keep or bool(result["reason"]))
            self._steps += result["to"] - result["at"]
            self._hit, self._doing = result.get("hit"), result.get("doing", "")
        if result["reason"] and self.kind == LogKind.RUN:
            if self._hit is not None:
                await live.runtime.db(markers.hit, live.id, self._hit["id"])
            live.end(result["reason"], self._told(result["reason"]))
        return bool(result["reason"])

    def _told(self, reason: str) -> str:
        """Why a run ended, for people; nothing where it ended as was asked for."""
        if reason == "budget":
            waited = f" It waited for this, which did not happen: {words(self.until)}." if self.until else ""
            return (
                f"The run stopped after {self._steps:,} steps, the most that one run makes on this server.{waited} "
                f"Run again to go on from here. {self._doing}"
            ).strip()
        if reason == "runaway":
            return self._doing
        if self.until is None:
            return ""
        if reason == "idle":
            return f"Nothing is left to do, and what the run waited for did not happen: {words(self.until)}."
        if self._hit is not None:
            return held(self._hit)
        return f"The run stopped where {words(self.until)}."

    async def _write(self, to: int, show: bool) -> None:
        live = self.live
        if live.seq == self._entry:
            await live.extend(to, show)
            return
        try:
            live.require_room()
        except LimitReached:
            live.mark_stale()
            raise
        await live.write(self.kind, to, log.pack(self._asked()), show=show)
        self._entry = live.seq

    def _asked(self) -> dict[str, Any]:
        """How the steps were asked for, as the log keeps it."""
        if self.kind == LogKind.RUN:
            return {"until": told(self.until)} if self.until else {}
        return {"grain": self.grain, "rate": self.rate}

    async def _renew(self) -> None:
        if time.monotonic() - self._renewed < RENEW:
            return
        live = self.live
        if not await live.runtime.db(log.lease, live.id, live.runtime.name, LEASE):
            raise Conflict("This session is already being played by another server process. Pause it first.")
        self._renewed = time.monotonic()
        live.runtime.relay.tell(live.id, "moved", running=self.status())

    def watched(self) -> None:
        """Another process has viewers."""
        self.last_watched = time.monotonic()

    def _watched(self) -> bool:
        """A play goes on for a while without viewers, a run to its end."""
        now = time.monotonic()
        if self.live.publisher.viewers or self.kind == LogKind.RUN:
            self.last_watched = now
        return now - self.last_watched < settings.PLAY_UNWATCHED_SECONDS
