"""Tables as kubectl prints them: columns as wide as what stands in them, three blanks between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines, heads first."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        yield "   ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
