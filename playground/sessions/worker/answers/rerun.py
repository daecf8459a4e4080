"""Re-runs inside a worker: a history made again without some of its commands, or with another seed. The rule (docs/time-travel.md):

A command is applied at the same virtual time as in the history; if that world had then done all due work, after all work due by then;
otherwise after as many steps at that time as the history made since the previous command. Skipped commands count as previous commands,
too. If nothing is left to do before that time, a command is applied when the world is idle.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.comparing import LeftOut, Moments, RerunProgress, RerunResult
from playground.sessions.protocol.errors import LimitReached, SessionError, summarize_errors
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.memory import SHARED, Budget
from playground.sessions.worker.time_sharing import Steps, Task, answers
from playground.sessions.worker.world import Command, Redo, Refused, Simulation, Undo, count_objects

SLACK = 20_000  # steps that a re-run may make in addition to four times those of the history
MOST_LEFT = 200
TOO_MUCH = gettext_noop(
    "The re-run needs more memory than the limit and was stopped. Nothing was saved. Leaving out only "
    "later commands takes less memory."
)


class BudgetExceeded(Exception):
    """The re-run has used all of its steps."""


class Rerun(Task[RerunResult, RerunProgress]):
    """One re-run. It has processed `passed` of the history's `total` positions."""

    def __init__(
        self,
        engine: Engine,
        head: int,
        skip: Collection[int],
        max_objects: int,
        max_steps: int,
        seed: int | None = None,
    ) -> None:
        super().__init__(self._run())
        self.engine, self.head = engine, head
        self.skip = frozenset(skip)
        self.seed = seed
        self.positions = [at for at in engine.commands if at < head]
        if seed == engine.seed:
            raise SessionError(message("This history already has seed %(seed)s. Choose another seed.", seed=seed))
        if not self.skip <= set(self.positions) or (not self.skip and seed is None):
            raise SessionError(message("This session has no such command. Choose from its list."))
        self.first = min(self.skip) if seed is None else 0
        self.max_objects = max_objects
        self.passed, self.total = 0, head - self.first
        self.budget = min(4 * self.total + SLACK, max_steps)
        self.kept: list[tuple[int, int]] = []
        self.left: list[LeftOut] = []
        self.world: Simulation = engine.world  # replaced by the new world when the work begins
        self._memory = Budget(SHARED, TOO_MUCH)

    def turn(self) -> None:
        with self._memory:
            super().turn()

    def progress(self) -> RerunProgress:
        return RerunProgress(self.passed, self.total, self.result)

    def _run(self) -> Steps[RerunResult]:
        past = (yield from self.engine.at(self.first)).fork()
        self.world, clock, edits = (past.fork() if self.seed is None else Simulation(self.seed)), Pace(past), Origins()
        try:
            for at in [one for one in self.positions if one >= self.first]:
                yield from self._follow(past, clock, at)
                yield from self._catch_up(clock)
                # Both are at a command: the history applies it, and so does the new world unless the command is skipped.
                command, before = self.engine.commands[at], past.edits
                self.engine.replay(past)
                clock.restart()
                if at not in self.skip:
                    self._apply(at, command, edits, before)
                edits.note(before, past.edits, command, at)
        except BudgetExceeded:
            raise LimitReached(
                message(
                    "The re-run takes far more steps than the original: at step %(at)s it has not reached the moment of "
                    "the next command. It was stopped, and nothing was saved.",
                    at=f"{self.world.position:,}",
                )
            ) from None
        yield from self._follow(past, clock, self.head)
        return RerunResult(
            first=self.first,
            kept=self.kept,
            left=self.left[:MOST_LEFT],
            refused=len(self.left),
            complete=(yield from self._finish(past, clock)),
            head=self.world.position,
            now=self.world.now,
            end=self.head,
            before=past.now,
        )

    def _follow(self, past: Simulation, clock: Pace, to: int) -> Steps[None]:
        """Replay the history up to a position, and count its steps with the clock."""
        while past.position < to:
            self.engine.replay(past)
            clock.tick()
            self.passed += 1
            if self.engine.slice.over():
                yield

    def _catch_up(self, clock: Pace) -> Steps[None]:
        """Advance the new world to the present moment of the history."""
        # First all work due before now; the work due now may be done only in part (`steps`).
        while self.world.due(clock.now - 1):
            self._advance()
            if self.engine.slice.over():
                yield
        steps = 0
        while self.world.due(clock.now) and (clock.settled or steps < clock.steps):
            self._advance()
            steps += 1
            if self.engine.slice.over():
                yield

    def _finish(self, past: Simulation, clock: Pace) -> Steps[bool]:
        """Advance to the moment of the history's end, and until idle if the history ended idle. Return False if the budget ran out."""
        try:
            yield from self._catch_up(clock)
            while past.idle and not self.world.idle:
                self._advance()
                if self.engine.slice.over():
                    yield
        except BudgetExceeded:
            return False
        return True

    def _advance(self) -> None:
        if not self.budget:
            raise BudgetExceeded
        self.budget -= 1
        self.world.advance()

    def _apply(self, at: int, command: Command, edits: Origins, before: Any) -> None:
        world = self.world
        if isinstance(command, Undo | Redo) and not edits.same(before, world.edits, command):
            self.left.append(LeftOut(at, message("The command that it undoes or redoes was left out or differs.")))
            return
        position, edits_before = world.position, world.edits
        try:
            world.apply(command)
        except Refused as refused:
            self.left.append(LeftOut(at, summarize_errors(refused.errors)))
            return
        objects = count_objects(self.world)
        if objects > self.max_objects:
            raise LimitReached(
                message(
                    "After the re-run the cluster would have %(has)s objects. The limit is %(most)s.",
                    has=f"{objects:,}",
                    most=f"{self.max_objects:,}",
                )
            )
        self.kept.append((at, position))
        edits.note(edits_before, world.edits, command, at)


