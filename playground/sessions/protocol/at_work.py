"""What a worker process works on just now and how far that is, in a file that its web process has too: it outlives a process that dies
of it, and is read while the process is busy.
"""

from __future__ import annotations

import os
import tempfile

BYTES = 8


class AtWork:
    """The number of a request; 0 is none."""

    def __init__(self, file: int) -> None:
        self.file = file

    @classmethod
    def made(cls) -> AtWork:
        """Create the file, in memory if the system supports this."""
        if hasattr(os, "memfd_create"):
            return cls(os.memfd_create("at-work"))
        with tempfile.TemporaryFile() as file:
            return cls(os.dup(file.fileno()))

    def say(self, number: int) -> None:
        os.pwrite(self.file, number.to_bytes(BYTES), 0)

    def said(self) -> int:
        return int.from_bytes(os.pread(self.file, BYTES, 0))

    def advance(self, done: int, total: int) -> None:
        """Say how far what takes long is; 0 of 0: nothing does."""
        os.pwrite(self.file, done.to_bytes(BYTES) + total.to_bytes(BYTES), BYTES)

    def advanced(self) -> tuple[int, int]:
        said = os.pread(self.file, 2 * BYTES, BYTES)
        return int.from_bytes(said[:BYTES]), int.from_bytes(said[BYTES:])

    def close(self) -> None:
        os.close(self.file)
