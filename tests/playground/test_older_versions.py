"""Sessions and traces of older versions open and replay the same, through a real server. tests/recorded says what there is."""

from __future__ import annotations

import json
import lzma
import sqlite3
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.browser.server import PlaygroundServer
from tests.older_traces import RECORDED, traces

# A header also says which version wrote it, when its session was made, and since 0.6 which lesson that was made from.
VERSIONED = ("engine", "created", "lesson")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """The present version, on a database of the older one."""
    folder = tmp_path_factory.mktemp("older")
    packed = (RECORDED / "sessions.sqlite3.xz").read_bytes()
    (folder / "playground.sqlite3").write_bytes(lzma.decompress(packed))
    server = PlaygroundServer(folder)
    server.manage("migrate", "--verbosity", "0")
    try:
        server.start()
        yield server
    finally:
        server.stop()


def sessions(server: PlaygroundServer) -> dict[int, tuple[str, int]]:
    """Number -> edit key and head."""
    with sqlite3.connect(server.folder / "playground.sqlite3") as database:
        rows = database.execute("select id, edit_key, head from playground_session order by id").fetchall()
    return {number: (key, head) for number, key, head in rows}


def lines(trace: bytes) -> list[dict[str, Any]]:
    header, *rest = (json.loads(line) for line in trace.splitlines())
    return [{name: value for name, value in header.items() if name not in VERSIONED}, *rest]


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        assert answer.status == 200
        return bytes(answer.read())


def test_every_older_session_replays_to_the_trace_that_it_had(server: PlaygroundServer) -> None:
    known, recorded = sessions(server), traces()
    assert known.keys() == recorded.keys()

    def differs(number: int) -> bool:
        key, _head = known[number]
        exported = fetch(f"{server.url}/s/{key}/export.jsonl?first=2&last=3")
        return lines(exported) != lines(recorded[number])

    with ThreadPoolExecutor(2) as pool:
        different = list(pool.map(differs, recorded))
    assert [number for number, wrong in zip(recorded, different, strict=True) if wrong] == []


def test_a_session_made_from_a_story_names_it_as_its_lesson_now(server: PlaygroundServer) -> None:
    with sqlite3.connect(server.folder / "playground.sqlite3") as database:
        rows = database.execute("select id, edit_key, story from playground_session").fetchall()
    named = {}
    for number, key, _story in rows:
        header = json.loads(fetch(f"{server.url}/s/{key}/export.jsonl").splitlines()[0])
        named[number] = header.get("lesson", {"story": ""})["story"]
    assert named == {number: story for number, _key, story in rows}
    assert any(named.values()) and not all(named.values())


def test_every_older_session_opens_at_its_head_without_a_difference(server: PlaygroundServer) -> None:
    for key, head in sessions(server).values():
        page = fetch(f"{server.url}/s/{key}/").decode()
        assert f'data-seen="{head}"' in page
        assert 'id="differs"' not in page