class Pace:
    """A history's place in time: the virtual time, and the steps at that time since the last command."""

    def __init__(self, past: Simulation) -> None:
        self._past = past
        self.now = past.now
        self.steps = 0

    def tick(self) -> None:
        """Count a step of the history."""
        self.steps = self.steps + 1 if self._past.now == self.now else 1
        self.now = self._past.now

    def restart(self) -> None:
        """Reset the count, because the history applied a command."""
        self.now, self.steps = self._past.now, 0

    @property
    def settled(self) -> bool:
        """True if the history has done all work due by now."""
        return not self._past.due(self.now)


class Origins:
    """The original command of each edit that can be undone or redone. An edit before the skipped commands is its own origin."""

    def __init__(self) -> None:
        # By the edit's id: its origin, and the edit, whose reference keeps the id unique.
        self._of: dict[int, tuple[Any, Any]] = {}

    def note(self, before: Any, after: Any, command: Command, at: int) -> None:
        """Record the origin of the edits that a command changed; a command that could not be replayed (Engine.stuck) changed none."""
        if after is before:
            return
        if isinstance(command, Undo):
            self._say(after.redo[-1], self._origin(before.undo[-1]))
        elif isinstance(command, Redo):
            self._say(after.undo[-1], self._origin(before.redo[-1]))
        elif after.undo:
            self._say(after.undo[-1], at)

    def same(self, theirs: Any, ours: Any, command: Command) -> bool:
        """Return whether an Undo or Redo would affect the same command in both worlds."""
        stacks = [edits.undo if isinstance(command, Undo) else edits.redo for edits in (theirs, ours)]
        if not all(stacks):
            return False
        return bool(self._origin(stacks[0][-1]) == self._origin(stacks[1][-1]))

    def _say(self, edit: Any, origin: Any) -> None:
        self._of[id(edit)] = (edit, origin)

    def _origin(self, edit: Any) -> Any:
        known = self._of.get(id(edit))
        return ("old", id(edit)) if known is None else known[1]


@answers(Moments)
def moments(engine: Engine, request: Moments) -> Steps[list[int | None]]:
    """Return the virtual time at each of some positions, None for those that the time limit excludes."""
    times: list[int | None] = []
    end = time.perf_counter() + request.seconds
    for position in request.positions:
        if position not in engine.times and time.perf_counter() < end:
            engine.times[position] = (yield from engine.at(position)).now
        times.append(engine.times.get(position))
    return times
