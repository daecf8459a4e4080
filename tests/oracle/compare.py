"""Compare our scheduling cycles with the real scheduler's over random worlds.

    python -m tests.oracle.compare ORACLE RELEASE FIRST LAST [extenders]

ORACLE is the program that build.sh builds. With "extenders" the worlds have some, which a stub plays on both sides.
Prints each world in which an attempt differs, and a line of sums; exits 1 where one differs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.base.releases import read_release
from scheduler_core.scheduler.config import load_configuration
from scheduler_core.scheduler.config.gates import resolve
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.testing.conformance.corpus.extenders import shorten_body
from scheduler_core.testing.conformance.corpus.reading import Scenario
from scheduler_core.testing.conformance.corpus.run import Run
from scheduler_core.testing.differences import first_place
from tests.oracle.extending import make_extended_world
from tests.oracle.worlds import make_world

Attempt = Mapping[str, Any]

# In the order of a cycle. The oracle records verdicts and scores of attempts that found a node.
FIELDS = (
    "filter",
    "feasible",
    "scores",
    "topNodes",
    "chosen",
    "errorKind",
    "error",
    "unschedulablePlugins",
    "nominated",
    "victims",
    "message",
    "nominatedNodeAfter",
    "claims",
)
# Where there are extenders, the real scheduler's choice is followed among nodes that tie, and its calls are compared.
EXTENDED = ("extenders", "chosen", "evaluatedNodes", "feasibleNodes", "binding", *FIELDS[5:])


def ask_oracle(oracle: str, worlds: Iterable[Attempt]) -> list[Any]:
    """Run the real scheduler over the worlds, one JSON document a line."""
    lines = "".join(f"{json.dumps(world)}\n" for world in worlds)
    answered = subprocess.run([oracle], input=lines, capture_output=True, text=True, check=True, timeout=600)
    return [json.loads(line) for line in answered.stdout.splitlines()]


def find_difference(world: Attempt, attempts: list[Attempt], sums: Counter[str]) -> str | None:
    """Return the first difference of a world, or None; count the attempts by their outcome."""
    release = read_release(world["kubeVersion"])
    settings = WorldSettings(release=release).changed(resolve(world["gates"], release).settings)
    configuration = load_configuration(world["config"], settings.features)
    scenario = Scenario("random", world["name"], {**world, "expect": {"attempts": attempts}}, None, release)
    run = Run(scenario, configuration, settings, None)
    for expected in attempts:
        pod = run.world.pods[expected["pod"]]
        received = run.attempt(pod, run.frameworks[expected["profile"]], expected)
        sums[expected.get("errorKind") or "scheduled"] += 1
        sums["preempted"] += "nominated" in expected
        sums["scored"] += "scores" in expected
        sums["devices"] += any(status.get("allocation") for status in expected["claims"].values())
        for call in expected.get("extenders", ()):
            call["request"] = shorten_body(_untyped(call["request"]), len(run.world.take_snapshot()))
        fields = EXTENDED if "extenders" in expected else FIELDS
        wanted, ours = _compared(expected, fields), _compared(_shorten(received), fields)
        wanted["claims"], ours["claims"] = _unify(expected["claims"]), _unify(run.claims.all())
        for side in (wanted, ours):
            side["extenders"] = _list_calls(side.get("extenders", ()))
            side["binding"] = {**side.get("binding", {}), "by": side.get("binding", {}).get("by", "").split()[:1]}
        for field in fields:
            place = first_place(wanted.get(field), ours.get(field))
            if place is not None:
                return (
                    f"{world['name']}: {expected['pod']}: {field}{place[0]}: expected {place[1]}, received {place[2]}"
                )
    return None


def _shorten(received: Attempt) -> dict[str, Any]:
    """Reduce an attempt of ours to the oracle's form."""
    short = dict(received)
    preemption = short.get("preemption") or {}
    if preemption.get("nominated"):
        short |= {"nominated": preemption["nominated"], "victims": sorted(preemption.get("victims", ()))}
    if "scores" in short:
        plugins = short["scores"]["plugins"]
        short["scores"] = {
            node: {"weighted": dict(zip(plugins, of["weighted"], strict=True)), "total": of["total"]}
            for node, of in short["scores"]["nodes"].items()
        }
    if "chosen" not in short:
        return {**short, "filter": None, "feasible": None}
    short["filter"] = {node: of for node, of in short["filter"].items() if not (of or {}).get("excluded")}
    return short


def _unify(claims: Mapping[str, Any]) -> Any:
    """Return the claims' statuses with names for what is drawn at random, and without times."""
    names: dict[str, str] = {}

    def walk(value: Any, key: str = "") -> Any:
        if key == "shareID":
            return names.setdefault(value, f"share-{len(names)}")
        if key == "allocationTimestamp":
            return "<now>"
        if isinstance(value, dict):
            kept = {name: walk(value[name], name) for name in sorted(value)}
            return {name: each for name, each in kept.items() if each not in (None, [], {})}
        return [walk(each) for each in value] if isinstance(value, list) else value

    return walk(claims)


def _untyped(value: Any) -> Any:
    """Return the objects in a body without their types, which the oracle's API adds."""
    if isinstance(value, list):
        return [_untyped(each) for each in value]
    if not isinstance(value, dict):
        return value
    types = ("apiVersion", "kind") if "metadata" in value else ()
    return {name: _untyped(each) for name, each in value.items() if name not in types}


def _list_calls(calls: Iterable[Attempt]) -> list[Any]:
    """Return the calls of extenders in their order; those that rank nodes come at once."""
    asked = [{name: call.get(name) for name in ("extender", "verb", "request", "status")} for call in calls]
    return sorted(asked, key=lambda call: call["extender"] if call["verb"] == "prioritize" else 0)


def _compared(attempt: Attempt, names: Iterable[str]) -> dict[str, Any]:
    """Return the fields that are compared, without empty ones. A node that passes differs from one that is missing."""
    fields = {field: attempt[field] for field in names if attempt.get(field) not in (None, [], {}, "")}
    if "filter" in fields:
        fields["filter"] = {node: of or "passes" for node, of in fields["filter"].items()}
    if "feasible" in fields:
        fields["feasible"] = sorted(fields["feasible"])
    return fields


def main(oracle: str, release: str, first: str, last: str, what: str = "") -> int:
    """Compare the worlds of the seeds from `first` to before `last`. Return the exit code."""
    make = make_extended_world if what == "extenders" else make_world
    worlds = [make(seed, release) for seed in range(int(first), int(last))]
    sums: Counter[str] = Counter()
    agreed = 0
    for world, answer in zip(worlds, ask_oracle(oracle, worlds), strict=True):
        panic = answer.get("panic")
        difference = f"{world['name']}: {panic}" if panic else find_difference(world, answer["attempts"], sums)
        agreed += difference is None
        if difference is not None:
            print(difference)
    print(f"{release}: {agreed} of {len(worlds)} worlds agree; attempts: {dict(sums)}")
    return int(agreed < len(worlds))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
