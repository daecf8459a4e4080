"""How much memory a process has, as both sides of the pipe look at it (proc(5), statm)."""

from __future__ import annotations

import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(process: int | str | None = "self") -> int:
    """Its bytes of memory; 0 where there is no such process, or the system does not say it."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * PAGE
