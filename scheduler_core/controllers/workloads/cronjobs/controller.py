"""CronJobs: one Job for each scheduled time.

The timer of a waiting CronJob has the priority of timers, so that a world with nothing else to do counts as idle.

kube: pkg/controller/cronjob/cronjob_controllerv2.go @ v1.34.1
"""

from datetime import UTC, datetime
from typing import ClassVar, NamedTuple

from scheduler_core.apimachinery.objects.times import SECOND, format_time, optional_time, parse_time
from scheduler_core.apiserver import NORMAL, WARNING, Refused, WatchEvent
from scheduler_core.base.clock.agenda import MILLISECOND, TIMER
from scheduler_core.base.clock.cron import BadSchedule, Schedule, is_zone, parse_schedule
from scheduler_core.controllers.contract import World, WorldAction
from scheduler_core.controllers.workloads.cronjobs.jobs import Jobs
from scheduler_core.controllers.workloads.owners import Owner, resolve
from scheduler_core.controllers.workloads.watching import WorkloadController

# The due and the next scheduled time of a CronJob.
# kube: pkg/controller/cronjob/utils.go @ v1.34.1

DELTA = 100 * MILLISECOND  # the delay of a sync after the scheduled time
MANY = 100


class DueTime(NamedTuple):
    """The latest scheduled time that is due (or None), the start of the search, in seconds since 1970, and the number of missed times."""

    since: int
    at: int | None
    missed: int


def schedule_of(owner: Owner) -> Schedule:
    """Return the schedule in the CronJob's time zone. Raise BadSchedule."""
    return parse_schedule(str(owner.spec.get("schedule") or ""), owner.spec.get("timeZone"))


