"""What docs/walks.md says: the hops of each walk."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Hop(NamedTuple):
    """A call into a module's function (`Class.method` or `function`), by the path from the root."""

    number: int
    file: str
    function: str


class Walk(NamedTuple):
    hops: list[Hop]
    crossings: int


def walks() -> dict[str, Walk]:
    """By title."""
    parts = (ROOT / "docs/walks.md").read_text().split("\n## ")[1:]
    return {part.split("\n", 1)[0]: _walk(part) for part in parts}


def _walk(text: str) -> Walk:
    rows = re.findall(r"^\| (\d*) ?\| ([^|]+?) \| ([^|]*?) ?\|", text, flags=re.MULTILINE)
    hops = [Hop(int(number), file, function) for number, file, function in rows if number]
    return Walk(hops, len(rows) - len(hops))
