"""Names of many objects from one pattern: `node-{i}`, `{zone}-worker-{i}`."""

import re
from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _


class PatternError(ValueError):
    """A pattern that cannot name the objects asked for."""


def expand(pattern: str, count: int, first: int = 1, zones: Sequence[str] = ()) -> list[str]:
    """`count` names. {i} counts from `first`, {zone} is the object's zone (zones take turns).

    A pattern without {i} gets `-{i}` at its end where it would name two objects alike.
    """
    names = _fill(pattern, count, first, zones)
    if "{i}" not in pattern and len(set(names)) < len(names):
        names = _fill(f"{pattern}-{{i}}", count, first, zones)
    if left := [name for name in names[:1] if "{" in name or "}" in name]:
        raise PatternError(_("“%(name)s” contains a brace. A pattern can use {i} and {zone}") % {"name": left[0]})
    return names


def _fill(pattern: str, count: int, first: int, zones: Sequence[str]) -> list[str]:
    return [
        pattern.replace("{i}", str(first + index)).replace("{zone}", zones[index % len(zones)] if zones else "")
        for index in range(count)
    ]


def next_index(pattern: str, taken: Iterable[str]) -> int:
    """Return the first value of {i} above all names of the pattern: one after the highest."""
    before, _braces, after = pattern.partition("{i}")
    shape = re.compile(re.escape(before) + r"(\d{1,9})" + re.escape(after))
    numbers = [int(match[1]) for name in taken if (match := shape.fullmatch(name))]
    return max(numbers, default=0) + 1
