"""SessionClient: the interface of a session for views and sockets, from any thread or event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from django.conf import settings

from playground.common.logs import SESSION
from playground.lessons.authoring import CheckResult, LessonFiles
from playground.models import Session
from playground.presenters.look import Look
from playground.presenters.panel import PanelChange, SeenPage, ShownPanels
from playground.sessions.database import checkpoints, lessons, listing, log, markers
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol import comparing
from playground.sessions.protocol.base import Query, Request
from playground.sessions.protocol.errors import PastPosition, SessionError, Unavailable, require_edit
from playground.sessions.protocol.looking import ClusterYaml, Compare, Variant
from playground.sessions.protocol.moving import ImportPlan, TextApplied
from playground.sessions.web.dialogue import Dialogue
from playground.sessions.web.jobs.imports import IMPORT, ImportResult, KeptPreview
from playground.sessions.web.jobs.registry import Job, Kind
from playground.sessions.web.jobs.reruns import Batch, NewBranch
from playground.sessions.web.jobs.traces import File, Making
from playground.sessions.web.live import LiveSession
from playground.sessions.web.messages import PageMessage, Running, ToPage
from playground.sessions.web.publisher import Viewer
from playground.sessions.web.runtime import runtime
from playground.sessions.web.services import command_data
from playground.storage.postgresql.outage import impatient
from scheduler_core.world.commands import Command, Redo, Undo
from scheduler_core.world.simulation import Grain

A = TypeVar("A")
T = TypeVar("T")

Access = Literal["edit", "view"]
# What to do with a command for a past position: ask the user, fork, or apply it at the newest step.
Past = Literal["ask", "fork", "head"]


@dataclass(frozen=True)
class AppliedChange:
    """The result of an accepted command: the new position, and the fork if the command acted on the past."""

    position: int
    forked: SessionClient | None = None


@dataclass(frozen=True)
class DialogueResult:
    """The result of a message sent without a socket: the viewer's look now, and the messages for the viewer."""

    look: Look
    messages: list[ToPage]


