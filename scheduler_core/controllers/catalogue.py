"""All controllers, in the order in which they receive watch events."""

from collections.abc import Mapping
from functools import lru_cache

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.controllers.contract import EVERY_KIND, Controller, Reconcile, RetryInVain, World, WorldAction
from scheduler_core.controllers.devices.claims import ResourceClaims
from scheduler_core.controllers.devices.taint_eviction import DeviceTaintEviction
from scheduler_core.controllers.disruption import Disruption
from scheduler_core.controllers.garbage.collector import GarbageCollector
from scheduler_core.controllers.garbage.namespaces import NamespaceController, ServiceAccounts
from scheduler_core.controllers.garbage.pods import PodCollector
from scheduler_core.controllers.kubelet.controller import ALLOCATION, EVICTION, KERNELS, Kubelet
from scheduler_core.controllers.kubelet.stand_in import StandIn
from scheduler_core.controllers.nodes.drain import DrainController
from scheduler_core.controllers.nodes.lifecycle import NodeLifecycle
from scheduler_core.controllers.nodes.taint_eviction import TaintEviction
from scheduler_core.controllers.quota import ResourceQuotaController
from scheduler_core.controllers.surroundings import Figures
from scheduler_core.controllers.volumes.attach_detach import AttachDetach
from scheduler_core.controllers.volumes.attachments import Attacher
from scheduler_core.controllers.volumes.binder import VolumeBinder
from scheduler_core.controllers.volumes.claims import EphemeralVolumes
from scheduler_core.controllers.volumes.protection import ClaimProtection, VolumeProtection
from scheduler_core.controllers.volumes.provisioner import Provisioner
from scheduler_core.controllers.workloads import catalogue as workloads
from scheduler_core.scheduler.config.cluster import ClusterSettings

# The chronicle: a few figures of some objects, recorded as they change, to be shown over virtual time.
#
# Not a component of kube: it keeps what `kubectl get --watch` would print, and writes nothing to the API server.


class Chronicle(Controller):
    """Keeps levels of replica sets, budgets, nodes and leases."""

    name = "chronicle"
    watches = ("ReplicaSet", "PodDisruptionBudget", "Node", "Lease")
    always_on = True

    def on_watch(self, world: World, event: WatchEvent) -> None:
        key = f"{event.kind}/{event.namespace}/{event.name}"
        figures = () if event.new is None else _read_figures(event.kind, event.new)
        if key not in world.surroundings.levels and (event.kind == "Node" or not figures):
            if event.old is None or _read_figures(event.kind, event.old) == figures:
                return
            world.surroundings.note_level(key, 0, _read_figures(event.kind, event.old))
        world.surroundings.note_level(key, world.now, figures)


_FIGURES: Mapping[str, tuple[tuple[str, type[int | str], str, str], ...]] = {
    "ReplicaSet": (
        ("desired", int, "spec", "replicas"),
        ("pods", int, "status", "replicas"),
        ("ready", int, "status", "readyReplicas"),
    ),
    "PodDisruptionBudget": (
        ("healthy", int, "status", "currentHealthy"),
        ("needed", int, "status", "desiredHealthy"),
        ("allowed", int, "status", "disruptionsAllowed"),
    ),
    "Lease": (("holder", str, "spec", "holderIdentity"),),
}


def _read_figures(kind: str, manifest: Manifest) -> Figures:
    if kind == "Node":
        conditions = (manifest.get("status") or {}).get("conditions") or ()
        return tuple((str(each.get("type")), str(each.get("status"))) for each in conditions)
    return tuple((name, of((manifest.get(part) or {}).get(field) or of())) for name, of, part, field in _FIGURES[kind])


CONTROLLERS: tuple[Controller, ...] = (
    *workloads.CONTROLLERS,
    Chronicle(),
    ALLOCATION,
    Kubelet(),
    StandIn(),
    EVICTION,
    KERNELS,
    NodeLifecycle(),
    TaintEviction(),
    DrainController(),
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
    ServiceAccounts(),
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
def _running_watchers(kind: str, switched_on: tuple[str, ...] | None, kubelets: bool) -> tuple[Controller, ...]:
    watching = _WATCHERS.get(kind, _WATCHERS[EVERY_KIND])
    return tuple(controller for controller in watching if _runs(controller, switched_on, kubelets))


def runs(controller: Controller, cluster: ClusterSettings) -> bool:
    """Return whether a controller is enabled."""
    return _runs(controller, cluster.controllers, cluster.run_kubelets)


def _runs(controller: Controller, switched_on: tuple[str, ...] | None, kubelets: bool) -> bool:
    if controller.of_kubelet:
        return kubelets
    return controller.always_on or switched_on is None or controller.name in switched_on
