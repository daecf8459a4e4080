"""The pods of workloads that somebody wrote beside the pods of a cluster, and that no controller has looked at yet."""

from collections.abc import Sequence

from scheduler_core.analysis.fixes.admission import CONTROLLERS, CREATING, find_stopped
from scheduler_core.apimachinery.objects import SECOND, LabelSelector, Manifest, controller_of
from scheduler_core.world.simulation import Simulation

MAKERS = {**CREATING, "Deployment": "deployment-controller", "ResourceClaim": "resourceclaim-controller"}
_MADE = ("ReplicaSet", "Pod", "PersistentVolumeClaim", "ResourceClaim")
_STEPS = 20_000


def list_untouched(objects: Sequence[Manifest]) -> list[Manifest]:
    """List the workloads that have neither a status nor pods."""
    near = [each["metadata"] for each in objects if each["kind"] in ("Pod", "ReplicaSet", "Job")]
    found = (each for each in objects if each["kind"] in MAKERS and "template" in (each.get("spec") or {}))
    return [each for each in found if not each.get("status") and not _has_any(each, near)]


def _has_any(owner: Manifest, others: Sequence[Manifest]) -> bool:
    """Return whether an object is of a workload: it names the workload as its owner, or has the labels that the workload selects."""
    meta, selector = owner["metadata"], LabelSelector.of(owner["spec"].get("selector"))
    for each in others:
        if each is meta or (each.get("namespace") or "default") != (meta.get("namespace") or "default"):
            continue
        owners = ((one.get("kind"), one.get("name")) for one in each.get("ownerReferences") or ())
        if (owner["kind"], meta["name"]) in owners or selector.matches(each.get("labels") or {}):
            return True
    return False


def add_first_pods(twin: Simulation, objects: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """Return the objects with what controllers make of them in `twin`, on no node yet; a ReplicaSet without pods is left out."""
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
    return manifest["kind"], meta.get("namespace") or "default", meta["name"]


def _identify(twin: Simulation, manifest: Manifest) -> Manifest:
    """Return a workload with the uid that its pods know it by."""
    found = twin.store.get(*_name_of(manifest)) if manifest["kind"] in MAKERS else None
    return (
        manifest
        if found is None
        else {**manifest, "metadata": {"uid": found["metadata"]["uid"], **manifest["metadata"]}}
    )
