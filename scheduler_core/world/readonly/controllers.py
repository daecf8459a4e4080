"""The controllers by name."""

from scheduler_core.controllers.catalogue import CONTROLLERS

CONTROLLER_NAMES = tuple(
    controller.name for controller in CONTROLLERS if not (controller.always_on or controller.of_kubelet)
)
"""Those that the settings may leave out, as kube calls them."""
