"""The same input gives the same bytes, whatever Python's hash seed is."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = """
import json
from msgspec import to_builtins
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref, SetSettings
from scheduler_core.formats.export.traces import export_lines
from tests.scheduler_core.worlds import node, pod
objects = [node(f"n{i}", labels={"zone": f"z{i % 3}", f"k{i}": "v"}) for i in range(9)]
objects += [pod(f"p{i}", nodeSelector={"zone": f"z{i % 3}"}) for i in range(12)]
objects += [pod("waits", annotations={"playground.dev/permit": "wait:3s"}), pod("big", cpu="99")]
log = {
    0: to_builtins(SetSettings({"demonstration": True})),
    1: to_builtins(ApplyObjects(tuple(objects))),
    60: to_builtins(DeleteObjects((Ref("Node", "", "n3"), Ref("Pod", "default", "p7")))),
}
for line in export_lines(11, log, 600, range(1, 30)):
    print(json.dumps(line))
"""


def trace(hash_seed: str) -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, env=environment, capture_output=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def first() -> bytes:
    return trace("0")


def test_the_trace_is_of_some_length(first: bytes) -> None:
    assert first.count(b'"type": "digest"') > 10


@pytest.mark.parametrize("hash_seed", ["1", "2", "4242"])
def test_a_trace_is_byte_identical_under_another_hash_seed(first: bytes, hash_seed: str) -> None:
    assert hashlib.sha256(trace(hash_seed)).hexdigest() == hashlib.sha256(first).hexdigest()
