"""Who leads: the schedulers' processes as lanes over virtual time, where the last transition was about one."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.surroundings.replicas import STATES, host, lane
from scheduler_core.base.trace.kinds import LeaderElection, SchedulerStage
from scheduler_core.world.readonly import WorldView

LEADING = "leading"
_KINDS = (LeaderElection.KIND, SchedulerStage.KIND)


def election(sim: WorldView) -> list[dict[str, Any]]:
    """Each process, with its state, since when, and whom it takes for the leader; none where something else happened."""
    if not any(record.kind in _KINDS for record in sim.last[:64]):
        return []
    moves = sim.journal.processes
    begin = min((move.t for move in moves), default=sim.now)
    out: list[dict[str, Any]] = []
    for identity in dict.fromkeys(move.identity for move in moves):
        mine = [move for move in moves if move.identity == identity]
        last = mine[-1]
        states = [{"t": move.t, "state": move.state, "cutOff": move.cut_off} for move in mine]
        out.append(
            {
                "name": host(identity) or last.scheduler,
                "state": STATES.get(last.state, last.state),
                "leads": last.state == LEADING,
                "since": clock(last.t),
                "leader": host(last.leader),
                "lane": lane(states, begin, sim.now),
            }
        )
    return out
