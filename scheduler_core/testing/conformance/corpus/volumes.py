"""What becomes of a pod's claims once it has a node, as the corpus applies it: everything that Reserve decided is bound at once."""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.storage.volumes import (
    BIND_COMPLETED,
    CLAIM,
    SELECTED_NODE,
    VOLUME,
    bind_volume_to_claim,
    key_of,
    name_of,
    with_annotation,
)
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.runtime.cycles import Trial
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.runtime.points import run_reserve, run_unreserve
from scheduler_core.scheduler.plugins.volumebinding.binder import Plan
from scheduler_core.scheduler.plugins.volumebinding.plugin import PLAN, VolumeBinding
from scheduler_core.testing.conformance.corpus.world import CorpusWorld

Effect = dict[str, str]

HOSTNAME = "kubernetes.io/hostname"


def bind_claims(world: CorpusWorld, framework: Framework, cycle: SchedulingCycle) -> list[Effect]:
    """Runs VolumeBinding's Reserve for the chosen node and carries its plan out; the bindings made, by claim."""
    plugin = next((p for p in framework.at(Point.RESERVE) if isinstance(p, VolumeBinding)), None)
    if plugin is None:
        return []
    trial = Trial(cycle.pod, cycle.nodes, cycle.state, cycle.node)
    run_reserve(plugin, trial)
    plan: Plan = cycle.state.get(PLAN) or Plan()
    run_unreserve(plugin, trial)
    effects = []
    for volume, claim in plan.static:
        _bind(world, volume, claim)
        effects.append({"pvc": key_of(claim), "pv": name_of(volume), "kind": "static"})
    for claim in plan.dynamic:
        volume = _build_provisioned_volume(claim, world.get("Node", "", cycle.node))
        _bind(world, volume, claim)
        effects.append({"pvc": key_of(claim), "pv": name_of(volume), "kind": "dynamic"})
    return sorted(effects, key=lambda effect: effect["pvc"])


def _bind(world: CorpusWorld, volume: Manifest, claim: Manifest) -> None:
    namespace, name = str(claim["metadata"].get("namespace") or ""), name_of(claim)
    stored = world.get(CLAIM, namespace, name) or claim
    bound = with_annotation(stored, BIND_COMPLETED, "yes")
    spec = {**bound["spec"], "volumeName": name_of(volume)}
    world.put({**bound, "spec": spec, "status": {"phase": "Bound"}})
    world.put({**bind_volume_to_claim(volume, stored), "status": {"phase": "Bound"}})


def _build_provisioned_volume(claim: Manifest, node: Manifest | None) -> Manifest:
    """The volume that the corpus says is made for a claim."""
    meta, spec = claim["metadata"], claim.get("spec") or {}
    name = f"dyn-{meta.get('namespace') or ''}-{name_of(claim)}"
    labels = ({} if node is None else node["metadata"].get("labels")) or {}
    host = labels.get(HOSTNAME) or (meta.get("annotations") or {}).get(SELECTED_NODE)
    here = {"key": HOSTNAME, "operator": "In", "values": [host]}
    return {
        "apiVersion": "v1",
        "kind": VOLUME,
        "metadata": {"name": name, "uid": f"pv-{name}"},
        "spec": {
            "accessModes": spec.get("accessModes") or [],
            "capacity": (spec.get("resources") or {}).get("requests") or {},
            "csi": {"driver": "csi.example.com", "volumeHandle": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec.get("storageClassName") or "",
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
    }
