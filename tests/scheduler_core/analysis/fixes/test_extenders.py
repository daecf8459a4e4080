"""A pod that extenders keep away is not said to fit."""

from collections.abc import Generator

import pytest

from scheduler_core.analysis.fixes import Budget, Findings, search_fixes
from scheduler_core.scheduler.extenders.behaviour import RecordedServer
from scheduler_core.scheduler.extenders.written import WrittenServer
from scheduler_core.world.commands import ApplyObjects, SetExtender
from tests.scheduler_core.scheduler.extenders.test_sessions import URL, extended
from tests.scheduler_core.worlds import pod


def found(search: Generator[None, None, Findings]) -> Findings:
    while True:
        try:
            next(search)
        except StopIteration as end:
            findings: Findings = end.value
            return findings


@pytest.mark.parametrize(
    ("behaviour", "state"),
    [
        (RecordedServer(({"verb": "filter", "refuseAll": "closed"},)), "searched"),
        (WrittenServer(filter="false"), "searched"),
        (RecordedServer(({"verb": "filter", "status": 500},)), "searched"),
        (RecordedServer(({"verb": "filter", "refuse": {"a": "closed"}},)), "fits"),
    ],
)
def test_a_pod_fits_only_where_extenders_let_it(behaviour: RecordedServer | WrittenServer, state: str) -> None:
    sim = extended()
    sim.apply(SetExtender(URL, behaviour))
    sim.apply(ApplyObjects((pod("web"),)))
    assert found(search_fixes(sim, "default/web", Budget())).state == state


def test_an_extender_that_refuses_every_node_can_be_taken_out() -> None:
    sim = extended()
    sim.apply(SetExtender(URL, WrittenServer(filter="false")))
    sim.apply(ApplyObjects((pod("web"),)))
    fixes = found(search_fixes(sim, "default/web", Budget())).fixes
    assert "extender" in [fix.kind for fix in fixes]
