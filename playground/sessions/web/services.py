"""What every live session of a process shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from playground.sessions.web.jobs.registry import Jobs
from playground.sessions.web.loop import SessionsLoop
from playground.sessions.web.pool import Pool
from playground.sessions.web.relay import Relay

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Services:
    """`name` is this process' among the servers."""

    name: str
    loop: SessionsLoop
    pool: Pool
    relay: Relay
    jobs: Jobs

    async def db(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a database function in a thread."""
        return await self.loop.db(function, *args, **kwargs)
