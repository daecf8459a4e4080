"""Fixes for containers that do not start or that end, by the kubelet's messages. containers.yaml has a row for each message."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from scheduler_core.analysis.fixes.meanings import find_makers, list_status_texts
from scheduler_core.apimachinery.objects import REQUIRED, Manifest, Node, Pod, controller_of, nanos
from scheduler_core.apimachinery.objects.storage.volumes import list_drivers
from scheduler_core.apiserver.kinds import get_kind_by_key
from scheduler_core.apiserver.registry.strategies import apply_patch
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.helper.fixes import delete_pod
from scheduler_core.scheduler.plugins.noderesources.amounts import quantity
from scheduler_core.world.simulation import Simulation

OS, ARCH = "kubernetes.io/os", "kubernetes.io/arch"
FOREIGN = re.compile(r"exec format error|no match for platform|no matching manifest for")
"""A kubelet's words about a program or an image that is built for other machines than its node."""
UNREGISTERED = re.compile(r"driver name (\S+) not found in the list of registered CSI drivers")
_TIME = "activeDeadlineSeconds"
_PATIENCE = 30  # failures of a startupProbe
_WRITTEN = ("kube-root-ca.crt", "openshift-service-ca.crt")  # controllers create these
_USER, _LINUX, _CREDENTIALS, ANY = 1000, "linux", "registry-credentials", "to-be-chosen"
_HUB = "https://index.docker.io/v1/"  # the key of Docker Hub's credentials
_ABSENT = re.compile(r'(?P<kind>[\w-]+)\.(?P<group>[\w.-]+) "(?P<name>[\w.-]+)" not found')
_FLOAT = re.compile(r"\d(\.\d+)?e\+\d+")
_KINDS = {"configmap": ("ConfigMap", "data"), "config": ("ConfigMap", "data"), "secret": ("Secret", "stringData")}


def find_platform(world: Simulation, node: Node) -> tuple[str, str] | None:
    """Return the label by which pods avoid nodes like this one, in favor of others: Linux, or another architecture. Otherwise None."""
    nodes = [each.labels for each in world.store.nodes() if not each.unschedulable and each.ready in ("", "True")]
    linux = [labels for labels in nodes if labels.get(OS, _LINUX) == _LINUX]
    if node.labels.get(OS, _LINUX) != _LINUX:
        return (OS, _LINUX) if linux else None
    return next(((ARCH, has[ARCH]) for has in linux if has.get(ARCH, "") not in ("", node.labels.get(ARCH))), None)


def list_absent_drivers(world: Simulation, words: Iterable[str], node: Node) -> Iterator[tuple[str, Manifest]]:
    """Yield the CSI drivers that messages report as missing on a node, with the DaemonSet that has no pod there."""
    there = {(controller_of(pod.manifest) or {}).get("uid") for pod in world.store.pods_on(node.name)}
    for driver in dict.fromkeys(found[1] for each in words for found in UNREGISTERED.finditer(each)):
        for each in world.store.list("DaemonSet"):
            name = each["metadata"]["name"]
            if "csi" in name and driver.partition(".")[0] in name and each["metadata"].get("uid") not in there:
                yield driver, each


def find_missing_driver(world: Simulation, volume: str, node: str) -> str:
    """Return the CSI driver of a volume if the node's CSINode does not list the driver, else ""."""
    found, there = world.store.get("PersistentVolume", "", volume), world.store.get("CSINode", "", node)
    driver = str((((found or {}).get("spec") or {}).get("csi") or {}).get("driver") or "")
    return driver if driver and there is not None and driver not in list_drivers(there) else ""


def list_words(sim: Simulation, pod: Pod) -> list[str]:
    """Return the messages of a pod's Events."""
    return [e.message for e in sim.store.events if (e.kind, e.namespace, e.name) == ("Pod", pod.namespace, pod.name)]


def find_elsewhere(sim: Simulation, namespace: str, text: str) -> list[Manifest]:
    """Return the custom resources that a text reports as not found in a namespace, as other namespaces have them."""
    absent = [(m["kind"].replace("-", "").lower(), m["group"], m["name"]) for m in _ABSENT.finditer(text)]
    named = {(f"{kind.removesuffix(end)}.{group}", name) for kind, group, name in absent for end in ("", "s", "es")}
    keys = [key for key in sim.store.kinds() if key.lower() in dict(named)]
    found = [e for key in keys for e in sim.store.list(key) if (key.lower(), e["metadata"]["name"]) in named]
    return [] if any(each["metadata"].get("namespace") == namespace for each in found) else found


