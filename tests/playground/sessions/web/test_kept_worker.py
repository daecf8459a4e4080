"""A process that proves variants is kept for the next one, and ended when nobody asks any more."""

from __future__ import annotations

import asyncio

import pytest

from playground.sessions.protocol.looking import DrawVariant
from playground.sessions.web.engines import TooSlow, WorkerDied
from playground.sessions.web.jobs.reruns import KeptWorker

DRAW = DrawVariant(slug="bin-packing", lesson=b"", seed="5", max_objects=1_000)


async def pid_after(kept: KeptWorker) -> int | None:
    """The process that drew a variant."""
    assert (await kept.call(DRAW)).document
    return kept._worker.pid


async def test_one_process_answers_one_after_another_until_nobody_asks() -> None:
    kept = KeptWorker(seconds=0.2)
    first, second = await asyncio.gather(pid_after(kept), pid_after(kept))
    assert first == second
    worker = kept._worker
    async with asyncio.timeout(20):
        while worker.alive:
            await asyncio.sleep(0.02)
    assert await pid_after(kept) not in (first, None)
    kept._worker.kill()


async def test_one_that_takes_too_long_or_is_given_up_leaves_the_next_a_new_process(settings) -> None:
    kept = KeptWorker()
    first = await pid_after(kept)
    settings.LESSON_SECONDS = 0.0001
    with pytest.raises((TooSlow, WorkerDied)):
        await kept.call(DRAW)
    settings.LESSON_SECONDS = 20
    second = await pid_after(kept)
    given_up = asyncio.create_task(kept.call(DRAW))
    await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert len({first, second, await pid_after(kept)}) == 3
    kept._worker.kill()