class SessionClient:
    """A session with the rights of one key. `landed` is the session where the last command was applied, according to `past`."""

    def __init__(self, session: Session, access: Access, past: Past = "ask", link: str = "") -> None:
        self.session, self.access = session, access
        self.link = link  # the view link that opened the session; "" for the session's own keys
        self.past = past
        self.landed: SessionClient | None = None

    @classmethod
    async def open(cls, key: str, past: Past = "ask") -> SessionClient:
        """Return the session that a key opens. Raise SessionGone for any other key."""
        asked = key.replace("\0", " ")  # not every database accepts NUL
        session = await in_thread(log.find, asked)
        SESSION.set(session.pk)
        link = "" if asked in (session.edit_key, session.view_key) else asked
        client = cls(session, "edit" if session.edit_key == key else "view", past, link)
        if settings.REDIS_URL:
            await runtime().do(lambda: runtime().notice(session.pk, session.head))
        return client

    @property
    def key(self) -> str:
        """The key that this client may pass on."""
        return str(self.session.edit_key) if self.access == "edit" else self.view_key

    @property
    def view_key(self) -> str:
        """The view key that this client may pass on: a link that ends does not reveal the session's own."""
        return self.link or str(self.session.view_key)

    @property
    def may_edit(self) -> bool:
        return self.access == "edit"

    def require_edit(self) -> None:
        """Raise NotAllowed for a view key."""
        require_edit(self.may_edit)

    def live(self) -> LiveSession:
        """Return the session in this process; to be used on the sessions' loop only."""
        return runtime().live(self.session.pk)

    async def on_loop(self, ask: Callable[[LiveSession], Awaitable[T]]) -> T:
        """Run a function of the session in this process, on the sessions' loop."""
        return await runtime().call(lambda: ask(self.live()))

    # Queries

    async def ask(self, query: Query[A]) -> A:
        """Execute a query at a position (None: the newest step)."""
        return await self.on_loop(lambda live: live.ask(query))

    async def ask_with_head(self, query: Query[A]) -> tuple[A, int]:
        """Execute a query, and return its answer and the position of the head."""
        return await self.ask(query), await self.head()

    async def check(self, request: Request[A]) -> A:
        """Execute a request to the engine that does not concern a position."""
        return await self.on_loop(lambda live: live.check(request))

    async def head(self) -> int:
        """Return the newest position in the log."""
        return await self.on_loop(LiveSession.current_head)

    async def view(self, look: Look, panels: list[str] | None = None) -> tuple[ShownPanels, int]:
        """Return the panels by name, and the head that they show."""
        return await self.on_loop(lambda live: live.view(look, panels))

    async def state(self) -> tuple[Running | None, str]:
        """Return the drive of the session, and the reason why the last run ended where the head is."""
        return await runtime().do(lambda: (self.live().running, self.live().said_at_head))

    async def cluster(self, at: int | None = None, for_kubectl: bool = False) -> AsyncIterator[bytes]:
        """Yield the objects at a position as YAML documents: to continue in another session, or for kubectl."""
        head = await self.head()
        following: int | None = 0
        while following is not None:
            at = head if at is None else min(at, head)
            part = await self.ask(ClusterYaml(at=at, first=following, for_kubectl=for_kubectl))
            following = part.following
            yield part.text

    # Changes

    async def apply(self, command: Command, at: int | None = None, source: str = "builder") -> AppliedChange:
        """Apply a command at the head; for an earlier position `past` decides where.

        Raise PastPosition, CommandRefused, LimitReached, NotAllowed, or Conflict.
        """
        data = command_data(command, source)
        async with self.acting(at) as target:
            return await self._apply(target, data)

    async def take_back(self, command: Undo | Redo, at: int | None) -> None:
        """Undo or redo all commands of a change; `at` as in `apply`."""
        async with self.acting(at) as target:
            redo, head = isinstance(command, Redo), await target.head()
            count = await in_thread(listing.count_joined, target.session.pk, head, redo)
            for each in range(count):
                await self._apply(target, command_data(command, listing.JOINED if each else "studio"))

    async def preview(self, text: bytes) -> ImportPlan:
        """Return the changes that importing a text would make; store nothing."""
        self.require_edit()
        return await self.on_loop(lambda live: live.changes.preview(text))

    async def apply_text(self, text: bytes, create_only: bool = False) -> TextApplied:
        """Apply all objects of a text at the head as one command, or none."""
        self.require_edit()
        done = await self.on_loop(lambda live: live.changes.apply_text(text, create_only))
        await self.refresh()
        return done

    async def keep_preview(
        self, text: bytes, filename: str = "", author: str = "", rename: bool = False
    ) -> KeptPreview:
        """Preview the import of a text, and store the preview until it is applied; `rename` returns new names with its token."""
        self.require_edit()
        make = runtime().imports.preview
        return await self.on_loop(lambda live: make(live.id, live.changes, text, filename, author, rename))

    async def begin_import(
        self, file: Path, filename: str, author: str, rename: bool, patience: float
    ) -> Job[ImportResult]:
        """Begin to plan the import of a large file, and wait up to `patience` seconds. The job owns the file and deletes it."""
        self.require_edit()
        return await _begin(lambda: runtime().imports.look_at(self.live(), file, filename, author, rename), patience)

    async def begin_apply(self, token: str, accepted: int, patience: float) -> Job[ImportResult]:
        """Begin to apply a large import at the head, and wait up to `patience` seconds."""
        self.require_edit()
        return await _begin(lambda: runtime().imports.apply(self.live(), token, accepted), patience)

    async def import_outcome(self, token: str) -> ImportResult | None:
        """Return the result of a large import; former names are returned only once."""
        imports = runtime().imports
        return await runtime().do(lambda: imports.outcome(runtime().services.jobs.find(IMPORT, self.session.pk, token)))

    async def preview_text(self, token: str) -> bytes:
        """Return the text of a preview, as it is stored."""
        return await in_thread(markers.text, self.session.pk, token)

    async def kept_preview(self, token: str) -> ImportPlan:
        """Return a stored preview. Raise SessionError if it has expired."""
        return await in_thread(markers.plan, self.session.pk, token)

    async def apply_preview(self, token: str, at: int | None = None) -> AppliedChange:
        """Apply the accepted objects of a preview as one command; at an earlier position preview the text again in a fork."""
        async with self.acting(at) as target:
            if target is self:
                data = await in_thread(markers.command, self.session.pk, token)
            else:
                plan = await target.preview(await in_thread(markers.text, self.session.pk, token))
                data = markers.require_command(plan.command)
            applied = await self._apply(target, data)
        await in_thread(markers.drop, self.session.pk, token)
        return applied

    @contextlib.asynccontextmanager
    async def acting(self, at: int | None) -> AsyncIterator[SessionClient]:
        """Yield the session in which to act at a position: this one, or a fork, which is deleted on an error.

        Raise PastPosition if the user must choose first.
        """
        self.require_edit()
        target = await self._target(at)
        try:
            yield target
        except SessionError:
            if target is not self:
                await target.delete()
            raise

    async def _target(self, at: int | None) -> SessionClient:
        if at is None or self.past == "head":
            return self
        head = await self.head()
        if at >= head:
            return self
        if self.past == "ask":
            raise PastPosition(at, head)
        return await self.fork(at)

    async def _apply(self, target: SessionClient, data: bytes) -> AppliedChange:
        position = await target.on_loop(lambda live: live.changes.apply(data))
        await self.refresh()
        self.landed = target
        return AppliedChange(position, None if target is self else target)

    async def walk(self, steps: int) -> None:
        """Make a number of transitions at the head, as one step of the log."""
        self.require_edit()
        await self.on_loop(lambda live: live.changes.step(Grain.CALL, steps))

    async def fork(
        self, at: int | None = None, name: str = "", creator: str = "", branch: bool | None = None
    ) -> SessionClient:
        """Create a session with the same past up to a position (None: the head). By default it is a branch if this key may edit."""
        family = self.may_edit if branch is None else branch and self.may_edit
        fork = runtime().fork
        traced = not self.link  # the viewer of a link that ends must not reach the origin later
        session = await runtime().call(lambda: fork(self.session.pk, at, name, creator, family, traced))
        return SessionClient(session, "edit")

    async def markers_changed(self) -> None:
        """Make open pages redraw their marks, because breakpoints or bookmarks changed."""
        await runtime().do(lambda: self.live().markers_changed())

    async def delete(self) -> None:
        """Delete the session for good, also for all its viewers."""
        self.require_edit()
        await in_thread(log.delete, self.session.pk)
        await runtime().call(lambda: runtime().delete(self.session.pk))

    async def refresh(self) -> None:
        """Read the session's row again."""
        await in_thread(self.session.refresh_from_db)

    async def touch(self) -> None:
        """Record that the session is in use."""
        with contextlib.suppress(Unavailable), impatient():  # a viewer does not wait for this write
            await in_thread(log.touch, self.session.pk)

    async def read_difference(self) -> None:
        """Record that a user has read the difference of a replay under another engine version."""
        await in_thread(checkpoints.read_difference, self.session.pk)

    # Dialogue

    async def join(self, send: Callable[[ToPage], None], language: str) -> Dialogue:
        """Watch the session as one of its viewers; `send` is called on the sessions' thread. Raise LimitReached."""
        return await runtime().do(lambda: Dialogue.join(self.live(), Viewer(send, self.may_edit, language)))

    async def converse(self, message: PageMessage, look: Look) -> DialogueResult:
        """Do what a socket's message does, for a viewer with this look; return the new look and the messages for the viewer."""
        heard: list[ToPage] = []
        viewer = Viewer(heard.append, self.may_edit, look=look)
        await self.on_loop(lambda live: Dialogue(live, viewer).take(message))
        return DialogueResult(viewer.look, heard)

    async def changes(self, seen: Look, look: Look) -> list[PanelChange]:
        """Return the panels that differ between a position of `seen` and the present look."""
        before = None if seen.at is None else SeenPage(seen.at, seen)
        return (await self.ask(Compare(at=look.at, look=look, before=before))).panels

    # Jobs

    async def find_job(self, kind: Kind[T], token: str, patience: float = 0) -> Job[T]:
        """Return the job with a token, after up to `patience` seconds. Raise SessionGone if there is none."""
        return await _begin(lambda: runtime().services.jobs.find(kind, self.session.pk, token), patience)

    async def stop_job(self, kind: Kind[Any], token: str) -> bool:
        """Cancel a job; return whether it was running."""
        return await runtime().do(lambda: runtime().services.jobs.find(kind, self.session.pk, token).cancel())

    async def trace(self, detail: tuple[int, int]) -> AsyncIterator[bytes]:
        """Yield the session as lines of JSON; `detail`: the first and the last attempt with node-by-node detail."""
        loop, export = asyncio.get_running_loop(), runtime().traces.export
        chunks = await runtime().call(lambda: export(self.session.pk, detail, loop))
        async for chunk in chunks.read():
            yield chunk

    async def download(self, what: Hashable, make: Making, author: str, patience: float) -> Job[File]:
        """Begin to make a file, and wait up to `patience` seconds. Raise the job's error."""
        return await _check(lambda: runtime().downloads.begin(self.session.pk, author, what, make), patience)

    def file_of_history(self, form: comparing.FileForm, table: str, content_type: str, suffix: str) -> Making:
        """Return a function that makes the history as a file of the given form."""
        return runtime().downloads.of_history(self.session.pk, form, table, content_type, suffix)

    async def downloads_of(self, author: str) -> list[tuple[Any, Job[File]]]:
        """Return the keys of an author's downloads here, with the jobs that make or have made them."""
        return await runtime().do(lambda: runtime().downloads.of(self.session.pk, author))

    async def downloaded(self, job: Job[File]) -> File:
        """Wait for the file without a time limit, and return it. If the caller is canceled, so is the job."""
        return await runtime().call(job.outcome)

    async def begin_experiment(self, batch: Batch, author: str, patience: float) -> Job[Batch]:
        """Begin the runs of an experiment, and wait up to `patience` seconds."""
        return await _begin(lambda: runtime().experiments.begin(self.session.pk, author, batch), patience)

    async def experiments_of(self, author: str) -> list[Job[Batch]]:
        """Return an author's experiments here, the last one first."""
        return await runtime().do(lambda: runtime().experiments.of(self.session.pk, author))

    async def compare(self, other: SessionClient, heads: tuple[int, int], patience: float) -> Job[comparing.Comparison]:
        """Begin or find the comparison with another session up to a position of each, and wait up to `patience` seconds.

        Raise the job's error.
        """
        return await _check(lambda: runtime().comparisons.begin(self.session, other.session, heads), patience)

    async def attempt_of(
        self, head: int, outline: comparing.HistoryOutline, pod: str
    ) -> comparing.AttemptDetail | None:
        """Return the last attempt of a pod in an outline, with its scores."""
        return await runtime().call(lambda: runtime().comparisons.attempt_of(self.session, head, outline, pod))

    async def rerun(
        self, skip: Sequence[int], name: str, creator: str, patience: float, seed: int | None = None
    ) -> Job[NewBranch]:
        """Re-run the history without the commands at some positions, or with another seed, and wait up to `patience` seconds."""
        self.require_edit()
        begin = runtime().reruns.begin
        return await _begin(lambda: begin(self.session.pk, list(skip), seed, name, creator), patience)


