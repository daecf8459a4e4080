"""Every controller, in the order in which they hear of a change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from scheduler_core.controllers.chronicle import Chronicle
from scheduler_core.controllers.contract import EVERY_KIND, Controller, Reconcile, RetryInVain, WorldAction
from scheduler_core.controllers.devices.claims import ResourceClaims
from scheduler_core.controllers.devices.taint_eviction import DeviceTaintEviction
from scheduler_core.controllers.disruption.controller import Disruption
from scheduler_core.controllers.garbage.collector import GarbageCollector
from scheduler_core.controllers.garbage.namespaces import NamespaceController
from scheduler_core.controllers.garbage.pods import PodCollector
from scheduler_core.controllers.kubelet.controller import ALLOCATION, EVICTION, KERNELS, Kubelet
from scheduler_core.controllers.nodes.drain import Draining
from scheduler_core.controllers.nodes.lifecycle import NodeLifecycle
from scheduler_core.controllers.nodes.taint_eviction import TaintEviction
from scheduler_core.controllers.quota.controller import ResourceQuotaController
from scheduler_core.controllers.volumes.attach_detach import AttachDetach
from scheduler_core.controllers.volumes.attacher import Attacher
from scheduler_core.controllers.volumes.binder import VolumeBinder
from scheduler_core.controllers.volumes.ephemeral import EphemeralVolumes
from scheduler_core.controllers.volumes.protection import ClaimProtection, VolumeProtection
from scheduler_core.controllers.volumes.provisioner import Provisioner
from scheduler_core.controllers.workloads import catalogue as workloads
from scheduler_core.scheduler.config.cluster import ClusterSettings

CONTROLLERS: tuple[Controller, ...] = (
    *workloads.CONTROLLERS,
    Chronicle(),
    ALLOCATION,
    Kubelet(),
    EVICTION,
    KERNELS,
    NodeLifecycle(),
    TaintEviction(),
    Draining(),
    Disruption(),
    GarbageCollector(),
    PodCollector(),
    NamespaceController(),
    AttachDetach(),
    Attacher(),
    VolumeBinder(),
    Provisioner(),
    EphemeralVolumes(),
    ClaimProtection(),
    VolumeProtection(),
    ResourceQuotaController(),
    ResourceClaims(),
    DeviceTaintEviction(),
)

BY_NAME: Mapping[str, Controller] = {controller.name: controller for controller in CONTROLLERS}
ACTIONS: tuple[type[WorldAction], ...] = (
    Reconcile,
    RetryInVain,
    *(action for controller in CONTROLLERS for action in controller.actions),
)
_WATCHERS: dict[str, tuple[Controller, ...]] = {
    kind: tuple(controller for controller in CONTROLLERS if {kind, EVERY_KIND} & {*controller.watches})
    for kind in sorted({EVERY_KIND, *(kind for controller in CONTROLLERS for kind in controller.watches)})
}


def watchers(kind: str, cluster: ClusterSettings) -> tuple[Controller, ...]:
    """Return the enabled controllers that watch a kind."""
    return _running_watchers(kind, cluster.controllers, cluster.run_kubelets)


@lru_cache(maxsize=1024)
def _running_watchers(
    kind: str, switched_on: tuple[str, ...] | None, kubelets: bool
) -> tuple[Controller, ...]:
    watching = _WATCHERS.get(kind, _WATCHERS[EVERY_KIND])
    return tuple(controller for controller in watching if _runs(controller, switched_on, kubelets))


def runs(controller: Controller, cluster: ClusterSettings) -> bool:
    """Return whether a controller is enabled."""
    return _runs(controller, cluster.controllers, cluster.run_kubelets)


def _runs(controller: Controller, switched_on: tuple[str, ...] | None, kubelets: bool) -> bool:
    if controller.of_kubelet:
        return kubelets
    return controller.always_on or switched_on is None or controller.name in switched_on
