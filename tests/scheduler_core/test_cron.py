"""kube: github.com/robfig/cron/v3 spec_test.go, parser_test.go"""

from datetime import UTC, datetime

import pytest

from scheduler_core.base.clock.cron import BadSchedule, parse_schedule


def after(moment, text, zone=None):
    found = parse_schedule(text, zone).next(int(datetime.fromisoformat(moment).timestamp()))
    return None if found is None else datetime.fromtimestamp(found, UTC)


@pytest.mark.parametrize(
    ("moment", "text", "following"),
    [
        ("2012-07-09T14:45Z", "0/15 * * * *", "2012-07-09T15:00Z"),
        ("2012-07-09T14:59:59Z", "0/15 * * * *", "2012-07-09T15:00Z"),
        ("2012-07-09T15:45Z", "20-35/15 * * * *", "2012-07-09T16:20Z"),
        ("2012-07-09T23:46Z", "*/15 * * * *", "2012-07-10T00:00Z"),
        ("2012-07-09T23:35:51Z", "20-35/15 1/2 */2 * *", "2012-07-11T01:20Z"),
        ("2012-07-09T23:35Z", "0 0 9 Apr-Oct ?", "2012-08-09T00:00Z"),
        ("2012-07-09T23:35Z", "0 0 */5 Apr,Aug,Oct Mon", "2012-08-01T00:00Z"),
        ("2012-07-09T23:35Z", "0 0 */5 Oct Mon", "2012-10-01T00:00Z"),
        ("2012-07-09T23:35Z", "0 0 * Feb Mon", "2013-02-04T00:00Z"),
        ("2012-07-09T23:35Z", "0 0 * Feb Mon/2", "2013-02-01T00:00Z"),
        ("2012-12-31T23:59:45Z", "* * * * *", "2013-01-01T00:00Z"),
        ("2012-07-09T23:35Z", "0 0 29 Feb ?", "2016-02-29T00:00Z"),
        ("2012-07-09T23:35Z", "0 0 15 * Sun", "2012-07-15T00:00Z"),
        ("2012-07-09T14:45Z", "@hourly", "2012-07-09T15:00Z"),
        ("2012-07-09T14:45Z", "@weekly", "2012-07-15T00:00Z"),
        ("2012-07-09T14:45Z", "@every 1h30m", "2012-07-09T16:15Z"),
    ],
)
def test_the_next_moment(moment, text, following):
    assert after(moment, text) == datetime.fromisoformat(following)


@pytest.mark.parametrize(
    ("moment", "text", "following"),
    [
        ("2012-03-11T00:00-05:00", "30 2 11 Mar ?", "2013-03-11T02:30-04:00"),
        ("2012-03-11T01:00-05:00", "0 * * * ?", "2012-03-11T03:00-04:00"),
        ("2012-03-11T00:00-05:00", "0 2 * * ?", "2012-03-12T02:00-04:00"),
        ("2012-11-04T00:00-04:00", "30 2 4 Nov ?", "2012-11-04T02:30-05:00"),
        ("2012-11-04T01:45-04:00", "30 1 4 Nov ?", "2012-11-04T01:30-05:00"),
        ("2012-11-04T01:00-04:00", "0 * * * ?", "2012-11-04T01:00-05:00"),
        ("2012-11-04T01:00-05:00", "0 1 * * ?", "2012-11-05T01:00-05:00"),
        ("2012-11-04T02:00-05:00", "0 3 * * ?", "2012-11-04T03:00-05:00"),
    ],
)
def test_clocks_that_are_changed_leave_hours_out_or_have_them_twice(moment, text, following):
    assert after(moment, text, "America/New_York") == datetime.fromisoformat(following)


def test_a_zone_in_the_text_goes_first():
    assert after("2026-01-01T00:00Z", "TZ=Asia/Tokyo 0 0 * * *", "UTC") == datetime(2026, 1, 1, 15, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0 0 30 Feb ?", "0 0 31 Apr ?"])
def test_a_day_that_never_comes(text):
    assert after("2012-07-09T23:35Z", text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty spec string"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* * * * 7", "end of range (7) above maximum (6): 7"),
        ("5-4 * * * *", "beginning of range (5) beyond end of range (4): 5-4"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("@fortnightly", "unrecognized descriptor: @fortnightly"),
        ("j * * * *", 'failed to parse int from j: strconv.Atoi: parsing "j": invalid syntax'),
        ("TZ=Nowhere/X * * * * *", "provided bad location Nowhere/X: unknown time zone Nowhere/X"),
    ],
)
def test_what_cannot_be_read_is_refused_in_kubes_words(text, message):
    with pytest.raises(BadSchedule) as refused:
        parse_schedule(text)
    assert str(refused.value) == message
