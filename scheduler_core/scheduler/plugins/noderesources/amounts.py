"""Amounts of resources in containers' requests, and their notation in manifests."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Pod, Resources, is_sidecar, nanos
from scheduler_core.scheduler.framework.explanation import (
    Amount,
    Aside,
    Code,
    Explanation,
    Row,
    Table,
    gettext_noop,
    phrase,
    remark,
)

Place = tuple[str, int, int]  # field of the pod's spec, index in it, amount
AS_A_WHOLE = "resources"  # the field of pod-level requests


def largest_container(pod: Pod, resource: str) -> Place | None:
    """Return the container with the largest request, or the init container if that decides; None for a pod-level request."""
    spec = pod.spec.manifest  # without pod-level requests if their gate is off
    if ((spec.get("resources") or {}).get("requests") or {}).get(resource) is not None:
        return None
    amounts = [request_of(raw, resource) for raw in spec["containers"]]
    first = [request_of(raw, resource) for raw in spec.get("initContainers") or ()]
    if max(first, default=0) > sum(amounts):
        return "initContainers", first.index(max(first)), max(first)
    best = max(range(len(amounts)), key=lambda i: (amounts[i], -i))
    return ("containers", best, amounts[best]) if amounts[best] else None


def of_the_whole(pod: Pod, resource: str) -> tuple[int, int]:
    """Return the pod-level request and the sum of the containers' requests, which is its minimum."""
    spec = pod.spec.manifest
    return request_of(spec, resource), sum(request_of(raw, resource) for raw in spec["containers"])


def request_of(container: Any, resource: str) -> int:
    raw = ((container.get("resources") or {}).get("requests") or {}).get(resource)
    if raw is None:
        return 0
    return -(-nanos(raw) // (1_000_000 if resource == "cpu" else 1_000_000_000))


def round_down(resource: str, amount: int) -> int:
    """Round down to a customary amount."""
    if resource in ("memory", "ephemeral-storage") and amount > 1 << 20:
        return amount >> 20 << 20
    if resource == "cpu" and amount > 1000:
        return amount // 100 * 100
    return amount


def quantity(resource: str, amount: int) -> str:
    """Return an amount as a manifest writes it; cpu is in millicores."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    of_bytes = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    units = (("Gi", 30), ("Mi", 20), ("Ki", 10)) if amount and of_bytes else ()
    return next((f"{amount >> bits}{unit}" for unit, bits in units if amount % (1 << bits) == 0), str(amount))


# NodeResources explained: the pod's requests by container, and the amounts that the pod adds to the scored resources.

_KINDS = {
    "containers": (),
    "sidecars": (" ", Aside(phrase("sidecar"))),
    "init": (" ", Aside(phrase("init, ends first"))),
}
_SUM, _RULE = (
    phrase("the pod requests"),
    gettext_noop("Init containers run before the others: the larger sum counts, not both."),
)


def explain_requests(pod: Pod) -> Explanation:
    """Return the requests of each container and of the pod; of init containers the largest counts, if it is above the sum."""
    requests, spec = pod.requests, pod.spec.manifest
    names = [name for name in ("cpu", "memory", "ephemeral-storage") if requests.get(name)]
    names += [name for name, amount in requests.scalar if amount]
    if not names:
        return (remark("The pod requests nothing. Any node that can run one more pod fits."),)
    rows = [
        Row(((Code(raw["name"]), *_KINDS[kind]), *((Amount(name, request_of(raw, name)),) for name in names)))
        for kind, raw in _containers(spec)
    ]
    if spec.get("overhead"):
        overhead = Resources.of_list(spec["overhead"])
        rows.append(Row((phrase("overhead"), *((Amount(name, overhead.get(name)),) for name in names))))
    rows.append(Row((_SUM, *((Amount(name, requests.get(name)),) for name in names)), here=True))
    table = Table((gettext_noop("container"), *names), tuple(rows))
    return (table, remark(_RULE)) if any(kind == "init" for kind, _ in _containers(spec)) else (table,)


def _containers(spec: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    yield from (("containers", raw) for raw in spec["containers"])
    yield from (("sidecars" if is_sidecar(raw) else "init", raw) for raw in spec.get("initContainers") or ())


def explain_weighed(resources: Sequence[Mapping[str, Any]], requests: Resources) -> Explanation:
    """Return the pod's request of each resource that is scored, with the resource's weight."""
    rows = (
        Row(((each["name"],), (Amount(each["name"], requests.get(each["name"])),), (f"×{each['weight']}",)))
        for each in resources
    )
    return (Table((gettext_noop("resource"), gettext_noop("the pod adds"), gettext_noop("weight")), tuple(rows)),)
