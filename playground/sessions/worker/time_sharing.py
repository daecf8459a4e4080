"""TimeSharing: one thread serves many sessions in short slices of their jobs.

A job is a generator that yields when its slice is over, and returns its result. Jobs that have used little time so far go first (a step,
a look), long ones (a run to the end, a replay, an export) share the remaining time in turns. Background jobs (saves of checkpoints) run
when there are no other jobs, and get every EIGHTH turn beside long ones. While a user steps in the same session, a background job waits
for a pause of CALM, for at most PUT_OFF: a turn that has begun would delay the next step.
"""

import math
import pkgutil
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from importlib import import_module, util
from typing import Any, Generic, NamedTuple, TypeVar

from playground.sessions.protocol.base import Request

SLICE = 0.010
QUICK = 0.060
EIGHTH = 8
CALM, PUT_OFF = 0.15, 10.0  # seconds

T = TypeVar("T")
P = TypeVar("P")
Steps = Generator[None, None, T]  # work that yields between its slices, and its result


class TimeSlice:
    """The time that the running job has before it must yield."""

    def __init__(self) -> None:
        self.end = 0.0

    def start(self, seconds: float) -> None:
        self.end = time.perf_counter() + seconds

    def over(self) -> bool:
        return time.perf_counter() >= self.end


def in_slices(work: Generator[Any, None, T], slice_: TimeSlice) -> Steps[T]:
    """Run work that yields far more often than once a slice; return its result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result
        if slice_.over():
            yield


class Task(Generic[T, P]):
    """Work that continues over several requests, some seconds each time. `result` is set once it is `done`."""

    def __init__(self, steps: Steps[T]) -> None:
        self.done = False
        self.result: T | None = None
        self._steps = steps

    def work(self, seconds: float) -> Steps[P]:
        """Continue for some seconds, including the turns of other jobs, and return the progress."""
        end = time.perf_counter() + seconds
        while not self.done and time.perf_counter() < end:
            try:
                self.turn()
            except StopIteration as over:
                self.done, self.result = True, over.value
            else:
                yield
        return self.progress()

    def turn(self) -> None:
        """Work until the next pause. Raise StopIteration with the result."""
        next(self._steps)

    def progress(self) -> P:
        """Return the answer to a request, complete or not."""
        raise NotImplementedError


@dataclass
class Job:
    """A request being executed; `number` is the request's."""

    steps: Steps[Any]
    done: Callable[[Any, BaseException | None], None]
    session: int = 0
    slow: bool = False
    unhurried: bool = False
    number: int = 0
    spent: float = field(default=0.0)
    since: float = field(default_factory=lambda: time.monotonic())


class TimeSharing:
    """The scheduler of slices: quick jobs in turn, slow ones in turn when no quick one waits, then background ones.

    `at_work` gets the number of the running job, and 0 after its turn.
    """

    def __init__(self, slice_: TimeSlice, at_work: Callable[[int], None] = lambda number: None) -> None:
        self.slice, self._at_work = slice_, at_work
        self._quick: deque[Job] = deque()
        self._slow: deque[Job] = deque()
        self._unhurried: deque[Job] = deque()
        self._passed_over = 0
        self._stepped = (0, -math.inf)  # the session of the latest quick job, and its time

    def add(self, job: Job) -> None:
        queue = self._unhurried if job.unhurried else self._slow if job.slow else self._quick
        queue.append(job)

    def __bool__(self) -> bool:
        return bool(self._quick or self._slow or self._unhurried)

    @property
    def patience(self) -> float:
        """The seconds until a job may run; 0 if one may run now, or if there is none."""
        if self._quick or self._slow or not self._unhurried:
            return 0.0
        job, (session, when) = self._unhurried[0], self._stepped
        calm = when + CALM if session == job.session else -math.inf
        return max(0.0, min(calm, job.since + PUT_OFF) - time.monotonic())

    def drop(self, session: int) -> None:
        """Drop the jobs of a session that was closed."""
        for queue in (self._quick, self._slow, self._unhurried):
            for job in [job for job in queue if job.session == session]:
                queue.remove(job)
                job.steps.close()
                job.done(None, RuntimeError("the session was closed"))

    def _next(self) -> deque[Job]:
        if self._quick:
            return self._quick
        if self._unhurried and (self._passed_over >= EIGHTH - 1 or not self._slow):
            self._passed_over = 0
            return self._unhurried
        self._passed_over += 1
        return self._slow

    def turn(self) -> None:
        """Run the next job for one slice."""
        queue = self._next()
        job = queue.popleft()
        self._at_work(job.number)
        self._work(job)
        self._at_work(0)
        if queue is self._quick:
            self._stepped = (job.session, time.monotonic())

    def _work(self, job: Job) -> None:
        started = time.perf_counter()
        self.slice.start(SLICE)
        try:
            next(job.steps)
        except StopIteration as end:
            job.done(end.value, None)
            return
        except Exception as error:
            job.done(None, error)
            return
        job.spent += time.perf_counter() - started
        job.slow = job.slow or job.spent > QUICK
        self.add(job)


H = TypeVar("H", bound=Callable[..., Steps[Any]])
HANDLERS: "dict[type[Request[Any]], Handler]" = {}
OWN, FEATURES = "playground.sessions.worker", "playground.features"
RUN = (f"{OWN}.__main__", f"{OWN}.process")  # the program itself


class Handler(NamedTuple):
    """The handler of a request.

    `of_worker`: the request concerns the worker itself; `slow`: the job counts as slow from the start; `unhurried`: it is a background
    job; `too_much`: the error if the job exceeds its memory budget, "" if it needs none.
    """

    work: Callable[..., Steps[Any]]
    of_worker: bool = False
    slow: bool = False
    unhurried: bool = False
    too_much: str = ""


def answers(request: type[Request[Any]], **options: Any) -> Callable[[H], H]:
    """Register a function `(engine, request)` that answers a request of an open session."""

    def register(work: H) -> H:
        if request in HANDLERS:
            raise ValueError(f"{request.__name__} has a second handler, {work.__module__}.{work.__name__}")
        HANDLERS[request] = Handler(work, **options)
        return work

    return register


def answers_as_worker(request: type[Request[Any]], **options: Any) -> Callable[[H], H]:
    """Register a function `(engines, session, request)` that answers a request of the worker itself."""
    return answers(request, of_worker=True, **options)


def load() -> None:
    """Import all modules that may have a handler: those of this package, and `worker.py` of each feature, in the order of their names.

    A worker does so once, when it starts. Features are found by their folders, since sessions import none of them.
    """
    for module in pkgutil.walk_packages(import_module(OWN).__path__, f"{OWN}."):
        if module.name not in RUN:
            import_module(module.name)
    for module in pkgutil.iter_modules(import_module(FEATURES).__path__, f"{FEATURES}."):
        if util.find_spec(f"{module.name}.worker"):
            import_module(f"{module.name}.worker")
