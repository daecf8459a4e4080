"""Breakpoints: what they look for, what is refused, and where they hold."""

from __future__ import annotations

import time
from itertools import pairwise
from resource import RUSAGE_SELF, getrusage
from typing import Any

import pytest

from playground.sessions.protocol.breakpoints import KINDS_OF, BadBreakpoint, Hit, from_form
from playground.sessions.worker.conditions.cel import (
    DATA_FIELDS,
    STRIKES,
    WHILE,
    Allowance,
    EvaluationError,
    compile_program,
)
from playground.sessions.worker.conditions.matching import Condition, problems
from playground.sessions.worker.process import encode_answer
from scheduler_core.base.trace.kinds import KINDS, ApiCall
from scheduler_core.base.trace.records import Record
from scheduler_core.world.commands import command_from_json
from scheduler_core.world.simulation import Simulation
from tests.playground.sessions.worlds import applying, node, pod
from tests.scheduler_core.world.checkpoint.rich import walk

OBJECTS = [node("n0"), node("small", cpu="1"), pod("p0", cpu="2"), pod("huge", cpu="64"), pod("p1")]


def first(point: dict[str, Any], steps: int = 400) -> Simulation | None:
    """The world at the first position where a breakpoint holds; None if it never does."""
    sim = Simulation()
    sim.apply(command_from_json(applying(*OBJECTS)))
    condition = Condition([from_form(point)])
    for _ in range(steps):
        if condition(sim):
            return sim
        if sim.idle:
            return None
        sim.advance()
    return None


def record(sim: Simulation, kind: str) -> Any:
    return next(one.data for one in sim.last if one.kind == kind)


def test_a_plugin_and_a_node_hold_where_the_plugin_refused_the_node() -> None:
    sim = first({"plugin": "NodeResourcesFit", "point": "Filter", "node": "small"})
    assert sim is not None
    ran = record(sim, "plugin_ran")
    assert (ran["pod"], ran["plugin"], "small" in ran["refused"]) == ("default/p0", "NodeResourcesFit", True)


def test_a_plugin_and_a_node_hold_where_the_plugin_scored_the_node() -> None:
    sim = first({"plugin": "NodeResourcesFit", "point": "Score", "node": "small"})
    assert sim is not None
    ran = record(sim, "plugin_ran")
    assert ran["pod"] == "default/p1" and "small" in ran["scores"]


def test_a_status_is_found_where_one_node_of_several_got_it() -> None:
    sim = first({"status": "UnschedulableAndUnresolvable"})
    assert sim is not None
    ran = record(sim, "plugin_ran")
    assert (ran["pod"], ran["status"]["code"], ran["refusals"]) == ("default/p0", "Success", 1)


def test_a_point_alone_holds_once_for_each_cycle_at_its_beginning() -> None:
    sim = first({"point": "Filter", "pod": "huge"})
    assert sim is not None
    assert record(sim, "point_started") == {"point": "Filter", "pod": "default/huge"}


@pytest.mark.parametrize(
    ("point", "kind", "field", "value"),
    [
        ({"to": "unschedulable"}, "queue_moved", "pod", "default/huge"),
        ({"came_from": "active", "to": "in flight"}, "queue_moved", "pod", "default/p0"),
        ({"event": "popped", "pod": "huge"}, "queue_moved", "pod", "default/huge"),
        ({"reason": "FailedScheduling"}, "event", "name", "huge"),
        ({"kind": "node_selected", "pod": "default/p1"}, "node_selected", "pod", "default/p1"),
        ({"kind": "attempt_ended", "pod": "default/h*"}, "attempt_ended", "pod", "default/huge"),
        ({"kind": "pod_assumed", "node": "small"}, "pod_assumed", "node", "small"),
        ({"cel": 'record.kind == "attempt_ended" && record.data.outcome == "unschedulable"'}, "attempt_ended", "pod", "default/huge"),
        ({"cel": 'record.kind == "plugin_ran" && record.data.refused.exists(n, n == "small")'}, "plugin_ran", "pod", "default/p0"),
        ({"kind": "attempt_started", "cel": "attempt == 2"}, "attempt_started", "pod", "default/huge"),
        ({"kind": "attempt_started", "cel": "queue.active == 0 && t > 0.0 && position > 3"}, "attempt_started", "pod", "default/p1"),
    ],
)  # fmt: skip
def test_it_holds_for_the_first_record_that_has_all_it_asks_for(
    point: dict[str, Any], kind: str, field: str, value: str
) -> None:
    sim = first(point)
    assert sim is not None
    assert record(sim, kind)[field] == value


