"""The metrics and statistics of a world's schedulers, inside a worker."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from playground.features.metrics.query import Metrics, Statistics
from playground.presenters.words import message
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from scheduler_core.analysis.status import read_families, scrape

MOST_REASONS = 500


@answers(Metrics)
def metrics(engine: Engine, request: Metrics) -> Steps[Data]:
    """Return the metric families of one scheduler, or of all for an empty name."""
    return metrics_of((yield from engine.at(request.position)), request.scheduler)


@answers(Statistics)
def statistics(engine: Engine, request: Statistics) -> Steps[Data]:
    """Return the families, curves, and refusals of one scheduler: the first for an empty name, none if none runs."""
    return statistics_of((yield from engine.at(request.position)), request.scheduler)


def metrics_of(world: Any, name: str) -> Data:
    """Return the metrics. Raise SessionGone if no scheduler has that name, unless none runs."""
    return {**_about(world, name), "schedulers": [_one(s) for s in world.schedulers if name in ("", s.name)]}


def statistics_of(world: Any, name: str) -> Data:
    """Return the statistics. Raise SessionGone if no scheduler has that name, unless none runs."""
    about = {**_about(world, name), "every": world.scrapes.every}
    named = [scheduler for scheduler in world.schedulers if name in ("", scheduler.name)]
    return {**about, "schedulers": [_with_statistics(world, scheduler) for scheduler in named[:1]]}


def _with_statistics(world: Any, scheduler: Any) -> Data:
    now = scrape(world.now, world.position, scheduler)
    taken = [scrape for scrape in world.scrapes.taken.get(scheduler.name, ()) if scrape.t < world.now]
    curve = [{**scrape._asdict(), "use": [list(use) for use in scrape.use]} for scrape in (*taken, now)]
    attempts = [each for each in world.journal.attempts if each.scheduler == scheduler.name]
    refusals = {
        "plugins": by_plugin(attempts, [point["t"] for point in curve]),
        "reasons": by_reason(attempts)[:MOST_REASONS],
    }
    return {**_one(scheduler), "curve": curve, "refusals": refusals}


def _about(world: Any, name: str) -> Data:
    names = [scheduler.name for scheduler in world.schedulers]
    if name and names and name not in names:
        raise SessionGone(
            message(
                "No scheduler %(name)s exists at this step. Schedulers: %(names)s.", name=name, names=", ".join(names)
            )
        )
    return {"position": world.position, "now": world.now, "names": names}


def _one(scheduler: Any) -> Data:
    return {
        "name": scheduler.name,
        "release": scheduler.release,
        "families": [family.to_json() for family in read_families(scheduler)],
    }


def by_plugin(attempts: Sequence[Any], times: Sequence[int]) -> dict[str, list[int]]:
    """Count the attempts that each plugin has refused up to each of these times, the last of which is the present.

    Attempts are in the order of their ends.
    """
    refused: dict[str, list[int]] = {}
    place = 0
    for attempt in attempts:
        while place + 1 < len(times) and times[place] < attempt.ended:
            place += 1
        for plugin in attempt.plugins:
            refused.setdefault(plugin, [0] * len(times))[place] += 1
    for counts in refused.values():
        for i in range(1, len(counts)):
            counts[i] += counts[i - 1]
    return refused


def by_reason(attempts: Sequence[Any]) -> list[tuple[str, int]]:
    """Return kube's reasons with the number of nodes refused in all attempts, most frequent first."""
    nodes: Counter[str] = Counter()
    for attempt in attempts:
        for reason, count in attempt.refusals:
            nodes[reason] += count
    return sorted(nodes.items(), key=lambda row: (-row[1], row[0]))