async def _begin(begin: Callable[[], Job[T]], patience: float) -> Job[T]:
    """Return a job that is begun or found on the sessions' loop, after up to `patience` seconds."""

    async def work() -> Job[T]:
        job = begin()
        await job.wait(patience)
        return job

    return await runtime().call(work)


async def _check(begin: Callable[[], Job[T]], patience: float) -> Job[T]:
    """Return a job as `_begin` does, but raise the job's error."""
    job = await _begin(begin, patience)
    job.check()
    return job


async def check_lesson(files: LessonFiles, author: str, move: bool = False) -> CheckResult:
    """Check a lesson's files by playing it, in a process of its own; `move`: replace its cards' positions with moments."""
    return await runtime().call(lambda: runtime().lessons.check(files, author, move))


async def draw_variant(slug: str, lesson: bytes, seed: str, author: str) -> Variant:
    """Draw a variant of a lesson and prove that it works, in a process of its own; `lesson`: the document, if it is not built in."""
    return await runtime().call(lambda: runtime().lessons.draw(slug, lesson, seed, author))


async def check_trace(data: bytes, name: str, creator: str) -> tuple[comparing.TraceChecked, Session]:
    """Compute a trace again; return the result, and a session with its history."""
    found = await runtime().call(lambda: runtime().traces.check(data, creator))
    story = await _lesson_of(found.lesson, creator)
    session = await in_thread(log.restore, name, creator, found, story)
    return found, session


async def _lesson_of(traced: comparing.TracedLesson, creator: str) -> str:
    """Return the lesson that a trace names; draw a missing variant again. Return "" if it is missing or not identical."""
    if not traced.story or await in_thread(lessons.is_here, traced.story):
        return traced.story
    if not traced.variant or not await in_thread(lessons.is_here, traced.origin):
        return ""
    try:
        handed_on = await in_thread(lessons.document, traced.origin)
        drawn = await draw_variant(traced.origin, handed_on, traced.variant, creator)
    except SessionError:
        return ""
    if drawn.slug != traced.story:
        return ""
    await in_thread(lessons.keep_document, drawn.slug, drawn.document)
    return drawn.slug


async def create_session(
    name: str, story: str | None = None, commands: Sequence[Command | int] = (), creator: str = "", seed: int = 0
) -> Session:
    """Create a session, and apply `commands` (a number: that many steps). A refused command leaves no session behind."""
    session = await in_thread(log.create, name, story or "", creator, seed)
    client = SessionClient(session, "edit")
    try:
        for command in commands:
            await (client.walk(command) if isinstance(command, int) else client.apply(command, source="start"))
    except Exception:
        await in_thread(log.delete, session.pk)
        raise
    await client.refresh()
    return session
