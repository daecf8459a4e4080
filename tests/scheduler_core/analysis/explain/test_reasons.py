"""Codes of reasons: every text that a plugin says against a pod has one, and docs/explain.md has them all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.framework.reasons import REFUSED, Reason, read_reason
from scheduler_core.scheduler.plugins import ROOMS

ROOT = Path(__file__).resolve().parents[4]
PLUGINS = ROOT / "scheduler_core/scheduler/plugins"
OWN_WORDS = ("cel",)  # plugins whose texts people write themselves
REFUSING = ("unschedulable", "unresolvable", "pending", "ClaimError", "BadGroup", "_Refused")


def test_a_reason_reads_the_values_that_it_wrote():
    taint = Reason("UntoleratedTaint", "node(s) had untolerated taint {<key>: <value>}")
    text = taint(key="dedicated", value="infra")
    assert text == "node(s) had untolerated taint {dedicated: infra}"
    assert taint.read(text) == {"key": "dedicated", "value": "infra"}
    assert taint.read("Insufficient cpu") is None
    assert read_reason((taint,), "Insufficient cpu").code == REFUSED


def literal_refusals(path: Path) -> Iterator[str]:
    """Refusals whose text is written where they are made, and so has no code."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REFUSING:
            for argument in node.args:
                if isinstance(argument, ast.JoinedStr | ast.Constant):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}"


def test_no_plugin_refuses_in_words_that_have_no_code():
    modules = [p for p in PLUGINS.rglob("*.py") if p.relative_to(PLUGINS).parts[0] not in OWN_WORDS]
    assert len(modules) > 80
    assert [place for path in sorted(modules) for place in literal_refusals(path)] == []


def test_a_code_is_given_once_and_its_own_text_is_read_as_it():
    for room in ROOMS:
        names = [reason.code for reason in room.reasons]
        assert len(names) == len(set(names)), room.name
        for reason in room.reasons:
            holes = dict.fromkeys(re.findall(r"<(\w+)>", reason.text), "x")
            assert read_reason(room.reasons, reason(**holes)).code == reason.code, reason


def declared(room: type[Plugin]) -> list[tuple[str, str]]:
    return [(f"{room.name}/{reason.code}", reason.text) for reason in room.reasons]


def test_every_code_is_documented_with_kubes_text():
    rows = re.findall(
        r"^\| `([A-Z]\w+/\w+)` \| .+? \| `(.+)` \|$", (ROOT / "docs/explain.md").read_text(), re.MULTILINE
    )
    assert rows == [each for room in ROOMS for each in declared(room)]