@dataclass(frozen=True, slots=True)
class _Case:
    """A kubelet's message about a pod, with the pod and its node."""

    draft: Draft
    sim: Simulation
    pod: Pod
    node: Node | None
    found: re.Match[str]
    resource: str = ""

    @property
    def spec(self) -> Manifest:
        found: Manifest = self.pod.manifest["spec"]
        return found

    def list_containers(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for field in ("initContainers", "containers"):
            yield from ((field, each) for each in self.spec.get(field) or ())

    def find_source(self, kind: str) -> str:
        """Return the name of the ConfigMap or Secret of the named volume."""
        volumes = {str(each.get("name")): each for each in self.spec.get("volumes") or ()}
        source = volumes.get(self.found["volume"], {}).get("configMap" if kind == "ConfigMap" else "secret") or {}
        return str(source.get("name") or source.get("secretName") or "-")

    def anew(self, kind: str, patch: Mapping[str, Any], **values: Any) -> Draft:
        """Return a draft with the pod recreated, by its workload or a scheduler, with a strategic patch of its spec."""

        def edit(manifest: dict[str, Any]) -> None:
            manifest.pop("status", None)
            manifest["spec"] = apply_patch(get_kind_by_key("Pod"), manifest, {"spec": patch}, "strategic")["spec"]
            manifest["spec"].pop("nodeName", None)

        return self.draft.with_pod(Change(kind, values), edit)

    def build(self, kind: str, name: str, **data: Any) -> dict[str, Any]:
        meta = {"name": name, "namespace": self.pod.namespace}
        return {"apiVersion": "v1", "kind": kind, "metadata": meta, **data}


@cache
def _read_words() -> list[tuple[re.Pattern[str], Mapping[str, str]]]:
    rows = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return [(re.compile(row["words"]), row) for row in rows]


def propose_containers(draft: Draft, sim: Simulation, pod: Pod, node: Node | None) -> Iterator[Draft]:
    """Propose fixes for the kubelet's messages in containers' states, in the pod's status, and in Warnings about the pod."""
    texts = [*list_status_texts(pod.manifest), *list_words(sim, pod)]
    cases = [(row, m) for text in texts for pattern, row in _read_words() for m in pattern.finditer(text)]
    asked = ((row["propose"], _Case(draft, sim, pod, node, m, row.get("resource", ""))) for row, m in cases)
    made = (made for name, case in asked for made in _PROPOSING[name](case))
    yield from {each.fingerprint: each for each in made}.values()


def _move(case: _Case) -> Iterator[Draft]:
    label = None if case.node is None else find_platform(case.sim, case.node)
    if label is not None and label[0] not in (case.spec.get("nodeSelector") or {}):
        yield case.anew("platform", {"nodeSelector": {label[0]: label[1]}}, text="=".join(label))


def _set_user(case: _Case) -> Iterator[Draft]:
    yield case.anew("user", {"securityContext": {"runAsUser": _USER}}, user=_USER)


def _make_path(case: _Case) -> Iterator[Draft]:
    path, kind = case.found["path"], f"{case.found['kind'].capitalize()}OrCreate"
    for each in case.spec.get("volumes") or ():
        if (each.get("hostPath") or {}).get("path") == path:
            patch = {"volumes": [{"name": each["name"], "hostPath": {"type": kind}}]}
            yield case.anew("host-path", patch, volume=each["name"], to=kind, path=path)


def _leave_runtime(case: _Case) -> Iterator[Draft]:
    if name := case.spec.get("runtimeClassName"):
        yield case.anew("runtime-class-left", {"runtimeClassName": None}, **{"class": name})


def _keep_to_driver(case: _Case) -> Iterator[Draft]:
    """Propose to restrict the pod to the nodes that the CSI driver's DaemonSet selects, if its node is none of them."""
    own = case.spec.get("affinity") or {}
    for driver, daemons in list_absent_drivers(case.sim, [case.found[0]], case.node) if case.node is not None else ():
        spec = daemons["spec"]["template"]["spec"]
        terms = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED)
        patch = {"nodeSelector": spec["nodeSelector"]} if spec.get("nodeSelector") else {}
        patch |= {"affinity": {"nodeAffinity": {REQUIRED: terms}}} if terms and not own.get("nodeAffinity") else {}
        if patch:
            yield case.anew("driver-nodes", patch, driver=driver, owner=daemons["metadata"]["name"])


