"""Pods from the view of workload controllers: state, creation, and deletion.

kube: pkg/controller/controller_utils.go (RealPodControl), pkg/api/v1/pod/util.go @ v1.34.1
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from scheduler_core.apimachinery.objects import CONTAINER_LISTS, SECOND, Manifest, Pod, controller_of, optional_time
from scheduler_core.apiserver import NORMAL, WARNING, Refused, Store
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.workloads.owners import Owner

CREATED, NOT_CREATED = "SuccessfulCreate", "FailedCreate"
DELETED, NOT_DELETED = "SuccessfulDelete", "FailedDelete"
LISTS = CONTAINER_LISTS[:2]  # a template gives no ephemeral containers
_UNMOUNTED: Manifest = {"volumeMounts": [], "volumeDevices": []}
_WITH_TEMPLATE = ("ReplicaSet", "ReplicationController", "StatefulSet", "Job")  # their pods show their template


class Work:
    """The actions of a controller for one owner in a sync. `said` describes them."""

    def __init__(self, controller: Controller, world: World, owner: Owner) -> None:
        self.controller = controller
        self.world = world
        self.owner = owner
        self.said: list[str] = []

    @property
    def spec(self) -> Manifest:
        return self.owner.spec

    @property
    def timestamp(self) -> str:
        return self.world.store.timestamp(self.world.now)

    @cached_property
    def added(self) -> Mapping[str, list[Manifest]]:
        """The containers that admission webhooks add to the owner's pods."""
        return find_added(self.world.store, self.owner.manifest)

    def event(self, type_: str, reason: str, text: str) -> None:
        """Record an Event about the owner."""
        self.controller.event(self.world, type_, reason, self.owner.kind, self.owner.key, text)

    def is_available(self, pod: Pod) -> bool:
        """Return whether a pod has been Ready for as long as the owner wants."""
        return is_available(self.world, pod, self.owner.number("minReadySeconds"))


def is_active(pod: Pod) -> bool:
    """Return whether a pod has not ended and is not being deleted."""
    return not pod.deleting and not pod.terminal


def is_terminating(pod: Pod) -> bool:
    """Return whether a pod is being deleted and has not ended."""
    return pod.deleting and not pod.terminal


def list_pods(store: Store, owners: Iterable[Manifest]) -> list[Pod]:
    """Return the pods that objects control."""
    keys = (key for owner in owners for key in store.controlled("Pod", owner["metadata"].get("uid") or ""))
    return [pod for key in keys if (pod := store.pod(*key)) is not None]


def ready_since(pod: Pod) -> int | None:
    """Return when a pod became Ready (ns since 1970); None if it is not Ready or the time is unknown."""
    condition = pod.condition("Ready")
    if condition is None or not pod.ready:
        return None
    return optional_time(condition.get("lastTransitionTime"))


def available_at(world: World, pod: Pod, min_ready: int) -> int | None:
    """Return the virtual time (ns) from which a pod is available (Ready for `min_ready` seconds), or None if it isn't Ready."""
    if not pod.ready:
        return None
    if min_ready <= 0:
        return world.now
    since = ready_since(pod)
    return None if since is None else since + min_ready * SECOND - world.store.epoch


def is_available(world: World, pod: Pod, min_ready: int) -> bool:
    """Return whether a pod has been Ready for `min_ready` seconds."""
    at = available_at(world, pod, min_ready)
    return at is not None and at <= world.now


def from_template(owner: Owner, template: Manifest) -> dict[str, Any]:
    """Build a pod of an owner's template, without a name."""
    meta = template.get("metadata") or {}
    metadata: dict[str, Any] = {
        "generateName": f"{owner.name}-",
        "namespace": owner.namespace,
        "labels": dict(meta.get("labels") or {}),
        "ownerReferences": [owner.reference()],
    }
    if meta.get("annotations"):
        metadata["annotations"] = dict(meta["annotations"])
    if meta.get("finalizers"):
        metadata["finalizers"] = list(meta["finalizers"])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


