"""Timestamps and durations: their parts, parsing, and formatting.

kube: vendor/github.com/google/cel-go/common/stdlib/standard.go, common/types/{timestamp,duration}.go @ v1.34.1 (cel-go v0.26.0)
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from scheduler_core.apimachinery.cel.operators import SECOND
from scheduler_core.apimachinery.cel.values import Duration, Failure, Timestamp
from scheduler_core.base.clock.cron import BadSchedule, zone_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))\Z"
)
_CYCLE = timedelta(days=146_097)
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}\Z")


def parse_timestamp(text: str) -> Timestamp | None:
    """None where the text is not RFC 3339 or is no date."""
    match = _RFC3339.match(text)
    if match is None:
        return None
    *numbers, fraction, sign, hours, minutes = match.groups()
    # Not >=: Go lets offsets of 24 hours and of 60 minutes pass (time/format.go, Parse).
    if sign is not None and (int(hours) > 24 or int(minutes) > 60):
        return None
    offset = 0 if sign is None else (int(hours) * 60 + int(minutes)) * (-60 if sign == "-" else 60)
    try:
        moment = datetime(*map(int, numbers), tzinfo=UTC)  # type: ignore[misc,arg-type]
    except ValueError:
        return None
    delta = moment - _EPOCH
    nanoseconds = int((fraction or "0")[:9].ljust(9, "0"))
    return Timestamp((delta.days * 86_400 + delta.seconds - offset) * SECOND + nanoseconds, offset)


def timestamp_text(moment: Timestamp) -> str:
    """Format a timestamp as time.RFC3339Nano."""
    seconds, nanoseconds = divmod(moment.nanoseconds, SECOND)
    local = _EPOCH.replace(tzinfo=None) + timedelta(seconds=seconds + moment.offset)
    fraction = f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""
    zone = "Z"
    if moment.offset:
        hours, minutes = divmod(abs(moment.offset) // 60, 60)
        zone = f"{'-' if moment.offset < 0 else '+'}{hours:02}:{minutes:02}"
    return f"{local.isoformat()}{fraction}{zone}"


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo | Failure:
    """Return the time zone of a name or of an offset such as -02:30. DEVIATION: "Local" is invalid, because it depends on the machine."""
    if ":" in name:
        hours, _, minutes = name.partition(":")
        for part in (hours, minutes):
            if not _NUMBER.match(part):
                return Failure(f'strconv.Atoi: parsing "{part}": invalid syntax')
        count = int(hours) * 60 + (-int(minutes) if name[0] == "-" else int(minutes))
        if abs(count) >= 24 * 60:
            return Failure(f"unknown time zone {name}")
        return timezone(timedelta(minutes=count))
    if ".." in name or name[:1] in ("/", "\\"):
        return Failure("time: invalid location name")
    try:
        return zone_of(name)
    except BadSchedule:
        return Failure(f"unknown time zone {name}")


def _years(part: Callable[[datetime, int], int], shift: timedelta) -> int:
    if part is not _year:
        return 0
    return 400 if shift > timedelta(0) else -400


def _year(local: datetime, _: int) -> int:
    return local.year


def _part(part: Callable[[datetime, int], int]) -> Callable[..., object]:
    """One part of a timestamp in a zone; UTC where none is named."""

    def of(moment: Timestamp, zone: str = "UTC") -> object:
        found = _zone(zone)
        if isinstance(found, Failure):
            return found
        seconds, nanoseconds = divmod(moment.nanoseconds, SECOND)
        try:
            local = (_EPOCH + timedelta(seconds=seconds)).astimezone(found)
        except OverflowError:  # in year 0 or 10000 there: the calendar repeats itself after 400 years
            shift = _CYCLE if seconds < 0 else -_CYCLE
            local = (_EPOCH + timedelta(seconds=seconds) + shift).astimezone(found)
            return part(local, nanoseconds) - _years(part, shift)
        return part(local, nanoseconds)

    return of


_PARTS: dict[str, Callable[[datetime, int], int]] = {
    "timestamp_to_year": _year,
    "timestamp_to_month": lambda local, _: local.month - 1,
    "timestamp_to_day_of_year": lambda local, _: local.timetuple().tm_yday - 1,
    "timestamp_to_day_of_month": lambda local, _: local.day - 1,
    "timestamp_to_day_of_month_1_based": lambda local, _: local.day,
    "timestamp_to_day_of_week": lambda local, _: (local.weekday() + 1) % 7,
    "timestamp_to_hours": lambda local, _: local.hour,
    "timestamp_to_minutes": lambda local, _: local.minute,
    "timestamp_to_seconds": lambda local, _: local.second,
    "timestamp_to_milliseconds": lambda local, nanoseconds: nanoseconds // 1_000_000,
}


def _whole(unit: int) -> Callable[[Duration], int]:
    """Whole units, towards zero."""

    def whole(duration: Duration) -> int:
        count = abs(duration.nanoseconds) // unit
        return count if duration.nanoseconds >= 0 else -count

    return whole


TIMES: dict[str, Callable[..., object]] = {name: _part(part) for name, part in _PARTS.items()}
TIMES |= {f"{name}_with_tz": _part(part) for name, part in _PARTS.items()}
TIMES["timestamp_to_seconds_tz"] = TIMES["timestamp_to_seconds"]
TIMES |= {
    "duration_to_hours": _whole(3600 * SECOND),
    "duration_to_minutes": _whole(60 * SECOND),
    "duration_to_seconds": _whole(SECOND),
    "duration_to_milliseconds": _whole(1_000_000),
}
