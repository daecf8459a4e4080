"""Timelines of leader election: candidates that share one API server, whose calls take no time. README-queue.md, "leader-election.json"."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.durations import parse_duration
from scheduler_core.apimachinery.objects.times import format_micro_time, parse_time
from scheduler_core.apiserver import APIServerOptions, Store
from scheduler_core.apiserver.server import APIServer
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.scheduler.leaderelection.candidate import Candidate
from scheduler_core.scheduler.leaderelection.config import ElectionConfig
from scheduler_core.scheduler.leaderelection.elector import LeaderElector, Report, ReportKind, Steps
from scheduler_core.scheduler.leaderelection.lock import LeaseAnswer, LeaseCall, carry_out
from scheduler_core.testing.conformance.timelines.compare import difference
from scheduler_core.testing.differences import Difference

Op = Mapping[str, Any]
Shown = dict[str, Any]

START = parse_time("2000-01-01T00:00:00Z")
NO_NAMESPACES = APIServerOptions(disable_admission_plugins=("NamespaceLifecycle",))
CALLBACKS = (ReportKind.NEW_LEADER, ReportKind.STARTED_LEADING, ReportKind.STOPPED_LEADING)
_TIMES = ("acquireTime", "renewTime")
_EMPTY = {"holderIdentity": "", "leaseDurationSeconds": 0, "acquireTime": 0, "renewTime": 0, "leaseTransitions": 0}
_NO_RELEASE, _SHORTER_DEADLINE = "c", "d"


def run_election(timeline: Mapping[str, Any]) -> Difference | None:
    """Run a timeline up to its first difference."""
    return _Run(timeline).difference()


class _Run:
    """The candidates of one timeline. `now` is in ns since its start."""

    def __init__(self, timeline: Mapping[str, Any]) -> None:
        self.steps: Sequence[Op] = timeline["steps"]
        self.store = Store(START)
        self.now = 0
        self.candidates = {name: _elector(name, timeline["config"]) for name in "abcd"}
        self.failing: list[str] = []
        self.log: list[Shown] = []
        self.result: bool | None = None

    def difference(self) -> Difference | None:
        for number, step in enumerate(self.steps):
            self.log, self.result = [], None
            OPERATIONS[step["op"]](self, step)
            first = difference(number, step["op"], step["expect"], self._look())
            if first is not None:
                return first
        return None

    # operations

    def try_once(self, op: Op) -> None:
        candidate = self.candidates[op["candidate"]].candidate
        self.result = self._finish(op["candidate"], candidate.try_acquire_or_renew(self._clock))
        leader = candidate.new_leader()
        if leader is not None:
            self._follow(op["candidate"], [Report(ReportKind.NEW_LEADER, leader)])

    def release(self, op: Op) -> None:
        name = op["candidate"]
        self.result = self._finish(name, self.candidates[name].candidate.release(self._clock))

    def run(self, op: Op) -> None:
        self._follow(op["candidate"], self.candidates[op["candidate"]].run(self._clock))

    def cancel(self, op: Op) -> None:
        self._follow(op["candidate"], self.candidates[op["candidate"]].cancel(self._clock))

    def fail_api(self, op: Op) -> None:
        self.failing = [name for name in self.failing if name != op["candidate"]]
        if op["on"]:
            self.failing.append(op["candidate"])

    def delete_lease(self, op: Op) -> None:
        self.store.remove("Lease", *self._place)

    def edit_lease(self, op: Op) -> None:
        lease = self.store.get("Lease", *self._place)
        if lease is None:
            return
        changed = {field: _write_field(field, value) for field, value in op["set"].items()}
        self.store.overwrite({**lease, "spec": {**lease["spec"], **changed}}, "Lease")

    def advance(self, op: Op) -> None:
        end = self.now + round(op["seconds"] * SECOND)
        while (turn := self._next_turn()) is not None and turn[0] <= START + end:
            self.now = turn[0] - START
            self._follow(turn[1], self.candidates[turn[1]].wake(self._clock))
        self.now = end

    # carrying out

    @property
    def _clock(self) -> int:
        return START + self.now

    @property
    def _place(self) -> tuple[str, str]:
        config = self.candidates["a"].config
        return config.namespace, config.resource_name

    def _next_turn(self) -> tuple[int, str] | None:
        turns = [(e.wake_at, name) for name, e in self.candidates.items() if e.wake_at is not None]
        return min(turns, default=None)

    def _follow(self, name: str, steps: Steps) -> None:
        """Record the callbacks and answer the calls until there are none."""
        while steps:
            *reports, last = steps
            for step in (*reports, last):
                if isinstance(step, Report) and step.what in CALLBACKS:
                    identity = {"identity": step.text} if step.text else {}
                    self._write(name, callback=step.what.value, **identity)
            steps = []
            if isinstance(last, LeaseCall):
                steps = self.candidates[name].answer(self._clock, self._answer(name, last))

    def _finish(self, name: str, following: LeaseCall | bool) -> bool:
        """An attempt outside the loop."""
        while isinstance(following, LeaseCall):
            answer = self._answer(name, following)
            following = self.candidates[name].candidate.answer(self._clock, answer)
        return following

    def _answer(self, name: str, call: LeaseCall) -> LeaseAnswer:
        failed = LeaseAnswer(reason="error")
        answer = failed if name in self.failing else carry_out(APIServer(self.store, NO_NAMESPACES, self.now), call)
        self._write(name, call=call.verb.value, result=answer.reason or "ok")
        return answer

    def _write(self, name: str, **what: str) -> None:
        self.log.append({"t": self.now / SECOND, "candidate": name, **what})

    # what is shown

    def _look(self) -> Shown:
        lease = self.store.get("Lease", *self._place)
        shown: Shown = {
            "t": self.now / SECOND,
            "lease": None if lease is None else _show_lease(lease["spec"]),
            "candidates": {name: _show_elector(e) for name, e in self.candidates.items()},
            "log": sorted(self.log, key=lambda entry: (entry["t"], "callback" in entry)),
            "result": self.result,
        }
        return {key: value for key, value in shown.items() if value or value is False or key == "t"}


OPERATIONS: dict[str, Callable[[_Run, Op], None]] = {
    "try": _Run.try_once,
    "release": _Run.release,
    "run": _Run.run,
    "cancel": _Run.cancel,
    "failAPI": _Run.fail_api,
    "deleteLease": _Run.delete_lease,
    "editLease": _Run.edit_lease,
    "advance": _Run.advance,
}

OWN_OPERATIONS = frozenset(OPERATIONS) - {"advance"}


def _elector(name: str, config: Mapping[str, Any]) -> LeaderElector:
    deadline = 9 * SECOND if name == _SHORTER_DEADLINE else parse_duration(config["renewDeadline"])
    election = ElectionConfig(
        parse_duration(config["leaseDuration"]),
        deadline,
        parse_duration(config["retryPeriod"]),
        config["resourceNamespace"],
        config["resourceName"],
        release_on_cancel=name != _NO_RELEASE,
    )
    return LeaderElector(Candidate(election, name))


def _write_field(field: str, value: Any) -> Any:
    return format_micro_time(START + round(value * SECOND)) if field in _TIMES and value is not None else value


def _show_lease(spec: Mapping[str, Any]) -> Shown:
    """Return every field of the election record, including empty ones, and the other fields of the Lease."""
    said = {name: value for name, value in spec.items() if value is not None}
    return _EMPTY | {
        name: (parse_time(value) - START) / SECOND if name in _TIMES else value for name, value in said.items()
    }


def _show_elector(elector: LeaderElector) -> Shown:
    candidate = elector.candidate
    return {"isLeader": candidate.is_leader, "observedLeader": candidate.observed.holder}
