"""Runs of experiments, and the proposal of one, inside a worker."""

from typing import Any

import msgspec
import yaml

from playground.features.experiments.query import FILE, AskProposal, FindParting, MakeRun, Parting, ReadExperiment
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.comparing import TraceChecked, TracedCommand, TraceMaker
from playground.sessions.protocol.errors import CommandRefused, build_command_refusal
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.engines import Engines
from playground.sessions.worker.time_sharing import Steps, answers, answers_as_worker
from playground.sessions.worker.traces import pack_command
from scheduler_core.analysis import experiments
from scheduler_core.scheduler.config import format_gates
from scheduler_core.world.commands import Refused

PACKED = {
    "scoringStrategy": {
        "type": "MostAllocated",
        "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
    }
}


@answers(AskProposal)
def propose(engine: Engine, request: AskProposal) -> Steps[Data]:
    """Return a proposed experiment: the current configuration against packed nodes."""
    world = yield from engine.at(request.position)
    settings, given = world.settings, next((s.configuration.given for s in world.schedulers), None)
    base: dict[str, Any] = {"name": "as-it-is", "release": settings.release}
    if gates := format_gates(msgspec.structs.asdict(settings), settings.release):
        base["gates"] = gates
    if given:
        base["configuration"] = msgspec.to_builtins(given)
    packed = {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": PACKED}]}]}
    experiment = {
        "worlds": [{"name": "session", "files": [FILE], "again": True, "shuffle": True}],
        "variants": [base, {"name": "packed", "release": settings.release, "configuration": packed}],
        "sweep": {"NodeResourcesBalancedAllocation": [5, 20]},
        "seeds": 10,
    }
    text = yaml.safe_dump(experiment, sort_keys=False, default_flow_style=None, width=100)
    return {"text": text, "nodes": world.store.count("Node"), "pods": world.store.count("Pod")}


@answers(ReadExperiment)
def read(engine: Engine, request: ReadExperiment) -> Steps[experiments.Experiment]:
    """Read the text of an experiment. Raise CommandRefused for an error, or for a file other than the session."""
    yield
    try:
        found = experiments.read_experiment(request.text)
    except ValueError as error:
        raise CommandRefused(message("The experiment cannot be read: %(why)s.", why=str(error)[:1000])) from None
    for number, world in enumerate(found.worlds):
        if wrong := [name for name in world.files if name != FILE]:
            said = gettext_noop("worlds[%(number)d].files: received %(name)s, but only %(file)s can be read here.")
            raise CommandRefused(message(said, number=number, name=wrong[0][:100], file=FILE))
    return found


@answers_as_worker(MakeRun)
def make(engines: Engines, session: int, request: MakeRun) -> Steps[Data]:
    """Make one run and return its row of figures."""
    yield
    try:
        return experiments.make_run(request.run)
    except (ValueError, OSError, Refused) as error:
        raise _refuse(error) from None


@answers_as_worker(FindParting)
def find(engines: Engines, session: int, request: FindParting) -> Steps[Parting | None]:
    """Return the first difference of two runs, with their logs, or None."""
    yield
    try:
        sides = (experiments.record_run(request.first), experiments.record_run(request.other))
    except (ValueError, OSError, Refused) as error:
        raise _refuse(error) from None
    index = experiments.find_parting(*sides)
    if index is None:
        return None
    (at, ours), (other_at, theirs) = (
        side.attempts[index] if index < len(side.attempts) else (side.head, ["", "", ""]) for side in sides
    )
    pairs = [(str(mine), str(yours)) for mine, yours in zip(ours[:3], theirs[:3], strict=True)]
    logs = (_keep(sides[0]), _keep(sides[1]))
    return Parting(index + 1, pods=pairs[0], outcomes=pairs[1], nodes=pairs[2], at=(at, other_at), logs=logs)


def _keep(side: experiments.Recording) -> TraceChecked:
    commands = [TracedCommand(at, pack_command(command)) for at, command in side.commands]
    return TraceChecked(side.seed, side.head, commands, 0, 0, None, TraceMaker("", "", ""), 0, [])


def _refuse(error: Exception) -> CommandRefused:
    if isinstance(error, Refused):
        return build_command_refusal(error)
    return CommandRefused(message("The experiment cannot be run: %(why)s.", why=str(error)))
