"""oom_score_adj: how readily the kernel kills a container's processes when memory is gone, from -1000 (never) to 1000 (first).

kube: pkg/kubelet/qos/{policy,helpers}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.demand import BEST_EFFORT, GUARANTEED, qos_class
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.quantity import value
from scheduler_core.apimachinery.objects.resources import MEMORY, is_sidecar, pod_requests
from scheduler_core.controllers.kubelet.critical import is_node_critical

_GUARANTEED, _BEST_EFFORT = -997, 1000


def oom_score_adj(pod: Pod, container: str, capacity: int) -> int:
    """Return a container's score; `capacity` is the node's memory (bytes). Raise KeyError if the pod lacks the container."""
    spec = pod.manifest["spec"]
    regular = spec.get("containers") or ()
    found = {each.get("name"): each for each in (*(spec.get("initContainers") or ()), *regular)}[container]
    if is_node_critical(pod):
        return _GUARANTEED
    quality = qos_class(spec)
    if quality == GUARANTEED:
        return _GUARANTEED
    if quality == BEST_EFFORT or not capacity:
        return _BEST_EFFORT
    rest = _rest_per_container(spec)
    score = 1000 - 1000 * (_request(found) + rest) // capacity
    if is_sidecar(found) and found not in regular:
        # A sidecar must not be killed before the containers that it serves, so it gets no higher score than they do.
        least = min((_request(each) for each in regular), default=0) + rest
        score = min(score, 1000 - 1000 * least // capacity)
    # A guaranteed pod that uses all memory can reach a score of 10; a burstable one must stay above it (kube's helper).
    if score < 1000 + _GUARANTEED:
        return 1000 + _GUARANTEED
    # A burstable pod must survive best-effort ones, even where its request is too small to show in the score.
    return score - 1 if score == _BEST_EFFORT else score


def _request(container: Mapping[str, Any]) -> int:
    return value(((container.get("resources") or {}).get("requests") or {}).get(MEMORY, 0))


def _rest_per_container(spec: Mapping[str, Any]) -> int:
    """Return the pod-level memory request beyond the containers' requests, per container."""
    whole = value(((spec.get("resources") or {}).get("requests") or {}).get(MEMORY, 0))
    if not whole:
        return 0
    of_containers = {name: part for name, part in spec.items() if name not in ("overhead", "resources")}
    containers = len(spec.get("containers") or ()) + len(spec.get("initContainers") or ())
    return int((whole - pod_requests(of_containers).memory) / containers)
