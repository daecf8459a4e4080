"""Pods of workloads that a user added to a cluster's objects, and that no controller has reconciled yet."""

from collections.abc import Sequence

from scheduler_core.analysis.fixes.admission import CONTROLLERS, CREATING, find_stopped
from scheduler_core.apimachinery.objects import SECOND, LabelSelector, Manifest, controller_of
from scheduler_core.world.simulation import Simulation

MAKERS = {**CREATING, "Deployment": "deployment-controller", "ResourceClaim": "resourceclaim-controller"}
_MADE = ("ReplicaSet", "Pod", "PersistentVolumeClaim", "ResourceClaim")
_STEPS = 20_000


def list_untouched(objects: Sequence[Manifest]) -> list[Manifest]:
    """List the workloads without a status and without pods: no object has the labels they select, or a name with their prefix."""
    near = [each["metadata"] for each in objects if each["kind"] in ("Pod", "ReplicaSet", "Job")]

    def has_any(owner: Manifest) -> bool:
        meta, selector = owner["metadata"], LabelSelector.of(owner["spec"].get("selector"))
        space = meta.get("namespace") or "default"
        return any(
            str(each.get("name")).startswith(f"{meta.get('name')}-") or selector.matches(each.get("labels") or {})
            for each in near
            if each is not meta and (each.get("namespace") or "default") == space
        )

    found = (each for each in objects if each["kind"] in MAKERS and "template" in (each.get("spec") or {}))
    return [each for each in found if not each.get("status") and not has_any(each)]


def add_first_pods(twin: Simulation, objects: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """Return the objects with those that controllers create for them in `twin`, on no node. Omit ReplicaSets without pods."""
    if find_stopped(twin, CONTROLLERS) is not None:
        return tuple(objects)
    twin.run(lambda sim: sim.now > SECOND, steps=_STEPS)
    known = {_name_of(each) for each in objects}
    controlling = {(controller_of(each) or {}).get("uid") for each in twin.store.list("Pod")}
    made = []
    for each in [each for kind in _MADE for each in twin.store.list(kind)]:
        kept = each["kind"] == "ReplicaSet"
        if _name_of(each) not in known and (not kept or each["metadata"]["uid"] in controlling):
            meta = {name: value for name, value in each["metadata"].items() if name != "resourceVersion"}
            spec = {name: value for name, value in each["spec"].items() if name != "nodeName"}
            rest = {name: value for name, value in each.items() if kept or name != "status"}
            made.append({**rest, "metadata": meta, "spec": spec})
    return (*(_identify(twin, each) for each in objects), *made)


def _name_of(manifest: Manifest) -> tuple[str, str, str]:
    meta = manifest["metadata"]
    return manifest["kind"], meta.get("namespace") or "default", str(meta.get("name"))


def _identify(twin: Simulation, manifest: Manifest) -> Manifest:
    """Return a workload with the uid that its pods refer to."""
    found = twin.store.get(*_name_of(manifest)) if manifest["kind"] in MAKERS else None
    return (
        manifest
        if found is None
        else {**manifest, "metadata": {"uid": found["metadata"]["uid"], **manifest["metadata"]}}
    )
