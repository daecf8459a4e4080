"""Publisher: it sends the viewers of a session the changes of their pages.

A delta leads from the position that a viewer has seen to the present one. Viewers with the same delta share it: it is computed and
rendered once. While a session runs, or API clients write, deltas are at least INTERVAL apart. The answer to a step or command includes
the deltas for followers; these are rendered while the log is written (`prepare`), and sent as soon as it has the entry.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple, Protocol, TypeVar

from django.http import HttpRequest
from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, override

from playground.presenters.look import Look
from playground.presenters.panel import AnyPanel, PanelChange, SeenPage
from playground.presenters.panel import Delta as Changed
from playground.sessions.protocol.base import Query
from playground.sessions.protocol.errors import SessionError, SessionGone, Unavailable
from playground.sessions.protocol.looking import Compare, Follower
from playground.sessions.web.messages import Delta, Error, Gone, Running, ToPage
from playground.templating.words import words_now


def render_panels(
    panels: Mapping[str, AnyPanel], request: HttpRequest | None = None, standing: Mapping[str, Any] | None = None
) -> dict[str, SafeString]:
    """Return the HTML of panels by name, for a page. `standing` describes the viewer's position (templatetags/look.py)."""
    return {
        name: mark_safe(_render(name, {"panel": panel, "short_names": panel.names, **(standing or {})}, request))  # noqa: S308 - a template's
        for name, panel in panels.items()
    }


def render_delta(changes: Iterable[PanelChange], language: str | None = None) -> str:
    """Return the HTML of changed panels, or of their changed cards, in `language`, or else in the request's."""
    with override(language or get_language()):
        shared = {"oob": True, "words": words_now()}
        return "".join(_render_change(change, shared) for change in changes)


def _render_change(change: PanelChange, shared: Mapping[str, Any]) -> str:
    if change.panel is not None:
        return _render(change.name, {**shared, "panel": change.panel, "short_names": change.panel.names})
    template = f"{change.name}_card"
    shared = {**shared, "short_names": change.names}
    return "".join(_render(template, {**shared, "id": name, "card": card}) for name, card in change.cards.items())


def _render(template: str, context: dict[str, Any], request: HttpRequest | None = None) -> str:
    html: str = _template(template).render(context, request)
    return html


@cache
def _template(name: str) -> Any:
    return get_template(f"{name}.html", using="panels")


A = TypeVar("A")

INTERVAL = 0.11
# The pause after a round, as a multiple of the round's cost: a run spends at most a fifth of the time on deltas,
# unless LONGEST shortens the pause.
SHARE = 4.0
LONGEST = 2.0
HURRY = 0.08
AWAY = 1.0  # seconds before a retry while the database is unavailable
AHEAD = 4  # kinds of pages whose deltas are computed with a step or command
KEPT = 1.0  # seconds that deltas are cached for other viewers, and their maximum number
MOST_KEPT = 8

log = logging.getLogger(__name__)


class PublishedSession(Protocol):
    """A live session, as the publisher uses it."""

    @property
    def id(self) -> int: ...

    @property
    def shown(self) -> int:
        """The position that followers see."""

    @property
    def running(self) -> Running | None: ...

    @property
    def is_behind(self) -> bool:
        """True if `shown` is before a position that a viewer may have seen in another process."""

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """The turn that a delta waits for before it is computed."""

    async def ready(self) -> None: ...
    async def ask(self, query: Query[A]) -> A: ...


class Fragments(NamedTuple):
    """A delta's HTML, and the pods that moved to another place."""

    html: str
    moved: list[str]


# Compared by identity: it is kept in a set while its fields change.
@dataclass(eq=False)
class Viewer:
    """One open page. `look.at` None follows the head.

    `seen` is the position and the look of the page, `heard` the head and the drive, as they were sent last.
    """

    send: Callable[[ToPage], None]
    may_edit: bool
    language: str = "en"
    look: Look = field(default_factory=Look)
    seen: SeenPage | None = None
    heard: tuple[int, Running | None] | None = None
    ready: bool = False

    @property
    def follows(self) -> bool:
        return self.ready and self.look.at is None

    def say(self, make: Callable[[], ToPage]) -> None:
        """Send a message with words, in the viewer's language."""
        with override(self.language):
            self.send(make())

    def target(self, head: int) -> SeenPage:
        at = self.look.at
        return SeenPage(head if at is None else min(at, head), self.look)


