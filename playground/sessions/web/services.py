"""What every live session of a process shares."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from playground.sessions.web.engines.pool import Pool
from playground.sessions.web.engines.room import Room
from playground.sessions.web.jobs.registry import Jobs
from playground.sessions.web.loop import SessionsLoop
from playground.sessions.web.relay import Relay

PLAYS_AT_ONCE = 8


@dataclass(frozen=True)
class Services:
    """`name` is this process' among the servers.

    `turns`: what plays do by themselves is done for a few of them at a time, the others in a row; so somebody who steps does not wait
    behind all of them in every queue on the way.
    """

    name: str
    loop: SessionsLoop
    pool: Pool
    room: Room
    relay: Relay
    jobs: Jobs
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PLAYS_AT_ONCE))
