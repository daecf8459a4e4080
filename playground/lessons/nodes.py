"""The resources of a node, by its scheduler and by its kubelet, for the facts of lessons."""

from typing import Any, NamedTuple, cast

from scheduler_core.analysis.status import read_node
from scheduler_core.world.readonly import WorldView, format_quantity


class SignalRemainder(NamedTuple):
    """The rest of a signal, and the largest amount below which the kubelet evicts pods; bytes, inodes or process numbers."""

    available: int
    threshold: int

    @property
    def beyond(self) -> int:
        return self.available - self.threshold


def measure_signal(node: str, signal: str, world: WorldView) -> SignalRemainder | None:
    """Return the measured signal, or None if there is no such node, or its kubelet does not measure the signal."""
    row = read_node(cast("Any", world), node)
    measured = next((each for each in row["signals"] if each["signal"] == signal), None) if row else None
    if measured is None:
        return None
    return SignalRemainder(measured["available"], max((each["amount"] for each in measured["thresholds"]), default=0))


def used_of(node: str, resource: str, world: WorldView, and_of: str = "") -> tuple[int, int] | None:
    """Return the requested and the allocatable amount of a resource, as the scheduler counts them (cpu in thousandths).

    `and_of`, the key of a pod, counts that pod too. Return None if there is no such node or resource.
    """
    table = world.schedulers[0].cache.table()
    row = table.row(node)
    if row is None or resource not in table.resources.names:
        return None
    column = table.resources.names.index(resource)
    used, has = int(table.requested[row][column]), int(table.allocatable[row][column])
    pod = world.store.pod_at(and_of) if and_of else None
    if pod is not None and all(other.key != pod.key for other in table.pods[row]):
        used += int(pod.requests.get(resource))
    return used, has


def amount(number: int, resource: str = "") -> str:
    """Return an amount in the notation of manifests: 1300Mi, 2500m."""
    return format_quantity(f"{number}m") if resource == "cpu" else format_quantity(number, binary=True)
