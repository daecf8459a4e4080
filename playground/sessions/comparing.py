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
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import orjson

from playground.models import LogKind, Session
from playground.presenters.commands import sentence
from playground.sessions import log
from playground.sessions.errors import SessionError

if TYPE_CHECKING:
    from playground.sessions.runtime import Runtime

KEPT = 8
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
        """The comparison of two sessions up to a position of each; begun if need be, waited for a while."""
        key = (a.pk, b.pk, *heads)
        work = self._works.get(key)
        if work is None or work.error is not None:
            work = self._works[key] = Work()
            self._runtime.begin(self._compare(work, a, b, heads))
        self._works.move_to_end(key)
        while len(self._works) > KEPT:
            self._works.popitem(last=False)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(work.finished.wait(), patience)
        if work.error is not None:
            raise work.error
        return work

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
    _, rows = log.read(session_id)
    found = []
    for row in rows:
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
    matcher = SequenceMatcher(None, [one.print for one in mine], [one.print for one in other], autojunk=False)
    rows: list[Data] = []
    same = 0
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            same += i2 - i1
            continue
        rows += [{"side": 0, "at": one.at, "told": one.told, "source": one.source} for one in mine[i1:i2]]
        rows += [{"side": 1, "at": one.at, "told": one.told, "source": one.source} for one in other[j1:j2]]
    return {"rows": rows, "same": same, "cut": len(ours) > MOST_COMMANDS or len(theirs) > MOST_COMMANDS}
