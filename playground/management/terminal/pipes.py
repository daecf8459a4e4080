"""What is printed may have a reader that stops reading, as `head` does: then no more is said, and nothing of an error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

CLOSED = 141  # what a shell says of a program that the signal for this has ended


@contextmanager
def may_close() -> Iterator[None]:
    """Around all that prints."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED)
