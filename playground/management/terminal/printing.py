"""What commands print: tables as kubectl prints them, lines as wide as the terminal, data for machines, and how far a command is."""

import csv
import io
import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TextIO

FORMS = ("json", "yaml", "csv")  # for machines
GAP = "   "
NARROWEST = 24  # a column that is wrapped

WIDTH = 30
WIDEST = 78
LONG = 50  # things to do from which a bar is shown


def get_width() -> int | None:
    """The terminal's columns; None where what is printed is no terminal's."""
    return max(40, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def wrap(line: str, width: int | None) -> list[str]:
    """Return a line as lines of at most so many columns, which go on where its text begins."""
    if width is None or len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, width, subsequent_indent=f"{indent}  ", break_long_words=False, break_on_hyphens=False)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> Iterator[str]:
    """Yield the lines, heads first; the widest columns are wrapped where the table would be wider than `width`."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    if width is not None:
        _narrow(widths, width - len(GAP) * (len(heads) - 1))
    for row in (heads, *rows):
        cells = [
            textwrap.wrap(text, most, break_on_hyphens=False) or [""] if len(text) > most else [text]
            for text, most in zip(row, widths, strict=True)
        ]
        for number in range(max(map(len, cells))):
            line = [cell[number] if number < len(cell) else "" for cell in cells]
            yield GAP.join(f"{text:<{most}}" for text, most in zip(line, widths, strict=True)).rstrip()


def _narrow(widths: list[int], room: int) -> None:
    """Take from the widest column again and again what is too much."""
    while sum(widths) > room and (widest := max(widths)) > NARROWEST:
        widths[widths.index(widest)] -= 1


def format_data(data: Mapping[str, Any], fields: Sequence[str], rows: Sequence[Mapping[str, Any]], form: str) -> str:
    """The data as JSON or YAML, or these fields of its rows as CSV."""
    if form == "json":
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    if form == "yaml":
        import yaml

        return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


class Progress:
    """A line that is written over. Nothing is shown where the stream is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = False

    def __enter__(self) -> "Progress":
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
