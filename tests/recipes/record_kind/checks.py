"""SchedulerStopped: expressions, breakpoints, the list of records, exports and checkpoints find what its class says."""

from __future__ import annotations

from typing import Any

from playground.presenters.sentences.kinds import row
from playground.sessions.protocol.breakpoints import from_form
from playground.sessions.worker.conditions.cel import Allowance, compile_program
from playground.sessions.worker.conditions.matching import Condition, problems
from playground.templatetags.studio import translated
from scheduler_core.base.trace.records import Record
from scheduler_core.formats.export.traces import check_lines, export_lines
from scheduler_core.world.checkpoint import Archive, decode, encode
from scheduler_core.world.commands import ApplyObjects, SetConfiguration, Undo
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, pod

SECOND = configuration(profiles=[{"schedulerName": "second"}])


def stopped() -> Simulation:
    """A world whose second scheduler is taken back while a pod waits for it."""
    sim = Simulation()
    sim.apply(SetConfiguration(SECOND, "second"))
    sim.apply(ApplyObjects((pod("web", schedulerName="second"),)))
    sim.apply(Undo())
    sim.apply(Undo())
    return sim


def record(sim: Simulation) -> Record:
    (found,) = (record for record in sim.last if record.kind == "scheduler_stopped")
    return found


def test_an_expression_knows_the_field_and_its_value() -> None:
    sim = stopped()
    assert problems(from_form({"cel": "record.data.left_behind == 0"})) == []
    assert compile_program("record.data.left_behind").value(record(sim), sim, Allowance()) == 0


def test_a_breakpoint_holds_where_it_happens() -> None:
    condition = Condition([from_form({"kind": "scheduler_stopped"})])
    assert condition(stopped())


def test_the_list_of_records_tells_it() -> None:
    shown: dict[str, Any] = row(record(stopped()))
    assert (shown["head"], translated(shown["sentence"])) == ("Scheduler", "stops and leaves 0 pods behind")


def test_it_is_exported() -> None:
    log = {
        0: {"kind": "SetConfiguration", "configuration": SECOND, "scheduler": "second"},
        1: {"kind": "Undo"},
        2: {"kind": "ApplyObjects", "objects": [node("a")]},
    }
    lines = list(export_lines(0, log, 3))
    assert [line["data"] for line in lines if line.get("kind") == "scheduler_stopped"] == [{"left_behind": 0}]
    assert check_lines(lines).difference is None


def test_a_checkpoint_holds_it() -> None:
    archive = Archive()
    again = decode(encode(stopped(), archive), archive)
    assert record(again).to_json() == record(stopped()).to_json()
