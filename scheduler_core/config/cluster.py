"""What can be set about the components around the schedulers: kube's own flags and configurations, under kube's own names.

kube: cmd/kube-controller-manager/app/options, pkg/kubelet/apis/config/v1beta1 @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from scheduler_core.api.options import APIServerOptions
from scheduler_core.clock.agenda import MILLISECOND, SECOND
from scheduler_core.config.kubelet import KubeletConfiguration, read_kubelet
from scheduler_core.objects.typed import FieldProblem

Latency = Annotated[int, msgspec.Meta(ge=0, le=60 * SECOND, extra={"unit": "nanoseconds"})]


class ControllerManagerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Flags of kube-controller-manager."""

    terminated_pod_gc_threshold: int = msgspec.field(default=12_500, name="terminated-pod-gc-threshold")


class ClusterSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The components around the schedulers. Durations are virtual nanoseconds where kube has no field of its own."""

    apiserver: APIServerOptions = APIServerOptions()
    controller_manager: ControllerManagerOptions = ControllerManagerOptions()
    kubelet: Mapping[str, Any] = {}  # KubeletConfiguration of all nodes
    kubelets: Mapping[str, Mapping[str, Any]] = {}  # of single nodes, by name
    controllers: tuple[str, ...] | None = None  # which ones run, by kube's names; None: all
    provisioners: tuple[str, ...] | None = (
        None  # the CSI provisioners that run; None: one for whatever a class names
    )
    reconcile_latency: Latency = 10 * MILLISECOND  # from a change until a controller looks at it

    def __post_init__(self) -> None:
        for place, own in (
            ("kubelet", {}),
            *((f"kubelets.{name}", own) for name, own in self.kubelets.items()),
        ):
            try:
                read_kubelet(self.kubelet, own)
            except FieldProblem as problem:
                raise FieldProblem(
                    f"{place}.{problem.field}", problem.received, problem.expected
                ) from problem

    def kubelet_of(self, node: str) -> KubeletConfiguration:
        """The configuration of a node's kubelet."""
        own = self.kubelets.get(node)
        return read_kubelet(self.kubelet) if own is None else read_kubelet(self.kubelet, own)
