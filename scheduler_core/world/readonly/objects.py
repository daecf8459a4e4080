"""Read-only views of the API server's objects, a scheduler's cache, and the journal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects import Manifest, Node, Pod
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.base.trace.journal import Attempt, Move, ProcessMove
from scheduler_core.scheduler.cache.cache import CopiedRows
from scheduler_core.scheduler.cache.table import NodeTable, ResourceIndex


class StoreView(Protocol):
    """All objects; `epoch` (ns since 1970) is the wall time at virtual time 0."""

    @property
    def epoch(self) -> int: ...

    @property
    def is_dated(self) -> bool:
        """Return whether the world's time is that of a calendar."""

    def timestamp(self, now: int) -> str: ...

    @property
    def resource_version(self) -> int:
        """The resource version of the newest write."""

    @property
    def events(self) -> Sequence[KubeEvent]: ...

    def kinds(self) -> Iterable[str]: ...

    def keys(self, kind: str) -> Sequence[tuple[str, str]]:
        """Return the sorted namespaces and names of a kind's objects: the same list until one is created or deleted."""

    def count(self, kind: str) -> int: ...

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None: ...

    def list(self, kind: str) -> Sequence[Manifest]: ...

    def nodes(self) -> Sequence[Node]: ...

    def pods(self) -> Sequence[Pod]: ...

    def pods_on(self, node: str) -> Sequence[Pod]: ...

    def pod_at(self, key: str) -> Pod | None: ...


class CacheView(Protocol):
    """The nodes and their pods as a scheduler knows them. `assumed`: the node by pod. Columns are by slot."""

    @property
    def assumed(self) -> Mapping[str, str]: ...

    @property
    def where(self) -> Mapping[str, tuple[Pod, int]]: ...

    @property
    def resources(self) -> ResourceIndex: ...

    @property
    def slots(self) -> Mapping[str, int]: ...

    @property
    def requested(self) -> NDArray[np.int64]: ...

    @property
    def pods(self) -> Sequence[Sequence[Pod]]: ...

    @property
    def generation(self) -> int: ...

    @property
    def copied(self) -> CopiedRows: ...

    @property
    def dirty(self) -> Sequence[tuple[str, str]]: ...

    @property
    def nodes_changed(self) -> bool: ...

    def table(self) -> NodeTable: ...


class JournalView(Protocol):
    """Attempts and moves, oldest first. `last_attempt` and `last_move` have the index of a pod's last one."""

    @property
    def attempts(self) -> Sequence[Attempt]: ...

    @property
    def moves(self) -> Sequence[Move]: ...

    @property
    def processes(self) -> Sequence[ProcessMove]: ...

    @property
    def last_attempt(self) -> Mapping[str, int]: ...

    @property
    def last_move(self) -> Mapping[str, int]: ...

    @property
    def ignored(self) -> Iterable[str]: ...

    def place(self, pod: str) -> str: ...

    def lane(self, pod: str) -> Sequence[Move]: ...

    def attempts_of(self, pod: str) -> Sequence[Attempt]: ...
