"""Schedulers as processes, as data for users: stages, clocks, each process's view of the lease, and past stages. Times are virtual ns."""

from collections.abc import Sequence
from typing import Any

from scheduler_core.base.trace.journal import ProcessMove
from scheduler_core.scheduler.core.process import PART, Process
from scheduler_core.scheduler.leaderelection.elector import LeaderElector
from scheduler_core.world.simulation import Simulation

Reading = dict[str, Any]
MOST_MOVES = 200  # of one process, the newest


def read_replicas(world: Simulation) -> list[Reading]:
    """Return the running schedulers, then the ended ones, by name."""
    running = [
        _replica(world, s.name, s.process, list(s.profiles), len(s.queue.active_pods))
        for s in sorted(world.schedulers, key=lambda s: s.name)
    ]
    return running + [_replica(world, name, process, [], 0) for name, process in sorted(world.ended.items())]


def read_replica(world: Simulation, name: str) -> Reading | None:
    """Return the process of this name, or None if it was never started."""
    return next((row for row in read_replicas(world) if row["name"] == name), None)


def _replica(world: Simulation, name: str, process: Process | None, profiles: Sequence[str], active: int) -> Reading:
    """Return a process's row. `process` None: a scheduler that has existed from the beginning, and works."""
    moves = [move for move in world.journal.processes if move.scheduler == name][-MOST_MOVES:]
    row: Reading = {
        "name": name,
        "identity": "",
        "stage": "working",
        "profiles": profiles,
        "active": active,
        "cutOff": None,
        "exitCode": None,
        "clock": {"offset": 0, "rate": 1.0, "shows": world.store.timestamp(world.now)},
        "election": None,
        "moves": [_move(move) for move in moves],
    }
    if process is None:
        return row
    clock = process.clock
    return {
        **row,
        "identity": process.identity,
        "stage": "leading" if process.leads and process.stage.value == "working" else process.stage.value,
        "cutOff": process.hang,
        "exitCode": process.exit_code,
        "clock": {
            "offset": clock.offset,
            "rate": clock.rate / PART,
            "shows": world.store.timestamp(clock.at(world.now)),
        },
        "election": None if process.elector is None else _election(world, process, process.elector),
    }


def _election(world: Simulation, process: Process, elector: LeaderElector) -> Reading:
    """Return the elector's view. `seen`: time of the last record change; `until`: time from which it would take the lease."""
    candidate, config = elector.candidate, elector.config

    def virtual(shown: int) -> int:
        return process.clock.when(shown - world.store.epoch)

    seen = candidate.observed_time > 0
    return {
        "lease": candidate.lock.description,
        "phase": elector.phase.value,
        "leader": candidate.observed.holder,
        "isLeader": candidate.is_leader,
        "transitions": candidate.observed.transitions,
        "seen": virtual(candidate.observed_time) if seen else None,
        "until": virtual(candidate.valid_until) if seen and candidate.observed.holder else None,
        "next": None if elector.wake_at is None else virtual(elector.wake_at),
        "durations": [config.lease_duration, config.renew_deadline, config.retry_period],
    }


def _move(move: ProcessMove) -> Reading:
    return {
        "t": move.t,
        "position": move.position,
        "identity": move.identity,
        "state": move.state,
        "leader": move.leader,
        "cutOff": move.cut_off,
    }
