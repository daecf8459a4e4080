"""The order in which Go's sort.Slice leaves equal items.

Up to 12 items are sorted by insertion, so equal items keep their order. Longer slices are sorted by a pattern-defeating quicksort whose
pivots and swaps depend only on the length and the comparisons, so the order of equal items is the same on every run.

Source: Orson Peters, "Pattern-defeating Quicksort" (arXiv 2106.05123), as Go has had it since 1.19 (package sort).
"""

from collections.abc import Callable
from typing import Any, TypeVar

INSERTION = 12  # up to so many items are sorted by insertion
NINTHER = 50  # from so many on, the pivot is a median of medians, and a nearly sorted range is fixed
MENDS = 5
MOST_SWAPS = 12  # a pivot search with so many swaps indicates a descending range

T = TypeVar("T")
Key = Callable[[Any], Any]


def go_sorted(items: list[T], key: Key) -> list[T]:
    """Return a sorted copy, ascending by key, with equals in the order of sort.Slice."""
    keys = [key(item) for item in items]
    if len(items) <= INSERTION or len(set(keys)) == len(keys):
        return [items[i] for i in sorted(range(len(items)), key=keys.__getitem__)]
    order = _Range(keys)
    order.sort(0, len(keys), len(keys).bit_length())
    return [items[i] for i in order.at]


class _Range:
    """Positions being sorted: `at` holds indices into the keys; ranges are half-open, [a, b)."""

    def __init__(self, keys: list[Any]) -> None:
        self.keys = keys
        self.at = list(range(len(keys)))

    def less(self, i: int, j: int) -> bool:
        return bool(self.keys[self.at[i]] < self.keys[self.at[j]])

    def swap(self, i: int, j: int) -> None:
        self.at[i], self.at[j] = self.at[j], self.at[i]

    def sort(self, a: int, b: int, bad_pivots: int) -> None:
        """Sort a range. `bad_pivots` is the number of unbalanced partitions before the range is heap sorted."""
        balanced = partitioned = True
        while b - a > INSERTION:
            if bad_pivots == 0:
                self._heap(a, b)
                return
            if not balanced:
                self._scatter(a, b)
                bad_pivots -= 1
            pivot, swaps = self._pivot(a, b)
            if swaps == MOST_SWAPS:
                self.at[a:b] = self.at[a:b][::-1]
                pivot = b - 1 - (pivot - a)
            rising = swaps in (0, MOST_SWAPS)
            if balanced and partitioned and rising and self._mend(a, b):
                return
            if a > 0 and not self.less(a - 1, pivot):
                a = self._split_equal(a, b, pivot)
                continue
            middle, partitioned = self._split(a, b, pivot)
            left, right = middle - a, b - middle
            balanced = min(left, right) >= (b - a) // 8
            if left < right:
                self.sort(a, middle, bad_pivots)
                a = middle + 1
            else:
                self.sort(middle + 1, b, bad_pivots)
                b = middle
        self.at[a:b] = sorted(self.at[a:b], key=self.keys.__getitem__)

    def _pivot(self, a: int, b: int) -> tuple[int, int]:
        """Return the pivot's position, and the number of swapped pairs."""
        quarter = (b - a) // 4
        places = [a + quarter, a + 2 * quarter, a + 3 * quarter]
        swaps = 0
        if b - a >= NINTHER:
            for n, place in enumerate(places):
                places[n], swaps = self._median(place - 1, place, place + 1, swaps)
        return self._median(places[0], places[1], places[2], swaps)

    def _median(self, i: int, j: int, k: int, swaps: int) -> tuple[int, int]:
        if self.less(j, i):
            i, j, swaps = j, i, swaps + 1
        if self.less(k, j):
            j, k, swaps = k, j, swaps + 1
        if self.less(j, i):
            i, j, swaps = j, i, swaps + 1
        return j, swaps

    def _split(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Move smaller items before the pivot and others behind it. Return its new position, and whether no item moved."""
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        swapped = False
        while True:
            while i <= j and self.less(i, a):
                i += 1
            while i <= j and not self.less(j, a):
                j -= 1
            if i > j:
                break
            self.swap(i, j)
            swapped = True
            i, j = i + 1, j - 1
        self.swap(j, a)
        return j, not swapped

    def _split_equal(self, a: int, b: int, pivot: int) -> int:
        """Move items equal to the pivot to the front of a range without smaller ones. Return the start of the greater ones."""
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self.less(a, i):
                i += 1
            while i <= j and self.less(a, j):
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i, j = i + 1, j - 1

    def _mend(self, a: int, b: int) -> bool:
        """Fix a few misplaced items (in long ranges only). Return whether the range is sorted."""
        i = a + 1
        for _ in range(MENDS):
            while i < b and not self.less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < NINTHER:
                return False
            self.swap(i, i - 1)
            if i - a >= 2:
                self._sink(i - 1, 0, -1)
            if b - i >= 2:
                self._sink(i + 1, b, 1)
        return False

    def _sink(self, start: int, end: int, step: int) -> None:
        """Move an item pair by pair until its place is right."""
        for j in range(start, end, step):
            if not self.less(j, j - 1):
                return
            self.swap(j, j - 1)

    def _scatter(self, a: int, b: int) -> None:
        """Swap three middle items with pseudorandom ones (xorshift, seeded by the length), to break unbalanced patterns."""
        length = b - a
        drawn, mask = length, (1 << length.bit_length()) - 1
        middle = a + length // 4 * 2
        for place in (middle - 1, middle, middle + 1):
            drawn ^= drawn << 13 & _WORD
            drawn ^= drawn >> 7
            drawn ^= drawn << 17 & _WORD
            other = drawn & mask
            self.swap(place, a + (other - length if other >= length else other))

    def _heap(self, a: int, b: int) -> None:
        size = b - a
        for root in range((size - 1) // 2, -1, -1):
            self._sift(a, root, size)
        for last in range(size - 1, -1, -1):
            self.swap(a, a + last)
            self._sift(a, 0, last)

    def _sift(self, first: int, root: int, size: int) -> None:
        while (child := 2 * root + 1) < size:
            if child + 1 < size and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child


_WORD = (1 << 64) - 1
