"""Memory: the collector at the wrong moment costs a second, and what it frees is to go back to the system."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Iterator


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


def release_memory() -> None:
    """Collect what nothing needs, and give it back to the system where its library can (malloc_trim(3))."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
