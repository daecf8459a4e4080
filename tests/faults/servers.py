"""Server processes on one database, as several machines would serve it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.browser.server import PlaygroundServer


@contextmanager
def serving(folder: Path, count: int = 1, **environment: str) -> Iterator[list[PlaygroundServer]]:
    """So many servers on the database of DATABASE_URL (or a SQLite in `folder`), each with a log in a folder of its own."""
    shared = {"DATA_DIR": str(folder), "ENGINE_WORKERS": "1", "ENGINE_HEAVY_WORKERS": "1", **environment}
    servers = []
    for number in range(count):
        (own := folder / f"server-{number}").mkdir()
        servers.append(PlaygroundServer(own, **shared))
    try:
        servers[0].start()  # it makes the tables; several would make them at once
        with ThreadPoolExecutor(count) as threads:
            list(threads.map(PlaygroundServer.start, servers[1:]))
        yield servers
    finally:
        for server in servers:
            server.stop()
