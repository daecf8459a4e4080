"""The worker processes of this web process, one per lane and number.

Small sessions share the workers of the first lane. A session with a large log or import lives in the second, so that no step of
a small one ever waits for a transition that takes seconds.
"""

from __future__ import annotations

import asyncio

from playground.sessions.protocol.opening import Close
from playground.sessions.web.engines.worker import Worker

ALIKE = 128 << 20  # bytes of memory that make no difference


class Pool:
    """The assignment of sessions to workers."""

    def __init__(self, workers: int, heavy: int) -> None:
        self._lanes = {False: [Worker() for _ in range(workers)], True: [Worker() for _ in range(heavy)]}

    def assign(self, session_id: int, heavy: bool) -> Worker:
        """The worker of the lane with the most room."""
        worker = self.roomiest(heavy)
        worker.sessions.add(session_id)
        return worker

    def roomiest(self, heavy: bool) -> Worker:
        """The worker of a lane with the most memory left; of those that have about as much, the one with the fewest sessions."""
        return min(self._lanes[heavy], key=lambda worker: (worker.memory() // ALIKE, len(worker.sessions)))

    def lane(self, heavy: bool) -> list[Worker]:
        return self._lanes[heavy]

    def release(self, session_id: int, worker: Worker) -> None:
        worker.sessions.discard(session_id)
        worker.notify(session_id, Close())

    async def renew(self) -> None:
        """Replace the processes that have no session left."""
        for worker in self.workers():
            await worker.renew()

    async def warm(self) -> None:
        """Start the first worker before anybody asks for it."""
        await self._lanes[False][0].start()

    def workers(self) -> list[Worker]:
        return [worker for lane in self._lanes.values() for worker in lane]

    async def stop(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self.workers()))
