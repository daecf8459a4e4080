"""Runs of a world until it is at rest, or until it only repeats itself.

Looping owners are held back, so that the rest can finish, and then released once more: now that nothing else changes, they must make
progress or are stuck. A world that only waits for retries is at rest if none of them would succeed, which a copy of it shows.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from scheduler_core.analysis.fixes.effects import Watch
from scheduler_core.analysis.whatif.loops import ENDS, End, Loop, Loops, Subject, Watchdog, subject_of
from scheduler_core.base.steps import finish
from scheduler_core.controllers.contract import RetryInVain
from scheduler_core.controllers.troubles import troubles_of
from scheduler_core.controllers.workloads import catalogue
from scheduler_core.controllers.workloads.watching import WorkloadController
from scheduler_core.world.simulation import Simulation

T = TypeVar("T")

STEPS = 2_000_000
TRIALS = 5

Progress = Callable[[int], None]
"""Hears now and then how many transitions were made."""

Steps = Generator[None, None, T]
"""Work that yields between its slices, and its result."""

EACH = 2_000
OFTEN = 50  # transitions between two slices
AHEAD = 100_000  # transitions after which a copy must have shown a successful retry
RETRIES = 50  # awaited retries
KUBELET = "kubelet"
_CONTROLLERS = {
    controller.kind: controller.name
    for controller in catalogue.CONTROLLERS
    if isinstance(controller, WorkloadController)
}


@dataclass(frozen=True, slots=True)
class RestResult:
    """The result of running a world to rest: `at_rest` is False if steps or patience ended first; `loops` never end and are paused.

    `circles`: the number of steps without a pod in a new place, if too many. `fights`: fields that controllers overwrite in turn. `gone`:
    pods without a controller that were deleted on the way.
    """

    at_rest: bool
    loops: tuple[Loop, ...] = ()
    circles: int = 0
    fights: tuple[str, ...] = ()
    gone: tuple[End, ...] = ()

    def __bool__(self) -> bool:
        return self.at_rest and not self.loops


def settle(sim: Simulation, steps: int = STEPS, progress: Progress | None = None) -> RestResult:
    """Run a world until it is at rest, with at most `steps` transitions."""
    return finish(come_to_rest(sim, steps, progress))


def come_to_rest(sim: Simulation, steps: int = STEPS, progress: Progress | None = None) -> Steps[RestResult]:
    """Run a world until it is at rest, in slices."""
    return SettlingWorld(Watch(sim), steps, progress).iterate()


class SettlingWorld:
    """One world on its way to rest. `steps`: transitions in all."""

    def __init__(self, watch: Watch, steps: int = STEPS, progress: Progress | None = None) -> None:
        self.watch, self.world, self.steps, self.progress = watch, watch.world, steps, progress
        self.loops = Loops(self.world.store)
        self.watchdog = Watchdog(self.world)
        self.held: dict[Subject, Loop] = {}
        self._others_act = False  # while an owner is held back
        self._awaited, self._retries = self.world.now, 0

    def run(self) -> RestResult:
        return finish(self.iterate())

    def iterate(self) -> Steps[RestResult]:
        """Run until rest, and yield regularly."""
        rest = yield from self._run()
        return replace(rest, gone=self.loops.gone(self.world.store))

    def _run(self) -> Steps[RestResult]:
        before: set[Subject] = set()
        for _ in range(TRIALS):
            why = yield from self._run_on()
            if why is not None:
                return why
            if not self._others_act or set(self.held) == before:
                break
            before, self._others_act = set(self.held), False
            self.world.change(self._release)
        return RestResult(True, tuple(self.held.values()))

    def _run_on(self) -> Steps[RestResult | None]:
        """Run until only held-back work is left. Return the reason if the run was stopped, else None."""
        while not self.world.idle or self._awaits_retry():
            if self.watch.steps >= self.steps:
                return RestResult(False, tuple(self.held.values()))
            self.watch.advance()
            loop = self.loops.hear(self.world.store, self.world.changes)
            if loop is not None:
                self.held[loop.owner] = loop
            if self.held:
                self._hold()
            if self.watch.steps % EACH == 0 and (stopped := self._look()) is not None:
                return stopped
            if self.watch.steps % OFTEN == 0:
                yield
        return None

    def _awaits_retry(self) -> bool:
        """Return whether the idle world has to run on to a successful retry: a controller's, or that of a pod that no event requeues."""
        if self.world.due(self._awaited):
            return True
        if self._retries == RETRIES or (found := find_next_success(self.world)) is None:
            return False
        self._awaited, self._retries = found, self._retries + 1
        return self.world.due(found)

    def _look(self) -> RestResult | None:
        """Report the progress. Return a result if the world only repeats itself, else None."""
        if self.progress is not None:
            self.progress(self.watch.steps)
        loops = tuple(self.held.values())
        if (circles := self.watchdog.circles(self.world)) is not None:
            return RestResult(False, loops, circles=circles.steps)
        fights = [
            trouble.text
            for trouble in troubles_of(self.world.surroundings, self.world.now)
            if trouble.sign == "fight" and trouble.count >= ENDS
        ]
        return RestResult(False, loops, fights=tuple(fights)) if fights else None

    def _hold(self) -> None:
        """Keep the controllers of held-back owners from acting, and record whether anything else changes."""
        mine = {each for loop in self.held.values() for each in (loop.owner, loop.workload)}
        self._others_act = self._others_act or any(
            (subject_of(pod) if (pod := event.new_pod or event.old_pod) else (event.kind, event.namespace, event.name))
            not in mine
            for event in self.world.changes
        )
        for owner in self.held:
            name, key = _worker(owner)
            queue = self.world.surroundings.queues.get(name)
            if queue is not None and key in queue.due:
                self.world.controller(name).forget(self.world, key)

    def _release(self) -> None:
        release(self.world, self.held)
        for owner in self.held:
            self.loops.forget(owner)
        self.held.clear()


