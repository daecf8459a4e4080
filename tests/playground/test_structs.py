"""A server's threads read Structs at the same time from the first request on."""

import subprocess
import sys

from tests.browser.server import ROOT

# Without the preparation this ends with signal 11 in each of a hundred runs.
RACE = """
import sys, threading, msgspec
from playground.asgi import prepare_structs

kinds = []
for number in range(60):
    inner = msgspec.defstruct(f"Inner{number}", [(f"a{each}", dict[str, int] | None, None) for each in range(20)])
    kinds.append(msgspec.defstruct(f"Outer{number}", [(f"b{each}", list[inner] | None, None) for each in range(20)]))
prepare_structs()
sys.setswitchinterval(1e-6)
data = {f"b{each}": [{"a1": {"x": 1}}] for each in range(20)}
for kind in kinds:
    together = threading.Barrier(3)
    def read():
        together.wait()
        assert msgspec.convert(data, kind).b0
    threads = [threading.Thread(target=read) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
"""


def test_threads_that_read_a_struct_for_the_first_time_do_not_crash() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RACE], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
