"""Read-only views of a scheduling queue."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.events import ObjectEvent
from scheduler_core.scheduler.queue.types import QueuedPod, QueueOptions


class NominatorView(Protocol):
    """Nominated pods by node. `everything` also has the list under "", which kube keeps for cleared nominations."""

    def nodes(self) -> Sequence[str]: ...

    def on(self, node: str) -> Sequence[Pod]: ...

    def everything(self) -> Mapping[str, Sequence[str]]: ...


class InFlightView(Protocol):
    """Markers of pods that were popped, and the events since, in order."""

    def items(self) -> Sequence[Pod | ObjectEvent]: ...


class QueueView(Protocol):
    """The lists are in kube's order, the mappings by the pod's namespace/name."""

    @property
    def options(self) -> QueueOptions: ...

    @property
    def nominator(self) -> NominatorView: ...

    @property
    def flight(self) -> InFlightView: ...

    @property
    def in_flight(self) -> Sequence[Pod]: ...

    @property
    def active_pods(self) -> Mapping[str, QueuedPod]: ...

    @property
    def backoff_pods(self) -> Mapping[str, QueuedPod]: ...

    @property
    def error_backoff_pods(self) -> Mapping[str, QueuedPod]: ...

    @property
    def unschedulable_pods(self) -> Mapping[str, QueuedPod]: ...

    @property
    def gated_pods(self) -> Mapping[str, QueuedPod]: ...

    def active(self, limit: int | None = None) -> Sequence[QueuedPod]: ...

    def backoff(self, limit: int | None = None) -> Sequence[QueuedPod]: ...

    def unschedulable(self) -> Sequence[QueuedPod]: ...

    def gated(self) -> Sequence[QueuedPod]: ...

    def find(self, key: str) -> QueuedPod | None: ...
