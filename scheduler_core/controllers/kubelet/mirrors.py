"""Mirror pods: what the API server shows of a static pod. One that is deleted is made anew; the static pod runs on.

A pod with the annotation kubernetes.io/config.mirror counts as one; the static pod itself is seen by nobody.

kube: pkg/kubelet/kubelet.go (SyncPod), pkg/kubelet/pod/mirror_client.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.server import Preconditions
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet.admission import is_mirror

_MADE_ANEW = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def remember(world: World, event: WatchEvent) -> bool:
    """Keeps what was deleted of a mirror pod whose kubelet runs; whether it did."""
    pod, memory = event.old_pod, world.surroundings.kubelet
    if pod is None or not is_mirror(pod) or pod.node_name not in memory.since or pod.key not in memory.pods:
        return False
    memory.mirrors[pod.key] = (event.old or {}, memory.pods[pod.key])
    return True


def restore(world: World, key: str) -> str:
    """Makes a mirror pod anew, if it is to be. In words what was done."""
    kept = world.surroundings.kubelet.mirrors.pop(key, None)
    if kept is None:
        return ""
    manifest, run = kept
    if world.store.node(run.node) is None:
        return ""
    created = world.api.create(_fresh(manifest))
    world.surroundings.kubelet.put(key, replace(run, uid=str(created["metadata"]["uid"]), kill=None))
    return "made the mirror pod anew: its static pod runs on"


def let_go(world: World, pod: Pod) -> str:
    """Removes a mirror pod that somebody deletes, so that it is made anew; the static pod does not end."""
    world.api.delete(("Pod", pod.namespace, pod.name), 0, preconditions=Preconditions(pod.uid))
    return "removed the mirror pod, which is made anew"


def _fresh(manifest: Mapping[str, Any]) -> dict[str, Any]:
    meta = {name: value for name, value in manifest["metadata"].items() if name not in _MADE_ANEW}
    return {**manifest, "metadata": meta}
