"""Previews of imports: what a text would do is found out by the session's engine and kept in the database, until it is applied."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from django.utils.translation import gettext_noop

from playground.sessions.database import previews
from playground.sessions.protocol.moving import ImportPlan
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind
from playground.sessions.web.loop import SessionsLoop

PREVIEW = Kind(
    "preview",
    at_once=lambda: 16,
    busy=gettext_noop("The server is reading other imports. Try again in a moment."),
    failed=gettext_noop("The preview of the import failed."),
    wait=30.0,
)


class Kept(NamedTuple):
    """A preview's token, and the old and new names of a renamed import, which nobody else is told."""

    token: str
    names: list[tuple[str, str]]


class Importing(Protocol):
    """The part of a live session that a preview needs: its changes."""

    async def preview(self, text: bytes, rename: bool = False) -> ImportPlan: ...


class Previews:
    """Lives on the sessions' loop."""

    def __init__(self, jobs: Jobs, loop: SessionsLoop) -> None:
        self._jobs = jobs
        self._loop = loop

    async def make(
        self, session_id: int, session: Importing, text: bytes, filename: str, author: str, rename: bool
    ) -> Kept:
        """Preview a text, and keep what it would do."""

        async def work(job: Job[Kept]) -> Kept:
            plan = await session.preview(text, rename)
            token = await self._loop.db(previews.keep, session_id, author, filename, plan)
            return Kept(token, plan.names)

        return await self._jobs.begin(PREVIEW, work, Asker(session_id, author)).outcome()
