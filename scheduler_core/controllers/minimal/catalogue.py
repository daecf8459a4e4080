"""Every controller, in the order in which they hear of a change."""

from __future__ import annotations

from scheduler_core.controllers.minimal.contract import Controller
from scheduler_core.controllers.minimal.kubelet import Kubelet
from scheduler_core.controllers.minimal.volumes.controller import VolumeController

CONTROLLERS: tuple[Controller, ...] = (Kubelet(), VolumeController())
