"""What docs/walks.md says: the hops of each walk."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Hop(NamedTuple):
    """A call into a module's function (`Class.method` or `function`), by the path from the root."""

    number: int
    file: str
    function: str


class Counts(NamedTuple):
    """The figures of a walk: calls, crossings, changes of folder, and changes to a folder that had been left."""

    calls: int
    crossings: int
    changes: int
    returns: int


class Walk(NamedTuple):
    hops: list[Hop]
    crossings: int

    def count(self) -> Counts:
        """Count what a reader has to follow."""
        folders = [str(Path(hop.file).parent) for hop in self.hops]
        entered = [after for before, after in pairwise(folders) if before != after]
        seen, returns = {folders[0]}, 0
        for folder in entered:
            returns += folder in seen
            seen.add(folder)
        return Counts(len(self.hops), self.crossings, len(entered), returns)


def walks() -> dict[str, Walk]:
    """By title."""
    parts = (ROOT / "docs/walks.md").read_text().split("\n## ")[1:]
    return {part.split("\n", 1)[0]: _walk(part) for part in parts}


def stated() -> dict[str, Counts]:
    """The table of docs/walks.md."""
    rows = re.findall(
        r"^\| ([^|]+?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$",
        (ROOT / "docs/walks.md").read_text(),
        flags=re.MULTILINE,
    )
    return {title: Counts(*map(int, figures)) for title, *figures in rows}


def _walk(text: str) -> Walk:
    rows = re.findall(r"^\| (\d*) ?\| ([^|]+?) \| ([^|]*?) ?\|", text, flags=re.MULTILINE)
    hops = [Hop(int(number), file, function) for number, file, function in rows if number]
    return Walk(hops, len(rows) - len(hops))