def find_added(store: Store, owner: Manifest) -> dict[str, list[Manifest]]:
    """Return, by field, the containers that a pod of an owner, or of its siblings, has besides those of its template.

    No admission webhook is called here. Those of the cluster that the pods come from added these containers, and would do so again.
    """
    above, kind = (controller_of(owner) or {}).get("uid"), str(owner["kind"])
    siblings = (store.get(kind, *key) for key in store.controlled(kind, above)) if above else ()
    for maker in (owner, *filter(None, siblings)) if kind in _WITH_TEMPLATE else ():
        newest = (maker.get("status") or {}).get("updateRevision")
        keys = store.controlled("Pod", maker["metadata"].get("uid") or "")
        own = (key for key in keys if key[1].startswith(f"{maker['metadata']['name']}-"))  # none that was adopted
        pod = store.pod(*next(own, ("", "")))
        if pod is None or newest not in (None, pod.labels.get("controller-revision-hash")):
            continue
        has, given = pod.manifest["spec"], _name_given(maker)
        if given < name_containers(has):
            known = given | _name_given(owner)
            more = {field: [each for each in has.get(field) or () if each.get("name") not in known] for field in LISTS}
            return {field: [{**each, **_UNMOUNTED} for each in found] for field, found in more.items() if found}
    return {}


def _name_given(owner: Manifest) -> set[str]:
    return name_containers(owner["spec"]["template"].get("spec") or {})


def name_containers(spec: Manifest) -> set[str]:
    """Return the names of the containers of a pod's spec."""
    return {str(each.get("name")) for field in LISTS for each in spec.get(field) or ()}


def add_containers(manifest: Manifest, added: Mapping[str, list[Manifest]]) -> Manifest:
    """Return a pod with more containers."""
    spec = manifest["spec"]
    return {**manifest, "spec": {**spec, **{field: [*(spec.get(field) or ()), *more] for field, more in added.items()}}}


def create_pod(work: Work, manifest: Manifest) -> Manifest:
    """Create a pod and record the Event. Raise Refused."""
    try:
        pod = work.world.api.create(add_containers(manifest, work.added) if work.added else manifest)
    except Refused as refused:
        if not namespace_ends(work.world, work.owner.namespace):
            work.event(WARNING, NOT_CREATED, f"Error creating: {refused.answer.message}")
        raise
    work.event(NORMAL, CREATED, f"Created pod: {pod['metadata']['name']}")
    return pod


def create_pods(work: Work, manifests: Iterable[Manifest]) -> tuple[list[Manifest], Refused | None]:
    """Create pods in batches of 1, 2, 4, ...; a batch with a refusal is the last. Return the pods, and the first refusal.

    kube: slowStartBatch
    """
    waiting, size, first = iter(manifests), 1, None
    made: list[Manifest] = []
    while first is None and (batch := list(islice(waiting, size))):
        for manifest in batch:
            try:
                made.append(create_pod(work, manifest))
            except Refused as refused:
                if not namespace_ends(work.world, work.owner.namespace):
                    first = first or refused
        size *= 2
    return made, first


def delete_pod(work: Work, pod: Pod) -> None:
    """Delete a pod with its own grace period and record the Event. A missing pod is no failure. Raise Refused."""
    try:
        work.world.api.delete(("Pod", pod.namespace, pod.name))
    except Refused as refused:
        if refused.answer.reason == "NotFound":
            return
        work.event(WARNING, NOT_DELETED, f"Error deleting: {refused.answer.message}")
        raise
    work.event(NORMAL, DELETED, f"Deleted pod: {pod.name}")


def namespace_ends(world: World, name: str) -> bool:
    """Return whether a namespace is being deleted, so that it accepts no new objects."""
    namespace = world.store.get("Namespace", "", name)
    return namespace is not None and bool(namespace["metadata"].get("deletionTimestamp"))
