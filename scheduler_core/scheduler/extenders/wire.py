"""What is sent to an extender, as kube-scheduler writes it: Go's names, every field that Go does not leave away.

kube: pkg/scheduler/extender.go, staging/src/k8s.io/kube-scheduler/extender/v1/types.go @ v1.34.1
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.extenders.go_fields import write_go_object
from scheduler_core.scheduler.extenders.request import NodeVictims, Request

Json = dict[str, Any]


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


@lru_cache(maxsize=1024)
def pod_json(pod: Pod) -> Json:
    """Return a v1.Pod as the scheduler's informer has it: without kind and apiVersion."""
    return write_go_object(pod.manifest, "Pod")


@lru_cache(maxsize=8192)
def node_json(node: Node) -> Json:
    """Return a v1.Node as the scheduler's informer has it."""
    return write_go_object(node.manifest, "Node")


_BODIES = {
    "filter": _about_nodes,
    "prioritize": _about_nodes,
    "preempt": _about_victims,
    "bind": _about_binding,
}
