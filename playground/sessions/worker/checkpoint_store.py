"""CheckpointStore: a session's checkpoints as bytes, inside its worker. The web process stores them in the database.

Checkpoints are at about equal distances of work, the first in each cell of a grid; if they are too many, or have too many bytes, the cell
size doubles and every other checkpoint is dropped. So the cost of storage does not grow with the history, and the checkpoints to drop
depend only on those that exist.
"""

import secrets
import sys
import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from playground.sessions.worker.memory import no_collection
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.world.checkpoint import Archive, CodecError, decode, encoding

MOST = 48
FEWEST = 2
MOST_BYTES = 16 << 20
FIRST_CELL = 0.04
# A checkpoint must save this many times the seconds that it takes to write.
WORTH = 0.4
AT_ONCE = 8
UNSEALED = -1


class StoredCheckpoint(NamedTuple):
    """A serialized checkpoint; `work` is the engine's time from the start to here, `parts` the number of archive parts it needs."""

    position: int
    work: float
    parts: int
    data: bytes


class SaveResult(NamedTuple):
    """The result of a save: new checkpoints, positions of dropped ones, the archive's new part and its number, whether there is more."""

    new: list[StoredCheckpoint]
    dropped: list[int]
    part: tuple[int, bytes] | None
    more: bool


class Checkpoint(NamedTuple):
    """A world in memory; `work` is the engine's time from the start to here."""

    position: int
    work: float
    world: Any


AnyCheckpoint = Checkpoint | StoredCheckpoint


