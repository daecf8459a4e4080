"""Thirty situations of public threads and siblings of our own, by meaning: what is said of them, what is not,
and which fixes are offered under the newest release, and
under 1.34 where this changes the answer."""

from __future__ import annotations

import re
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from playground.management.explaining import answer, answers_about, problems, with_fixes
from playground.management.terminal.printing import Progress
from playground.management.terminal.world import attempt_all, make_world
from scheduler_core.analysis.explain import Past
from scheduler_core.world.commands import ApplyObjects, command_from_json
from scheduler_core.world.simulation import Simulation

HERE = Path(__file__).parent
SETS = ("why", "siblings")
CASES: list[dict[str, Any]] = [each for name in SETS for each in yaml.safe_load((HERE / f"{name}.yaml").read_text())]
SECOND, MOST = 1_000_000_000, 20_000


@cache
def files() -> dict[str, bytes]:
    found = {}
    for name in SETS:
        with tarfile.open(HERE / f"{name}.tar.xz") as archive:
            found |= {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    return found


def flatten(steps: list[Any]) -> list[dict[str, Any]]:
    return [each for step in steps for each in (flatten(step) if isinstance(step, list) else [step])]


def play(file: str, steps: list[dict[str, Any]]) -> Simulation:
    """The world of a file after steps, which know where the draws of 1.34 put pods; applied by parts where the first step says so."""
    by_parts = "apply" in steps[0]
    world = Simulation(0) if by_parts else make_world([(file, files()[file])], acting=True, release="1.34.1").world
    objects = list(yaml.safe_load_all(files()[file]))
    for (kind, value), *_ in (list(step.items()) for step in steps):
        if kind == "apply":
            world.apply(ApplyObjects(tuple(each for each in objects if each["metadata"]["name"] in value)))
        elif kind == "run":
            world.run(steps=value)
        elif kind == "wait":
            end = world.now + value * SECOND
            world.run(lambda sim, end=end: sim.now >= end, steps=MOST, timers=True)  # type: ignore[misc]
        elif kind == "gone":
            world.run(lambda sim, name=value: not find(sim, name), steps=MOST, timers=True)  # type: ignore[misc]
            assert not find(world, value)
        else:
            world.apply(command_from_json({"kind": kind, **value}))
    return world


def find(world: Simulation, start: str) -> list[str]:
    return [pod.key for pod in world.store.pods() if pod.key.startswith(start)]


def ask(case: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of the command: of a snapshot after each pod was attempted, or of a world after its steps."""
    key = case["ask"]
    if "steps" in case:
        world = play(case["file"], flatten(case["steps"]))
        found = answer(world, find(world, key)[0] if key.endswith("-") else key)
    else:
        made = make_world([(case["file"], files()[case["file"]])], release=case.get("release"))
        with Progress(None) as progress:  # type: ignore[arg-type]
            keys, _ = attempt_all(made, progress)
        world, past = made.world, Past(made.world)
        about = list(answers_about(world, key, past)) or list(problems(world, keys, past))
        found = next(each for each in about if each["pod"] == key)
    assert found is not None
    return with_fixes(world, found, 20)


def test_every_file_is_asked_about() -> None:
    assert {case["file"] for case in CASES} == files().keys() and len(files()) >= 31 + 22


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case['file'][:-5]}" for i, case in enumerate(CASES)])
def test_the_answer_has_the_facts_and_the_true_fix(case: dict[str, Any]) -> None:
    found = ask(case)
    said, fixes = found["sentence"], [f"{fix['kind']} | {fix['text']} | {fix['command']}" for fix in found["fixes"]]
    facts = " ".join(fact["text"] for role in ("provenance", "holders", "notes") for fact in found[role])
    assert [each for each in case["says"] if not re.search(each, said)] == [], (said, facts)
    assert [each for each in case.get("never", ()) if re.search(each, said)] == [], said
    wanted = case.get("fixes", ())
    assert not wanted or any(re.search(each, fix, re.S) for each in wanted for fix in fixes), fixes
    assert not any(re.search(each, fixes[0]) for each in case.get("harmful", ()) if fixes), fixes[0]
