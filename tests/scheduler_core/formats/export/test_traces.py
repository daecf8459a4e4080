"""Exported traces: computed again they are the same, or the check says where not."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from scheduler_core.formats.export.traces import TraceError, check_lines, export_lines
from scheduler_core.world.commands import ApplyObjects
from tests.scheduler_core.worlds import node, pod

LOG = {0: msgspec.to_builtins(ApplyObjects((node("a"), node("b"), pod("one"), pod("two"), pod("big", cpu="9"))))}


def exported(detail: range = range(0)) -> list[dict[str, Any]]:
    return [json.loads(json.dumps(line)) for line in export_lines(3, LOG, 100, detail)]


def test_a_trace_computed_again_is_the_same() -> None:
    report = check_lines(exported())
    assert report.difference is None
    assert report.attempts == 3


def test_the_detail_of_the_attempts_asked_for_is_in_it() -> None:
    details = [line for line in exported(range(2, 4)) if line["type"] == "detail"]
    assert [line["attempt"] for line in details] == [2, 3]
    refused = [step.get("refused") for step in details[1]["steps"] if step.get("refused")]
    assert refused == [
        {
            name: {"code": "UnschedulableAndUnresolvable", "plugin": "", "reasons": ["Insufficient cpu"]}
            for name in ("a", "b")
        }
    ]


@pytest.mark.parametrize("kind", ["record", "digest"])
def test_a_changed_line_is_found(kind: str) -> None:
    lines = exported()
    at = next(i for i, line in enumerate(lines) if line["type"] == kind)
    lines[at]["position"] += 1
    difference = check_lines(lines).difference
    assert difference is not None
    assert difference.line == at + 1


def test_a_missing_line_is_found() -> None:
    lines = exported()
    del lines[-1]
    assert check_lines(lines).difference is not None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "header"),
        ([{"type": "record"}], "header"),
        ([{"type": "header", "format": "scheduler-playground-trace", "schema": 99}], "schema 1"),
        (
            [{"type": "header", "format": "scheduler-playground-trace", "schema": 1, "seed": "x", "head": 1}],
            "whole number",
        ),
    ],
)
def test_what_is_no_trace_is_refused_with_its_line(lines: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(TraceError, match=said):
        check_lines(lines)
