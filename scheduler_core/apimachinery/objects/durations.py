"""Durations as Go reads (time.ParseDuration) and prints them (Duration.String)."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LONGEST = 1 << 63  # ns; Go's durations are signed 64 bit
_PART = re.compile(r"(?=\.?[0-9])(?P<whole>[0-9]*)(?P<fraction>\.[0-9]*)?(?P<unit>[^0-9.]*)")


@lru_cache(maxsize=256)
def parse_duration(text: str) -> int:
    """Return the nanoseconds of a text such as `1h30m`, `-1.5s`, or `0`. Raise ValueError with Go's message."""
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in ("-", "+") else text
    total = 0
    for part in [] if rest == "0" else _parts(rest, text):
        total += _nanoseconds(part, text)
    if total > _LONGEST - (not negative):
        raise _invalid("invalid duration", text)
    return -total if negative else total


def _parts(rest: str, text: str) -> Iterator[re.Match[str]]:
    """The numbers with their units; at least one."""
    while True:
        part = _PART.match(rest)
        if part is None:
            raise _invalid("invalid duration", text)
        yield part
        rest = rest[part.end() :]
        if not rest:
            return


def _nanoseconds(part: re.Match[str], text: str) -> int:
    unit = part["unit"]
    if not unit:
        raise _invalid("missing unit in duration", text)
    if unit not in _UNITS:
        raise _invalid(f"unknown unit {json.dumps(unit, ensure_ascii=False)} in duration", text)
    digits = (part["fraction"] or ".")[1:]
    scale = int(f"1{'0' * len(digits)}")
    return (int(part["whole"] or "0") * scale + int(digits or "0")) * _UNITS[unit] // scale


def _invalid(what: str, text: str) -> ValueError:
    return ValueError(f"time: {what} {json.dumps(text, ensure_ascii=False)}")


def go_duration(nanoseconds: int) -> str:
    """Return a duration as Go prints it, such as 1m30s, 2.5s, or 300ms."""
    if nanoseconds < 0:
        return f"-{go_duration(-nanoseconds)}"
    if nanoseconds == 0:
        return "0s"
    if nanoseconds < 1_000_000_000:
        for unit, size in (("ms", 1_000_000), ("µs", 1_000), ("ns", 1)):
            if nanoseconds >= size:
                return f"{_decimal(nanoseconds, size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, 1_000_000_000)}s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = str(rest + unit)[1:].rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
