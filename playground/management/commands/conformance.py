"""`python manage.py conformance PATH...`: compares this scheduler's decisions with those of kube-scheduler v1.34.1."""

import gc
import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from playground.management.errors import PlainCommand
from scheduler_core import KUBE_VERSION
from scheduler_core.scheduler.config import OLDEST
from scheduler_core.testing.conformance.corpus import CorpusError, Result, Verdict, judge, read_corpus
from scheduler_core.testing.conformance.corpus.reading import plugins_in

ALL_PASS, SOME_DIFFER, SOME_NOT_SUPPORTED = 0, 1, 2


class Command(PlainCommand):
    """A command that runs corpus scenarios through the real cycle and reports the differences."""

    help = (
        "Run corpus files or folders (.json, .json.xz, .json.gz) and compare every decision. "
        "Exit status: 0 all pass, 1 some differ, 2 none differs but some are not supported yet."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a corpus file or a folder of them")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object for machines")

    def handle(self, *args: Any, paths: list[Path], as_json: bool, **options: Any) -> None:
        gc.set_threshold(100_000, 20, 20)  # as in a worker process: a large cluster has many long-lived objects
        results: list[Result] = []
        try:
            for path in paths:
                for scenario in read_corpus(path):
                    result = judge(scenario)
                    results.append(result)
                    if result.verdict is Verdict.DIFFERS and not as_json:
                        self.stdout.write(f"{scenario.family} / {scenario.name}: {result.text}")
        except CorpusError as problem:
            raise CommandError(str(problem)) from problem
        if as_json:
            self.stdout.write(
                json.dumps({"schema": "conformance/v1", **as_data(results)}, ensure_ascii=False, indent=2)
            )
        else:
            self.stdout.write("\n".join([*table(results), summary(results)]))
        status = exit_status(results)
        if status != ALL_PASS:
            sys.exit(status)


def count(results: Iterable[Result]) -> Counter[Verdict]:
    """Return the number of scenarios by verdict."""
    return Counter(result.verdict for result in results)


def by_family(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Return the results by family, families in the order of their first results."""
    families: dict[str, list[Result]] = {}
    for result in results:
        families.setdefault(result.scenario.family, []).append(result)
    return families


def table(results: list[Result]) -> list[str]:
    """Return the lines of a table: one per family, with the reasons why scenarios are not supported."""
    families = by_family(results)
    width = max(len("family"), *(len(family) for family in families))
    lines = [f"{'family':<{width}}  {'scenarios':>9}  {'pass':>5}  {'differ':>6}  {'not supported yet':>17}"]
    for family, mine in families.items():
        counts = count(mine)
        waits = Counter(result.reason for result in mine if result.verdict is Verdict.NOT_SUPPORTED)
        line = (
            f"{family:<{width}}  {len(mine):>9}  {counts[Verdict.PASSES]:>5}  {counts[Verdict.DIFFERS]:>6}"
            f"  {counts[Verdict.NOT_SUPPORTED]:>17}"
        )
        if waits:
            line += "  (" + ", ".join(f"{reason}: {n}" for reason, n in waits.most_common()) + ")"
        lines.append(line)
    return lines


def summary(results: list[Result]) -> str:
    counts = count(results)
    return (
        f"conformance: {counts[Verdict.PASSES]} of {len(results)} scenarios pass, "
        f"{counts[Verdict.NOT_SUPPORTED]} not supported yet"
    )


def exit_status(results: list[Result]) -> int:
    counts = count(results)
    if counts[Verdict.DIFFERS]:
        return SOME_DIFFER
    return SOME_NOT_SUPPORTED if counts[Verdict.NOT_SUPPORTED] else ALL_PASS


def as_data(results: list[Result]) -> dict[str, Any]:
    found: dict[str, dict[str, list[int]]] = {}
    for result in results:
        sums = found.setdefault(result.scenario.release, {}).setdefault(result.scenario.family, [0, 0])
        sums[0] += result.verdict is Verdict.PASSES
        sums[1] += 1
    return {
        "kube": KUBE_VERSION,
        "summary": summary(results),
        **_counts(results),
        **({} if found.keys() <= {OLDEST} else {"releases": found}),
        "families": [
            {"family": family, **_counts(mine), "plugins": _plugins(mine)}
            for family, mine in by_family(results).items()
        ],
        "differences": [
            {
                "family": result.scenario.family,
                "scenario": result.scenario.name,
                "text": result.text,
                **({} if result.difference is None else result.difference.to_json()),
            }
            for result in results
            if result.verdict is Verdict.DIFFERS
        ],
        "waiting": [
            {"family": result.scenario.family, "scenario": result.scenario.name, "needs": result.reason}
            for result in results
            if result.verdict is Verdict.NOT_SUPPORTED
        ],
    }


def _plugins(results: list[Result]) -> dict[str, int]:
    """Return plugin -> number of passed scenarios in which its effect is visible."""
    passed = (result.scenario for result in results if result.verdict is Verdict.PASSES)
    return dict(sorted(Counter(name for scenario in passed for name in plugins_in(scenario)).items()))


def _counts(results: list[Result]) -> dict[str, int]:
    counts = count(results)
    return {
        "scenarios": len(results),
        "attempts": sum(len(result.scenario.attempts) for result in results),
        "pass": counts[Verdict.PASSES],
        "differ": counts[Verdict.DIFFERS],
        "notSupported": counts[Verdict.NOT_SUPPORTED],
    }
