"""Room on the stack for trees as deep as kube allows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_FRAMES = 12_000  # 250 levels within each other, eight calls each, and what calls us


@contextmanager
def room_for_deep_trees() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
