"""A stand-in for kubelets: it removes bound pods that terminate, and, if set so, reports bound pods as Running and Ready.

A node stays as its creator reported it: it gets no conditions and no images, and without heartbeats it does not become Unknown. A pod
whose annotation `stand-in` is `done` or `fail` ends as Succeeded or Failed.

DEVIATION: kube has no such component; it serves as a test double in a cluster without machines.
"""

from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apiserver import WatchEvent, with_section
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.kubelet.pods import is_overdue

ANNOTATION = "stand-in"
_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


class StandIn(Controller):
    """Acts on pods that have a node."""

    name = "stand-in-kubelet"
    component = "kubelet"
    watches = ("Pod", "Node")
    always_on = True

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Node" and event.new is not None and world.store.live and _lacks_ttl(event.new):
            self.enqueue(world, event.name)
        if world.cluster.stand_in and not world.cluster.run_kubelets and event.new_pod is not None:
            if event.new_pod.node_name and (event.new_pod.deleting or event.new_pod.phase == "Pending"):
                self.enqueue(world, event.new_pod.key)

    def sync(self, world: World, key: str) -> str:
        """Bring one pod to the state that a kubelet would reach."""
        node = None if "/" in key else world.store.get("Node", "", key)
        if node is not None and _lacks_ttl(node):
            world.api.patch(("Node", "", key), {"metadata": {"annotations": {_TTL: "0"}}})
            return f"set how long {key} can cache its reads"
        pod = world.store.pod_at(key)
        if pod is None or not pod.node_name or not world.cluster.stand_in or world.cluster.run_kubelets:
            return ""
        target = ("Pod", pod.namespace, pod.name)
        if pod.deleting:
            if is_overdue(world, pod):
                return ""
            # The API server writes the shortened period before it removes the pod.
            world.store.overwrite(with_section(pod.manifest, "metadata", {"deletionGracePeriodSeconds": 0}), "Pod")
            world.api.delete(target, grace=0)
            return f"removed {key}, which was terminating"
        if world.cluster.stand_in != "runs" or pod.phase != "Pending":
            return ""
        world.api.patch_status(target, _running(world, pod))
        return f"reported {key} as running"


_TTL = "node.alpha.kubernetes.io/ttl"  # kube's ttl-controller writes it


def _lacks_ttl(node: Manifest) -> bool:
    return _TTL not in (node["metadata"].get("annotations") or {})


def _running(world: World, pod: Pod) -> dict[str, Any]:
    manifest, now = pod.manifest, world.store.timestamp(world.now)
    ends = {"done": "Succeeded", "fail": "Failed"}.get(
        (manifest["metadata"].get("annotations") or {}).get(ANNOTATION, "")
    )
    ready = "False" if ends else "True"
    conditions = [
        {
            "type": type_,
            "status": ready if "Ready" in type_[-5:] else "True",
            "lastProbeTime": None,
            "lastTransitionTime": now,
        }
        for type_ in _CONDITIONS
    ]
    number = sum(pod.uid.encode()) % 250 + 2
    status: dict[str, Any] = {"phase": ends or "Running", "startTime": now, "conditions": conditions}
    address = _address(world, pod.node_name)
    if address:
        status |= {"hostIP": address, "hostIPs": [{"ip": address}]}
    status |= {"podIP": f"10.244.0.{number}", "podIPs": [{"ip": f"10.244.0.{number}"}]}
    containers = manifest["spec"].get("containers") or ()
    status["containerStatuses"] = [_container(each, ends or "", now) for each in containers]
    return status


def _address(world: World, node: str) -> str:
    there = world.store.get("Node", "", node) or {}
    addresses = (there.get("status") or {}).get("addresses") or ()
    return next((str(each["address"]) for each in addresses if each.get("type") == "InternalIP"), "")


def _container(container: Manifest, ends: str, now: str) -> dict[str, Any]:
    name, image = container["name"], container.get("image", "")
    state: dict[str, Any] = {"running": {"startedAt": now}}
    if ends:
        code, reason = (0, "Completed") if ends == "Succeeded" else (1, "Error")
        state = {"terminated": {"exitCode": code, "reason": reason, "startedAt": now, "finishedAt": now}}
    known = {"name": name, "image": image, "imageID": "", "containerID": f"containerd://{'0' * 64}", "lastState": {}}
    return {**known, "ready": not ends, "restartCount": 0, "started": not ends, "state": state}