def find_next_success(world: Simulation) -> int | None:
    """Return the time at which a retry of an idle world creates a pod or schedules a waiting one, or None if no retry would."""
    retries = {
        (entry.action.controller, entry.action.key): entry.time
        for entry in world.agenda.unsorted()
        if isinstance(entry.action, RetryInVain)
    }
    waiting = dict(_list_pod_retries(world))
    last = max((*retries.values(), *waiting.values()), default=None)
    if last is None:
        return None
    ahead = world.fork()
    for _ in range(AHEAD):
        if not ahead.due(last) and ahead.idle:
            break
        ahead.advance()
        for event in ahead.changes:
            pod = event.new_pod
            if pod is None or (
                _worker(subject_of(pod)) not in retries if event.old_pod is None else pod.key not in waiting
            ):
                continue
            if event.old_pod is None or (pod.node_name and not event.old_pod.node_name):
                return ahead.now
    return None


def _list_pod_retries(world: Simulation) -> Iterator[tuple[str, int]]:
    """Yield the pods that wait in the queues, and the time of each one's next retry without an event."""
    for scheduler in world.schedulers:
        queue = scheduler.queue
        for key, entry in (*queue.backoff_pods.items(), *queue.error_backoff_pods.items()):
            yield key, entry.backoff_until or world.now
        for key, entry in queue.unschedulable_pods.items():
            yield key, queue.flush_due(entry)


def release(world: Simulation, owners: Iterable[Subject]) -> None:
    """Let the controllers of held-back owners reconcile them again."""
    for owner in owners:
        name, key = _worker(owner)
        world.controller(name).enqueue(world, key)


def _worker(owner: Subject) -> tuple[str, str]:
    """Return the controller that creates an owner's pods, and its key of the owner."""
    kind, namespace, name = owner
    return _CONTROLLERS.get(kind, KUBELET), f"{namespace}/{name}"
