"""Commands for scheduler processes: start, stop, and cut off from the API server."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apiserver.status import Refused
from scheduler_core.base.clock.agenda import Stream
from scheduler_core.scheduler.config.defaults import election_config
from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.config.schema import SchedulerConfiguration
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.actions import AdvanceStartUp
from scheduler_core.scheduler.core.process import PART, Clock, Process, Stage, identity_of
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import election, informers, startup
from scheduler_core.scheduler.leaderelection.candidate import Candidate
from scheduler_core.scheduler.leaderelection.elector import LeaderElector
from scheduler_core.world.commands import PartitionScheduler, StartScheduler, StopScheduler, refuse
from scheduler_core.world.simulation.edits import EditableWorld

KILLED = 137  # exit code of a process that gets SIGKILL


Replica = tuple[str, SchedulerConfiguration, Clock]


def configuration_of(manifest: Mapping[str, Any] | None, settings: WorldSettings, name: str) -> SchedulerConfiguration:
    """A configuration under the gates of the scheduler of this name. Refused."""
    features = settings.of_scheduler(name).features
    try:
        return load_configuration(manifest, features, elections=True, own=settings.plugins)
    except InvalidObject as invalid:
        raise Refused(invalid.errors) from invalid


def launch(world: EditableWorld, name: str, configuration: SchedulerConfiguration, clock: Clock) -> None:
    """Start a process. It is a new candidate, even if a process of the same name ran before."""
    # Drawn from the world's stream, so that a replay gives the process the same identity.
    seed = world.draw(1 << 62)
    candidacy = election_config(configuration.manifest)
    reporter = configuration.profiles[0].scheduler_name
    identity = identity_of(name, seed)
    elector = None if candidacy is None else LeaderElector(Candidate(candidacy, identity), jitter=Stream(seed))
    delayed = bool(configuration.manifest.get("delayCacheUntilActive")) and elector is not None
    process = Process(identity, clock, elector, reporter, delayed=delayed)
    world.start_process(name, configuration, process)


def replicas_under(world: EditableWorld, settings: WorldSettings, names: Sequence[str]) -> list[Replica]:
    """Return the named running processes, with their configurations under other settings. Refused."""
    return [
        (s.name, configuration_of(s.configuration.given, settings, s.name), s.process.clock)
        for s in world.schedulers
        if s.process is not None and s.launched and s.name in names
    ]


def kill(scheduler: Scheduler) -> None:
    """Kill a process (SIGKILL)."""
    startup.process_of(scheduler)
    startup.exit_(scheduler, KILLED)


def _start(world: EditableWorld, command: StartScheduler) -> None:
    if any(scheduler.name == command.name for scheduler in world.schedulers):
        raise refuse("name", command.name, "a name that no running scheduler has")
    configuration = configuration_of(command.configuration, world.settings, command.name)
    launch(world, command.name, configuration, Clock(command.clock_offset, round(command.clock_rate * PART)))


def _stop(world: EditableWorld, command: StopScheduler) -> None:
    scheduler = _running(world, command.name)
    if command.signal == "SIGKILL":
        kill(scheduler)
        return
    if scheduler.process is not None and scheduler.process.stage is Stage.ENDING:
        raise refuse("signal", command.signal, "SIGKILL, because this scheduler already received SIGTERM")
    election.terminate(scheduler)


def _partition(world: EditableWorld, command: PartitionScheduler) -> None:
    scheduler = _running(world, command.name)
    process = startup.process_of(scheduler)
    if (process.hang is not None) is command.partitioned:
        state = "partitioned" if command.partitioned else "connected"
        raise refuse("partitioned", command.partitioned, f"the other value: {command.name} is already {state}")
    process.hang = command.hang if command.partitioned else None
    startup.note(scheduler)
    if process.listed and command.partitioned:
        informers.set_lag(scheduler)
    elif process.listed:
        informers.catch_up(scheduler)
    elif not command.partitioned:
        world.plan(world.now, AdvanceStartUp(command.name))


def _running(world: EditableWorld, name: str) -> Scheduler:
    for scheduler in world.schedulers:
        if scheduler.name == name:
            return scheduler
    raise refuse("name", name, f"one of {', '.join(s.name for s in world.schedulers) or 'none: no scheduler runs'}")


EXECUTORS: Mapping[type, Callable[[Any, Any], None]] = {
    StartScheduler: _start,
    StopScheduler: _stop,
    PartitionScheduler: _partition,
}
