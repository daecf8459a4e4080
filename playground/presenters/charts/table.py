"""A chart's numbers as CSV (RFC 4180)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from scheduler_core.formats.export import harmless

CONTENT_TYPE = "text/csv; charset=utf-8"


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A heading and rows; no cell is a formula (harmless)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([harmless(name) for name in head])
    writer.writerows([harmless(value) for value in row] for row in rows)
    return out.getvalue()
