"""Every controller, in the order in which they hear of a change."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.config.cluster import ClusterSettings
from scheduler_core.controllers.chronicle import Chronicle
from scheduler_core.controllers.contract import Controller, Reconcile, WorldAction

CONTROLLERS: tuple[Controller, ...] = (Chronicle(),)

BY_NAME: Mapping[str, Controller] = {controller.name: controller for controller in CONTROLLERS}
ACTIONS: tuple[type[WorldAction], ...] = (
    Reconcile,
    *(action for controller in CONTROLLERS for action in controller.actions),
)
_WATCHERS: dict[str, tuple[Controller, ...]] = {
    kind: tuple(controller for controller in CONTROLLERS if kind in controller.watches)
    for kind in sorted({kind for controller in CONTROLLERS for kind in controller.watches})
}


def watchers(kind: str, cluster: ClusterSettings) -> list[Controller]:
    """Those that run and watch objects of a kind."""
    return [controller for controller in _WATCHERS.get(kind, ()) if runs(controller, cluster)]


def runs(controller: Controller, cluster: ClusterSettings) -> bool:
    """Whether the settings have it run."""
    return controller.always_on or cluster.controllers is None or controller.name in cluster.controllers
