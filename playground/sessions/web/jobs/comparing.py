"""Comparing two sessions: where their logs part, an outline of each, and the first attempt that differs.

Each session's own worker tells of its own history; here the answers are laid side by side. A comparison is a task on the runtime's
loop that goes on whether or not somebody waits for it; what it found is kept for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
from django.utils.translation import gettext as _

from playground.models import LogKind, Session
from playground.presenters.commands import sentence
from playground.sessions.database import log
from playground.sessions.protocol.errors import LimitReached, SessionError

if TYPE_CHECKING:
    from playground.sessions.web.runtime import Runtime

KEPT = 8
AT_ONCE = 4  # comparisons that go on in this process; fewer than are kept
BUDGET = 60.0
FIRST_CHUNK = 20
CHUNK = 400
MOST_COMMANDS = 2000
# What two attempts that were decided alike have in common.
DECIDED = ("pod", "outcome", "node", "message", "evaluated", "feasible", "tied", "nominated", "victims")

Data = dict[str, Any]


@dataclass
class Work:
    """A comparison on its way; `done` of `total` attempts were looked into."""

    done: int = 0
    total: int = 0
    result: Data | None = None
    error: SessionError | None = None
    finished: asyncio.Event = field(default_factory=asyncio.Event)


class Comparisons:
    """The comparisons of this process, by sessions and heads. Lives on the runtime's loop."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._works: OrderedDict[tuple[int, ...], Work] = OrderedDict()

    async def ask(self, a: Session, b: Session, heads: tuple[int, int], patience: float) -> Work:
        """The comparison of two sessions up to a position of each; begun if need be, waited for a while. Raises LimitReached."""
        key = (a.pk, b.pk, *heads)
        work = self._works.get(key)
        if work is None or work.error is not None:
            self._make_room()
            work = self._works[key] = Work()
            self._runtime.begin(self._compare(work, a, b, heads))
        self._works.move_to_end(key)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(work.finished.wait(), patience)
        if work.error is not None:
            raise work.error
        return work

    def _make_room(self) -> None:
        """For one more; what goes on stays, so that who comes back for it does not begin it again."""
        over = [key for key, work in self._works.items() if work.finished.is_set()]
        if len(self._works) - len(over) >= AT_ONCE:
            raise LimitReached(
                _("Other sessions are being compared just now. Please try again when that is done.")
            )
        for key in over[: max(0, len(self._works) + 1 - KEPT)]:
            del self._works[key]

    async def _compare(self, work: Work, a: Session, b: Session, heads: tuple[int, int]) -> None:
        try:
            work.result = await self._compared(work, a, b, heads)
        except SessionError as error:
            work.error = error
        except Exception:
            work.error = SessionError("The comparison failed. The sessions are as they were.")
            raise
        finally:
            work.finished.set()

    async def _compared(self, work: Work, a: Session, b: Session, heads: tuple[int, int]) -> Data:
        logs = [
            await self._runtime.db(commands, one.pk, head) for one, head in zip((a, b), heads, strict=True)
        ]
        for one in (a, b):
            await self._runtime.live(one.pk).ready()
        common = parting(a.seed, b.seed, logs[0], logs[1], heads)
        pairs = list(zip((a.pk, b.pk), heads, strict=True))
        outlines = await asyncio.gather(*(self._ask("outline", pk, head, since=common) for pk, head in pairs))
        index, late = None, False
        if common < min(heads):
            index, late = await self._first(work, pairs, outlines)
        return {
            "common": common,
            "heads": list(heads),
            "sides": outlines,
            "commands": differing(
                [one for one in logs[0] if one.at >= common], [one for one in logs[1] if one.at >= common]
            ),
            "first": index,
            "late": late,
            "attempts": await self._details(pairs, outlines, index),
            "clock": _first_index(outlines, ("started", "ended")),
        }

    async def _ask(self, op: str, pk: int, head: int, **arguments: Any) -> Any:
        return await self._runtime.live(pk).ask(op, at=head, **arguments)

    async def _first(
        self, work: Work, pairs: list[tuple[int, int]], outlines: list[Data]
    ) -> tuple[int | None, bool]:
        """Index (from the parting on) of the first attempt that differs, if any; and whether time was over before all were looked into."""
        sides = [one["attempts"] for one in outlines]
        told = _first_index(outlines, DECIDED)
        work.total = min(map(len, sides)) if told is None else told
        end, size = time.monotonic() + BUDGET, FIRST_CHUNK
        while work.done < work.total:
            wanted = min(size, work.total - work.done)
            found = await asyncio.gather(
                *(
                    self._ask("digests", pk, head, first=one["first"] + work.done, most=wanted)
                    for (pk, head), one in zip(pairs, outlines, strict=True)
                )
            )
            pairs_of = list(zip(*found, strict=False))
            for offset, (ours, theirs) in enumerate(pairs_of):
                if ours != theirs:
                    return work.done + offset, False
            if not pairs_of:
                break
            work.done += len(pairs_of)
            size = min(CHUNK, 2 * size)
            if time.monotonic() > end:
                return told, True
        if told is None and len(sides[0]) != len(sides[1]):
            # One of them makes attempts that the other does not: a difference only if that one has nothing left to do.
            shorter = 0 if len(sides[0]) < len(sides[1]) else 1
            told = len(sides[shorter]) if outlines[shorter]["idle"] else None
        return told, False

    async def _details(
        self, pairs: list[tuple[int, int]], outlines: list[Data], index: int | None
    ) -> list[Data | None]:
        """The first differing attempt in each session, with its scores; None where a session has none."""
        if index is None:
            return [None, None]
        found: list[Data | None] = []
        for (pk, head), one in zip(pairs, outlines, strict=True):
            there = index < len(one["attempts"])
            found.append(await self._ask("attempt", pk, head, index=one["first"] + index) if there else None)
        return found

    async def attempt_of(
        self, session: Session, head: int, outline: Mapping[str, Any], pod: str
    ) -> Data | None:
        """The last attempt of a pod after the parting, with its scores."""
        for offset in range(len(outline["attempts"]) - 1, -1, -1):
            if outline["attempts"][offset]["pod"] == pod:
                return dict(await self._ask("attempt", session.pk, head, index=outline["first"] + offset))
        return None


