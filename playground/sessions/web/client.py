"""SessionClient: what the views and the sockets may ask of a session, from any thread or event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from asgiref.sync import sync_to_async
from django.conf import settings

from playground.models import LogKind, Session
from playground.sessions.database import log, previews
from playground.sessions.protocol.errors import (
    CommandRefused,
    InThePast,
    NotAllowed,
    SessionError,
    SessionGone,
)
from playground.sessions.web.jobs.exports import Chunks
from playground.sessions.web.live import LiveSession
from playground.sessions.web.runtime import runtime

__all__ = [
    "Applied",
    "CommandRefused",
    "InThePast",
    "NotAllowed",
    "SessionClient",
    "SessionGone",
    "check_trace",
    "create_session",
]

Access = Literal["edit", "view"]
# What becomes of a command for a position that is past: it is answered with a question, forks, or goes to the newest step.
Past = Literal["ask", "fork", "head"]


@dataclass(frozen=True)
class Applied:
    """Where an accepted command led: the new position, and the fork it was applied in if the past was acted on."""

    position: int
    forked: SessionClient | None = None


class SessionClient:
    """A session as the holder of one key may use it. `landed` is where the last command was applied, as `past` had it."""

    def __init__(self, session: Session, access: Access, past: Past = "ask") -> None:
        self.session = session
        self.access = access
        self.past = past
        self.landed: SessionClient | None = None

    @classmethod
    async def open(cls, key: str, past: Past = "ask") -> SessionClient:
        """The session that a key opens. Raises SessionGone for any other key."""
        asked = key.replace("\0", " ")  # not every database takes that character
        session = await sync_to_async(log.find, thread_sensitive=False)(asked)
        if settings.REDIS_URL:
            await runtime().call(lambda: _notice(session))
        return cls(session, "edit" if session.edit_key == key else "view", past)

    @property
    def key(self) -> str:
        """The key that this client may hand on."""
        return self.session.edit_key if self.access == "edit" else self.session.view_key

    @property
    def may_edit(self) -> bool:
        return self.access == "edit"

    def require_edit(self) -> None:
        """Raises NotAllowed for a view key."""
        if not self.may_edit:
            raise NotAllowed(
                "This link only shows the session. Ask whoever gave it to you for the edit link."
            )

    def live(self) -> LiveSession:
        """The session in this process; to be used on the runtime's loop only."""
        return runtime().live(self.session.pk)

    async def apply(self, command: dict[str, Any], at: int | None = None, source: str = "builder") -> Applied:
        """Apply a command (commands.py's JSON) at the head; for an earlier position `past` says what becomes of it.

        Raises InThePast, CommandRefused (errors: object, path, received, expected, line), LimitReached, NotAllowed, Conflict.
        """
        async with self.acting(at) as target:
            position = await runtime().call(lambda: target.live().apply(command, source))
        return await self._applied(target, position)

    async def plan(self, text: str | bytes, filename: str = "") -> dict[str, Any]:
        """What importing a text would do: rows with their action, and a `token` for apply_plan."""
        self.require_edit()
        return await runtime().call(lambda: self.live().plan(text, filename))

    async def apply_plan(self, token: str, at: int | None = None) -> Applied:
        """Apply what plan() accepted, as one command; at an earlier position it is planned again there, in a fork."""
        async with self.acting(at) as target:
            if target is not self:
                text, filename = await sync_to_async(previews.find, thread_sensitive=False)(
                    self.session.pk, token
                )
                token = (await target.plan(text, filename))["token"]
            position = await runtime().call(lambda: target.live().apply_plan(token))
        return await self._applied(target, position)

    @contextlib.asynccontextmanager
    async def acting(self, at: int | None) -> AsyncIterator[SessionClient]:
        """The session in which what is done at a position happens: this one, or a fork, which an error takes away again.

        Raises InThePast where that has to be asked first.
        """
        self.require_edit()
        target = await self._target(at)
        try:
            yield target
        except SessionError:
            if target is not self:
                await target.delete()
            raise

    async def objects(self, kind: str | None = None, at: int | None = None) -> list[dict[str, Any]]:
        """{kind, namespace, name, summary} of each object at a position (None: the head)."""
        return await runtime().call(lambda: self.live().ask("objects", kind=kind, at=at))

    async def manifest(self, kind: str, namespace: str, name: str, at: int | None = None) -> dict[str, Any]:
        """The object as it stands at a position. Raises SessionError where there is none."""
        return await runtime().call(
            lambda: self.live().ask("manifest", object_kind=kind, namespace=namespace, name=name, at=at)
        )

    async def configuration(self, at: int | None = None) -> dict[str, Any]:
        """ "schedulers": [{name, manifest}] and "settings" as they are at a position."""
        return await runtime().call(lambda: self.live().ask("configuration", at=at))

    async def fixes(self, pod: str, at: int | None = None, seconds: float = 2.0) -> dict[str, Any]:
        """Findings for a pod (namespace/name) at a position as JSON data, with "late": the time was over, and the "head"."""
        found = await runtime().call(lambda: self.live().ask("fixes", pod=pod, at=at, seconds=seconds))
        return {**found, "head": await runtime().call(lambda: self.live().current_head())}

    async def journey(
        self, pod: str, at: int | None = None, page: int | None = None, seconds: float = 1.5
    ) -> dict[str, Any]:
        """A pod's journey (namespace/name) up to a position as plain data (presenters/journey), with the "head" beside it."""
        found = await runtime().call(
            lambda: self.live().ask("journey", pod=pod, at=at, page=page, seconds=seconds)
        )
        return {**found, "head": await runtime().call(lambda: self.live().current_head())}

    async def cycle_state(self, pod: str, at: int | None = None) -> dict[str, Any] | None:
        """The CycleState of a pod's present or last cycle (presenters/cycle_state); None where it had none."""
        found: dict[str, Any] | None = await runtime().call(
            lambda: self.live().ask("cycle_state", pod=pod, at=at)
        )
        return found

    async def metrics(self, scheduler: str = "", at: int | None = None) -> dict[str, Any]:
        """kube-scheduler's metrics at a position as plain data (sessions/metrics.py), with the "head" beside them."""
        found = await runtime().call(lambda: self.live().ask("metrics", scheduler=scheduler, at=at))
        return {**found, "head": await runtime().call(lambda: self.live().current_head())}

    async def head(self) -> int:
        """The furthest position that is in the log."""
        return await runtime().call(lambda: self.live().current_head())

    async def walk(self, steps: int) -> None:
        """Make so many transitions at the head, as one step of the log."""
        self.require_edit()
        await runtime().call(lambda: _walk(self.live(), steps))

    async def view(self, look: Any, panels: list[str] | None = None) -> dict[str, Any]:
        """Panels by name as plain data (name, context, cards), with "position" and "head" beside them."""
        return await runtime().call(lambda: self.live().view(look, panels))

    async def fork(
        self, at: int | None = None, name: str = "", creator: str = "", branch: bool | None = None
    ) -> SessionClient:
        """A new session with the same past up to a position (None: the head). With the edit key it is a branch, unless told otherwise."""
        family = self.may_edit if branch is None else branch and self.may_edit
        session = await runtime().call(lambda: self.live().fork(at, name, creator, family))
        return SessionClient(session, "edit")

    async def trace(self, detail: tuple[int, int]) -> AsyncIterator[bytes]:
        """The session as lines of JSON; `detail`: the first and the last attempt whose node-by-node detail is wanted."""
        loop = asyncio.get_running_loop()
        chunks = await runtime().call(lambda: _export(self.session.pk, detail, loop))
        async for chunk in chunks.read():
            yield chunk

    async def cluster(self, at: int | None = None) -> AsyncIterator[bytes]:
        """The objects at a position as YAML documents."""
        head = await runtime().call(lambda: self.live().current_head())
        position = head if at is None else min(at, head)
        following: int | None = 0
        while following is not None:
            ask = partial(self.live_part, position, following)
            text, following = await runtime().call(ask)
            yield text

    async def live_part(self, position: int, first: int) -> tuple[bytes, int | None]:
        """Some objects as YAML, and the number to go on with; on the runtime's loop only."""
        return await self.live().cluster(position, first)

    async def delete(self) -> None:
        """Close the session for good, for everybody who watches it too."""
        self.require_edit()
        await sync_to_async(log.delete, thread_sensitive=False)(self.session.pk)
        await runtime().call(lambda: self.live().delete())

    async def refresh(self) -> None:
        """Read the session's row again."""
        await self.session.arefresh_from_db()

    async def _target(self, at: int | None) -> SessionClient:
        if at is None or self.past == "head":
            return self
        head = await runtime().call(lambda: self.live().current_head())
        if at >= head:
            return self
        if self.past == "ask":
            raise InThePast(at, head)
        return await self.fork(at)

    async def _applied(self, target: SessionClient, position: int) -> Applied:
        await self.refresh()
        self.landed = target
        return Applied(position, None if target is self else target)


