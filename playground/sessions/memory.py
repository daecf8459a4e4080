"""The collector and the C library: what they do at the wrong moment costs a second, what they leave undone costs memory."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from collections.abc import Iterator


def trim() -> None:
    """Hand freed memory back where the C library can (glibc)."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Makes many objects without the collector looking for loops among all that there are; what is made here forms none."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
