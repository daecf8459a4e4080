"""Fixes for containers that do not start or are ended, by the words of their kubelet: a line of the table for each of its sentences."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit
from scheduler_core.scheduler.plugins.noderesources.amounts import quantity
from scheduler_core.world.simulation import Simulation

OS, ARCH = "kubernetes.io/os", "kubernetes.io/arch"
FOREIGN = re.compile(
    r"exec format error|no match for platform|no matching manifest for|[^.]* is not supported on this platform"
)
"""A kubelet's words about a program or an image that is built for other machines than its node."""
_USER, _LINUX, _CREDENTIALS = 1000, "linux", "registry-credentials"
_EPHEMERAL = "ephemeral-storage"


def find_platform(world: Simulation, node: Node) -> tuple[str, str] | None:
    """Return the label by which pods keep off nodes like this one, for others that are there: Linux, or another architecture."""
    others = [each for each in world.store.nodes() if not each.unschedulable and each.ready in ("", "True")]
    if node.labels.get(OS, _LINUX) != _LINUX:
        return (OS, _LINUX) if any(each.labels.get(OS, _LINUX) == _LINUX for each in others) else None
    found = (each.labels.get(ARCH) for each in others if each.labels.get(OS, _LINUX) == _LINUX)
    return next(((ARCH, arch) for arch in found if arch and arch != node.labels.get(ARCH)), None)


def propose_containers(draft: Draft, sim: Simulation, pod: Pod, node: Node | None) -> Iterator[tuple[Draft, bool]]:
    """Propose what the words of the kubelet ask for. With each goes whether the pod has to leave its node."""
    for words in dict.fromkeys(_list_words(sim, pod)):
        for pattern, propose in _WORDS:
            for found in re.finditer(pattern, words):
                yield from ((each, propose is _move) for each in propose(draft, sim, pod, node, found))
    yield from ((each, False) for each in _raise_memory(draft, pod))


def _list_words(sim: Simulation, pod: Pod) -> Iterator[str]:
    """Yield the messages of the containers' states, of the pod, and of the Warnings about it."""
    status = pod.manifest.get("status") or {}
    for each in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        for state in (*(each.get("state") or {}).values(), *(each.get("lastState") or {}).values()):
            yield f"{each.get('name')}: {(state or {}).get('reason')}: {(state or {}).get('message') or ''}"
    yield str(status.get("message") or "")
    about = (
        each for each in sim.store.events if (each.kind, each.namespace, each.name) == ("Pod", pod.namespace, pod.name)
    )
    yield from (f"{each.reason}: {each.message}" for each in about if each.type == "Warning")


def _afresh(change: Mapping[str, Any], kind: str, draft: Draft, edit: Edit) -> Draft:
    """The pod made anew with an edited spec, by its workload or by a scheduler."""

    def whole(manifest: dict[str, Any]) -> None:
        manifest["spec"].pop("nodeName", None)
        manifest.pop("status", None)
        edit(manifest["spec"])

    return draft.with_pod(Change(kind, change), whole)


def _containers(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*(spec.get("initContainers") or ()), *spec["containers"]]


Proposing = Callable[[Draft, Simulation, Pod, "Node | None", "re.Match[str]"], Iterator[Draft]]


def _move(draft: Draft, sim: Simulation, pod: Pod, node: Node | None, found: re.Match[str]) -> Iterator[Draft]:
    label = None if node is None else find_platform(sim, node)
    if label is not None and label[0] not in (pod.manifest["spec"].get("nodeSelector") or {}):

        def edit(spec: dict[str, Any]) -> None:
            spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), label[0]: label[1]}

        yield _afresh({"text": "=".join(label)}, "platform", draft, edit)


def _set_user(draft: Draft, sim: Simulation, pod: Pod, node: Node | None, found: re.Match[str]) -> Iterator[Draft]:
    def edit(spec: dict[str, Any]) -> None:
        spec["securityContext"] = {**(spec.get("securityContext") or {}), "runAsUser": _USER}
        for each in _containers(spec):
            if (each.get("securityContext") or {}).get("runAsUser") == 0:
                del each["securityContext"]["runAsUser"]

    yield _afresh({"user": _USER}, "user", draft, edit)


def _make_directory(
    draft: Draft, sim: Simulation, pod: Pod, node: Node | None, found: re.Match[str]
) -> Iterator[Draft]:
    kind = f"{'Directory' if found['kind'] == 'directory' else 'File'}OrCreate"
    name = next(
        (
            v["name"]
            for v in pod.manifest["spec"].get("volumes") or ()
            if (v.get("hostPath") or {}).get("path") == found["path"]
        ),
        None,
    )
    if name is None or found["kind"] not in ("directory", "file"):
        return

    def edit(spec: dict[str, Any]) -> None:
        for each in spec["volumes"]:
            if each["name"] == name:
                each["hostPath"]["type"] = kind

    yield _afresh({"volume": name, "to": kind, "path": found["path"]}, "host-path", draft, edit)


