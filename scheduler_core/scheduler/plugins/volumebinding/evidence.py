"""What VolumeBinding found of a pod's claims, with how many of the nodes that it refused each volume could be used on."""

from __future__ import annotations

from itertools import islice

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.volumes import VOLUME, volumes_of
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Evidence, Handle
from scheduler_core.scheduler.plugins.helper.claim_evidence import claims_evidence
from scheduler_core.scheduler.plugins.volumebinding.topology import find_bound_rows

SHOWN_USERS = 3


def volume_evidence(handle: Handle, pod: Pod, nodes: NodeTable) -> Evidence:
    claims = claims_evidence(handle, pod)
    for claim in claims:
        if claim.get("deleting"):
            claim["usedBy"] = _users(nodes, claim["claim"])
        for candidate in claim.get("candidates", ()):
            volume = handle.get(VOLUME, "", candidate["volume"])
            reached = [] if volume is None else find_bound_rows(nodes, handle, volume).nonzero()[0].tolist()
            candidate["reachedFrom"] = len(reached)
            candidate["reachedFromNodes"] = [nodes.names[row] for row in reached[:3]]
    return {"claims": claims}


def _users(nodes: NodeTable, claim: str) -> list[str]:
    """The pods on nodes that keep a claim from going."""
    namespace = claim.partition("/")[0]
    found = (
        pod.key
        for pods in nodes.pods
        for pod in pods
        if pod.namespace == namespace and pod.spec.volumes
        if any(f"{namespace}/{use.name(pod)}" == claim for use in volumes_of(pod.spec).claims)
    )
    return list(islice(found, SHOWN_USERS))
