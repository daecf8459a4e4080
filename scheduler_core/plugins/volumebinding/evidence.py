"""What VolumeBinding found of a pod's claims, with how many of the nodes that it refused each volume could be used on."""

from __future__ import annotations

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.plugin import Evidence, Handle
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.storage.volumes import VOLUME
from scheduler_core.plugins.helper.claim_evidence import claims_evidence
from scheduler_core.plugins.volumebinding.topology import bound_rows


def volume_evidence(handle: Handle, pod: Pod, nodes: NodeTable) -> Evidence:
    claims = claims_evidence(handle, pod)
    for claim in claims:
        for candidate in claim.get("candidates", ()):
            volume = handle.get(VOLUME, "", candidate["volume"])
            reached = [] if volume is None else bound_rows(nodes, handle, volume).nonzero()[0].tolist()
            candidate["reachedFrom"] = len(reached)
            candidate["reachedFromNodes"] = [nodes.names[row] for row in reached[:3]]
    return {"claims": claims}
