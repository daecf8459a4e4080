"""A trace has the plugins of one's own that its session defined, and is computed again with them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.formats.export import check_lines, export_lines
from scheduler_core.scheduler.plugins.cel import Definition
from scheduler_core.world.commands import ApplyObjects, DefinePlugin, SetConfiguration
from tests.scheduler_core.own.worlds import profile
from tests.scheduler_core.worlds import configuration, node, pod


def exported(**expressions: Any) -> list[dict[str, Any]]:
    commands = (
        DefinePlugin("Mine", Definition(**expressions)),
        SetConfiguration(configuration(profiles=[profile("Mine")])),
        ApplyObjects((node("a"), node("b"), pod("web"))),
    )
    log = {at: msgspec.to_builtins(command) for at, command in enumerate(commands)}
    return [json.loads(json.dumps(line)) for line in export_lines(3, log, 36, range(1, 2))]


def test_it_is_computed_again_to_the_same() -> None:
    lines = exported(score="node.metadata.name == 'b' ? 100 : 0")
    report = check_lines(lines)
    assert (report.difference, report.attempts) == (None, 1)
    (detail,) = [line for line in lines if line["type"] == "detail"]
    assert any(step["plugin"] == "Mine" and step.get("scores") == {"a": 0, "b": 100} for step in detail["steps"])


def test_one_that_would_cost_too_much_ends_its_cycles_and_no_more() -> None:
    nine = "[1,2,3,4,5,6,7,8,9]"
    endless = f"{nine}.all(a, {nine}.all(b, {nine}.all(c, {nine}.all(d, {nine}.all(e, {nine}.all(f, a > 0))))))"
    report = check_lines(exported(filter=endless))
    assert report.difference is None


def test_one_that_does_not_compile_is_refused_where_it_stands() -> None:
    lines = exported(filter="true")
    command = next(line for line in lines if line.get("command", {}).get("kind") == "DefinePlugin")
    command["command"]["definition"]["filter"] = "true &&"
    with pytest.raises(Refused, match=r"definition\.filter: Syntax error"):
        check_lines(lines)
