"""What every controller says of itself is so."""

from __future__ import annotations

import json

import msgspec
import pytest

from scheduler_core.commands import DeleteObjects, Ref
from scheduler_core.config.settings import WorldSettings
from scheduler_core.controllers.minimal.catalogue import CONTROLLERS
from scheduler_core.controllers.minimal.contract import Controller
from scheduler_core.simulation import Simulation
from scheduler_core.testing.storage import make_claim, make_class, make_volume
from tests.scheduler_core.worlds import node, pod, settle, world

every_controller = pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda each: each.name)


@pytest.fixture(scope="module")
def busy() -> Simulation:
    """A world in which every controller had its work: a pod runs, a volume is made, one can't be, and one is lost."""
    astray = make_claim("astray", "made")
    astray["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "gone"}
    classes = make_class("made", "csi.x"), make_class("now", "csi.x", "Immediate")
    bound = make_volume("v", claim="lost"), make_claim("lost", volume="v")
    sim = world(node("n"), pod("web"), *classes, *bound, make_claim("fresh", "now"), astray)
    sim.apply(DeleteObjects((Ref("PersistentVolume", "", "v"),)))
    settle(sim)
    return sim


@every_controller
def test_the_settings_that_it_reads_are_settings_of_the_world(controller: Controller) -> None:
    assert set(controller.settings) <= set(WorldSettings.__struct_fields__)


@every_controller
def test_it_records_events_with_the_reasons_that_it_names(controller: Controller, busy: Simulation) -> None:
    seen = {event.reason for event in busy.store.events if event.reporter == controller.name}
    assert seen == set(controller.event_reasons)


@every_controller
def test_its_actions_are_numbers_and_texts(controller: Controller) -> None:
    for kind in controller.actions:
        action = kind(*(["x"] * len(kind.__struct_fields__)))
        assert kind(**json.loads(json.dumps(msgspec.structs.asdict(action)))) == action
