"""What every controller around the schedulers says of itself is so."""

from __future__ import annotations

import pytest

from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.controllers.catalogue import CONTROLLERS, runs, watchers
from scheduler_core.controllers.contract import EVERY_KIND, Controller
from scheduler_core.scheduler.config.cluster import ClusterSettings

every_controller = pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda each: each.name)


def test_names_are_taken_once() -> None:
    assert len({controller.name for controller in CONTROLLERS}) == len(CONTROLLERS)


@every_controller
def test_it_hears_of_the_kinds_that_it_watches(controller: Controller) -> None:
    for kind in controller.watches:
        assert kind in (*KINDS, EVERY_KIND)
        assert controller in watchers(kind, ClusterSettings())


@every_controller
def test_it_can_be_switched_off(controller: Controller) -> None:
    assert runs(controller, ClusterSettings())
    assert runs(controller, ClusterSettings(controllers=())) is (controller.always_on or controller.of_kubelet)