def test_a_watch_holds_where_its_value_changes_not_where_it_begins() -> None:
    sim = first({"watch": True, "changes": True, "kind": "attempt_ended", "cel": "record.data.outcome"})
    assert sim is not None
    assert record(sim, "attempt_ended")["pod"] == "default/huge"


@pytest.mark.parametrize(
    ("cel", "value"),
    [
        ("position", 1),
        ('duration(string(position) + "s")', "1s"),
        ("bytes(string(position))", "1"),
        ("{position: [position]}", "{'1': [1]}"),
        ('string(position) + "' + "x" * 200 + '"', "1" + "x" * 79),
        ("type(position) == int ? type(record.kind) : type(1)", "string"),
    ],
)
def test_a_watch_gives_its_value_as_data_and_never_much_of_it(cel: str, value: Any) -> None:
    sim = Simulation()
    condition = Condition([from_form({"watch": True, "changes": True, "kind": "command", "cel": cel})])
    condition.matchers[0].begun = Hit(0, "", 0, 0, "")
    sim.apply(command_from_json(applying(node("n0"))))
    assert condition(sim) and condition.hit is not None
    assert condition.hit.value == value
    encode_answer(1, [condition.hit])


PATCH = {"metadata": {"annotations": {f"app/{i}": "x" * 40 for i in range(5_000)}}}
LOOPS = "record.data.patch.metadata.annotations"


def patched() -> tuple[Simulation, Any]:
    """A world, and a record of a call with a patch of some 240 kB."""
    sim = Simulation()
    sim.apply(command_from_json(applying(*OBJECTS)))
    return sim, Record(1, 0, ApiCall(verb="UPDATE", object="x" * 100_000, patch=PATCH), "", 0)


@pytest.mark.parametrize(
    "endless",
    [
        f"{LOOPS}.all(k, {LOOPS}.map(l, record.data.patch).size() > 0)",
        f"{LOOPS}.all(k, record.data == record.data)",
        f"{LOOPS}.map(k, record.data.object + k).size() > 0",
        f"{LOOPS}.all(k, '%s'.format([record.data]) != '')",
    ],
)
def test_an_expression_that_takes_too_much_is_ended_and_then_not_asked_any_more(endless: str) -> None:
    sim, record = patched()
    program = compile_program(endless)
    for _ in range(STRIKES):
        with pytest.raises(EvaluationError, match="was ended"):
            program.value(record, sim, Allowance())
    with pytest.raises(EvaluationError, match="not asked for"):
        program.value(record, sim, Allowance())
    assert getrusage(RUSAGE_SELF).ru_maxrss < 1 << 20  # kB
    program.ended[:] = [time.monotonic() - WHILE] * STRIKES  # a while later
    with pytest.raises(EvaluationError, match="was ended"):
        program.value(record, sim, Allowance())


def test_the_expressions_at_one_step_may_cost_so_much_together() -> None:
    sim, record = patched()
    program, allowance = compile_program(f"{LOOPS}.exists(k, k == 'x')"), Allowance()
    assert [program.value(record, sim, allowance) for _ in range(3)] == [False] * 3
    allowance.left = 10
    with pytest.raises(EvaluationError, match="was ended"):
        program.value(record, sim, allowance)
    with pytest.raises(EvaluationError, match="not asked there"):
        program.value(record, sim, allowance)
    assert program.ended == []  # the step's fault, not its own
    light = compile_program("record.kind == 'x'")
    assert [light.value(record, sim, Allowance(1)) for _ in range(2)] == [False, False]


def test_a_value_that_doubles_itself_has_too_many_parts() -> None:
    sim, record = patched()
    names = "abcdefghijklmnopqrst"
    bound = "".join(f"cel.bind({b}, [{a}, {a}], " for a, b in pairwise(names))
    doubled = f"cel.bind(a, [position], {bound}{names[-1]}{')' * len(names)}"
    with pytest.raises(EvaluationError, match="parts"):
        compile_program(doubled).value(record, sim, Allowance())


def test_an_expression_that_an_older_version_kept_and_this_one_refuses_holds_nowhere_and_says_so() -> None:
    sim = Simulation()
    condition = Condition([from_form({"cel": "record.kind in ['command', 1]"})])
    sim.apply(command_from_json(applying(node("n0"))))
    assert not condition(sim)
    assert ["expected type 'string' but found 'int'" in what for what in condition.failures()] == [True]


