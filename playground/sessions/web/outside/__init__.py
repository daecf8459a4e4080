"""Calls of real extenders, the only ones that leave the server: to hosts that its operator allows (docs/extenders.md, docs/security.md)."""

import asyncio
from collections.abc import Sequence

from playground.sessions.protocol.moving import OutsideCall
from playground.sessions.web.outside.asking import ask
from scheduler_core.world.commands import AnswerExtender

__all__ = ["ask", "ask_all"]


async def ask_all(calls: Sequence[OutsideCall]) -> list[AnswerExtender]:
    """Make the calls concurrently; return the commands with their answers."""
    return list(await asyncio.gather(*(ask(call) for call in calls)))