def _first_index(outlines: Sequence[Mapping[str, Any]], names: Sequence[str]) -> int | None:
    """Index of the first pair of attempts that differ in one of some fields; None where none of the pairs does."""
    for i, (ours, theirs) in enumerate(zip(outlines[0]["attempts"], outlines[1]["attempts"], strict=False)):
        if any(ours[name] != theirs[name] for name in names):
            return i
    return None


@dataclass(frozen=True)
class Entry:
    """A command of a log: where it was applied, what it says, and a fingerprint of that."""

    at: int
    told: Data
    source: str
    print: bytes


def commands(session_id: int, head: int) -> list[Entry]:
    """The commands of a session's log below a head, in a database thread."""
    found = []
    for row in log.read(session_id)[1]:
        if row.kind == LogKind.COMMAND and row.at < head:
            data = log.unpack(row.payload)
            text = orjson.dumps(data["command"], option=orjson.OPT_SORT_KEYS)
            told = sentence(data["command"])
            found.append(
                Entry(
                    row.at, told, str(data.get("source", "")), hashlib.blake2b(text, digest_size=16).digest()
                )
            )
    return found


def parting(
    seed: int, other_seed: int, ours: Sequence[Entry], theirs: Sequence[Entry], heads: tuple[int, int]
) -> int:
    """The position up to which two histories are one: the engine does the same wherever the commands were the same."""
    if seed != other_seed:
        return 0
    for mine, other in zip(ours, theirs, strict=False):
        if (mine.at, mine.print) != (other.at, other.print):
            return min(mine.at, other.at, *heads)
    shorter = min(len(ours), len(theirs))
    more = [entries[shorter].at for entries in (ours, theirs) if len(entries) > shorter]
    return min(*more, *heads)


def differing(ours: Sequence[Entry], theirs: Sequence[Entry]) -> Data:
    """The commands after the parting that only one of the two has, in order, and how many both have."""
    mine, other = list(ours[:MOST_COMMANDS]), list(theirs[:MOST_COMMANDS])
    both = aligned([one.print for one in mine], [one.print for one in other])
    rows: list[Data] = []
    i = j = 0
    for next_i, next_j in [*both, (len(mine), len(other))]:
        for side, entries in ((0, mine[i:next_i]), (1, other[j:next_j])):
            rows += [{"side": side, "at": one.at, "told": one.told, "source": one.source} for one in entries]
        i, j = next_i + 1, next_j + 1
    cut = len(ours) > MOST_COMMANDS or len(theirs) > MOST_COMMANDS
    return {"rows": rows, "same": len(both), "cut": cut}


def aligned(ours: Sequence[bytes], theirs: Sequence[bytes]) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence, in order. Quick also where the same few come again and again, as undo and redo do.

    Hyyrö, Bit-parallel LCS-length computation revisited (2004): a row of the table is one whole number, a bit for each of `theirs`, and
    the bit is 0 where one more of them is matched.
    """
    places: dict[bytes, int] = {}
    for j, one in enumerate(theirs):
        places[one] = places.get(one, 0) | 1 << j
    full = (1 << len(theirs)) - 1
    rows = [full]
    for one in ours:
        row, met = rows[-1], rows[-1] & places.get(one, 0)
        rows.append(((row + met) | (row - met)) & full)
    pairs, i, j = [], len(ours), len(theirs)
    while i and j:
        if rows[i] >> j - 1 & 1:
            j -= 1
        elif rows[i - 1] >> j - 1 & 1:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        else:
            i -= 1
    return pairs[::-1]