class Step(NamedTuple):
    """The change from what a page shows to its target, in its viewer's language."""

    seen: SeenPage | None
    target: SeenPage
    language: str


class Publisher:
    """The viewers of one session and the task that keeps them up to date."""

    def __init__(self, session: PublishedSession) -> None:
        self.viewers: set[Viewer] = set()
        self._session = session
        self._wake = asyncio.Event()
        self._woken: set[Viewer] = set()
        self._all_woken = False
        self._task: asyncio.Task[None] | None = None
        self._prepared: dict[Step, Fragments] = {}
        self._kept: dict[Step, Fragments] = {}
        self._kept_at = (0, 0.0)  # the head, and the time of the first cached delta
        self._last = 0.0
        self._cost = 0.0
        self._away = False

    def add(self, viewer: Viewer) -> None:
        self.viewers.add(viewer)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    def remove(self, viewer: Viewer) -> None:
        self.viewers.discard(viewer)
        self._wake.set()

    def wake(self, viewer: Viewer | None = None) -> None:
        """Update one viewer, or all, because something changed."""
        if viewer is None:
            self._all_woken = True
        else:
            self._woken.add(viewer)
        self._wake.set()

    def followers(self) -> list[Follower]:
        """Return the kinds of pages that follow the head, at most AHEAD, for its next move; other kinds ask after the move.

        Return an empty list during a run, which is shown now and then.
        """
        if self._session.running:
            return []
        return list(self._pages())[:AHEAD]

    def _pages(self) -> dict[Follower, set[str]]:
        """Return the kinds of pages that follow the head, each with the languages of its viewers."""
        pages: dict[Follower, set[str]] = {}
        for viewer in self.viewers:
            if viewer.follows:
                pages.setdefault(Follower(viewer.seen, viewer.look), set()).add(viewer.language)
        return pages

    def prepare(self, position: int, followers: list[Follower], deltas: list[Changed]) -> None:
        """Render the deltas with which followers will reach the next position."""
        pages = self._pages()
        self._prepared = {
            Step(follower.seen, SeenPage(position, follower.look), language): _fragments(delta, language)
            for follower, delta in zip(followers, deltas, strict=True)
            for language in pages.get(follower, ())
        }

    def forget_prepared(self) -> None:
        """Discard the prepared deltas."""
        self._prepared = {}

    def due(self) -> bool:
        """Return whether viewers are due to see the position where the present slice of a run ends."""
        return bool(self.viewers) and self.pause() <= HURRY

    def pause(self) -> float:
        """Return the seconds until the next delta for viewers, when changes are frequent."""
        return max(0.0, self._last + self._interval() - time.monotonic()) if self.viewers else 0.0

    def _interval(self) -> float:
        return min(max(INTERVAL, SHARE * self._cost), LONGEST)

    def send_all(self, message: ToPage) -> None:
        """Send every viewer a message that is no delta."""
        for viewer in self.viewers:
            viewer.send(message)

    def say_all(self, say: Callable[[], ToPage]) -> None:
        """Send every viewer a message with words, each in its own language."""
        for viewer in self.viewers:
            viewer.say(say)

    def gone(self) -> None:
        self.send_all(Gone())
        self.viewers.clear()
        self._wake.set()

    async def _work(self) -> None:
        while self.viewers:
            await self._wake.wait()
            if self._session.running:
                await asyncio.sleep(self._last + self._interval() - time.monotonic())
            # Cleared before the state is read: a change from here on causes another round instead of being lost.
            self._wake.clear()
            started = time.monotonic()
            try:
                await self._session.ready()  # the cost of a delta excludes the opening of the engine
                started = time.monotonic()
                async with self._session.turn:
                    await self.publish()
            except SessionGone:
                self.gone()
            except Unavailable as error:
                await self._come_again(error)
            except Exception as error:
                if not isinstance(error, SessionError):
                    log.exception("publishing session %s", self._session.id)
                self._all_woken = True
                self.say_all(partial(Error.of, error))
                await asyncio.sleep(INTERVAL)
            else:
                self._away = False
            self._last = time.monotonic()
            self._cost = self._last - started

    async def _come_again(self, error: Unavailable) -> None:
        """Report once that the session cannot be read, and retry soon. The end of a drive is reported without reading."""
        self._announce(self._session.shown, self._session.running, self.viewers)
        if not self._away:
            self._away = True
            self.say_all(partial(Error.of, error))
        await asyncio.sleep(AWAY)
        self.wake()

    async def publish(self) -> None:
        """Send each woken viewer the changes up to the viewer's target."""
        if self._session.is_behind:  # a viewer joined while this waited for its turn
            self._wake.set()
            return
        head, running = self._session.shown, self._session.running
        woken = set(self.viewers) if self._all_woken else self._woken & self.viewers
        self._woken, self._all_woken = set(), False
        self._announce(head, running, woken)
        for step, viewers in self._groups(head, woken).items():
            try:
                fragments = await self._make(step)
            except SessionGone:
                raise
            except SessionError as error:
                for viewer in viewers:
                    # Marked as shown: otherwise each round would request the same delta and fail again.
                    viewer.seen = step.target
                    viewer.say(partial(Error.of, error))
                continue
            self._send(viewers, _delta(step, head, running, fragments), step.target)
            await asyncio.sleep(0)
        self.forget_prepared()

    def _announce(self, head: int, running: Running | None, woken: Iterable[Viewer]) -> None:
        """Send the head and the drive to viewers whose pages are up to date."""
        for viewer in woken:
            target = viewer.target(head)
            heard = running and running.in_words(viewer.language)
            if viewer.ready and viewer.seen == target and viewer.heard != (head, heard):
                step = Step(target, target, viewer.language)
                self._send([viewer], _delta(step, head, running, Fragments("", [])), target)

    def _groups(self, head: int, woken: Iterable[Viewer]) -> dict[Step, list[Viewer]]:
        """Return the woken viewers by the delta that they need."""
        groups: dict[Step, list[Viewer]] = defaultdict(list)
        for viewer in woken:
            target = viewer.target(head)
            if viewer.ready and viewer.seen != target:
                groups[Step(viewer.seen, target, viewer.language)].append(viewer)
        return groups

    async def _make(self, step: Step) -> Fragments:
        """Return a delta that was prepared or is cached; otherwise compute it."""
        head, since = self._kept_at
        now = time.monotonic()
        if not self._kept or head != self._session.shown or now - since > KEPT:
            self._kept, self._kept_at = {}, (self._session.shown, now)
        found = self._prepared.get(step) or self._kept.get(step)
        if found is not None:
            return found
        seen, target, language = step
        compared = await self._session.ask(Compare(at=target.position, look=target.look, before=seen))
        made = _fragments(compared, language)
        # Pages that follow the head get a delta together, as a group; only those at a fixed position request it one by one.
        if target.look.at is not None and len(self._kept) < MOST_KEPT:
            self._kept[step] = made
        return made

    def _send(self, viewers: list[Viewer], delta: Delta, seen: SeenPage) -> None:
        for viewer in viewers:
            viewer.seen = seen
            viewer.heard = (delta.head, delta.running)
            viewer.send(delta)


def _fragments(delta: Changed, language: str) -> Fragments:
    return Fragments(render_delta(delta.panels, language), delta.moved)


def _delta(step: Step, head: int, running: Running | None, fragments: Fragments) -> Delta:
    seen, target = step.seen, step.target
    return Delta(
        seq=target.position,
        since=seen.position if seen else None,
        head=head,
        following=target.look.at is None,
        running=running and running.in_words(step.language),
        html=fragments.html,
        moved=fragments.moved,
    )
