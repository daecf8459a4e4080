"""A backup that was made while people worked, restored somewhere else: the same sessions, which go on from there."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.browser.server import ROOT, PlaygroundServer
from tests.faults.visitor import Visitor
from tests.playground.sessions.wire import Wire
from tests.playground.storage.backups.conftest import Installations


def refused(installation: PlaygroundServer, *arguments: str) -> str:
    """What a management command says that does nothing."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=installation.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def playing(server: PlaygroundServer, key: str) -> Wire:
    """A session that makes step after step."""
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    wire.send({"type": "play", "grain": "call", "rate": 20})
    begun = wire.until(lambda message: message["type"] == "delta")["head"]
    wire.until(lambda message: message["type"] == "delta" and message["head"] > begun + 3)
    return wire


def trace(visitor: Visitor, key: str) -> str:
    """All of a session, once the server has replayed it."""
    deadline = time.monotonic() + 60
    while visitor.get(f"/s/{key}/").status == 202:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    answer = visitor.get(f"/s/{key}/export.jsonl")
    assert answer.status == 200, answer.text
    return answer.text


def test_a_backup_of_a_running_server_is_restored_whole(installation: Installations, tmp_path: Path) -> None:
    first, file = installation(), tmp_path / "playground.backup"
    first.start()
    visitor = Visitor(first.url)
    quiet, busy = visitor.new_session(), visitor.new_session("cluster:zones")
    text = "apiVersion: v1\nkind: Node\nmetadata: {name: mine}\n"
    assert visitor.post(f"/s/{quiet}/yaml", {"text": text, "create": ""}).status == 200
    wire = playing(first, busy)
    assert str(file) in first.manage("backup", str(file))
    assert file.stat().st_mode & 0o077 == 0  # it holds keys
    assert "in use" in refused(first, "restore", "--force", str(file))
    wire.close()

    second = installation()
    second.manage("restore", str(file))
    second.start()
    restored = Visitor(second.url)
    assert trace(restored, quiet) == trace(visitor, quiet)
    _, *happened = trace(restored, busy).splitlines()
    assert happened and happened == trace(visitor, busy).splitlines()[1 : len(happened) + 1]
    restored.new_session()  # its rows get numbers of their own
