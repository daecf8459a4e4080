"""What a viewer's messages mean. The stream's contract is drawn in docs/stream.md."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from playground.presenters.look import MAX_NUMBER, Look
from playground.sessions.protocol.errors import NotAllowed, SessionError
from playground.sessions.web.jobs.searching import Asked, Seeker
from playground.sessions.web.live import LiveSession
from playground.sessions.web.publisher import Viewer
from playground.sessions.worker.conditions.breakpoints import parse as parse_breakpoint
from playground.sessions.worker.conditions.until import parse

GRAINS = ("plugin", "point", "pod", "event")
MAX_RATE = 200.0

Message = dict[str, Any]


class BadMessage(SessionError):
    """The message is not one that the server understands; the connection goes on."""

    kind = "bad-message"


class Dialogue:
    """One viewer's conversation with a session. Runs on the runtime's loop."""

    def __init__(self, live: LiveSession, viewer: Viewer) -> None:
        self.live = live
        self.viewer = viewer
        self.seeker = Seeker(live, viewer)

    async def take(self, message: Any) -> None:
        """Do what a message asks for. Raises SessionError with words for the viewer."""
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise BadMessage('A message must be a JSON object with a "type".')
        handler = _HANDLERS.get(message["type"])
        if handler is None:
            raise BadMessage(f"There is no message of type {message['type'][:40]!r}.")
        await handler(self, message)

    async def look(self, message: Message) -> None:
        """What the viewer looks at, and with `seen` what its page shows already."""
        given = message.get("look", {})
        if not isinstance(given, dict):
            raise BadMessage('"look" must be an object.')
        viewer, first = self.viewer, not self.viewer.ready
        viewer.look = Look.from_query(given)
        seen = _number(message.get("seen"), "seen")
        if first and seen is not None:
            viewer.seen = (seen, viewer.look)
        viewer.ready = True
        self.live.publisher.wake()

    async def step(self, message: Message) -> None:
        """At the head: one engine step. In the past: the cursor goes on to what came next."""
        grain = _grain(message)
        await self.live.ready()
        at = self.cursor()
        if at is None:
            self.require_edit()
            if not await self.live.step(grain):
                self.viewer.send({"type": "idle", "message": "Nothing is left to do."})
        else:
            self.move_cursor(await self.live.ask("forward", at=at, grain=grain, head=self.live.head))

    async def back(self, message: Message) -> None:
        """The cursor goes back by one step of a grain; the head stays."""
        grain = _grain(message)
        await self.live.ready()
        at = self.cursor()
        at = self.live.shown if at is None else at
        self.move_cursor(await self.live.ask("back", at=at, grain=grain, head=self.live.head), follow=False)

    async def goto(self, message: Message) -> None:
        """Stand at a position, or follow the head (null)."""
        at = _number(message.get("at"), "at")
        await self.live.ready()
        self.move_cursor(self.live.head if at is None else at)

    async def play(self, message: Message) -> None:
        self.require_edit()
        rate = message.get("rate", 5)
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.05 <= rate <= MAX_RATE:
            raise BadMessage(f'"rate" must be a number of steps a second from 0.05 to {MAX_RATE:g}.')
        self.viewer.look = self.viewer.look.but(at=None)
        await self.live.play(_grain(message), float(rate))

    async def run(self, message: Message) -> None:
        self.require_edit()
        until = parse(message)
        await self.live.run(until)
        self.viewer.look = self.viewer.look.but(at=None)

    async def search(self, message: Message) -> None:
        """To where a breakpoint holds, `back` or forward from the cursor; with `wait` the answer is waited for.

        Which one: `only` a kept one, `point` one that is given here, or all that are switched on.
        """
        back, only, given = message.get("back", False), message.get("only"), message.get("point")
        if not isinstance(back, bool) or not (given is None or isinstance(given, dict)):
            raise BadMessage('"back" must be true or false, and "point" an object.')
        point = parse_breakpoint({**given, "id": 0}) if given is not None else None
        await self.live.ready()
        do = self.seeker.find if message.get("wait") is True else self.seeker.begin
        await do(Asked(back, _number(only, "only"), point), self.move_cursor, self.cursor())

    async def pause(self, message: Message) -> None:
        """Whoever searches stops the search; else what drives the session is paused."""
        if self.seeker.drop():
            return
        self.require_edit()
        await self.live.pause()
        self.viewer.told_head = -1
        self.live.publisher.wake()

    async def ping(self, message: Message) -> None:
        self.viewer.send({"type": "pong"})

    def cursor(self) -> int | None:
        """Where the viewer stands; None if it follows the head, or stands where the head is."""
        at = self.viewer.look.at
        return None if at is None or at >= self.live.head else at

    def move_cursor(self, at: int, follow: bool = True) -> None:
        at = min(at, self.live.head)
        following = follow and at == self.live.head
        self.viewer.look = self.viewer.look.but(at=None if following else at)
        self.live.publisher.wake()

    def require_edit(self) -> None:
        if not self.viewer.may_edit:
            raise NotAllowed(
                "This link only shows the session. Ask whoever gave it to you for the edit link."
            )


_HANDLERS: dict[str, Callable[[Dialogue, Message], Awaitable[None]]] = {
    "look": Dialogue.look,
    "step": Dialogue.step,
    "back": Dialogue.back,
    "goto": Dialogue.goto,
    "play": Dialogue.play,
    "run": Dialogue.run,
    "search": Dialogue.search,
    "pause": Dialogue.pause,
    "ping": Dialogue.ping,
}


def _grain(message: Message) -> str:
    grain = message.get("grain", "plugin")
    if not isinstance(grain, str) or grain not in GRAINS:
        raise BadMessage(f'"grain" must be one of {", ".join(GRAINS)}.')
    return grain


def _number(value: Any, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
        raise BadMessage(f'"{name}" must be null or a whole number from 0 on.')
    return value
