"""Room on the stack for trees as deep as kube allows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from scheduler_core.apimachinery.cel.syntax.tree import Node

_FRAMES = 12_000  # 250 levels within each other, eight calls each, and what calls us
_USUAL = 40  # levels for which there is room anyway


def is_deep(tree: Node) -> bool:
    """Return whether evaluating the tree needs more room on the stack than usual."""
    level, depth = [tree], 0
    while level and depth <= _USUAL:
        level = [child for node in level for child in node.children()]
        depth += 1
    return bool(level)


@contextmanager
def room_for_deep_trees() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
