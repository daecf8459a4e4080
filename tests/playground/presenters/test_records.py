"""The rows of the list of records."""

from __future__ import annotations

from typing import Any

from playground.presenters.sentences.kinds import row
from playground.templatetags.studio import translated
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import three_nodes


def rows(sim: Simulation) -> list[dict[str, Any]]:
    """What is said of each record of a run."""
    said = []
    while sim.step(Grain.CALL):
        said += [row(record) for record in sim.last]
    return said


def test_plugins_of_a_binding_cycle_are_told_by_their_status_and_others_by_what_they_did() -> None:
    said = {line["head"]: str(translated(line["sentence"])) for line in rows(three_nodes())}
    assert said["Bind · DefaultBinder"] == 'Success for <code class="short">web-1</code>'
    assert said["PreBind · VolumeBinding"] == 'Success for <code class="short">web-1</code>'
    assert said["Filter · NodeResourcesFit"].partition("</code>")[2].startswith(" refuses 1 of")