def _pull(draft: Draft, sim: Simulation, pod: Pod, node: Node | None, found: re.Match[str]) -> Iterator[Draft]:
    def edit(spec: dict[str, Any]) -> None:
        for each in _containers(spec):
            if each.get("imagePullPolicy") == "Never":
                each["imagePullPolicy"] = "IfNotPresent"

    yield _afresh({}, "pull-policy", draft, edit)


def _give_credentials(
    draft: Draft, sim: Simulation, pod: Pod, node: Node | None, found: re.Match[str]
) -> Iterator[Draft]:
    named = [each.get("name") for each in pod.manifest["spec"].get("imagePullSecrets") or ()]
    absent = [name for name in named if name and sim.store.get("Secret", pod.namespace, name) is None]
    name = absent[0] if absent else _CREDENTIALS
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": pod.namespace},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": '{"auths": {}}'},
    }

    def edit(spec: dict[str, Any]) -> None:
        spec["imagePullSecrets"] = [
            *(each for each in spec.get("imagePullSecrets") or () if each["name"] != name),
            {"name": name},
        ]

    yield _afresh({"secret": name}, "pull-secret", draft, edit).beside(secret)


def _make_object(draft: Draft, sim: Simulation, pod: Pod, node: Node | None, found: re.Match[str]) -> Iterator[Draft]:
    """A ConfigMap or a Secret that is not there, with the keys that the containers read."""
    kind, name = {"configmap": "ConfigMap", "secret": "Secret"}[found["kind"].lower()], found["name"]
    if sim.store.get(kind, pod.namespace, name) is not None:
        return
    refs = [
        ((each.get("valueFrom") or {}).get(f"{kind[0].lower()}{kind[1:]}KeyRef") or {})
        for container in _containers(pod.manifest["spec"])
        for each in container.get("env") or ()
    ]
    keys = dict.fromkeys(str(ref.get("key")) for ref in refs if ref.get("name") == name)
    data = {"data" if kind == "ConfigMap" else "stringData": dict.fromkeys(keys or {"to-be-chosen": 0}, "to-be-chosen")}
    made = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": pod.namespace}, **data}
    yield draft.with_applied(Change("config-object", {"owner": f"{kind} {name}", "namespace": pod.namespace}), made)


def _raise_storage(draft: Draft, sim: Simulation, pod: Pod, node: Node | None, found: re.Match[str]) -> Iterator[Draft]:
    named = found.groupdict().get("container")
    for each in _containers(pod.manifest["spec"]):
        if not named or each["name"] == named:
            yield from _raise_limit(draft, each, _EPHEMERAL)


def _raise_memory(draft: Draft, pod: Pod) -> Iterator[Draft]:
    """Twice the memory for a container that was killed at its limit."""
    status = pod.manifest.get("status") or {}
    for each in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        ends = [*(each.get("state") or {}).values(), *(each.get("lastState") or {}).values()]
        if any((end or {}).get("reason") == "OOMKilled" for end in ends):
            named = (c for c in _containers(pod.manifest["spec"]) if c["name"] == each.get("name"))
            for container in named:
                yield from _raise_limit(draft, container, "memory")


def _raise_limit(draft: Draft, container: Manifest, resource: str) -> Iterator[Draft]:
    limit = ((container.get("resources") or {}).get("limits") or {}).get(resource)
    if not limit:
        return
    text = quantity(resource, 2 * nanos(limit) // 1_000_000_000)

    def edit(spec: dict[str, Any]) -> None:
        next(each for each in _containers(spec) if each["name"] == container["name"])["resources"]["limits"][
            resource
        ] = text

    values = {"field": "limits", "resource": resource, "container": container["name"], "to": text}
    yield _afresh(values, "limits", draft, edit)


# The words of kubelets and container runtimes. kube: pkg/kubelet/{images,kuberuntime,eviction}, pkg/volume/hostpath @ v1.34.1
_WORDS: tuple[tuple[str, Proposing], ...] = (
    (FOREIGN.pattern, _move),
    (r"runAsNonRoot and image (?:will run as root|has non-numeric user)|runAsUser breaks non-root policy", _set_user),
    (r"hostPath type check failed: (?P<path>\S+) is not a (?P<kind>\w+)", _make_directory),
    (r"ErrImageNeverPull", _pull),
    (
        r"(?i)pull access denied|unauthorized|authorization failed|authentication required|no basic auth credentials",
        _give_credentials,
    ),
    (r"(?P<kind>configmap|secret) \"(?P<name>[\w.-]+)\" not found", _make_object),
    (r"Pod ephemeral local storage usage exceeds the total limit of containers", _raise_storage),
    (r"Container (?P<container>\S+) exceeded its local ephemeral storage limit", _raise_storage),
)
