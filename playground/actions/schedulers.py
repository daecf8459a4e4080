"""What can be done to schedulers as processes: replicas start, are told to end or killed, and are cut off from the API server."""

from __future__ import annotations

from typing import Any

from playground.actions.contract import Action, Field, Subject, Values, gettext_noop
from playground.actions.usage import SECOND
from scheduler_core.commands import PartitionScheduler, StartScheduler, StopScheduler

SCHEDULER = ("Scheduler",)
SIGNALS = (
    ("SIGTERM", gettext_noop("SIGTERM: the cycle at hand ends, the lease is given back")),
    ("SIGKILL", gettext_noop("SIGKILL: at once; others wait until the lease expires")),
)


def _start(subject: Subject, values: Values) -> StartScheduler:
    return StartScheduler(
        values["replica"],
        values["configuration"],
        values["clock_offset"] or 0,
        1.0 if values["clock_rate"] is None else values["clock_rate"],
    )


def _partition(subject: Subject, values: Values) -> PartitionScheduler:
    return PartitionScheduler(subject.name, True, SECOND if values["hang"] is None else values["hang"])


def _runs(subject: Subject) -> bool:
    return bool(subject.name)


def _cut_off(subject: Subject) -> bool:
    return bool(subject.part("cut_off"))


def _configuration(subject: Subject) -> Any:
    return subject.part("configuration")


ACTIONS = (
    Action(
        "start-replica",
        SCHEDULER,
        gettext_noop("Start a replica"),
        gettext_noop("A kube-scheduler as a process of its own, which stands for election as by default."),
        gettext_noop("The replica was started."),
        _start,
        (
            Field(
                "replica", "text", gettext_noop("Name"), gettext_noop("such as scheduler-b"), required=True
            ),
            Field(
                "clock_offset",
                "offset",
                gettext_noop("Its clock is ahead by"),
                gettext_noop("such as 5s or -5s; empty: it is right"),
            ),
            Field(
                "clock_rate",
                "decimal",
                gettext_noop("Its clock goes"),
                gettext_noop("seconds a second, such as 1.05; empty: 1"),
            ),
            Field(
                "configuration",
                "yaml",
                gettext_noop("KubeSchedulerConfiguration"),
                gettext_noop("empty: kube's default, which elects a leader"),
                initial=_configuration,
            ),
        ),
    ),
    Action(
        "stop-scheduler",
        SCHEDULER,
        gettext_noop("Stop"),
        gettext_noop("Ends the process. Its pods stay pending until another scheduler works."),
        gettext_noop("%(name)s was told to end."),
        lambda subject, values: StopScheduler(subject.name, values["signal"]),
        (Field("signal", "choice", gettext_noop("Signal"), required=True, choices=lambda subject: SIGNALS),),
        applies=_runs,
        danger=True,
    ),
    Action(
        "partition",
        SCHEDULER,
        gettext_noop("Cut off"),
        gettext_noop(
            "Its calls to the API server hang and fail, and it hears of nothing. Its clock and its queue go on."
        ),
        gettext_noop("%(name)s is cut off from the API server."),
        _partition,
        (
            Field(
                "hang",
                "seconds",
                gettext_noop("Calls hang for"),
                gettext_noop("before they fail; empty: 1s"),
            ),
        ),
        applies=lambda subject: _runs(subject) and not _cut_off(subject),
        danger=True,
    ),
    Action(
        "heal",
        SCHEDULER,
        gettext_noop("Connect again"),
        gettext_noop("Its calls work again, and it hears what it missed."),
        gettext_noop("%(name)s is connected again."),
        lambda subject, values: PartitionScheduler(subject.name, False),
        applies=_cut_off,
    ),
)
