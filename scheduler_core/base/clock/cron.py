"""Cron schedules as CronJobs write them, and when they fire next.

Written here rather than taken from a library: kube's reader has rules of its own (days of month and of week are ORed unless one of them
is `*`, `?`, `@every`, no 7 for Sunday, hours that a change of the clocks leaves out are passed over) that the common ones do not share.
Time zones are those of the package tzdata, whatever the machine has: the same on all of them.

kube: github.com/robfig/cron/v3 @ v3.0.1 (ParseStandard, SpecSchedule.Next)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache, lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DATABASE = files("tzdata")
_NO_NAMES: Mapping[str, int] = {}
_FIELDS: tuple[tuple[int, int, Mapping[str, int]], ...] = (
    (0, 59, _NO_NAMES),
    (0, 23, _NO_NAMES),
    (1, 31, _NO_NAMES),
    (1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    (0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_YEARS = 5  # a schedule that does not fire for so long never does


class BadSchedule(ValueError):
    """A schedule that can't be read; the text is kube's."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron schedule. `every`: seconds between two runs; 0 if the other fields define the schedule."""

    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    all_days: bool = False  # of the month or of the week: then both have to fit, else one is enough
    zone: tzinfo = UTC
    every: int = 0

    def next(self, after: int) -> int | None:
        """Return the next time after `after` (both in seconds since 1970), or None if there is none within five years."""
        if self.every:
            return after + self.every
        at = after + 1
        last = self._local(at).year + _YEARS
        while True:
            local = self._local(at)
            if local.year > last:
                return None
            if local.month not in self.months:
                year, month = divmod(local.year * 12 + local.month, 12)
                at = self._midnight(year, month + 1, 1)
            elif not self._has_day(local):
                day = (local.replace(tzinfo=None) + timedelta(days=1)).date()
                at = self._midnight(day.year, day.month, day.day)
            elif local.hour not in self.hours:
                at += 3600 - local.minute * 60 - local.second
            elif local.minute not in self.minutes or local.second:
                at += 60 - local.second
            else:
                return at

    def _local(self, seconds: int) -> datetime:
        return datetime.fromtimestamp(seconds, self.zone)

    def _has_day(self, local: datetime) -> bool:
        of_month = local.day in self.days
        of_week = local.isoweekday() % 7 in self.weekdays
        return of_month and of_week if self.all_days else of_month or of_week

    def _midnight(self, year: int, month: int, day: int) -> int:
        return int(datetime(year, month, day, tzinfo=self.zone).timestamp())


@lru_cache(maxsize=256)
def parse_schedule(text: str, zone: str | None = None) -> Schedule:
    """Parse a schedule in a time zone (None: UTC). A zone in the text (TZ=...) takes precedence. Raise BadSchedule."""
    if not text:
        raise BadSchedule("empty spec string")
    if text.startswith(("TZ=", "CRON_TZ=")):
        given, _, text = text.partition(" ")
        zone = given.partition("=")[2]
    text = text.strip()
    where = UTC if zone is None else zone_of(zone)
    if text.startswith("@every "):
        return Schedule(every=_every(text))
    if text.startswith("@"):
        if text not in _DESCRIPTORS:
            raise BadSchedule(f"unrecognized descriptor: {text}")
        text = _DESCRIPTORS[text]
    words = text.split()
    if len(words) != len(_FIELDS):
        raise BadSchedule(f"expected exactly 5 fields, found {len(words)}: {words_of(words)}")
    fields = [_field(word, *bounds) for word, bounds in zip(words, _FIELDS, strict=True)]
    minutes, hours, days, months, weekdays = (numbers for numbers, _ in fields)
    return Schedule(minutes, hours, days, months, weekdays, fields[2][1] or fields[4][1], where)


def words_of(words: list[str]) -> str:
    """Format a list of texts as Go prints it."""
    return f"[{' '.join(words)}]"


def is_zone(name: str) -> bool:
    """Return whether the time zone exists."""
    try:
        zone_of(name)
    except BadSchedule:
        return False
    return True


@lru_cache(maxsize=256)
def zone_of(name: str) -> tzinfo:
    """A time zone by its name. BadSchedule."""
    if name in ("", "UTC"):
        return UTC
    if name not in _names():
        raise BadSchedule(f"provided bad location {name}: unknown time zone {name}")
    with _DATABASE.joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@cache
def _names() -> frozenset[str]:
    return frozenset(_DATABASE.joinpath("zones").read_text().split())


def _every(text: str) -> int:
    duration = text.removeprefix("@every ")
    parts = _DURATION.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise BadSchedule(f'failed to parse duration {text}: time: invalid duration "{duration}"')
    return max(1, int(sum(float(number) * _UNITS[unit] for number, unit in parts)))


def _field(text: str, least: int, most: int, names: Mapping[str, int]) -> tuple[frozenset[int], bool]:
    """Return the numbers of a field, and whether the field matches all numbers."""
    numbers: set[int] = set()
    every = False
    for part in (one for one in text.split(",") if one):
        found, whole = _range(part, least, most, names)
        numbers.update(found)
        every = every or whole
    return frozenset(numbers), every


def _range(text: str, least: int, most: int, names: Mapping[str, int]) -> tuple[range, bool]:
    span, *steps = text.split("/")
    ends = span.split("-")
    whole = ends[0] in ("*", "?")
    if whole:
        first, last = least, most
    else:
        first = _number(ends[0], names)
        last = first if len(ends) == 1 else _number(ends[1], names)
        if len(ends) > 2:
            raise BadSchedule(f"too many hyphens: {text}")
    step = 1
    if len(steps) > 1:
        raise BadSchedule(f"too many slashes: {text}")
    if steps:
        step = _number(steps[0], _NO_NAMES)
        last = most if len(ends) == 1 and not whole else last
        whole = whole and step <= 1
    if first < least:
        raise BadSchedule(f"beginning of range ({first}) below minimum ({least}): {text}")
    if last > most:
        raise BadSchedule(f"end of range ({last}) above maximum ({most}): {text}")
    if first > last:
        raise BadSchedule(f"beginning of range ({first}) beyond end of range ({last}): {text}")
    if step == 0:
        raise BadSchedule(f"step of range should be a positive number: {text}")
    return range(first, last + 1, step), whole


def _number(text: str, names: Mapping[str, int]) -> int:
    named = names.get(text.lower())
    if named is not None:
        return named
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise BadSchedule(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    number = int(text)
    if number < 0:
        raise BadSchedule(f"negative number ({number}) not allowed: {text}")
    return number
