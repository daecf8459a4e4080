"""Durations as Go reads and prints them. Go: time.ParseDuration, Duration.String"""

import pytest

from scheduler_core.apimachinery.objects.durations import go_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "nanoseconds", "printed"),
    [
        ("0", 0, "0s"),
        ("15s", 15 * 10**9, "15s"),
        ("+5s", 5 * 10**9, "5s"),
        ("-1.5h", -5400 * 10**9, "-1h30m0s"),
        ("1h2m3.5s", 3723_500_000_000, "1h2m3.5s"),
        ("2400ms", 2_400_000_000, "2.4s"),
        (".5s", 500_000_000, "500ms"),
        ("1.s", 10**9, "1s"),
        ("10us", 10_000, "10µs"),
        ("3ns", 3, "3ns"),
    ],
)
def test_a_duration(text: str, nanoseconds: int, printed: str) -> None:
    assert parse_duration(text) == nanoseconds
    assert go_duration(nanoseconds) == printed


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("abc", 'time: invalid duration "abc"'),
        (".s", 'time: invalid duration ".s"'),
        ("3000000h", 'time: invalid duration "3000000h"'),
        ("10", 'time: missing unit in duration "10"'),
        ("1s5", 'time: missing unit in duration "1s5"'),
        ("2d", 'time: unknown unit "d" in duration "2d"'),
    ],
)
def test_no_duration(text: str, error: str) -> None:
    with pytest.raises(ValueError) as raised:
        parse_duration(text)
    assert str(raised.value) == error
