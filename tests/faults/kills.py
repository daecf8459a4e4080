"""Servers, their workers, the database and Redis are killed at random while clients are at work; then it is counted what is lost."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Literal

from tests.browser.server import PlaygroundServer
from tests.faults.clients import START, Builder, Client, Ledger, Stepper
from tests.faults.postgresql import PostgreSQL, a_postgresql
from tests.faults.proof import Database, Server, SQLite, count_faults, head_of, is_readable, is_served
from tests.faults.redis import Redis, a_redis
from tests.faults.servers import serving
from tests.faults.viewers import count_behind, looking
from tests.faults.visitor import Visitor

Kind = Literal["sqlite", "postgresql"]

SESSIONS = 4
BUILDERS, STEPPERS = 3, 2
# Between two kills so much is acknowledged, if that does not take longer than so many seconds.
ACKNOWLEDGED, LONGEST = 4, 10.0
WORKER = b"playground.sessions.worker"
# How often each is killed: those that are back at once more often.
WEIGHTS = {"worker": 2, "database": 4, "redis": 3, "server": 1}


@dataclass(frozen=True)
class Tally:
    """What came of it. `lost`: acknowledged, and not in the log; `doubled`: there twice; `unreadable`: sessions; `behind`: viewers that
    were not level soon after a kill.
    """

    kills: int
    acknowledged: int
    lost: int
    doubled: int
    unreadable: int
    behind: int

    @property
    def is_clean(self) -> bool:
        return self.lost == self.doubled == self.unreadable == 0


def run(kills: int, kind: Kind, processes: int, seed: int, watched: bool = True) -> Tally:
    """Make so many kills, and count; where it is `watched`, after each kill those who look on, too."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="playground-kills-")))
        postgresql = stack.enter_context(a_postgresql()) if kind == "postgresql" else None
        database: Database = Server(postgresql) if postgresql else SQLite(folder)
        redis = stack.enter_context(a_redis(folder / "redis")) if processes > 1 else None
        environment = {"DATABASE_URL": database.url, **({"REDIS_URL": redis.url} if redis else {})}
        servers = stack.enter_context(serving(folder, processes, **environment))
        ledger = Ledger()
        for number in range(SESSIONS):
            ledger.add_session(Visitor(servers[number % processes].url).new_session(START))
        looked_at, other, *_ = ledger.sessions()
        urls = [server.url for server in servers] if watched else []
        behind = 0
        with looking(urls, looked_at) as viewers, _at_work(servers, ledger, seed):
            for _kill in Killer(servers, postgresql, redis, Random(seed), ledger).work(kills):
                for url in urls:  # what was killed takes its time to start; it is asked for another session, to tell nothing of this one
                    is_served(Visitor(url), other)
                if viewers:
                    behind += count_behind(viewers, head_of(database, looked_at))
        lost, doubled = count_faults(database, ledger)
        unreadable = _unreadable(folder, database, ledger, servers[0])
        return Tally(kills, ledger.count, lost, doubled, unreadable, behind)


@contextlib.contextmanager
def _at_work(servers: list[PlaygroundServer], ledger: Ledger, seed: int) -> Iterator[None]:
    kinds: list[type[Client]] = [Builder] * BUILDERS + [Stepper] * STEPPERS
    clients = [kind(number, servers[number % len(servers)].url, ledger, seed) for number, kind in enumerate(kinds)]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        for client in clients:
            client.stop()
        for client in clients:
            client.wait()


def _unreadable(folder: Path, database: Database, ledger: Ledger, living: PlaygroundServer) -> int:
    """Sessions that a server which replays whole logs does not bring to where they are."""
    (own := folder / "replaying").mkdir()
    replaying = PlaygroundServer(own, DATABASE_URL=database.url, CHECKPOINTS="0", ENGINE_WORKERS="1")
    try:
        replaying.start()
        visitors = Visitor(living.url), Visitor(replaying.url)
        return sum(not is_readable(database, key, *visitors) for key in ledger.sessions())
    finally:
        replaying.stop()


class Killer:
    """Ends something at once, starts it again where nobody else does, and lets the clients come to themselves."""

    def __init__(
        self,
        servers: list[PlaygroundServer],
        postgresql: PostgreSQL | None,
        redis: Redis | None,
        random: Random,
        ledger: Ledger,
    ) -> None:
        self._servers = servers
        self._postgresql = postgresql
        self._redis = redis
        self._random = random
        self._ledger = ledger
        ways: dict[str, Callable[[], bool]] = {"worker": self._kill_worker, "server": self._kill_server}
        if postgresql:
            ways["database"] = self._kill_database
        if redis:
            ways["redis"] = self._kill_redis
        self._ways = ways

    def work(self, kills: int) -> Iterator[None]:
        """So many kills; after each, when everything runs again, whoever asked for the next may look at what came of it."""
        drawn = self._draw()
        while kills:
            self._let_work()
            time.sleep(self._random.uniform(0, 0.3))
            if self._ways[next(drawn)]():
                kills -= 1
                yield
        self._let_work()

    def _draw(self) -> Iterator[str]:
        """What is killed next: of ten in a row each has its share."""
        while True:
            names = [name for name in self._ways for _ in range(WEIGHTS[name])]
            self._random.shuffle(names)
            yield from names

    def _let_work(self) -> None:
        wanted, deadline = self._ledger.count + ACKNOWLEDGED, time.monotonic() + LONGEST
        while self._ledger.count < wanted and time.monotonic() < deadline:
            time.sleep(0.02)

    def _kill_worker(self) -> bool:
        server = self._random.choice(self._servers)
        assert server.process is not None
        found = [pid for pid in children(server.process.pid) if WORKER in command_of(pid)]
        if not found:
            return False
        os.kill(self._random.choice(found), signal.SIGKILL)
        return True

    def _kill_server(self) -> bool:
        server = self._random.choice(self._servers)
        server.kill()
        server.start()
        return True

    def _kill_database(self) -> bool:
        """All of it, or one of its processes: then PostgreSQL ends all the others itself, and recovers."""
        assert self._postgresql is not None
        if self._random.random() < 0.5:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._random.choice(self._postgresql.processes()[1:]), signal.SIGKILL)
        else:
            self._postgresql.kill()
            self._postgresql.start()
        return True

    def _kill_redis(self) -> bool:
        assert self._redis is not None
        self._redis.kill()
        self._redis.start()
        return True


def children(pid: int) -> list[int]:
    """The processes that a process has started and that still run, and those that they have started."""
    found = [int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()]
    return found + [grandchild for child in found for grandchild in children(child)]


def command_of(pid: int) -> bytes:
    """What a process was started with; nothing where it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
