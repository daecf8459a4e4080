"""What is sent to an extender, as kube-scheduler writes it: Go's names, every field that Go does not leave away.

kube: pkg/scheduler/extender.go, staging/src/k8s.io/kube-scheduler/extender/v1/types.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.extenders.request import NodeVictims, Request
from scheduler_core.objects.node import Node
from scheduler_core.objects.pod import Pod

Json = dict[str, Any]

_NODE_INFO = (
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
)
_WITH_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def request_json(verb: str, request: Request) -> Json:
    """The body of a request; `verb`: what for."""
    return _BODIES[verb](request)


def _about_nodes(request: Request) -> Json:
    """ExtenderArgs."""
    names = [node.name for node in request.nodes]
    nodes = {"metadata": {}, "items": [node_json(node) for node in request.nodes]}
    return {
        "Pod": pod_json(request.pod),
        "Nodes": None if request.names_only else nodes,
        "NodeNames": names if request.names_only else None,
    }


def _about_victims(request: Request) -> Json:
    """ExtenderPreemptionArgs; the keys of a map are in their order."""
    by_node = {
        victims.node: _victims(victims, request.names_only)
        for victims in sorted(request.victims, key=lambda victims: victims.node)
    }
    return {
        "Pod": pod_json(request.pod),
        "NodeNameToVictims": None if request.names_only else by_node,
        "NodeNameToMetaVictims": by_node if request.names_only else None,
    }


def _victims(victims: NodeVictims, names_only: bool) -> Json:
    pods = [{"UID": pod.uid} if names_only else pod_json(pod) for pod in victims.pods]
    return {"Pods": pods, "NumPDBViolations": victims.violations}


def _about_binding(request: Request) -> Json:
    """ExtenderBindingArgs."""
    pod = request.pod
    return {
        "PodName": pod.name,
        "PodNamespace": pod.namespace,
        "PodUID": pod.uid,
        "Node": request.node,
    }


def pod_json(pod: Pod) -> Json:
    """A v1.Pod as the scheduler's informer has it: without kind and apiVersion."""
    out = _object_json(pod.manifest)
    for field in _WITH_CONTAINERS:
        if field in out["spec"]:
            containers = [{"resources": {}, **container} for container in out["spec"][field] or ()]
            out["spec"] = {**out["spec"], field: containers}
    return out


def node_json(node: Node) -> Json:
    """A v1.Node as the scheduler's informer has it."""
    out = _object_json(node.manifest)
    status = out["status"]
    out["status"] = {
        **status,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}, **(status.get("daemonEndpoints") or {})},
        "nodeInfo": {**dict.fromkeys(_NODE_INFO, ""), **(status.get("nodeInfo") or {})},
    }
    return out


def _object_json(manifest: Mapping[str, Any]) -> Json:
    rest = {name: value for name, value in manifest.items() if name not in ("apiVersion", "kind")}
    return {**rest, "spec": dict(rest.get("spec") or {}), "status": dict(rest.get("status") or {})}


_BODIES = {
    "filter": _about_nodes,
    "prioritize": _about_nodes,
    "preempt": _about_victims,
    "bind": _about_binding,
}
