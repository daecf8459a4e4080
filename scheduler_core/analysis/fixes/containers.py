"""Fixes for containers that do not start or are ended, by the words of their kubelet: a line of the table for each of its sentences."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit
from scheduler_core.scheduler.plugins.noderesources.amounts import quantity
from scheduler_core.world.simulation import Simulation

OS, ARCH = "kubernetes.io/os", "kubernetes.io/arch"
FOREIGN = re.compile(r"exec format error|no match for platform|no matching manifest for")
"""A kubelet's words about a program or an image that is built for other machines than its node."""
_USER, _LINUX, _CREDENTIALS, _ANY = 1000, "linux", "registry-credentials", "to-be-chosen"
_TYPES = {"directory": "DirectoryOrCreate", "file": "FileOrCreate"}


def find_platform(world: Simulation, node: Node) -> tuple[str, str] | None:
    """Return the label by which pods keep off nodes like this one, for others that are there: Linux, or another architecture."""
    others = [each for each in world.store.nodes() if not each.unschedulable and each.ready in ("", "True")]
    linux = [each for each in others if each.labels.get(OS, _LINUX) == _LINUX]
    if node.labels.get(OS, _LINUX) != _LINUX:
        return (OS, _LINUX) if linux else None
    found = (each.labels.get(ARCH) for each in linux)
    return next(((ARCH, arch) for arch in found if arch and arch != node.labels.get(ARCH)), None)


def list_states(pod: Pod) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the present and the last state of each container, with its name."""
    status = pod.manifest.get("status") or {}
    for each in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        for state in (*(each.get("state") or {}).values(), *(each.get("lastState") or {}).values()):
            yield str(each.get("name")), state or {}


@dataclass(frozen=True, slots=True)
class _Case:
    """What a kubelet said of a pod, and where."""

    draft: Draft
    sim: Simulation
    pod: Pod
    node: Node | None
    found: re.Match[str]

    @property
    def containers(self) -> list[dict[str, Any]]:
        return list_containers(self.pod.manifest["spec"])

    def anew(self, kind: str, edit: Edit, **values: Any) -> Draft:
        """The pod made anew with an edited spec, by its workload or by a scheduler."""

        def whole(manifest: dict[str, Any]) -> None:
            manifest["spec"].pop("nodeName", None)
            manifest.pop("status", None)
            edit(manifest["spec"])

        return self.draft.with_pod(Change(kind, values), whole)


def list_containers(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*(spec.get("initContainers") or ()), *spec["containers"]]


def propose_containers(draft: Draft, sim: Simulation, pod: Pod, node: Node | None) -> Iterator[Draft]:
    """Propose what the words of the kubelet ask for: in the states of containers, the pod's status, and Warnings about it."""
    texts = [f"{name}: {state.get('reason')}: {state.get('message') or ''}" for name, state in list_states(pod)]
    about = (e for e in sim.store.events if (e.kind, e.namespace, e.name) == ("Pod", pod.namespace, pod.name))
    texts += [str((pod.manifest.get("status") or {}).get("message") or ""), *(e.message for e in about)]
    seen = set()
    for text in texts:
        for pattern, propose in _WORDS:
            for found in re.finditer(pattern, text):
                for each in propose(_Case(draft, sim, pod, node, found)):
                    if each.fingerprint not in seen:
                        seen.add(each.fingerprint)
                        yield each


def _move(case: _Case) -> Iterator[Draft]:
    label = None if case.node is None else find_platform(case.sim, case.node)
    if label is not None and label[0] not in (case.pod.manifest["spec"].get("nodeSelector") or {}):

        def edit(spec: dict[str, Any]) -> None:
            spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), label[0]: label[1]}

        yield case.anew("platform", edit, text="=".join(label))


def _set_user(case: _Case) -> Iterator[Draft]:
    def edit(spec: dict[str, Any]) -> None:
        spec["securityContext"] = {**(spec.get("securityContext") or {}), "runAsUser": _USER}
        for each in list_containers(spec):
            if (each.get("securityContext") or {}).get("runAsUser") == 0:
                del each["securityContext"]["runAsUser"]

    yield case.anew("user", edit, user=_USER)


def _make_path(case: _Case) -> Iterator[Draft]:
    path, kind = case.found["path"], _TYPES.get(case.found["kind"])
    volumes = [
        v for v in case.pod.manifest["spec"].get("volumes") or () if (v.get("hostPath") or {}).get("path") == path
    ]
    if volumes and kind:

        def edit(spec: dict[str, Any]) -> None:
            next(each for each in spec["volumes"] if each["name"] == volumes[0]["name"])["hostPath"]["type"] = kind

        yield case.anew("host-path", edit, volume=volumes[0]["name"], to=kind, path=path)


