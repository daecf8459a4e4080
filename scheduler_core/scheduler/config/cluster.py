"""The settings of the components around the schedulers: kube's own flags and configurations, with kube's names.

kube: cmd/kube-controller-manager/app/options, pkg/kubelet/apis/config/v1beta1 @ v1.34.1
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from scheduler_core.apimachinery.objects.durations import parse_duration
from scheduler_core.apimachinery.objects.errors import format_key_path
from scheduler_core.apimachinery.objects.typed import FieldProblem
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.scheduler.config.kubelet import KubeletConfiguration, read_kubelet

Rate = Annotated[float, msgspec.Meta(ge=0, le=1e6)]
PullRate = Annotated[int, msgspec.Meta(ge=0, le=10**12, extra={"unit": "bytes a second"})]
ErrorText = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Latency = Annotated[int, msgspec.Meta(ge=0, le=60 * SECOND, extra={"unit": "nanoseconds"})]


def _is_period(text: str) -> bool:
    try:
        return parse_duration(text) > 0
    except ValueError:
        return False


class ControllerManagerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Flags of kube-controller-manager; durations are in Go's format (`50s`, `1m30s`)."""

    node_monitor_period: str = msgspec.field(default="5s", name="node-monitor-period")
    node_monitor_grace_period: str = msgspec.field(default="50s", name="node-monitor-grace-period")
    node_startup_grace_period: str = msgspec.field(default="1m0s", name="node-startup-grace-period")
    node_eviction_rate: Rate = msgspec.field(default=0.1, name="node-eviction-rate")  # nodes per second
    secondary_node_eviction_rate: Rate = msgspec.field(default=0.01, name="secondary-node-eviction-rate")
    large_cluster_size_threshold: int = msgspec.field(default=50, name="large-cluster-size-threshold")
    unhealthy_zone_threshold: Rate = msgspec.field(default=0.55, name="unhealthy-zone-threshold")
    terminated_pod_gc_threshold: int = msgspec.field(default=12_500, name="terminated-pod-gc-threshold")

    def __post_init__(self) -> None:
        for flag in ("node-monitor-period", "node-monitor-grace-period", "node-startup-grace-period"):
            text = getattr(self, flag.replace("-", "_"))
            if not _is_period(text):
                raise FieldProblem(flag, text, "a duration above 0, such as 50s or 1m30s")

    @property
    def monitor_period(self) -> int:
        """The flag --node-monitor-period in ns."""
        return parse_duration(self.node_monitor_period)

    @property
    def grace_period(self) -> int:
        """The flag --node-monitor-grace-period in ns."""
        return parse_duration(self.node_monitor_grace_period)

    @property
    def startup_grace_period(self) -> int:
        """The flag --node-startup-grace-period in ns."""
        return parse_duration(self.node_startup_grace_period)


class ClusterSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The components around the schedulers. Durations are virtual nanoseconds if kube has no field of its own."""

    apiserver: APIServerOptions = APIServerOptions()
    controller_manager: ControllerManagerOptions = ControllerManagerOptions()
    kubelet: Mapping[str, Any] = {}  # KubeletConfiguration of all nodes
    kubelets: Mapping[str, Mapping[str, Any]] = {}  # of single nodes, by name
    controllers: tuple[str, ...] | None = None  # the controllers that run, by kube's names; None: all
    run_kubelets: bool = True  # False: nodes have no kubelet, and bound pods stay Pending
    # The replacement of kubelets if none run (controllers/kubelet/stand_in.py).
    stand_in: Literal["", "removes", "runs"] = ""
    provisioners: tuple[str, ...] | None = None  # the CSI provisioners that run; None: each that a class names
    provisioning_errors: Mapping[str, ErrorText] = {}  # the error instead of a volume, by class or driver
    reconcile_latency: Latency = 10 * MILLISECOND  # from a change until a controller reconciles it
    image_pull_rate: PullRate = 0  # of images with a known size; 0: pulled at once
    api_latency: Latency = 5 * MILLISECOND  # of a scheduler process' lists and of calls about its lease

    def __post_init__(self) -> None:
        for place, own in (
            ("kubelet", {}),
            *((format_key_path("kubelets", name), own) for name, own in self.kubelets.items()),
        ):
            try:
                read_kubelet(self.kubelet, own)
            except FieldProblem as problem:
                raise FieldProblem(f"{place}.{problem.field}", problem.received, problem.expected) from problem

    def kubelet_of(self, node: str) -> KubeletConfiguration:
        """Return the configuration of a node's kubelet."""
        own = self.kubelets.get(node)
        return read_kubelet(self.kubelet) if own is None else read_kubelet(self.kubelet, own)
