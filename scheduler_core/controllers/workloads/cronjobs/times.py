"""Which of a CronJob's moments is due, and when the next one is.

kube: pkg/controller/cronjob/utils.go @ v1.34.1
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_core.apimachinery.objects.times import SECOND, parse_time
from scheduler_core.base.clock.agenda import MILLISECOND
from scheduler_core.base.clock.cron import BadSchedule, Schedule, parse_schedule
from scheduler_core.controllers.workloads.owners import Owner

DELTA = 100 * MILLISECOND  # by which a look at a schedule comes after its moment
MANY = 100


class Due(NamedTuple):
    """The latest moment that has come and the one from which it was looked for, in seconds since 1970; how many were missed."""

    since: int
    at: int | None
    missed: int


def schedule_of(owner: Owner) -> Schedule:
    """The schedule in the CronJob's time zone. BadSchedule."""
    return parse_schedule(str(owner.spec.get("schedule") or ""), owner.spec.get("timeZone"))


def most_recent(owner: Owner, schedule: Schedule, now: int, deadline: bool = True) -> Due:
    """`now`: ns since 1970. `deadline`: startingDeadlineSeconds counts. BadSchedule where moments are less than a second apart.

    kube: mostRecentScheduleTime
    """
    since = (
        parse_time(owner.status.get("lastScheduleTime") or owner.manifest["metadata"]["creationTimestamp"]) // SECOND
    )
    limit = owner.spec.get("startingDeadlineSeconds")
    if deadline and limit is not None:
        since = max(since, (now - limit * SECOND) // SECOND)
    first = schedule.next(since)
    second = None if first is None else schedule.next(first)
    if first is None or now < first * SECOND:
        return Due(since, None, 0)
    if second is None or now < second * SECOND:
        return Due(since, first, 0)
    period = second - first
    if period < 1:
        raise BadSchedule("time difference between two schedules is less than 1 second")
    # As in kube, the distance of the first two moments leads close to now without a step for each one missed; the loop
    # below then finds the latest one, even where the distances differ.
    missed = (now // SECOND - first) // period + 1
    at, following = None, schedule.next(first + (missed - 2) * period)
    while following is not None and following * SECOND <= now:
        at, following = following, schedule.next(following)
    return Due(since, at, missed)


def next_look(owner: Owner, schedule: Schedule, now: int) -> int | None:
    """Return the time of the CronJob's next sync (ns since 1970); None if its schedule never fires again.

    kube: nextScheduleTimeDuration
    """
    try:
        due = most_recent(owner, schedule, now, deadline=False)
    except BadSchedule:
        due = Due(0, now // SECOND, 0)
    start = due.at if due.at is not None else now // SECOND if due.missed else due.since
    at = schedule.next(start)
    return None if at is None else at * SECOND + DELTA
