"""What can be done to a scheduler's process: it is started, told to end, killed, cut off from the API server."""

from playground.workbench.actions.contract import Action, Field, Subject, Values, Wrong, gettext_noop
from scheduler_core.world.commands import PartitionScheduler, StartScheduler, StopScheduler

KIND = "Scheduler"  # no object of the API: a process
SCHEDULER = (KIND,)


def _runs(subject: Subject) -> bool:
    return bool(subject.name) and subject.part("status", "stage") != "ended"


def _cut_off(subject: Subject) -> bool:
    return _runs(subject) and bool(subject.part("status", "cutOff"))


def _start(subject: Subject, values: Values) -> StartScheduler:
    name = values["host"] or subject.name
    if not name:
        raise Wrong("host", gettext_noop("Write a name, such as a"))
    try:
        rate = float(values["clock_rate"] or 1)
    except ValueError:
        raise Wrong("clock_rate", gettext_noop("Write a number, such as 0.5")) from None
    elects = {"leaderElection": {"leaderElect": not values["alone"]}}
    configuration = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **elects}
    sign = -1 if values["behind"] else 1
    return StartScheduler(name, configuration, sign * (values["clock_offset"] or 0), rate)


ACTIONS = (
    Action(
        "start-scheduler",
        SCHEDULER,
        gettext_noop("Start a scheduler"),
        gettext_noop(
            "A new process. Its informers sync, then it tries to acquire the Lease and schedules while it leads."
        ),
        gettext_noop("Process started."),
        _start,
        (
            Field(
                "host",
                "text",
                gettext_noop("Name"),
                gettext_noop("the host name; the identity in the Lease starts with it"),
                initial=lambda subject: subject.name,
            ),
            Field(
                "alone",
                "flag",
                gettext_noop("Without leader election"),
                gettext_noop("--leader-elect=false: schedules even if other replicas do too"),
            ),
            Field("clock_offset", "seconds", gettext_noop("Clock ahead by"), gettext_noop("empty: none")),
            Field("behind", "flag", gettext_noop("Clock behind, not ahead")),
            Field(
                "clock_rate",
                "text",
                gettext_noop("Clock rate"),
                gettext_noop("seconds on this clock per second: 1, or such as 0.5"),
                initial=lambda subject: "1",
            ),
        ),
        applies=lambda subject: not _runs(subject),
    ),
    Action(
        "end-scheduler",
        SCHEDULER,
        gettext_noop("Stop (SIGTERM)"),
        gettext_noop("The scheduler finishes its current cycle, starts no other, and releases the Lease."),
        gettext_noop("%(name)s received SIGTERM."),
        lambda subject, values: StopScheduler(subject.name, "SIGTERM"),
        applies=lambda subject: _runs(subject) and subject.part("status", "stage") != "ending",
        danger=True,
    ),
    Action(
        "kill-scheduler",
        SCHEDULER,
        gettext_noop("Kill (SIGKILL)"),
        gettext_noop("The process ends immediately. Its Lease stays valid until it expires."),
        gettext_noop("%(name)s was killed."),
        lambda subject, values: StopScheduler(subject.name, "SIGKILL"),
        applies=_runs,
        danger=True,
    ),
    Action(
        "cut-off-scheduler",
        SCHEDULER,
        gettext_noop("Partition from API server"),
        gettext_noop("API calls of the scheduler hang and fail, and no change reaches it."),
        gettext_noop("%(name)s is partitioned from the API server."),
        lambda subject, values: PartitionScheduler(subject.name, True),
        applies=lambda subject: _runs(subject) and not _cut_off(subject),
        danger=True,
    ),
    Action(
        "connect-scheduler",
        SCHEDULER,
        gettext_noop("Reconnect"),
        gettext_noop("The scheduler receives all changes that it missed."),
        gettext_noop("%(name)s is connected again."),
        lambda subject, values: PartitionScheduler(subject.name, False),
        applies=_cut_off,
    ),
)