def _leave_runtime(case: _Case) -> Iterator[Draft]:
    if name := case.pod.manifest["spec"].get("runtimeClassName"):
        yield case.anew("runtime-class-left", lambda spec: spec.pop("runtimeClassName"), **{"class": name})


def _pull(case: _Case) -> Iterator[Draft]:
    def edit(spec: dict[str, Any]) -> None:
        for each in list_containers(spec):
            if each.get("imagePullPolicy") == "Never":
                each["imagePullPolicy"] = "IfNotPresent"

    yield case.anew("pull-policy", edit)


def _give_credentials(case: _Case) -> Iterator[Draft]:
    name = next(iter(list_absent_secrets(case.sim, case.pod)), _CREDENTIALS)
    data = {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": '{"auths": {}}'}}

    def edit(spec: dict[str, Any]) -> None:
        others = [each for each in spec.get("imagePullSecrets") or () if each["name"] != name]
        spec["imagePullSecrets"] = [*others, {"name": name}]

    yield case.anew("pull-secret", edit, secret=name).beside(_build(case.pod, "Secret", name, data))


def list_absent_secrets(sim: Simulation, pod: Pod) -> list[str]:
    """List the Secrets that a pod names for the pull of its images and that are not in its namespace."""
    named = [str(each.get("name") or "") for each in pod.manifest["spec"].get("imagePullSecrets") or ()]
    return [name for name in named if name and sim.store.get("Secret", pod.namespace, name) is None]


def _make_object(case: _Case) -> Iterator[Draft]:
    """A ConfigMap or a Secret that is not there, with the keys that the containers read."""
    kind, name = {"configmap": "ConfigMap", "secret": "Secret"}[case.found["kind"]], case.found["name"]
    if case.sim.store.get(kind, case.pod.namespace, name) is None:
        source = f"{kind[0].lower()}{kind[1:]}KeyRef"
        refs = [(e.get("valueFrom") or {}).get(source) or {} for c in case.containers for e in c.get("env") or ()]
        keys = [str(ref.get("key")) for ref in refs if ref.get("name") == name] or [_ANY]
        data = {"data" if kind == "ConfigMap" else "stringData": dict.fromkeys(keys, _ANY)}
        change = Change("config-object", {"owner": f"{kind} {name}", "namespace": case.pod.namespace})
        yield case.draft.with_applied(change, _build(case.pod, kind, name, data))


def _build(pod: Pod, kind: str, name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": pod.namespace}, **data}


def _raise_limit(resource: str) -> Callable[[_Case], Iterator[Draft]]:
    """Twice as much for the container that is named, or for all."""

    def propose(case: _Case) -> Iterator[Draft]:
        for each in case.containers:
            limit = ((each.get("resources") or {}).get("limits") or {}).get(resource)
            if limit and case.found.groupdict().get("container") in (None, each["name"]):
                text, name = quantity(resource, 2 * nanos(limit) // 1_000_000_000), each["name"]

                def edit(spec: dict[str, Any], name: str = name, text: str = text) -> None:
                    named = next(c for c in list_containers(spec) if c["name"] == name)
                    named["resources"]["limits"][resource] = text

                yield case.anew("limits", edit, field="limits", resource=resource, container=name, to=text)

    return propose


# The words of kubelets and container runtimes. kube: pkg/kubelet/{images,kuberuntime,eviction}, pkg/volume/hostpath @ v1.34.1
_WORDS: tuple[tuple[str, Callable[[_Case], Iterator[Draft]]], ...] = (
    (FOREIGN.pattern, _move),
    (r"runAsNonRoot and image (?:will run as root|has non-numeric user)|runAsUser breaks non-root policy", _set_user),
    (r"hostPath type check failed: (?P<path>\S+) is not a (?P<kind>\w+)", _make_path),
    (r"no runtime for \"[^\"]*\" is configured|RuntimeHandler \"[^\"]*\" not supported", _leave_runtime),
    (r"ErrImageNeverPull", _pull),
    (r"(?i)pull access denied|unauthorized|authoriz\w+ failed|authentication required|basic auth", _give_credentials),
    (r"(?P<kind>configmap|secret) \"(?P<name>[\w.-]+)\" not found", _make_object),
    (r"Pod ephemeral local storage usage exceeds the total limit of containers", _raise_limit("ephemeral-storage")),
    (r"Container (?P<container>\S+) exceeded its local ephemeral storage limit", _raise_limit("ephemeral-storage")),
    (r"(?P<container>\S+): OOMKilled", _raise_limit("memory")),
)
