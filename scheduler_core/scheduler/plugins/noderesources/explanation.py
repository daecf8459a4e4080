"""NodeResources in words: what the pod requests, container by container, and what it adds to the resources that are scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.resources import Resources, is_sidecar
from scheduler_core.scheduler.framework.explanation import (
    Amount,
    Aside,
    Code,
    Explanation,
    Row,
    Table,
    Words,
    gettext_noop,
    say,
)
from scheduler_core.scheduler.plugins.noderesources.amounts import request_of

_KINDS = {
    "containers": (),
    "sidecars": (" ", Aside((Words(gettext_noop("sidecar")),))),
    "init": (" ", Aside((Words(gettext_noop("init, ends first")),))),
}
_SUM, _RULE = (
    (Words(gettext_noop("the pod requests")),),
    gettext_noop("Init containers run before the others: the larger sum counts, not both."),
)


def explain_requests(pod: Pod) -> Explanation:
    """Return the requests of each container and of the pod; of init containers the largest counts, if it is above the sum."""
    requests, spec = pod.requests, pod.spec.manifest
    names = [name for name in ("cpu", "memory", "ephemeral-storage") if requests.get(name)]
    names += [name for name, amount in requests.scalar if amount]
    if not names:
        return (say(gettext_noop("The pod requests nothing. A node that may run one more pod fits.")),)
    rows = [
        Row(((Code(raw["name"]), *_KINDS[kind]), *((Amount(name, request_of(raw, name)),) for name in names)))
        for kind, raw in _containers(spec)
    ]
    if spec.get("overhead"):
        overhead = Resources.of_list(spec["overhead"])
        rows.append(Row(((Words(gettext_noop("overhead")),), *((Amount(name, overhead.get(name)),) for name in names))))
    rows.append(Row((_SUM, *((Amount(name, requests.get(name)),) for name in names)), here=True))
    table = Table((gettext_noop("container"), *names), tuple(rows))
    return (table, say(_RULE)) if any(kind == "init" for kind, _ in _containers(spec)) else (table,)


def _containers(spec: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    yield from (("containers", raw) for raw in spec["containers"])
    yield from (("sidecars" if is_sidecar(raw) else "init", raw) for raw in spec.get("initContainers") or ())


def explain_weighed(resources: Sequence[Mapping[str, Any]], requests: Resources) -> Explanation:
    """Return what the pod adds to each resource that is scored, with the resource's weight."""
    rows = (
        Row(((each["name"],), (Amount(each["name"], requests.get(each["name"])),), (f"×{each['weight']}",)))
        for each in resources
    )
    return (Table((gettext_noop("resource"), gettext_noop("the pod adds"), gettext_noop("weight")), tuple(rows)),)
