"""A bounded memo, such as a NodeTable has."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

MEMO_LIMIT = 4096


def remember(memo: dict[Hashable, Any], key: Hashable, make: Callable[[], T]) -> T:
    """The memo's value for the key, made when it is missing. A full memo starts again, so that it stays bounded."""
    try:
        value: T = memo[key]
    except KeyError:
        if len(memo) >= MEMO_LIMIT:
            memo.clear()
        value = memo[key] = make()
    return value
