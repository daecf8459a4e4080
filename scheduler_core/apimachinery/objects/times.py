"""Timestamps of manifests: RFC 3339 text and integer nanoseconds since 1970."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

SECOND = 1_000_000_000
NEVER = 1 << 62  # ns since 1970: later than any start but one in a far future
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)  # the end of the year 9999


@lru_cache(maxsize=16384)
def parse_time(text: str) -> int:
    """Return nanoseconds since 1970 (to the microsecond). Raise ValueError if the text is not RFC 3339 with a time zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone; write it as 2026-01-31T12:00:00Z")
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * SECOND + delta.microseconds * 1000


@lru_cache(maxsize=1024)
def format_time(nanoseconds: int) -> str:
    """Format a time as metav1.Time does: whole seconds, UTC."""
    return _format_seconds(nanoseconds // SECOND)


@lru_cache(maxsize=64)
def _format_seconds(seconds: int) -> str:
    """Return seconds since 1970 as RFC 3339. DEVIATION: a time beyond the range of RFC 3339 becomes the last one; Go's encoder fails
    there.
    """
    return (_EPOCH + timedelta(seconds=max(_FIRST, min(seconds, _LAST)))).replace(tzinfo=None).isoformat() + "Z"


def format_micro_time(nanoseconds: int) -> str:
    """Format a time as metav1.MicroTime does: microseconds, UTC."""
    seconds, rest = divmod(nanoseconds, SECOND)
    return f"{_format_seconds(seconds)[:-1]}.{rest // 1000:06}Z"


def optional_time(text: str | None) -> int | None:
    return parse_time(text) if text else None
