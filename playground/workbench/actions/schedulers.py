"""What can be done to a scheduler's process: it is started, told to end, killed, cut off from the API server."""

from playground.workbench.actions.contract import Subject, Values, Wrong, gettext_noop, read_action
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
    read_action(
        "start-scheduler",
        SCHEDULER,
        _start,
        applies=lambda subject: not _runs(subject),
        fields={"host": {"initial": lambda subject: subject.name}, "clock_rate": {"initial": lambda subject: "1"}},
    ),
    read_action(
        "end-scheduler",
        SCHEDULER,
        lambda subject, values: StopScheduler(subject.name, "SIGTERM"),
        applies=lambda subject: _runs(subject) and subject.part("status", "stage") != "ending",
    ),
    read_action(
        "kill-scheduler", SCHEDULER, lambda subject, values: StopScheduler(subject.name, "SIGKILL"), applies=_runs
    ),
    read_action(
        "cut-off-scheduler",
        SCHEDULER,
        lambda subject, values: PartitionScheduler(subject.name, True),
        applies=lambda subject: _runs(subject) and not _cut_off(subject),
    ),
    read_action(
        "connect-scheduler",
        SCHEDULER,
        lambda subject, values: PartitionScheduler(subject.name, False),
        applies=_cut_off,
    ),
)