def test_an_expression_about_a_field_that_most_records_lack_does_not_hold_for_them_and_says_so() -> None:
    sim = Simulation()
    sim.apply(command_from_json(applying(*OBJECTS)))
    condition = Condition([from_form({"cel": "record.data.refusals > 99"})])
    assert not condition(sim)
    assert ["no such key" in what for what in condition.failures()] == [True]


@pytest.mark.parametrize(
    ("given", "path", "expected"),
    [
        ({}, "", "at least one field"),
        ({"kind": "nonsense"}, "kind", "one of command"),
        ({"point": "Filtre"}, "point", "Filter"),
        ({"status": "Unscheduable"}, "status", "Unschedulable"),
        ({"pod": "a*b"}, "pod", "trailing *"),
        ({"node": "n" * 600}, "node", "a shorter text"),
        ({"cel": 'record.kind == "\0"'}, "cel", "without the character 0"),
        ({"pod": "p", "name": "a\0b"}, "name", "without the character 0"),
        ({"plugin": "NodeName", "reason": "Scheduled"}, "plugin", "a single kind of record"),
        ({"kind": "event", "point": "Filter"}, "point", "a single kind of record"),
        ({"watch": True, "changes": True, "pod": "p"}, "cel", "whose value can change"),
    ],
)
def test_a_breakpoint_that_can_not_be_is_refused_with_its_field(
    given: dict[str, Any], path: str, expected: str
) -> None:
    with pytest.raises(BadBreakpoint) as bad:
        from_form(given)
    assert bad.value.errors[0].path == path
    assert expected in bad.value.errors[0].expected


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("record.kind == ", 1, 16, "ends too early"),
        ('recrod.kind == "x"', 1, 1, "known: record, t, position"),
        ("record.nope == 1", 1, 8, "known: kind, t"),
        ('record.kind == "x" &&\n  record.data.nope == 1', 2, 15, "there is: "),
        ('position == "a"', 1, 10, "no matching overload"),
        ('record.kind == "plugin_run"', 1, 17, "known: command"),
        ("position", 1, 1, "true or false"),
        ("[1, 'a'] == [position]", 1, 5, "expected type 'int'"),
        ("t > 1 && foo(t)", 1, 13, "undeclared reference"),
        ("true || " * 70, 1, 501, "at most 500"),
    ],
)
def test_an_error_in_an_expression_is_shown_at_its_character(text: str, line: int, column: int, message: str) -> None:
    found = problems(from_form({"cel": text}))[0]
    assert (found.line, found.column) == (line, column)
    assert found.caret == " " * (column - 1) + "^"
    assert message in found.message


def test_every_field_that_a_record_has_is_known_to_expressions() -> None:
    unknown = {
        (record.kind, name)
        for sim in walk(2)
        for record in sim.last
        for name in record.data
        if name not in DATA_FIELDS[record.kind]
    }
    assert (unknown, set(DATA_FIELDS)) == (set(), set(KINDS))


def test_a_field_has_the_type_that_its_class_says() -> None:
    beginnings = {"string": "string", "int": "int", "bool": "bool", "list": "list(", "map": ("map(", "{")}
    asked: set[tuple[str, str]] = set()
    for sim in walk(2):
        for record in sim.last:
            for name in record.data.keys() - {named for kind, named in asked if kind == record.kind}:
                asked.add((record.kind, name))
                said = compile_program(f"type(record.data.{name})").value(record, sim, Allowance())
                declared = DATA_FIELDS[record.kind][name]
                null = said == "null_type" and declared.endswith(" or null")
                assert null or declared.startswith(beginnings[said]), (record.kind, name)
    assert len(asked) > 60


def test_why_a_pod_was_forgotten_is_known_to_expressions() -> None:
    assert DATA_FIELDS["pod_forgotten"] == {"pod": "string", "cause": "string"}
    assert problems(from_form({"kind": "pod_forgotten", "cel": 'record.data.cause == "expired"'})) == []


def test_a_breakpoint_on_a_pod_or_a_field_looks_at_every_kind_that_has_it() -> None:
    having = {name: {kind for kind, fields in DATA_FIELDS.items() if name in fields} for name in ("pod", "to")}
    assert set(KINDS_OF["pod"]) == having["pod"] - {"command"} | {"object", "event", "watch_event"}
    assert set(KINDS_OF["to"]) == having["to"] == {"queue_moved"}
    assert KINDS_OF["status"] == ("plugin_ran", "wait_ended")  # an api_call's status is a list of fields


def test_a_field_in_quotes_is_no_field() -> None:
    assert problems(from_form({"cel": '"record.nope" == record.scheduler'})) == []