def _pull(case: _Case) -> Iterator[Draft]:
    for field, each in case.list_containers():
        if each.get("imagePullPolicy") == "Never":
            patch = {field: [{"name": each["name"], "imagePullPolicy": "IfNotPresent"}]}
            yield case.anew("pull-policy", patch)


def _give_credentials(case: _Case) -> Iterator[Draft]:
    named = [str(each.get("name")) for each in case.spec.get("imagePullSecrets") or ()]
    absent = (name for name in named if case.sim.store.get("Secret", case.pod.namespace, name) is None)
    name = next(absent, "") or (named or [_CREDENTIALS])[0]
    given = case.sim.store.get("Secret", case.pod.namespace, name)
    hosts = (str(each.get("image")).partition("/")[0] for _, each in case.list_containers())
    host = next((each for each in hosts if "." in each and each in case.found.string), _HUB)
    text = json.dumps({"auths": {host: {"auth": ANY}}})
    content = {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": text}}
    patch = {"imagePullSecrets": [{"name": name}]}
    draft = case.anew("pull-secret", patch, secret=name, **({"renews": True} if given is not None else {}))
    yield draft.beside(case.build("Secret", name, **content))


def _make_object(case: _Case) -> Iterator[Draft]:
    """Propose to create a missing ConfigMap or Secret, with the keys that the containers read."""
    (kind, field), name = _KINDS[case.found["kind"]], case.found["name"]
    there = case.sim.store.get(kind, case.pod.namespace, name) is not None
    if not there and name not in _WRITTEN and not find_makers(case.sim, case.pod, case.found[0]):
        source = f"{kind[0].lower()}{kind[1:]}KeyRef"
        read = [
            (e.get("valueFrom") or {}).get(source) or {} for _, c in case.list_containers() for e in c.get("env") or ()
        ]
        keys = [str(ref.get("key")) for ref in read if ref.get("name") == name] or [ANY]
        change = Change("config-object", {"owner": f"{kind} {name}", "namespace": case.pod.namespace})
        yield case.draft.with_applied(change, case.build(kind, name, **{field: dict.fromkeys(keys, ANY)}))


def _copy_object(case: _Case) -> Iterator[Draft]:
    for each in find_elsewhere(case.sim, case.pod.namespace, case.found[0])[:1]:
        name, there = each["metadata"]["name"], each["metadata"].get("namespace")
        values = {"owner": f"{each['kind']} {name}", "namespace": case.pod.namespace, "from": there}
        made = {**each, "metadata": {"name": name, "namespace": case.pod.namespace}}
        yield case.draft.with_applied(Change("config-object", values), made)


def _mend_context(case: _Case) -> Iterator[Draft]:
    """Propose to remove a sysctl that the kubelet does not allow, or fsGroupChangePolicy OnRootMismatch."""
    context, name, to = case.spec.get("securityContext") or {}, case.found.groupdict().get("name"), "OnRootMismatch"
    left = [dict(each) for each in context.get("sysctls") or () if each.get("name") != name]
    patch: dict[str, Any] = {"sysctls": left or None} if name else {"fsGroupChangePolicy": to}
    values = {"field": f"securityContext.{next(iter(patch))}", **({"from": name} if name else {"to": to})}
    if name or ("fsGroup" in context and context.get("fsGroupChangePolicy") != to):
        yield case.anew("setting", {"securityContext": patch}, **values)


def _mend_image(case: _Case) -> Iterator[Draft]:
    """Propose an image name without a scheme, and with a tag that YAML has not turned into a float."""
    given, (name, colon, tag) = case.found["image"], case.found["image"].rpartition(":")
    to = re.sub(r"^\w+://", "", f"{name}{colon}{int(float(tag)) if _FLOAT.fullmatch(tag) else tag}")
    for field, each in case.list_containers():
        if each.get("image") == given != to:
            patch = {field: [{"name": each["name"], "image": to}]}
            yield case.anew("setting", patch, field=f"image of {each['name']}", to=to)


def _mend_probe(case: _Case) -> Iterator[Draft]:
    """Propose that the probe uses a port that its container declares, or waits longer for an answer."""
    probe, port = f"{case.found['probe'].lower()}Probe", case.found.groupdict().get("port")
    for field, each in case.list_containers():
        given, declared = each.get(probe) or {}, [one.get("containerPort") for one in each.get("ports") or ()]
        way = next((name for name in ("httpGet", "tcpSocket") if name in given), "")
        values = {"field": f"{probe}.timeoutSeconds of {each['name']}", "to": 5 * int(given.get("timeoutSeconds") or 1)}
        patch: dict[str, Any] = {"timeoutSeconds": values["to"]}
        if probe == "startupProbe" and (port is None or not declared or int(port) in declared):
            patch = {"failureThreshold": max(_PATIENCE, 2 * int(given.get("failureThreshold") or 0))}
            values = {"field": f"{probe}.failureThreshold of {each['name']}", "to": patch["failureThreshold"]}
        elif port is not None:
            values = {"field": f"{probe}.{way}.port of {each['name']}", "to": next(iter(declared), 0)}
            patch = {way: {"port": values["to"]}}
            if probe == "livenessProbe" and (int(port) in declared or not declared) and "startupProbe" not in each:
                values = {"field": f"startupProbe.failureThreshold of {each['name']}", "to": _PATIENCE}
                patch = {way: given.get(way), "failureThreshold": _PATIENCE}
                yield case.anew("setting", {field: [{"name": each["name"], "startupProbe": patch}]}, **values)
            if not declared or str(given.get(way, {}).get("port")) != port or int(port) in declared:
                continue
        if given:
            yield case.anew("setting", {field: [{"name": each["name"], probe: patch}]}, **values)


def _mend_scheme(case: _Case) -> Iterator[Draft]:
    """Propose that the probe uses its container's protocol."""
    probe = f"{case.found['probe'].lower()}Probe"
    for field, each in case.list_containers():
        given = (each.get(probe) or {}).get("httpGet") or {}
        if given and str(given.get("path") or "/") in case.found.string:
            to = "HTTP" if given.get("scheme") == "HTTPS" else "HTTPS"
            patch = {field: [{"name": each["name"], probe: {"httpGet": {"scheme": to}}}]}
            yield case.anew("setting", patch, field=f"{probe}.httpGet.scheme of {each['name']}", to=to)


def _delete(case: _Case) -> Iterator[Draft]:
    """Propose to delete the pod, so that its controller creates a new one."""
    if controller_of(case.pod.manifest):
        yield delete_pod(case.draft, case.pod)


def _add_key(case: _Case) -> Iterator[Draft]:
    kind, field = _KINDS[case.found["kind"].lower()]
    name = case.found.groupdict().get("name") or case.find_source(kind)
    change = Change("config-key", {"key": case.found["key"], "owner": f"{kind} {name}"})
    target = f"{kind.lower()} {name} -n {case.pod.namespace}"
    yield case.draft.patching(change, target, {field: {case.found["key"]: ANY}})


def _raise_size(case: _Case) -> Iterator[Draft]:
    name, text = case.found["volume"], quantity("memory", 2 * nanos(case.found["limit"]) // 1_000_000_000)
    patch = {"volumes": [{"name": name, "emptyDir": {"sizeLimit": text}}]}
    yield case.anew("setting", patch, field=f"emptyDir.sizeLimit of the volume {name}", to=text)


def _raise_limit(case: _Case) -> Iterator[Draft]:
    """Propose to double the limit of the named container, or of each one."""
    for field, each in case.list_containers():
        name, limit = each["name"], ((each.get("resources") or {}).get("limits") or {}).get(case.resource)
        if limit and case.found.groupdict().get("container") in (None, name):
            text = quantity(case.resource, 2 * nanos(limit) // 1_000_000_000)
            patch = {field: [{"name": name, "resources": {"limits": {case.resource: text}}}]}
            yield case.anew("limits", patch, field="limits", resource=case.resource, container=name, to=text)


def _request_use(case: _Case) -> Iterator[Draft]:
    """Propose to request the amount that a container used when its kubelet evicted the pod."""
    name, resource, used = case.found["container"], case.found["resource"], case.found["used"]
    for field, each in case.list_containers():
        if each["name"] == name:
            patch = {field: [{"name": name, "resources": {"requests": {resource: used}}}]}
            yield case.anew("limits", patch, field="requests", resource=resource, container=name, to=used)


def _run_longer(case: _Case) -> Iterator[Draft]:
    if given := case.spec.get(_TIME):
        yield case.anew("setting", {_TIME: 2 * given}, field=_TIME, to=2 * given)


_FUNCTIONS = (
    *(_move, _keep_to_driver, _set_user, _make_path, _leave_runtime),
    *(_pull, _give_credentials, _make_object, _add_key, _copy_object),
    *(_delete, _mend_context, _mend_probe, _mend_scheme, _mend_image),
    *(_raise_limit, _raise_size, _run_longer, _request_use),
)
_PROPOSING = {each.__name__.removeprefix("_"): each for each in _FUNCTIONS}
