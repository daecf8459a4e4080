"""Engine: one session's world inside a worker: the log's commands by position, a Simulation at the head, and its history.

Methods that may take long are generators: they yield when their slice is over and return their result.
"""

import time
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from playground.lessons import lesson_of, list_reached_cards
from playground.lessons.own import hand
from playground.presenters.panel import Delta, ShownPanels
from playground.presenters.panels import Panels
from playground.presenters.words import Message, message
from playground.sessions.protocol.errors import EngineFailed, LimitReached, build_command_refusal
from playground.sessions.protocol.looking import Compare, Follower, View
from playground.sessions.protocol.moving import AppliedCommand, Apply, Movement, QueueProgress, Reason
from playground.sessions.protocol.opening import LogRow
from playground.sessions.protocol.until import TimeReached, Until
from playground.sessions.worker.commands import Commands, read_command
from playground.sessions.worker.conditions import runaway
from playground.sessions.worker.conditions.matching import calls_of, condition, hit_of
from playground.sessions.worker.past import Attempts, History
from playground.sessions.worker.time_sharing import Steps, TimeSlice, answers
from playground.sessions.worker.watching import Watches
from playground.sessions.worker.world import Command, Grain, Refused, Simulation, Trial, WatchEvent, count_objects
from scheduler_core.analysis.whatif import Circles, Loop
from scheduler_core.apiserver.door import Failure

MOST_STEPS = 1 << 62
SOME = 100  # writes between reports of the progress

Advance = Callable[[int, int], None]


class TriedCommand(NamedTuple):
    """A command, its rehearsal in a world at a position, and its form in the log: `size` bytes before compression."""

    world: Simulation
    position: int
    command: Command
    trial: Trial
    payload: bytes
    size: int

    def holds(self, world: Simulation) -> bool:
        """Return whether the world is still at the position of the rehearsal."""
        return self.world is world and self.position == world.position


class DiscardedCommand(Exception):
    """A command was undone because its result was not wanted; `world` is the result."""

    def __init__(self, world: Simulation) -> None:
        super().__init__()
        self.world = world


