"""A bounded memo, such as that of a NodeTable."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

MEMO_LIMIT = 4096


def remember(memo: dict[Hashable, Any], key: Hashable, make: Callable[[], T]) -> T:
    """Return the memo's value for the key, or compute and store the value. A full memo is cleared first."""
    try:
        value: T = memo[key]
    except KeyError:
        if len(memo) >= MEMO_LIMIT:
            memo.clear()
        value = memo[key] = make()
    return value
