"""Exit statuses of the commands that read clusters: one table for all of them (docs/commands.md)."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable

HELP = (
    "Exit status: 0 all is well, 1 something waits or is missing, 2 the input, or a part of it, can't be used, "
    "3 something failed, was refused, or is stuck; of several the highest."
)


class Exit(enum.IntEnum):
    """The exit status of a command."""

    WELL = 0
    WAITS = 1
    UNUSABLE = 2
    FAILED = 3


def leave(found: Iterable[Exit]) -> None:
    """Ends the process with the highest of what was found; returns where all is well."""
    if worst := max(found, default=Exit.WELL):
        sys.exit(worst)