async def _export(session_id: int, detail: tuple[int, int], loop: asyncio.AbstractEventLoop) -> Chunks:
    chunks = Chunks(loop)
    runtime().begin(runtime().jobs.export(session_id, detail, chunks))
    return chunks


async def _notice(session: Session) -> None:
    live = runtime().sessions.get(session.pk)
    if live is not None:
        live.notice(session.head)


async def _walk(live: LiveSession, steps: int) -> None:
    async with live.exclusive():
        live.require_room()
        header, _ = await live.call("step", {"grain": "plugin", "times": steps, "keep": True})
        if header["result"]["to"] > live.head:
            await live.write(LogKind.STEP, header["result"]["to"], log.pack({"grain": "plugin"}))


async def check_trace(data: bytes, name: str, creator: str) -> tuple[dict[str, Any], Session]:
    """Compute a trace again; what was found (traces.check), and a session with its history."""
    found, payloads = await runtime().call(lambda: runtime().jobs.check(data))
    commands = list(zip(found["positions"], payloads, strict=True))
    session = await sync_to_async(log.restore, thread_sensitive=False)(
        name, creator, found["seed"], found["head"], commands
    )
    return found, session


async def create_session(
    name: str, story: str | None = None, commands: list[dict[str, Any]] | None = None, creator: str = ""
) -> Session:
    """A new session; with commands it starts with these applied. A refused command leaves no session behind."""
    session = await sync_to_async(log.create, thread_sensitive=False)(name, story or "", creator)
    client = SessionClient(session, "edit")
    try:
        for command in commands or []:
            await client.apply(command, source="start")
    except Exception:
        await sync_to_async(log.delete, thread_sensitive=False)(session.pk)
        raise
    await client.refresh()
    return session
