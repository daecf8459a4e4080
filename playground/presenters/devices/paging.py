"""Which rows of a long list are shown."""

from __future__ import annotations

from typing import Any, NamedTuple

PAGE = 50


class Window(NamedTuple):
    """Rows from `start` up to `end` of `total`."""

    start: int
    end: int
    total: int

    def to_json(self) -> dict[str, Any]:
        """Pages count from 0; `previous` and `following` are None where there is none."""
        page = self.start // PAGE
        return {
            "first": self.start + 1 if self.total else 0,
            "last": self.end,
            "total": self.total,
            "previous": page - 1 if page else None,
            "following": page + 1 if self.end < self.total else None,
        }


def window(total: int, page: int) -> Window:
    """The page that was asked for, or the last one."""
    start = min(page, max(total - 1, 0) // PAGE) * PAGE
    return Window(start, min(start + PAGE, total), total)
