"""What does a step cost that somebody watches? `python -m benchmarks.watched_step` times each part of it, by the size of the cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import django
from django.core.management import call_command

from benchmarks.growth import node, pod
from benchmarks.probe import probe

SIZES = ((50, 200, 2.5), (1523, 4000, 5.0))  # nodes, pods, milliseconds at most
WARM, STEPS = 100, 400
PARTS = ("step", "present", "compare", "send", "render", "log")

T = TypeVar("T")


class Stopwatch:
    """CPU time of this thread by part, in seconds."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(PARTS, 0.0)

    def time(self, part: str, work: Callable[[], T]) -> T:
        started = time.thread_time()
        done = work()
        self.spent[part] += time.thread_time() - started
        return done


def watched(nodes: int, pods: int) -> Stopwatch:
    """Steps as a play makes them, seen by one viewer who follows: what the worker does, and then the web process."""
    import msgspec

    from playground.presenters import PANELS, Look, present
    from playground.presenters.panels import Digests, compare, digests
    from playground.sessions.database import log
    from playground.sessions.protocol.looking import Delta
    from playground.sessions.protocol.opening import LogRow
    from playground.sessions.web.publisher import render_delta
    from scheduler_core.world.commands import ApplyObjects
    from scheduler_core.world.simulation import Grain, Simulation

    objects: list[dict[str, Any]] = [*map(node, range(nodes)), *map(pod, range(pods))]
    sim, look = Simulation(), Look()
    seen: Digests = {}
    sim.apply(ApplyObjects(tuple(objects)))
    session = log.create("benchmark", "", "")
    log.append(session.pk, LogRow(1, "play", 0, sim.position, b""))

    watch = Stopwatch()

    def differing(panels: list[Any]) -> Delta:
        nonlocal seen
        before, seen = seen, digests(panels)
        return Delta(list(compare(panels, seen, before)), [])

    def sent(delta: Delta) -> Delta:
        return msgspec.msgpack.decode(msgspec.msgpack.encode(delta), type=Delta)

    for number in range(WARM + STEPS):
        if number == WARM:
            watch = Stopwatch()
        at = sim.position
        watch.time("step", lambda: sim.step(Grain.CALL))
        shown = watch.time("present", lambda: [present(name, sim, look) for name in PANELS])
        delta = watch.time("compare", lambda shown=shown: differing(shown))
        delta = watch.time("send", lambda delta=delta: sent(delta))
        watch.time("render", lambda delta=delta: render_delta(delta.panels))
        watch.time("log", lambda at=at: log.advance(session.pk, 1, at, sim.position))
    return watch


def main() -> None:
    """Print the table."""
    with TemporaryDirectory() as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "playground.settings", "DATA_DIR": folder, "DATABASE_URL": ""}
        django.setup()
        call_command("migrate", verbosity=0)
        print(f"Machine: {probe()}\n")
        print(f"| nodes | pods | {' | '.join(PARTS)} | ms CPU a step | at most |")
        print("|---" * (len(PARTS) + 4) + "|")
        for nodes, pods, most in SIZES:
            spent = [seconds / STEPS * 1e3 for seconds in watched(nodes, pods).spent.values()]
            parts = " | ".join(f"{ms:.2f}" for ms in spent)
            print(f"| {nodes:,} | {pods:,} | {parts} | {sum(spent):.2f} | {most:.1f} |", flush=True)


if __name__ == "__main__":
    main()
