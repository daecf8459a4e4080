"""Situations from public threads in which a pod stays Pending: Why names the reason, and Fix reaches the answer that helped there.

Each folder of tests/real/pending holds `objects.yaml`, a small cluster of our own making with the facts of a thread, and `answer.yaml`: the
`link`, the `truth` in a sentence, the `pod`, the `code` of the reason, and the `kinds` of changes that the answer is.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core.analysis.explain import explain, explain_uncreated
from scheduler_core.analysis.fixes import find_fixes
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation

PENDING = Path(__file__).parent / "pending"
NAMES = sorted(path.name for path in PENDING.iterdir() if path.is_dir())


def answer(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((PENDING / name / "answer.yaml").read_text())
    return data


@cache
def stuck(name: str) -> Simulation:
    """The world of a situation, where all that can be scheduled is."""
    objects = tuple(yaml.safe_load_all((PENDING / name / "objects.yaml").read_text()))
    sim = Simulation(seed=1)
    sim.apply(ApplyObjects(objects))
    sim.run(steps=5_000)
    return sim


def test_there_are_25_situations_with_their_sources() -> None:
    assert len(NAMES) >= 25
    assert all(answer(name)["link"].startswith("https://") and answer(name)["truth"] for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_why_names_the_reason(name: str) -> None:
    expected = answer(name)
    said = explain(stuck(name), expected["pod"]) or next(iter(explain_uncreated(stuck(name))))
    assert expected["code"] in [reason.code for reason in said.reasons]


@pytest.mark.parametrize("name", NAMES)
def test_fix_reaches_the_answer_that_helped(name: str) -> None:
    expected = answer(name)
    fixes = find_fixes(stuck(name), expected["pod"])
    found = [kind for fix in fixes for kind in fix.kind.split("+")]
    assert set(found) & set(expected["kinds"]), (expected["truth"], found)
    assert all(fix.proven and fix.kubectl for fix in fixes)
