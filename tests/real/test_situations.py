"""Situations from public threads, written before they were asked: what `explain` says of them, and the fixes it offers, by meaning.

Each folder of tests/real/situations holds `objects.yaml`, a small cluster of our own making with the facts of a thread, and `answer.yaml`:
the `link`, the `truth` and the true `fix` in words, the `pod` (or in `ask` the workload) that is asked about, `says` (patterns that the
sentence meets), `never` (patterns that it must not meet), `fixes` (patterns of which a fix's kind, text, or command meets one), and
`harmful` (patterns that the first fix must not meet), and in `refused` that the pod is one that the API server does not take.
"""

from __future__ import annotations

import io
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.core.management.base import CommandError

SITUATIONS = Path(__file__).parent / "situations"
NAMES = sorted(path.name for path in SITUATIONS.iterdir())
# What is right today. These only rise.
RIGHT, FIXED, MISLEADING = 448, 441, 0


@cache
def expected(name: str) -> dict[str, Any]:
    answer: dict[str, Any] = yaml.safe_load((SITUATIONS / name / "answer.yaml").read_text())
    return answer


def ask(name: str, *options: str) -> list[dict[str, Any]]:
    """What the command says of a situation's pods; nothing where it knows none of the name."""
    out = io.StringIO()
    try:
        call_command("explain", str(SITUATIONS / name / "objects.yaml"), *options, "-o", "json", stdout=out)
    except CommandError:
        return []
    except SystemExit:
        pass
    pods: list[dict[str, Any]] = json.loads(out.getvalue())["pods"]
    return pods


@cache
def said(name: str) -> dict[str, Any]:
    """What is said of the one that is asked about: by its name, or of the pods that its owner lacks."""
    key = str(expected(name).get("ask") or expected(name)["pod"])
    if found := ask(name, "--pod", key):
        return found[0]
    owner = str(expected(name)["pod"]).rstrip("*")
    missing = (each for each in ask(name) if owner.startswith(each["pod"].rstrip("*").rstrip("-")))
    alike = (each for each in ask(name) if each["pod"].startswith(owner))
    return next(missing, None) or next(alike, None) or {"sentence": "", "fixes": []}


def meets(patterns: list[str], text: str) -> list[bool]:
    return [re.search(pattern, text, re.IGNORECASE) is not None for pattern in patterns]


def fixes(name: str) -> list[str]:
    return [f"{fix['kind']} | {fix['text']} | {fix['command']}" for fix in said(name)["fixes"]]


def test_there_are_448_situations_with_their_sources() -> None:
    assert len(NAMES) >= 448
    assert all(expected(name)["link"].startswith("https://") for name in NAMES)
    assert all(expected(name)["truth"] and expected(name)["fix"] and expected(name)["says"] for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_only_a_pod_that_is_to_be_refused_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    ask(name, "--fixes", "0")
    refused = re.search(r"(was|were) refused", capsys.readouterr().err)
    assert bool(refused) == expected(name).get("refused", False)


def test_the_sentence_has_the_true_reason() -> None:
    wrong = [name for name in NAMES if not all(meets(expected(name)["says"], said(name)["sentence"]))]
    assert len(NAMES) - len(wrong) >= RIGHT, wrong


def test_no_sentence_leads_astray() -> None:
    wrong = [name for name in NAMES if any(meets(expected(name).get("never", []), said(name)["sentence"]))]
    assert len(wrong) <= MISLEADING, wrong


def test_the_true_fix_is_offered() -> None:
    asked = [name for name in NAMES if "fixes" in expected(name)]
    wrong = [name for name in asked if not any(any(meets(expected(name)["fixes"], each)) for each in fixes(name))]
    assert len(asked) - len(wrong) >= FIXED, wrong


def test_no_harmful_fix_is_the_first() -> None:
    for name in NAMES:
        for first in fixes(name)[:1]:
            assert not any(meets(expected(name).get("harmful", []), first)), name