class Engine:
    """The engine of one session. For `head` and positions see docs/architecture.md."""

    def __init__(self, seed: int, slice_: TimeSlice, story: str = "", lesson: bytes = b"") -> None:
        self.seed, self.slice = seed, slice_
        self.interrupted = False
        self.unrefused = 0  # consecutive writes of API clients without a refusal
        self.target = 0
        self.commands = Commands(seed)
        self.times: dict[int, int] = {}  # virtual times of commands that this process has applied
        self.watches = Watches()
        self.world = Simulation(seed)
        self.history = History(self.world, self.replay, slice_, count_objects)
        self.panels = Panels(story, hand(lesson) if lesson else None)
        self.attempts = Attempts(self.at)
        self.stuck: tuple[int, str] | None = None  # the first position that could not be replayed, and why
        self.outcomes_saved = 0
        self._shown = -1
        self._unwanted = False
        self._watchdog: runaway.Watch | None = None
        self._waited: tuple[int, Until | None, Callable[[Any], bool] | None] = (-1, None, None)

    @property
    def world(self) -> Simulation:
        """The world at the head."""
        return self._world

    @world.setter
    def world(self, world: Simulation) -> None:
        self._world: Simulation = world
        self.watches.follow(world)

    # The log.

    def replay(self, world: Simulation) -> None:
        """Replay one transition of the log.

        If this engine cannot make the transition (another version wrote the log), the position gets an empty one, and `stuck` records it.
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
            # An empty transition fills the position: otherwise later commands would be applied at wrong positions,
            # and the replay to the head would never end.
            world.change(lambda: None)

    def take(self, rows: Sequence[LogRow], keep: int = 0) -> Steps[None]:
        """Add the log's commands from position `keep` on."""
        for row in rows:
            if row.kind == "command" and row.at >= keep:
                self.commands.add(row.at, row.payload)
            if self.slice.over():
                yield

    def follow(self, rows: Sequence[LogRow], head: int, keep: int = 0) -> Steps[None]:
        """Follow the log: discard what comes after `keep`, add the rows from there on, and replay to the head."""
        yield from self._rewind(keep)
        yield from self.take(rows, keep)
        yield from self.go_on(head)

    def go_on(self, head: int) -> Steps[None]:
        """Replay from the present position to the head."""
        self.target = head
        while self.world.position < head:
            started, before = time.thread_time(), self.world.position
            while self.world.position < head and not self.slice.over():
                self.replay(self.world)
            if self.world.position > before:
                self.history.worked(self.world, time.thread_time() - started)
            if self.world.position < head:
                yield

    def _rewind(self, keep: int) -> Steps[None]:
        if self.world.position > keep:
            self.history.cut(keep)
            # The history keeps the world that `at` returns for viewing; the head needs a copy that may move.
            self.world = (yield from self.at(keep)).fork()
        self.commands.cut(keep)
        self.panels.cut(keep)
        self.attempts.cut(keep)

    def twin(self, at: int) -> "Steps[Engine]":
        """Return a copy of this engine for a fork of the session."""
        world = (yield from self.at(at)).fork()
        other = Engine(self.seed, self.slice, self.panels.story)
        other.panels.own = self.panels.own
        other.commands = self.commands.until(at)
        other.times = {where: when for where, when in self.times.items() if where < at}
        other.history = self.history.twin(at, other.replay, other.world)
        other.world, other.target = world, at
        return other

    def at(self, position: int) -> Steps[Simulation]:
        """Return the world at a position; read-only."""
        if position == self.world.position:
            self._shown, self._unwanted = position, False
            return self.world
        world: Simulation = yield from self.history.at(position)
        return world

    def own(self, position: int) -> Steps[Simulation]:
        """Return a separate copy of the world at a position, which the caller may change."""
        world: Simulation = self.history.nearest(position)
        while world.position < position:
            self.replay(world)
            if self.slice.over():
                yield
        return world

    def deltas(self, followers: Sequence[Follower]) -> list[Delta]:
        """Return the deltas that show followers the head.

        Return [] on an error: the followers then request the head themselves and get the error.
        """
        if followers:
            self._shown, self._unwanted = self.world.position, False
        try:
            if any(self.attempts.is_missing(self.world, follower.look) for follower in followers):
                return []  # followers will query, and the attempt is replayed in slices
            return [
                self.panels.delta(
                    self.world, follower.look, follower.seen, self.attempts.known(self.world, follower.look)
                )
                for follower in followers
            ]
        except Exception:
            traceback.print_exc()
            return []

    @answers(View)
    def view(self, request: View) -> Steps[ShownPanels]:
        """Return the panels for a look."""
        world = yield from self.at(request.position)
        past = yield from self.attempts.world(world, request.look)
        return self.panels.view(world, request.look, request.panels, past)

    @answers(Compare)
    def compare(self, request: Compare) -> Steps[Delta]:
        """Return the differences from a page that shows `before`."""
        world = yield from self.at(request.position)
        past = yield from self.attempts.world(world, request.look)
        return self.panels.delta(world, request.look, request.before, past)

    # Moves of the head.

    @answers(Apply)
    def apply(self, request: Apply) -> Steps[AppliedCommand]:
        yield
        data = zlib.decompress(request.data) if request.packed else request.data
        return self.apply_data(data, request.max_objects, request.followers)

    def apply_data(
        self,
        data: bytes,
        max_objects: int,
        followers: Sequence[Follower] = (),
        wanted: Callable[[Simulation], bool] = lambda _: True,
        apart: int = 1,
    ) -> AppliedCommand:
        """Apply a command in the JSON form of the log. If the result is not `wanted`, undo it and raise DiscardedCommand.

        Copies of the world are `apart` positions apart: after a refusal the world is replayed from the last copy.
        """
        at = self.world.position
        try:
            command = read_command(data)
        except Refused as error:
            raise build_command_refusal(error) from None
        self._apply(command, max_objects, wanted=wanted, apart=apart)
        return self._report_applied(at, zlib.compress(data, 1), len(data), followers)

    def apply_tried(
        self, tried: TriedCommand, advance: Advance, max_objects: int, followers: Sequence[Follower] = ()
    ) -> AppliedCommand:
        """Apply a command that was rehearsed in this very world; `advance` gets the number of writes done."""
        at, events = self.world.position, list(tried.trial.events)
        trial = replace(tried.trial, events=_report_progress(events, advance))
        try:
            self._apply(tried.command, max_objects, trial)
        finally:
            advance(0, 0)
        return self._report_applied(at, tried.payload, tried.size, followers)

    def _report_applied(self, at: int, payload: bytes, size: int, followers: Sequence[Follower]) -> AppliedCommand:
        self.commands.add(at, payload)
        return AppliedCommand(self.world.position, payload, size, self.deltas(followers))

    def _apply(
        self,
        command: Command,
        max_objects: int,
        trial: Trial | None = None,
        wanted: Callable[[Simulation], bool] = lambda _: True,
        apart: int = 1,
    ) -> None:
        self._leave(apart)
        # Objects are counted only after the command: if the cluster is too large then, the previous world is restored.
        at, now, started = self.world.position, self.world.now, time.thread_time()
        before = None if self.history.is_near(at, apart) else self.world.fork()
        try:
            self.world.apply(command, trial)
            if self.world.position != at + 1:
                raise EngineFailed("A command must be one transition.")
            objects = count_objects(self.world, max_objects)
            if objects > max_objects:
                raise LimitReached(
                    message(
                        "The cluster would have %(has)s objects. The limit is %(most)s.",
                        has=f"{objects:,}",
                        most=f"{max_objects:,}",
                    )
                )
            if not wanted(self.world):
                raise DiscardedCommand(self.world)
        except BaseException as error:
            self.world = before or self._return_to(at)
            if isinstance(error, Refused) and not isinstance(error, Failure):
                raise build_command_refusal(error) from None
            raise
        self.times[at] = now
        self.history.worked(self.world, time.thread_time() - started)

    def _return_to(self, position: int) -> Simulation:
        """Return the world at a recent position, replayed from a copy."""
        world: Simulation = self.history.nearest(position)
        while world.position < position:
            self.replay(world)
        return world

    def _leave(self, apart: int = 1) -> None:
        """Keep a copy of the head before it moves, for viewers who have not seen it, unless a copy less than `apart` before exists."""
        position, wanted = self.world.position, apart > 1 or self.history.forks_fast
        if not self._unwanted and (wanted or self._shown != position) and not self.history.is_near(position, apart):
            self.history.keep(self.world)
        self._unwanted = False

    def step(
        self, grain: Grain, times: int = 1, keep: bool = True, followers: Sequence[Follower] = ()
    ) -> Steps[Movement]:
        """Make engine steps of a grain; the reason is "idle" if nothing was left to do. Unless `keep`, no viewer will see the end."""
        self._leave()
        before, at, reason = self.progress(), self.world.position, ""
        for _ in range(times):
            started, position = time.thread_time(), self.world.position
            self.world.step(grain, self.stops(grain, self.world))
            if self.world.position == position:
                reason = "idle"
                break
            self.history.worked(self.world, time.thread_time() - started)
            if self.slice.over():
                yield
        self._unwanted = not keep and not reason
        return Movement(
            at=at,
            to=self.world.position,
            before=before,
            after=self.progress(),
            reason="idle" if reason else "",
            deltas=self.deltas(followers),
            awaited=calls_of(self.world) if reason else [],
        )

    def live(self, wall: int, followers: Sequence[Follower] = ()) -> Steps[Movement]:
        """Make the steps of a live world that are due at a wall-clock time (ns since 1970); idle if the world is no longer live."""
        self._leave()
        before, at, until = self.progress(), self.world.position, wall - self.world.store.epoch
        while self.world.store.live and self.world.due(until):
            started = time.thread_time()
            self.world.advance()
            self.history.worked(self.world, time.thread_time() - started)
            if self.slice.over():
                yield
        to = self.world.position
        reason: Reason = "" if self.world.store.live else "idle"
        return Movement(
            at=at, to=to, before=before, after=self.progress(), reason=reason, deltas=self.deltas(followers)
        )

    def stops(self, grain: Grain, world: Simulation) -> Callable[[Simulation], bool]:
        """Return the condition that ends a step early: it reaches a lesson's card with a question or a task, or a second card."""
        lesson = lesson_of(self.panels.story) if grain is Grain.PLUGIN and self.panels.story else None
        if lesson is None:
            return lambda _: False
        reached = len(list_reached_cards(lesson, world))

        def reaches_card(here: Simulation) -> bool:
            fresh = list_reached_cards(lesson, here)[reached:]
            return len(fresh) > 1 or any(card.question or card.do for card in fresh)

        return reaches_card

    def run(
        self, seconds: float, keep: bool = True, until: Until | None = None, most: int = MOST_STEPS
    ) -> Steps[Movement]:
        """Run at full speed for some `seconds`, at most `most` steps; fewer if interrupted, at a condition, or if nothing is left to do."""
        self._leave()
        self.interrupted = False
        reason: Reason = ""
        before, at, end = self.progress(), self.world.position, time.perf_counter() + seconds
        holds, watchdog, circles = self._condition(until), self._watching(), None

        def stops(world: Simulation) -> bool:
            return watchdog.hear(world) or (holds is not None and holds(world))

        # Leases are renewed in idle worlds, too; a run to a time includes these renewals.
        timers = isinstance(until, TimeReached)
        while not reason and not self.interrupted and time.perf_counter() < end:
            started = time.thread_time()
            result = self.world.run(stops, at + most - self.world.position, self.slice.over, timers=timers)
            self.history.worked(self.world, time.thread_time() - started)
            circles = watchdog.circles(self.world)
            reason = "runaway" if watchdog.loop is not None else _reason(result.reason, circles)
            if not reason:
                yield
        doing = (yield from self._doing(reason, circles, watchdog.loop)) if reason in ("runaway", "budget") else None
        self._watchdog = None if reason else watchdog
        self._waited = (self.world.position, until, holds)
        self._unwanted = not keep and not reason
        awaited = calls_of(self.world) if reason == "idle" else []
        hit, after = hit_of(holds, reason), self.progress()
        return Movement(at, self.world.position, before, after, reason, hit, doing, awaited=awaited)

    def _watching(self) -> runaway.Watch:
        """Return the run's detector of runaways: the same one for all slices of a run."""
        last = self._watchdog
        return last if last and last.position == self.world.position else runaway.Watch(self.world)

    def _doing(self, reason: Reason, circles: Circles | None, loop: Loop | None) -> Steps[Message | None]:
        """Return a summary of a run's actions if the run was stopped before its end."""
        if loop is not None:
            return runaway.loop_words(loop)
        last = yield from runaway.tally(self.history, self.world.position)
        return runaway.words(circles if reason == "runaway" else None, self.world.now, last)

    def _condition(self, until: Until | None) -> Callable[[Any], bool] | None:
        """Return the condition of a run; in a later slice of a run the same one, with its state."""
        position, before, holds = self._waited
        if position == self.world.position and before == until:
            return holds
        return condition(self.world, until)

    def progress(self) -> QueueProgress:
        """Return the number of attempts so far, and of pods in queues that will be attempted."""
        queues = [scheduler.queue for scheduler in self.world.schedulers]
        waiting = sum(
            len(queue.active_pods) + len(queue.backoff_pods) + len(queue.error_backoff_pods) for queue in queues
        )
        return QueueProgress(len(self.world.journal.attempts), waiting)


def _report_progress(events: Sequence[WatchEvent], advance: Advance) -> Iterator[WatchEvent]:
    for number, event in enumerate(events):
        if number % SOME == 0:
            advance(number, len(events))
        yield event


def _reason(result: str, circles: Circles | None) -> Reason:
    reasons: dict[str, Reason] = {"idle": "idle", "until": "until", "budget": "budget"}
    return reasons.get(result, "runaway" if circles else "")
