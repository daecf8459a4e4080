"""Subresources of pods that a kubelet answers: log, exec, attach, and port-forward. The errors are those for an unreachable kubelet.

kube: pkg/registry/core/pod/{strategy.go,rest/subresources.go} @ v1.34.1
"""

from collections.abc import Mapping
from urllib.parse import urlencode

from scheduler_core.apimachinery.objects import CONTAINER_LISTS, Manifest
from scheduler_core.apiserver.door.answers import TEXT, Failure, Reply, bad_request, not_allowed
from scheduler_core.apiserver.door.reading import find_object
from scheduler_core.apiserver.door.resources import Resource, Target
from scheduler_core.apiserver.store import Store

STREAMS = ("log", "exec", "attach", "portforward")


def answer_stream(store: Store, resource: Resource, target: Target, query: Mapping[str, str]) -> Reply:
    """Answer a request that a kubelet would answer with a stream."""
    if resource.kind != "Pod" or target.subresource not in STREAMS:
        raise not_allowed()
    pod = find_object(store, resource, target)
    node = str((pod.get("spec") or {}).get("nodeName") or "")
    if target.subresource != "portforward":
        _pick_container(pod, target.name, query.get("container", ""))
    if not node:
        if target.subresource == "log":
            return Reply(200, b"", TEXT)
        raise bad_request(f"pod {target.name} does not have a host assigned")
    where = f"https://{node}:10250/{_place(target, query)}"
    said = f'Get "{where}": dial tcp: lookup {node}: no such host'
    if target.subresource == "log":
        raise Failure(502, "", said)
    raise Failure(502, "", f"error dialing backend: dial tcp: lookup {node}: no such host")


_PASSED_ON = ("follow", "limitBytes", "previous", "sinceSeconds", "sinceTime", "tailLines", "timestamps")


def _place(target: Target, query: Mapping[str, str]) -> str:
    verb = "containerLogs" if target.subresource == "log" else target.subresource
    more = urlencode(sorted(item for item in query.items() if item[0] in _PASSED_ON))
    return f"{verb}/{target.namespace}/{target.name}/{query.get('container', '')}{'?' * bool(more)}{more}"


def _pick_container(pod: Manifest, name: str, container: str) -> None:
    """Raise Failure (400) if a container must be named, or does not exist."""
    spec = pod.get("spec") or {}
    names = [str(each["name"]) for part in CONTAINER_LISTS for each in spec.get(part) or ()]
    if container and container not in names:
        raise bad_request(f"container {container} is not valid for pod {name}")
    regular = [str(each["name"]) for each in spec.get("containers") or ()]
    if not container and len(regular) > 1:
        listed = f"a container name must be specified for pod {name}, choose one of: [{' '.join(regular)}]"
        init = [str(each["name"]) for each in spec.get("initContainers") or ()]
        raise bad_request(f"{listed} or one of the init containers: [{' '.join(init)}]" if init else listed)
