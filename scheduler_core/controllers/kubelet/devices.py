"""Preparation of a pod's claims on its node before its containers start, and the errors that prevent it.

DEVIATION: there are no drivers; preparing a device takes no time and never fails. The Event is recorded once; kube retries with backoff.

kube: pkg/kubelet/cm/dra/manager.go (prepareResources), pkg/kubelet/kuberuntime/kuberuntime_manager.go @ v1.34.1
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.dra.claims import KIND as DEVICE_CLAIM
from scheduler_core.apimachinery.dra.claims import ClaimError, check_owner, claim_name
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, VOLUME, deleting, phase, volume_name
from scheduler_core.apiserver import WARNING, KubeEvent, WatchEvent
from scheduler_core.base.clock.agenda import FOREVER
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet import images
from scheduler_core.controllers.memory.kubelet import PodRun
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.volumes import attachments

FAILED = "FailedPrepareDynamicResources"


def find_prepare_error(world: World, pod: Pod) -> str:
    """Return the error of the first of a pod's claims that can't be prepared, in kube's words; "" if all can."""
    for entry in _claims(world, pod):
        try:
            name, own = claim_name(pod, entry)
            if name is None:
                continue
            claim = world.store.get(DEVICE_CLAIM, pod.namespace, name)
            if claim is None:
                missing = f'resourceclaims.resource.k8s.io "{name}" not found'
                return f"prepare dynamic resources: fetch ResourceClaim {name}: {missing}"
            if own:
                check_owner(pod, claim)
        except ClaimError as problem:
            return f"prepare dynamic resources: {problem}"
        status = claim.get("status") or {}
        if all(ref.get("uid") != pod.uid for ref in status.get("reservedFor") or ()):
            uid = claim["metadata"].get("uid")
            why = f"pod {pod.name} ({pod.uid}) is not allowed to use ResourceClaim {name} ({uid})"
            return f"prepare dynamic resources: {why}"
        if status.get("allocation") is None:
            return f"prepare dynamic resources: ResourceClaim {name}: not allocated"
    return ""


def _claims(world: World, pod: Pod) -> list[Mapping[str, Any]]:
    """Return the pod's claims, including the one for its extended resources."""
    claims = list(pod.spec.resource_claims)
    extended = (pod.manifest.get("status") or {}).get("extendedResourceClaimStatus")
    if world.settings.dra_extended_resource and extended is not None:
        claims.append({"resourceClaimName": extended.get("resourceClaimName") or ""})
    return claims


def report(world: World, pod: Pod, problem: str, component: str) -> None:
    """Record an Event that a pod's devices can't be prepared."""
    if problem.startswith("prepare dynamic resources"):
        text = f"Failed to prepare dynamic resources: {problem}"
        world.store.record(KubeEvent(world.now, WARNING, FAILED, "Pod", pod.namespace, pod.name, text, component))


# Pods wait for their volumes and devices: no container starts before every claim of the pod is bound and not being deleted, its
# volume is attached to the node, and every claim for devices is allocated and reserved for it.
#
# DEVIATION: the kubelet does not check whether the node can reach a volume, and records no Event about the wait.
# kube: pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go (getPVCExtractPV) @ v1.34.1

NOT_YET = FOREVER + 1  # the start time of the containers of a pod that waits for a claim


def missing(world: World, pod: Pod) -> str:
    """Return the first claim that can't be mounted, and the reason; "" if the pod waits for no claim."""
    for key in claims_of(pod):
        claim = world.store.get(CLAIM, *key.split("/", 1))
        if claim is None:
            return f'persistentvolumeclaim "{key}" not found'
        if deleting(claim):
            return f'PVC "{key}" is being deleted'
        if phase(claim) != "Bound":
            return f'PVC "{key}" is not bound'
        if attachments.lacks_attachment(world, claim, pod.node_name):
            return f'volume "{volume_name(claim)}" is not attached to {pod.node_name}'
    return find_prepare_error(world, pod)


def users(world: World, event: WatchEvent) -> list[str]:
    """Return the keys of admitted pods that wait for the changed claim or attachment."""
    memory = world.surroundings
    if event.kind == attachments.ATTACHMENT:
        volume = world.store.get(VOLUME, "", attachments.get_volume(event.new or event.old or {}))
        claim = None if volume is None else attachments.find_claim(world, volume)
        pods = [] if claim is None else list(attachments.list_users(world, claim))
    else:
        of_kind = memory.volumes.users if event.kind == CLAIM else memory.devices.users
        pods = of_kind.of(world.store, f"{event.namespace}/{event.name}")
    waiting = ((pod.key, memory.kubelet.pods.get(pod.key)) for pod in pods)
    return [key for key, run in waiting if run is not None and run.starts_at == NOT_YET]


def schedule_start(world: World, pod: Pod, run: PodRun) -> PodRun:
    """Set the start time of a pod whose claims are now ready: after the pulls and the usual latency."""
    if run.starts_at != NOT_YET or run.kill is not None or missing(world, pod):
        return run
    node = world.store.node(pod.node_name)
    pulling = 0 if node is None else images.pull_time(world, images.missing(world, pod, node))
    return replace(run, starts_at=world.now + pulling + world.settings.pod_start_latency)
