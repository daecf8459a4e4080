"""What runs on the sessions' loop leaves nothing of its callers' loops behind."""

import asyncio
import gc
from weakref import ref

from playground.sessions.web.loop import SessionsLoop


def test_a_loop_that_called_and_ended_is_freed() -> None:
    sessions = SessionsLoop()

    async def answer() -> int:
        return 4

    async def ask() -> tuple[int, "ref[asyncio.AbstractEventLoop]"]:
        return await sessions.call(answer), ref(asyncio.get_running_loop())

    answered, loop = asyncio.run(ask())
    gc.collect()
    assert (answered, loop()) == (4, None)
