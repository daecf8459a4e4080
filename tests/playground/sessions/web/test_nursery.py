"""Tests of the process that forks workers."""

import os
import signal
import socket
import subprocess

import pytest

from playground.sessions.protocol.wire import AtWork
from playground.sessions.web.nursery import MODULE, Nursery


@pytest.mark.parametrize("noticed", [True, False], ids=["noticed", "unnoticed"])
def test_a_killed_nursery_is_replaced_at_the_next_order(noticed: bool) -> None:
    nursery, at_work = Nursery(), AtWork.made()
    before = _forking()
    for _ in range(3):
        mine, theirs = socket.socketpair()
        with mine:
            with theirs:
                nursery.fork(1 << 30, False, theirs, at_work.file)
            (pid,) = _forking() - before
            os.kill(pid, signal.SIGKILL)
            if noticed:
                mine.settimeout(20)
                assert mine.recv(1) == b"", "the worker ends with the process that forked it"
    at_work.close()


def _forking() -> set[int]:
    """Return the children of this process that fork workers."""
    command = ["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {int(line.split()[0]) for line in listed if MODULE in line and "defunct" not in line}
