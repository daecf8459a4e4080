"""Engine: one session's world inside a worker - the log's commands by position, a Simulation at the head, the history behind it.

Methods that may take long are generators: they yield when their slice is over and return their result.
"""

from __future__ import annotations

import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable
from typing import Any

import orjson

from playground.presenters.look import Look
from playground.sessions.protocol.errors import CommandRefused, EngineFailed, LimitReached, SessionError
from playground.sessions.worker.commands import Commands
from playground.sessions.worker.conditions import runaway
from playground.sessions.worker.conditions.until import Until, condition, hit_of, require_future
from playground.sessions.worker.deltas import Digests, compare, digests
from playground.sessions.worker.history import History
from playground.sessions.worker.time_sharing import TimeSlice
from playground.sessions.worker.world import (
    Command,
    FieldError,
    Grain,
    Plan,
    Refused,
    Simulation,
    command_from_json,
    present,
)

SEEN = 64
MOST_STEPS = 1 << 62
MOVED = 40
MOST_ERRORS = 200

Result = dict[str, Any]
Steps = Generator[None, None, Any]


class Engine:
    """`head` and positions are as in docs/architecture.md."""

    def __init__(self, seed: int, slice_: TimeSlice) -> None:
        self.seed = seed
        self.slice = slice_
        self.story = ""
        self.interrupted = False
        self.target = 0
        self.commands = Commands(seed)
        self.times: dict[int, int] = {}  # virtual times of commands that this process has applied
        self.world: Simulation = Simulation(seed)
        self.history = History(self.world, self.replay, slice_, count_objects)
        self._seen: OrderedDict[tuple[int, Look], Digests] = OrderedDict()
        self._shown = -1
        self._unwanted = False
        self._watchdog: runaway.Watchdog | None = None
        self._waited: tuple[int, Until | None, Callable[[Any], bool] | None] = (-1, None, None)
        self.plan: tuple[str, Plan] | None = None
        self.stuck: tuple[int, str] | None = None  # the first position that could not be replayed, and why
        self.told = 0  # attempts whose outcome is in the database

    # The log.

    def replay(self, world: Simulation) -> None:
        """One transition of the log.

        Where this engine can't make it (the log is another engine's), nothing happens at that position, and that is told.
        """
        before, why = world.position, "nothing is left to do"
        try:
            if before in self.commands:
                self.times[before] = world.now
                world.apply(self.commands[before])
            else:
                world.advance()
        except Refused as refused:
            why = str(refused)
        if world.position == before:
            self.stuck = self.stuck or (before, why)
            world.change(lambda: None)

    def take(self, rows: list[list[Any]], payloads: list[bytes], keep: int = 0) -> Steps:
        """Take the log's commands from position `keep` on."""
        for (kind, at, _), payload in zip(rows, payloads, strict=True):
            if kind == "command" and at >= keep:
                self.commands.add(at, payload)
            if self.slice.over():
                yield

    def follow(self, rows: list[list[Any]], payloads: list[bytes], head: int, keep: int = 0) -> Steps:
        """Be where the log is: forget what comes after `keep`, take the rows from there on, replay to the head."""
        yield from self._rewind(keep)
        yield from self.take(rows, payloads, keep)
        yield from self.go_on(head)

    def go_on(self, head: int) -> Steps:
        """Replay from where the world is to the head."""
        self.target = head
        while self.world.position < head:
            started, before = time.thread_time(), self.world.position
            while self.world.position < head and not self.slice.over():
                self.replay(self.world)
            if self.world.position > before:
                self.history.worked(self.world, time.thread_time() - started)
            if self.world.position < head:
                yield

    def _rewind(self, keep: int) -> Steps:
        if self.world.position > keep:
            self.history.cut(keep)
            self.world = (yield from self.at(keep)).fork()
        self.commands.cut(keep)
        self._seen = OrderedDict((key, value) for key, value in self._seen.items() if key[0] <= keep)

    def twin(self, at: int) -> Steps:
        """A copy of this engine for a fork of the session."""
        world = (yield from self.at(at)).fork()
        other = Engine(self.seed, self.slice)
        other.story = self.story
        other.commands = self.commands.until(at)
        other.times = {where: when for where, when in self.times.items() if where < at}
        other.history = self.history.twin(at, other.replay, other.world)
        other.world, other.target = world, at
        return other

    # What moves the head.

    def apply(self, data: bytes, limits: dict[str, int]) -> tuple[Result, bytes]:
        """Apply a command given as the log's JSON; also returns it as the log keeps it."""
        command = self._command(orjson.loads(data)["command"])
        result, packed = self._apply(command, limits), zlib.compress(data, 1)
        self.commands.add(result["at"], packed)
        return {**result, "size": len(data)}, packed

    def _command(self, data: dict[str, Any]) -> Command:
        try:
            return command_from_json(data)
        except Refused as refused:
            raise refusal(refused.errors) from None

    def _leave(self) -> None:
        """The head is about to move on: keep a copy for those who still have to be shown it."""
        if not self._unwanted and (self._shown != self.world.position or self.history.forks_fast):
            self.history.keep(self.world)
        self._unwanted = False

    def at(self, position: int) -> Steps:
        """The world at a position; to be looked at, not to be changed."""
        if position == self.world.position:
            self._shown, self._unwanted = position, False
            return self.world
        return (yield from self.history.at(position))

    def _apply(self, command: Command, limits: dict[str, int]) -> Result:
        self._leave()
        at, before, started = self.world.position, self.world.fork(), time.thread_time()
        try:
            self.world.apply(command)
            if self.world.position != at + 1:
                raise EngineFailed("A command must be one transition.")
            self._require_room(limits)
        except Refused as refused:
            self.world = before
            raise refusal(refused.errors) from None
        except BaseException:
            self.world = before
            raise
        self.times[at] = before.now
        self.history.worked(self.world, time.thread_time() - started)
        return {"at": at, "to": self.world.position}

    def _require_room(self, limits: dict[str, int]) -> None:
        objects = count_objects(self.world)
        if objects > limits["objects"]:
            raise LimitReached(
                f"The cluster would have {objects:,} objects; at most {limits['objects']:,} are allowed here."
            )

    def step(self, grain: str, times: int, keep: bool = True) -> Steps:
        """Engine steps of a grain; idle is true where nothing was left to do. Without `keep` nobody will look at where they end."""
        self._leave()
        before, at, idle = self.progress(), self.world.position, False
        for _ in range(times):
            started, position = time.thread_time(), self.world.position
            self.world.step(Grain(grain))
            if self.world.position == position:
                idle = True
                break
            self.history.worked(self.world, time.thread_time() - started)
            if self.slice.over():
                yield
        return self._went(at, idle, before, keep)

    def run(
        self, seconds: float, keep: bool = True, until: Until | None = None, most: int = MOST_STEPS
    ) -> Steps:
        """Steps at full speed for some time, at most so many; fewer when interrupted, at a condition, or with nothing left to do."""
        self._leave()
        self.interrupted, reason = False, ""
        before, at, end = self.progress(), self.world.position, time.perf_counter() + seconds
        holds, watchdog, circles = self._condition(until), self._watching(), None
        while not reason and not self.interrupted and time.perf_counter() < end:
            started = time.thread_time()
            result = self.world.run(holds, at + most - self.world.position, self.slice.over)
            reason = result.reason if result.reason != "stopped" else ""
            self.history.worked(self.world, time.thread_time() - started)
            circles = watchdog.circles(self.world)
            reason = reason or ("runaway" if circles else "")
            if not reason:
                yield
        doing = (yield from self._doing(reason, circles)) if reason in ("runaway", "budget") else ""
        self._watchdog = None if reason else watchdog
        self._waited = (self.world.position, until, holds)
        went = self._went(at, reason == "idle", before, keep, reason)
        return {**went, "hit": hit_of(holds, reason), "doing": doing}

    def _watching(self) -> runaway.Watchdog:
        """Who looks whether a run goes in circles: the same one for all slices of a run."""
        found = self._watchdog
        return found if found and found.position == self.world.position else runaway.Watchdog(self.world)

    def _doing(self, reason: str, circles: dict[str, int] | None) -> Steps:
        """What a run was doing that was stopped before its end."""
        found = yield from runaway.tally(self)
        return runaway.words(circles if reason == "runaway" else None, self.world.now, found)

    def _condition(self, until: Until | None) -> Callable[[Any], bool] | None:
        """The condition of a run; a run that goes on where its last slice ended goes on with what that has seen."""
        position, before, holds = self._waited
        if position == self.world.position and before == until:
            return holds
        return condition(self.world, until)

    def _went(self, at: int, idle: bool, before: Result, keep: bool, reason: str = "") -> Result:
        self._unwanted = not keep and not idle and not reason
        return {
            "reason": reason or ("idle" if idle else ""),
            "at": at,
            "to": self.world.position,
            "idle": idle,
            "before": before,
            "progress": self.progress(),
        }

    def require_future(self, until: Until | None) -> None:
        """Refuses a run to what can't come any more."""
        require_future(self.world, until)

    def progress(self) -> Result:
        """Attempts made so far and pods that a queue still holds to be tried."""
        queues = [scheduler.queue for scheduler in self.world.schedulers]
        return {
            "decided": len(self.world.journal.attempts),
            "waiting": sum(
                len(queue.active_pods) + len(queue.backoff_pods) + len(queue.error_backoff_pods)
                for queue in queues
            ),
        }

    # Where a cursor goes.

    def forward(self, at: int, grain: str, head: int) -> Steps:
        """The position one step of a grain after another one; a command is a step of its own."""
        if at >= head:
            return head
        return (yield from self._next(at, grain, head))

    def _next(self, at: int, grain: str, head: int) -> Steps:
        if at in self.commands or grain == "plugin":
            return min(at + 1, head)
        world = (yield from self.at(at)).fork()
        world.step(Grain(grain))
        after = world.position if world.position > at else at + 1
        return min([after, head] + [where for where in self.commands if at < where < after])

    def back(self, at: int, grain: str, head: int) -> Steps:
        """The position from which one step of a grain leads to `at`, or past it."""
        if at <= 1 or grain == "plugin":
            return max(0, at - 1)
        start = yield from self._start_before(at)
        while True:
            after = yield from self._next(start, grain, head)
            if after >= at:
                return start
            start = after

    def _start_before(self, at: int) -> Steps:
        """Where the attempt before a position began, or the command before it: both end a step of any grain."""
        world = yield from self.at(at)
        starts = [where + 1 for where in self.commands if where + 1 < at]
        starts += [where for where in self.commands if where < at]
        for attempt in reversed(world.journal.attempts):
            if attempt.first_position < at:
                starts.append(attempt.first_position)
                break
        return max(starts, default=0)

    # What people look at.

    def view(self, at: int, look: Look, panels: list[str] | None) -> Steps:
        """Panels by name."""
        shown = present((yield from self.at(at)), look, panels, self.story)
        if panels is None:
            self._remember((at, look), digests(shown))
        return {"position": at, "panels": {panel["name"]: panel for panel in shown}}

    def delta(self, at: int, look: Look, before: tuple[int, Look] | None) -> Steps:
        """What differs on the page of somebody who saw `before`; all of it where that is not known any more."""
        world = yield from self.at(at)
        shown = present(world, look, None, self.story)
        new = digests(shown)
        old = self._seen.get(before) if before is not None else None
        self._remember((at, look), new)
        moved = _moved(world, before[0]) if before is not None and before[0] < at else []
        return {"panels": list(compare(shown, new, old or {})), "moved": moved}

    def _remember(self, key: tuple[int, Look], value: Digests) -> None:
        self._seen[key] = value
        self._seen.move_to_end(key)
        while len(self._seen) > SEEN:
            self._seen.popitem(last=False)


def count_objects(world: Any) -> int:
    """How many objects a world's API server holds."""
    return sum(world.store.count(kind) for kind in world.store.kinds())


def refusal(errors: Iterable[FieldError]) -> SessionError:
    """Field errors as they are told; the message is the first one."""
    told = list(errors)
    first = told[0]
    message = f"{first.object}: {first}" if first.object else str(first)
    if first.file:
        message = f"{first.file}: {message}"
    if len(told) > 1:
        message += f" (and {len(told) - 1} more)"
    return CommandRefused(message, [error.to_json() for error in told[:MOST_ERRORS]])


def _moved(world: Any, since: int) -> list[str]:
    """Pods that came to another place after a position, at most MOVED of them, the latest first."""
    moved: dict[str, None] = {}
    for move in reversed(world.journal.moves):
        if move.position <= since or len(moved) >= MOVED:
            break
        if move.place not in ("running", "deleted"):
            moved[move.pod] = None
    return list(moved)
