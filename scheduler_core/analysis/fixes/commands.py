"""Drafts as commands for a look: as if all were changed at once, before anything is run."""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.apiserver.rewriting import SERVER_OWNED
from scheduler_core.apiserver.validation.cluster import validate_update
from scheduler_core.scheduler.framework.drafts import Draft
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, PatchObject, Ref, SetConfiguration

FORCED = ("Pod", "ResourceClaim")  # ApplyObjects makes these anew itself


def commands_of(draft: Draft) -> tuple[Command, ...]:
    """Return the commands that make the changes of a draft to objects, in this order."""
    commands: list[Command] = []
    if draft.configuration is not None:
        scheduler, configuration = draft.configuration
        commands.append(SetConfiguration(configuration, scheduler))
    pod = draft.pod
    if pod is not None and draft.original["spec"].get("nodeName"):  # else it stays where it is
        commands += _build_force_delete(pod)
        pod = clean(pod)
    others = []
    for manifest in draft.others:
        if manifest["kind"] not in FORCED:
            commands += _build_force_delete(manifest)
        others.append(manifest if manifest["kind"] in FORCED else clean(manifest))
    nodes = [manifest for _, manifest in draft.nodes]
    objects = (*map(bare, draft.objects), *([bare(pod)] if pod is not None else []), *nodes, *map(bare, others))
    if objects:
        forced = bool(draft.others) or recreates(draft)
        commands.append(ApplyObjects(objects, force=True) if forced else ApplyObjects(objects))
    return tuple(commands)


def _build_force_delete(manifest: Manifest) -> list[Command]:
    """The object goes at once: a finalizer that would have it stay for now is taken off."""
    ref = Ref(manifest["kind"], manifest["metadata"].get("namespace") or "", manifest["metadata"]["name"])
    gone = DeleteObjects((ref,), grace_period_seconds=0)
    return [PatchObject(ref, {"metadata": {"finalizers": None}}), gone]


def bare(manifest: Manifest) -> Manifest:
    """An object without its status, which is the cluster's to write."""
    return {name: value for name, value in manifest.items() if name != "status"}


def clean(manifest: Manifest) -> dict[str, Any]:
    """Without what the API server writes itself."""
    meta = {name: value for name, value in manifest["metadata"].items() if name not in SERVER_OWNED}
    meta.pop("finalizers", None)
    spec: Any = manifest.get("spec")
    if manifest.get("kind") == "Pod" and spec.get("priorityClassName"):  # whose value may be another one by now
        spec = {name: value for name, value in spec.items() if name not in ("priority", "preemptionPolicy")}
    return {**manifest, "metadata": meta, **({"spec": spec} if spec else {})}


def recreates(draft: Draft) -> bool:
    """Return True if the pod cannot be changed in place and must be recreated."""
    return draft.pod is not None and bool(validate_update(draft.original, draft.pod, KINDS["Pod"], ""))
