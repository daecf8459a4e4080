"""Comparisons of two sessions: where their logs diverge, an outline of each, and the first attempt that differs.

Each session's own worker answers for its own history; this module compares the answers.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.utils.translation import gettext_noop

from playground.models import Session
from playground.presenters.charts import align_sequences
from playground.sessions.database.listing import LoggedCommand, commands
from playground.sessions.protocol import comparing
from playground.sessions.protocol.base import Query
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind, Live
from playground.sessions.web.loop import SessionsLoop

# Two logs compared: their common part, and the commands that only one of them has.

MOST_COMMANDS = 2000


def parting(
    beginning: int, other: int, ours: Sequence[LoggedCommand], theirs: Sequence[LoggedCommand], heads: tuple[int, int]
) -> int:
    """Return the position up to which two histories are identical: those with the same seed and the same commands are."""
    if beginning != other:
        return 0
    for mine, yours in zip(ours, theirs, strict=False):
        if (mine.at, mine.print) != (yours.at, yours.print):
            return min(mine.at, yours.at, *heads)
    shorter = min(len(ours), len(theirs))
    more = [commands[shorter].at for commands in (ours, theirs) if len(commands) > shorter]
    return min(*more, *heads)


def differing(ours: Sequence[LoggedCommand], theirs: Sequence[LoggedCommand]) -> comparing.CommandDifferences:
    """Return the commands after the common part, aligned."""
    mine, other = list(ours[:MOST_COMMANDS]), list(theirs[:MOST_COMMANDS])
    both = align_sequences([command.print for command in mine], [command.print for command in other])
    rows: list[comparing.OneSidedCommand] = []
    i = j = 0
    for next_i, next_j in [*both, (len(mine), len(other))]:
        for side, logged in ((0, mine[i:next_i]), (1, other[j:next_j])):
            rows += [
                comparing.OneSidedCommand(side, command.at, command.sentence, command.source) for command in logged
            ]
        i, j = next_i + 1, next_j + 1
    cut = len(ours) > MOST_COMMANDS or len(theirs) > MOST_COMMANDS
    return comparing.CommandDifferences(rows, len(both), cut)


A = TypeVar("A")

BUDGET = 60.0
FIRST_CHUNK = 20
CHUNK = 400
# The fields that are equal in two attempts with the same decision.
DECIDED = ("pod", "outcome", "node", "message", "evaluated", "feasible", "tied", "nominated", "victims")

COMPARISON: Kind[comparing.Comparison] = Kind(
    "comparison",
    at_once=lambda: 4,
    busy=gettext_noop("The server is comparing other sessions. Try again in a moment."),
    failed=gettext_noop("The comparison failed. The sessions are unchanged."),
    kept=8,
    reused=True,
)


class Comparisons:
    """Comparisons as jobs, on the sessions' loop; `live` finds a session in this process."""

    def __init__(self, jobs: Jobs, loop: SessionsLoop, live: Callable[[int], Live]) -> None:
        self._jobs, self._loop, self._live = jobs, loop, live

    def begin(self, a: Session, b: Session, heads: tuple[int, int]) -> Job[comparing.Comparison]:
        """Begin the comparison of two sessions up to a position of each, or return the job that does so or has its result."""
        return self._jobs.begin(
            COMPARISON, lambda job: self._compare(job, (a, b), heads), Asker(a.pk), key=(a.pk, b.pk, *heads)
        )

    async def attempt_of(
        self, session: Session, head: int, outline: comparing.HistoryOutline, pod: str
    ) -> comparing.AttemptDetail | None:
        """Return the last attempt of a pod after the common part, with its scores."""
        for offset in range(len(outline.attempts) - 1, -1, -1):
            if outline.attempts[offset].pod == pod:
                return await self._live(session.pk).ask(comparing.Attempt(at=head, index=outline.first + offset))
        return None

    async def _compare(
        self, job: Job[comparing.Comparison], sessions: tuple[Session, Session], heads: tuple[int, int]
    ) -> comparing.Comparison:
        logs = [await self._loop.db(commands, session.pk, head) for session, head in zip(sessions, heads, strict=True)]
        sides = [Side(self._live(session.pk), head) for session, head in zip(sessions, heads, strict=True)]
        for side in sides:
            await side.session.ready()
        common = parting(sessions[0].seed, sessions[1].seed, logs[0], logs[1], heads)
        ours, theirs = await asyncio.gather(*(side.ask(comparing.Outline, since=common) for side in sides))
        first, late = None, False
        if common < min(heads):
            first, late = await _first(job, sides, (ours, theirs))
        return comparing.Comparison(
            common=common,
            heads=heads,
            sides=(ours, theirs),
            commands=differing(*([entry for entry in log if entry.at >= common] for log in logs)),
            first=first,
            late=late,
            attempts=(await _detail(sides[0], ours, first), await _detail(sides[1], theirs, first)),
            clock=_first_index((ours, theirs), ("started", "ended")),
        )


@dataclass(frozen=True)
class Side:
    """One of the two sessions, up to a head."""

    session: Live
    head: int

    async def ask(self, query: Callable[..., Query[A]], **fields: Any) -> A:
        return await self.session.ask(query(at=self.head, **fields))


async def _first(
    job: Job[comparing.Comparison],
    sides: Sequence[Side],
    outlines: tuple[comparing.HistoryOutline, comparing.HistoryOutline],
) -> tuple[int | None, bool]:
    """Return the index (after the common part) of the first attempt that differs, or None; and whether the time limit ended the search."""
    ours, theirs = (outline.attempts for outline in outlines)
    apparent = _first_index(outlines, DECIDED)
    total = min(len(ours), len(theirs)) if apparent is None else apparent
    done, size, end = 0, FIRST_CHUNK, time.monotonic() + BUDGET
    while done < total:
        most = min(size, total - done)
        digests = await asyncio.gather(
            *(
                side.ask(comparing.AttemptDigests, first=outline.first + done, most=most)
                for side, outline in zip(sides, outlines, strict=True)
            )
        )
        pairs = list(zip(*digests, strict=False))
        for offset, (mine, other) in enumerate(pairs):
            if mine != other:
                return done + offset, False
        if not pairs:
            break
        done += len(pairs)
        job.advance(done, total)
        size = min(CHUNK, 2 * size)
        if time.monotonic() > end:
            return apparent, True
    if apparent is None and len(ours) != len(theirs):
        # One history has further attempts: a difference only if the other one has nothing left to do.
        shorter = outlines[0] if len(ours) < len(theirs) else outlines[1]
        apparent = len(shorter.attempts) if shorter.idle else None
    return apparent, False


async def _detail(side: Side, outline: comparing.HistoryOutline, index: int | None) -> comparing.AttemptDetail | None:
    """Return the first differing attempt with its scores; None if the session has no such attempt."""
    if index is None or index >= len(outline.attempts):
        return None
    return await side.ask(comparing.Attempt, index=outline.first + index)


def _first_index(outlines: Sequence[comparing.HistoryOutline], names: Sequence[str]) -> int | None:
    """Return the index of the first pair of attempts that differ in one of some fields, or None."""
    for i, (ours, theirs) in enumerate(zip(outlines[0].attempts, outlines[1].attempts, strict=False)):
        if any(getattr(ours, name) != getattr(theirs, name) for name in names):
            return i
    return None
