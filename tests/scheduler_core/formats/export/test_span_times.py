"""Virtual time that passes between a call and its answer is its step's: of the API server, of an extender, of whoever waits on Permit."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.base.trace.records import Record
from scheduler_core.formats.export import SpanTree
from scheduler_core.formats.export.spans import Span
from scheduler_core.scheduler.extenders.written import WrittenServer
from scheduler_core.world.commands import ApplyObjects, FailCall, SetExtender
from tests.scheduler_core.scheduler.extenders.test_sessions import URL, extended
from tests.scheduler_core.worlds import node, pod, settle, world
from tests.support.storage import make_claim, make_class

SECOND = 1_000_000_000
MILLISECOND = 1_000_000


def spans_by_name(records: Iterable[Record]) -> dict[str, Span]:
    """The last of each name; of a plugin at its point `point/plugin`."""
    tree = SpanTree()
    tree.add(records)
    return {f"{span.facts['point']}/{span.name}" if "plugin" in span.facts else span.name: span for span in tree.spans}


def length(span: Span) -> int:
    return span.end - span.start


def test_a_slow_call_that_binds_is_the_time_of_bind() -> None:
    sim = world(node("a"), pod("web"))
    sim.apply(FailCall("bind", "default/web", 0, latency=3 * SECOND))
    spans = spans_by_name(settle(sim))
    assert length(spans["Bind"]) == length(spans["Bind/DefaultBinder"]) == 3 * SECOND
    assert spans["Bind"].start == spans["Binding default/web"].start
    assert spans["Binding default/web"].end == spans["Bind"].end == spans["Scheduling default/web"].end


def test_a_slow_pre_bind_is_followed_by_bind() -> None:
    claimed = pod("web", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    sim = world(node("a"), make_class(provisioner="csi.x"), make_claim("c"), claimed)
    sim.apply(FailCall("volumes", "default/web", 0, latency=2 * SECOND))
    spans = spans_by_name(settle(sim))
    before, after = spans["PreBind"], spans["Bind"]
    assert length(before) > 2 * SECOND
    assert before.end == after.start
    assert 0 < length(after) < SECOND


def test_an_extender_takes_its_time_in_its_own_step() -> None:
    sim = extended()
    sim.apply(SetExtender(URL, WrittenServer(filter="true", latency=40 * MILLISECOND)))
    sim.apply(ApplyObjects((pod("web"),)))
    spans = spans_by_name(settle(sim))
    assert length(spans["ExtenderFilter"]) == 40 * MILLISECOND
    assert spans["ExtenderFilter"].start == spans["Filter"].end
    assert length(spans["Filter"]) == 0
