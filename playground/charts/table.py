"""A chart's numbers as CSV (RFC 4180)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

CONTENT_TYPE = "text/csv; charset=utf-8"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A heading and rows; no cell is a formula (harmless)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([harmless(name) for name in head])
    writer.writerows([harmless(value) for value in row] for row in rows)
    return out.getvalue()


def harmless(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, with an apostrophe before it; full-width signs count where Chinese is written."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
