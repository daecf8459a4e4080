"""How fast is this machine? A fixed piece of work, so that figures from different machines can be related."""

from __future__ import annotations

import time

import numpy as np

LOOPS = 200_000
VECTORS = 2_000
LENGTH = 5_000


def probe() -> dict[str, float]:
    """The best of five, in milliseconds of CPU time: a loop of plain Python, and a loop of numpy calls over short vectors."""
    return {
        "python_ms": round(min(_cpu(_python) for _ in range(5)) * 1e3, 2),
        "numpy_ms": round(min(_cpu(_numpy) for _ in range(5)) * 1e3, 2),
    }


def _cpu(work: object) -> float:
    assert callable(work)
    started = time.process_time()
    work()
    return time.process_time() - started


def _python() -> int:
    counts: dict[int, int] = {}
    total = 0
    for i in range(LOOPS):
        key = i % 97
        counts[key] = counts.get(key, 0) + i
        total += counts[key] & 1023
    return total


def _numpy() -> int:
    values = np.arange(LENGTH, dtype=np.int64)
    total = 0
    for i in range(VECTORS):
        scores = (values * i) // 1009
        total += int(scores[scores > i].sum())
    return total
