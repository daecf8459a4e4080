"""Does an experiment slow the studio? `python -m benchmarks.beside` steps a session with and without an experiment beside it, in turns.

The server makes the runs of the page's experiment at the lowest priority. What a loop that only computes costs at that priority is what the
machine takes for sharing its processors, so the experiment should not cost more.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.probe import probe
from benchmarks.server import Client, serve, steps, summary
from tests.browser.server import PlaygroundServer
from tests.playground.sessions.worlds import node, pod

LOOP = "from playground.sessions.worker.process import yield_processors; yield_processors()\nwhile True: pass"

ROUNDS, STEPS = 6, 80
EXPERIMENT = """
worlds: [{name: s, files: [session.yaml], again: true, shuffle: true}]
variants: [{name: a}, {name: b, weights: {NodeResourcesBalancedAllocation: 10}}]
seeds: 100
"""


@contextmanager
def loop() -> Iterator[None]:
    """A process of the same priority that only computes."""
    process = subprocess.Popen([sys.executable, "-c", LOOP], start_new_session=True)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def measure(server: PlaygroundServer, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of steps without anything beside them, beside an experiment, and beside a loop."""
    stepped, busy = Client(server), Client(server)
    for client in (stepped, busy):
        client.bring([node(f"n{i}") for i in range(50)] + [pod(f"p{i}") for i in range(500)])
    wire = stepped.watch()
    steps(wire, STEPS)
    found: dict[str, list[float]] = {"alone": [], "beside an experiment": [], "beside a loop": []}
    for _ in range(rounds):
        found["alone"] += [each[0] for each in steps(wire, STEPS)]
        page = busy.post(f"/s/{busy.key}/experiments", file=EXPERIMENT).removeprefix(server.url)
        found["beside an experiment"] += [each[0] for each in steps(wire, STEPS)]
        busy.post(page, stop="1")
        with loop():
            found["beside a loop"] += [each[0] for each in steps(wire, STEPS)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of {STEPS} steps each way ({ROUNDS})")
    rounds = parser.parse_args().rounds
    with serve() as server:
        found = measure(server, rounds)
    print("probe:", probe())
    alone = statistics.median(found["alone"])
    for name, times in found.items():
        print(f"{name}: {statistics.median(times) / alone:.3f} times,", summary([(each, 0) for each in times]))


if __name__ == "__main__":
    main()
