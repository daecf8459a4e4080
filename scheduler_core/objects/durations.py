"""Durations as Go's time.ParseDuration reads them ("10s", "1m30s"), in nanoseconds.

Go: src/time/format.go
"""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_MOST_CHARACTERS = 40


def parse_duration(text: str) -> int:
    """Nanoseconds. ValueError where the text is no duration."""
    sign = -1 if text.startswith("-") else 1
    rest = text.lstrip("+-") if text[:1] in "+-" else text
    if rest == "0":
        return 0
    parts = _PART.findall(rest) if len(text) <= _MOST_CHARACTERS else []
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        raise ValueError(f"{text!r} is not a duration; write it as 30s or 1m30s")
    return sign * sum(int(Fraction(number) * _UNITS[unit]) for number, unit in parts)
