"""How far a command is: on a terminal alone, and gone again when it is done."""

from __future__ import annotations

from types import TracebackType
from typing import TextIO

WIDTH = 30
WIDEST = 78
LONG = 50  # things to do from which a bar is shown


class Progress:
    """A line that is written over. Nothing is shown where the stream is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Makes room for what is printed."""
        if self._shown:
            self._shown = False
            self._write("\r\033[K")

    def say(self, text: str) -> None:
        """Show the latest finding in one line."""
        self._show(text[:WIDEST])

    def steps(self, done: int) -> None:
        """So many steps were made, of nobody knows how many."""
        self._show(f"{done:,} steps")

    def part(self, done: int, total: int, what: str) -> None:
        """A bar, where there is much to do."""
        if total >= LONG:
            self._show(f"{'#' * (WIDTH * done // total):<{WIDTH}} {done}/{total} {what}")

    def _show(self, text: str) -> None:
        if self._stream.isatty():
            self._shown = True
            self._write(f"\r{text}\033[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