class CheckpointStore:
    """Checkpoints by position with their shared archive. `volume` identifies the archive: the parts of another one do not fit."""

    def __init__(self) -> None:
        self.pace = 0.0  # seconds to read a byte: the minimum seen, as a garbage collection may distort a measurement
        self.forget()

    def forget(self) -> None:
        """Start again, with an empty archive."""
        self.archive = Archive()
        self.volume = secrets.token_hex(8)
        self.cell = FIRST_CELL
        self._checkpoints: list[StoredCheckpoint] = []
        self._broken = False

    @property
    def positions(self) -> list[int]:
        return [each.position for each in self._checkpoints]

    @property
    def size(self) -> int:
        return self.archive.size + sum(len(each.data) for each in self._checkpoints)

    def before(self, position: int) -> StoredCheckpoint | None:
        """Return the latest checkpoint at or before a position, or None."""
        index = bisect_right(self._checkpoints, position, key=lambda each: each.position)
        return self._checkpoints[index - 1] if index else None

    def read(self, checkpoint: StoredCheckpoint) -> Any | None:
        """Return the world of a checkpoint. If the bytes are invalid, discard all checkpoints and return None."""
        started = time.thread_time()
        try:
            with no_collection():
                world = decode(checkpoint.data, self.archive)
            if world.position != checkpoint.position:
                raise CodecError(f"the world stands at {world.position}; expected {checkpoint.position}")
        except Exception as error:
            print(f"a checkpoint can't be read, the log is replayed: {error}", file=sys.stderr)
            self.forget()
            return None
        pace = (time.thread_time() - started) / len(checkpoint.data)
        self.pace = min(pace, self.pace or pace)
        return world

    def cost(self, checkpoint: StoredCheckpoint) -> float:
        """Return the estimated seconds to read a checkpoint, before the first read by the time to write one; 0 if none was written here."""
        return self.pace * len(checkpoint.data)

    def cut(self, position: int) -> None:
        """Discard all checkpoints if one is after a position."""
        if self._checkpoints and self._checkpoints[-1].position > position:
            self.forget()

    # Writing

    def save(self, checkpoints: Iterable[Checkpoint]) -> Steps[SaveResult]:
        """Write the checkpoints that the grid needs, a few at once; the newest one is kept until the next save."""
        before, worlds = set(self.positions), {one.position: one for one in checkpoints}
        chosen, volume = self._chosen(list(worlds.values())), self.volume
        missing = [worlds[position] for position in chosen if position not in before]
        for checkpoint in [*missing[: AT_ONCE - 1], *missing[AT_ONCE - 1 :][-1:]]:
            data = yield from self._write(checkpoint.world)
            if data is None or self.volume != volume:
                break
            self._checkpoints.append(StoredCheckpoint(checkpoint.position, checkpoint.work, UNSEALED, data))
        part = yield from self._seal()
        if self.volume != volume:  # `forget` was called meanwhile: the written parts are of a discarded archive
            return SaveResult([], [], None, more=True)
        wanted = set(chosen)
        self._checkpoints = sorted(each for each in self._checkpoints if each.position in wanted)
        while self.size > MOST_BYTES and len(self._checkpoints) > FEWEST:
            self.cell *= 2
            picked = self._first_of_each(self._checkpoints)
            self._checkpoints = [
                each for each in self._checkpoints if each.position in picked or each is self._checkpoints[-1]
            ]
        self.archive.release_when_idle()
        now = set(self.positions)
        new = [each for each in self._checkpoints if each.position not in before]
        return SaveResult(new, sorted(before - now), part, len(missing) > AT_ONCE and not self._broken)

    def _write(self, world: Any) -> Steps[bytes | None]:
        """Return the bytes of a world; None if it cannot be encoded, so that only the log remains."""
        if self._broken:
            return None
        started, spent = time.thread_time(), 0.0
        steps = encoding(world, self.archive)
        try:
            while True:
                with no_collection():
                    next(steps)
                    spent += time.thread_time() - started
                yield
                started = time.thread_time()
        except StopIteration as done:
            data: bytes = done.value
        except CodecError as error:
            print(f"no checkpoints are written: {error}", file=sys.stderr)
            self._broken = True
            return None
        spent += time.thread_time() - started
        while spent * WORTH > self.cell:
            self.cell *= 2
        self.pace = self.pace or spent / len(data)
        return data

    def _seal(self) -> Steps[tuple[int, bytes] | None]:
        number = len(self.archive.parts)
        data = yield from self.archive.sealing()
        parts = len(self.archive.parts)
        self._checkpoints = [
            each._replace(parts=parts) if each.parts == UNSEALED else each for each in self._checkpoints
        ]
        return None if data is None else (number, data)

    def _chosen(self, checkpoints: Sequence[AnyCheckpoint]) -> list[int]:
        """Return positions: the first in each cell, and the last of all; a stored checkpoint comes before one that must be written."""
        known: dict[int, AnyCheckpoint] = {
            one.position: one for one in [*checkpoints, *self._checkpoints] if one.position
        }
        ordered = [known[position] for position in sorted(known)]
        while len(picked := self._first_of_each(ordered)) > MOST:
            self.cell *= 2
        return [one.position for one in ordered if one.position in picked or one is ordered[-1]]

    def _first_of_each(self, ordered: Iterable[AnyCheckpoint]) -> set[int]:
        cells: dict[int, int] = {}
        for checkpoint in ordered:
            cells.setdefault(int(checkpoint.work / self.cell), checkpoint.position)
        return set(cells.values())

    # Reading

    def load(self, volume: str, parts: list[bytes], checkpoints: list[StoredCheckpoint]) -> None:
        """Load the checkpoints of the database. Raise CodecError if the parts are not a valid archive."""
        for part in parts:
            self.archive.load(part)
        self.volume = volume
        self._checkpoints = sorted(checkpoint for checkpoint in checkpoints if checkpoint.parts <= len(parts))

    def twin(self, parts: int, positions: list[int]) -> "CheckpointStore":
        """Return the store of a fork: the checkpoints at some positions, with the first parts of the archive."""
        other = CheckpointStore()
        wanted = set(positions)
        checkpoints = [each for each in self._checkpoints if each.position in wanted and each.parts <= parts]
        other.load(self.volume, [part.data for part in self.archive.parts[:parts]], checkpoints)
        other.cell = self.cell
        return other