def most_recent(owner: Owner, schedule: Schedule, now: int, deadline: bool = True) -> DueTime:
    """Return the latest due time at `now` (ns since 1970). `deadline`: apply startingDeadlineSeconds. Raise BadSchedule (period < 1 s).

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
        return DueTime(since, None, 0)
    if second is None or now < second * SECOND:
        return DueTime(since, first, 0)
    period = second - first
    if period < 1:
        raise BadSchedule("time difference between two schedules is less than 1 second")
    # As in kube, the distance of the first two moments leads close to now without a step for each one missed; the loop
    # below then finds the latest one, even where the distances differ.
    missed = (now // SECOND - first) // period + 1
    at, following = None, schedule.next(first + (missed - 2) * period)
    while following is not None and following * SECOND <= now:
        at, following = following, schedule.next(following)
    return DueTime(since, at, missed)


def next_look(owner: Owner, schedule: Schedule, now: int) -> int | None:
    """Return the time of the CronJob's next sync (ns since 1970); None if its schedule never fires again.

    kube: nextScheduleTimeDuration
    """
    try:
        due = most_recent(owner, schedule, now, deadline=False)
    except BadSchedule:
        due = DueTime(0, now // SECOND, 0)
    start = due.at if due.at is not None else now // SECOND if due.missed else due.since
    at = schedule.next(start)
    return None if at is None else at * SECOND + DELTA


NAME = "cronjob-controller"


class FireSchedule(WorldAction, frozen=True):
    """Has a CronJob looked at, as a moment of its schedule has come."""

    priority: ClassVar[int] = TIMER
    key: str
    at: int

    def stands(self, world: World) -> bool:
        """the CronJob is waiting for this moment"""
        return world.surroundings.workloads.schedules.get(self.key) == self.at

    def run(self, world: World) -> None:
        del world.surroundings.workloads.schedules[self.key]
        world.controller(NAME).enqueue(world, self.key, 0)


class CronJobController(WorkloadController):
    """Makes a CronJob's Jobs."""

    name = NAME
    component = NAME
    kind = "CronJob"
    watches = ("CronJob", "Job")
    actions = (FireSchedule,)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Job":
            for manifest in (event.old, event.new):
                if key := resolve(world, self.kind, manifest):
                    self.enqueue(world, key)
        elif event.new is None:
            world.surroundings.workloads.schedules.pop(f"{event.namespace}/{event.name}", None)
        elif _has_another_schedule(event):
            self._wait(world, Owner.of(event.new))  # times that the new schedule would have missed are not made up for
        else:
            super().on_watch(world, event)

    def _wait(self, world: World, owner: Owner) -> None:
        """Schedule a sync of a CronJob for its next scheduled time. An earlier planned sync takes precedence."""
        try:
            schedule = schedule_of(owner)
        except BadSchedule:
            return  # reported by an Event
        at = next_look(owner, schedule, world.store.epoch + world.now)
        if at is not None:
            self._plan(world, owner.key, at - world.store.epoch)

    def _plan(self, world: World, key: str, at: int) -> None:
        schedules = world.surroundings.workloads.schedules
        planned = schedules.get(key)
        if planned is None or at < planned:
            schedules[key] = max(at, world.now)
            world.plan(at, FireSchedule(key, max(at, world.now)))

    def sync(self, world: World, key: str) -> str:
        owner = Owner.found(world, self.kind, key)
        if owner is None:
            return ""
        jobs = Jobs(self, world, owner)
        jobs.clean_up()
        jobs.note()
        last = owner.status.get("lastScheduleTime")
        refused = None
        try:
            at = None if owner.deleting else self._start(jobs)
        except Refused as problem:
            at, refused = None, problem
        if at is not None:
            last = format_time(at * SECOND)
        fields = {"active": jobs.active or None, "lastScheduleTime": last, "lastSuccessfulTime": jobs.last_success}
        world.api.patch_status(owner.target, fields)
        if refused is not None:
            raise refused
        found = Owner.found(world, self.kind, key)
        if found is not None and not found.deleting and not found.spec.get("suspend"):
            self._wait(world, found)
        return "; ".join(jobs.said)

    def _start(self, jobs: Jobs) -> int | None:
        """Create the Job that is due. Return its scheduled time in seconds since 1970, or None. Raise Refused.

        kube: syncCronJob
        """
        owner, now = jobs.owner, jobs.world.store.epoch + jobs.world.now
        schedule = self._schedule(jobs)
        if schedule is None:
            return None
        try:
            due = most_recent(owner, schedule, now)
        except BadSchedule as problem:
            jobs.event(WARNING, "InvalidSchedule", f"invalid schedule: {owner.spec['schedule']} : {problem}")
            return None
        if due.at is None:
            return None
        if due.missed > MANY:
            text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
            jobs.event(WARNING, "TooManyMissedTimes", text)
        limit = owner.spec.get("startingDeadlineSeconds")
        if limit is not None and (due.at + limit) * SECOND < now:
            moment = datetime.fromtimestamp(due.at, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
            jobs.event(WARNING, "MissSchedule", f"Missed scheduled time to start a job: {moment}")
            return None
        if jobs.is_active(due.at) or optional_time(owner.status.get("lastScheduleTime")) == due.at * SECOND:
            return None
        policy = owner.spec.get("concurrencyPolicy")
        if policy == "Forbid" and jobs.active:
            text = "Not starting job because prior execution is running and concurrency policy is Forbid"
            jobs.event(NORMAL, "JobAlreadyActive", text)
            jobs.said.append("started no Job: the previous Job still runs, and concurrencyPolicy is Forbid")
            return None
        if policy == "Replace":
            jobs.replace()
        return due.at if jobs.create(due.at) else None

    def _schedule(self, jobs: Jobs) -> Schedule | None:
        """Return the schedule of a CronJob, or None if it is suspended or invalid."""
        spec = jobs.owner.spec
        zone, text = spec.get("timeZone"), str(spec.get("schedule") or "")
        if zone is not None and not is_zone(zone):
            jobs.event(WARNING, "UnknownTimeZone", f'invalid timeZone: "{zone}": unknown time zone {zone}')
            return None
        if spec.get("suspend"):
            return None
        if "TZ" in text:
            see = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/"
            words = f'CRON_TZ or TZ used in schedule "{text}" is not officially supported, see {see} for more details'
            jobs.event(WARNING, "UnsupportedSchedule", words)
        try:
            return schedule_of(jobs.owner)
        except BadSchedule as problem:
            jobs.event(WARNING, "UnparseableSchedule", f'unparseable schedule: "{text}" : {problem}')
            return None


def _has_another_schedule(event: WatchEvent) -> bool:
    if event.old is None or event.new is None:
        return False
    before, after = event.old.get("spec") or {}, event.new.get("spec") or {}
    return any(before.get(field) != after.get(field) for field in ("schedule", "timeZone"))
