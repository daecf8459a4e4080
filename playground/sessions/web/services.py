"""What every live session of a process shares."""

from __future__ import annotations

from dataclasses import dataclass, field

from playground.sessions.web.engines.pool import Pool
from playground.sessions.web.engines.room import Room
from playground.sessions.web.jobs.registry import Jobs
from playground.sessions.web.loop import SessionsLoop
from playground.sessions.web.relay import Relay
from playground.sessions.web.turns import Turns


@dataclass(frozen=True)
class Services:
    """`name` is this process' among the servers."""

    name: str
    loop: SessionsLoop
    pool: Pool
    room: Room
    relay: Relay
    jobs: Jobs
    turns: Turns = field(default_factory=Turns)
