"""One page of a long list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playground.views.responses import whole_number


@dataclass(frozen=True)
class Page:
    """`rows` of all `total`; `number` counts from 1. `first` and `last` are the rows' numbers, from 1."""

    rows: Sequence[Any]
    number: int
    pages: int
    total: int
    first: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def following(self) -> int | None:
        return self.number + 1 if self.number < self.pages else None


def page_of(rows: Sequence[Any], wanted: str, size: int) -> Page:
    """The page that was asked for, or the nearest one that exists."""
    pages = max(1, -(-len(rows) // size))
    number = min(max(whole_number(wanted, 9) or 1, 1), pages)
    start = (number - 1) * size
    return Page(rows[start : start + size], number, pages, len(rows), start + 1 if rows else 0)
