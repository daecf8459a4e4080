"""Does an experiment slow the studio? `python -m benchmarks.beside` steps a session with and without an experiment beside it, in turns.

The server makes the runs of the page's experiment at the lowest priority, so a step should not notice them.
"""

import argparse
import statistics

from benchmarks.probe import probe
from benchmarks.server import Client, serve, steps, summary
from tests.browser.server import PlaygroundServer
from tests.playground.sessions.worlds import node, pod

ROUNDS, STEPS = 6, 80
EXPERIMENT = """
worlds: [{name: s, files: [session.yaml], again: true, shuffle: true}]
variants: [{name: a}, {name: b, weights: {NodeResourcesBalancedAllocation: 10}}]
seeds: 100
"""


def measure(server: PlaygroundServer, rounds: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of steps without an experiment, and beside one."""
    stepped, busy = Client(server), Client(server)
    for client in (stepped, busy):
        client.bring([node(f"n{i}") for i in range(50)] + [pod(f"p{i}") for i in range(500)])
    wire = stepped.watch()
    steps(wire, STEPS)
    alone: list[float] = []
    beside: list[float] = []
    for _ in range(rounds):
        alone += [each[0] for each in steps(wire, STEPS)]
        page = busy.post(f"/s/{busy.key}/experiments", file=EXPERIMENT).removeprefix(server.url)
        beside += [each[0] for each in steps(wire, STEPS)]
        busy.post(page, stop="1")
    return alone, beside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of {STEPS} steps each way ({ROUNDS})")
    rounds = parser.parse_args().rounds
    with serve() as server:
        alone, beside = measure(server, rounds)
    print("probe:", probe())
    for name, times in (("alone", alone), ("beside an experiment", beside)):
        print(name, summary([(each, 0) for each in times]))
    print(f"medians: {statistics.median(beside) / statistics.median(alone):.3f} times")


if __name__ == "__main__":
    main()
