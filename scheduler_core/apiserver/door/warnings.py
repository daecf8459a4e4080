"""Warnings about stored objects: deprecated fields, ambiguities, and fields without effect.

kube: pkg/api/{pod,node,service,persistentvolume,persistentvolumeclaim,storage}, pkg/registry/*/*/strategy.go @ v1.34.1
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects import NANO, PREFERRED, REQUIRED, Manifest, nanos
from scheduler_core.apimachinery.objects.names import label_errors, label_value_errors
from scheduler_core.apiserver.kinds import POD_SPECS
from scheduler_core.apiserver.validation.pods.containers import every_container

Warnings = Iterator[str]
# Deprecated labels, annotations of pods, and kinds of volumes, with the text of each warning.
_DATA: Mapping[str, Mapping[str, str]] = json.loads(Path(__file__).with_suffix(".json").read_text())
_LABELS = _DATA["labels"]
_POD_ANNOTATIONS = _DATA["pod annotations"]
_PLUGINS = _DATA["plugins"]
_NO_SELECTOR = "a null labelSelector results in matching no pod"
_SURPRISING = "which can result in surprising behavior; a DNS label is recommended"
_STORAGE = 'deprecated since v1.8; use "storageClassName" attribute instead'
_MOUNTING = 'deprecated since v1.31; use "mountOptions" attribute instead'
_RECYCLE = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."


def list_warnings(kind: str, old: Manifest | None, new: Manifest) -> list[str]:
    """Return the warnings for the answer to a create or an update, each once."""
    found: list[str] = []
    spec = new.get("spec") or {}
    if kind != "Pod" and (path := _TEMPLATES.get(kind)):
        if kind not in _UNNAMED and old is None:
            found += _name(new, "Pod names and hostnames")
        if old is None or old["metadata"].get("generation") != new["metadata"].get("generation"):
            template: Any = new
            for part in path.split("."):
                template = template.get(part) or {}
            found += _pod(template.get("metadata") or {}, template.get("spec") or {}, f"{path}.")
    elif kind == "Pod" and old is None:
        found += [*_name(new, "the Pod's hostname"), *_pod(new["metadata"], spec, "")]
    elif kind in _KINDS:
        found += _KINDS[kind](new)
    return list(dict.fromkeys(found))


_UNNAMED = ("StatefulSet", "DaemonSet", "PodTemplate")  # their names are not used as hostnames
_TEMPLATES = {kind: path.removesuffix(".spec") for kind, path in POD_SPECS.items()} | {"PodTemplate": "template"}


def _name(manifest: Manifest, use: str) -> Warnings:
    if errors := label_errors(manifest["metadata"].get("name") or ""):
        yield f"metadata.name: this is used in {use}, {_SURPRISING}: [{' '.join(errors)}]"


def _pod(meta: Manifest, spec: Manifest, at: str) -> Warnings:
    where, annotations = f"{at}spec", meta.get("annotations") or {}
    for key in spec.get("nodeSelector") or ():
        if key in _LABELS:
            yield f"{where}.nodeSelector[{key}]: {_LABELS[key]}"
    yield from _node_affinity((spec.get("affinity") or {}).get("nodeAffinity") or {}, f"{where}.affinity.nodeAffinity")
    for i, each in enumerate(spec.get("topologySpreadConstraints") or ()):
        key, here = each.get("topologyKey"), f"{where}.topologySpreadConstraints[{i}]"
        if key in _LABELS:
            yield f"{here}.topologyKey: {key} is {_LABELS[key]}"
        if each.get("labelSelector") is None:
            yield f"{here}.labelSelector: {_NO_SELECTOR}"
    for key, said in _POD_ANNOTATIONS.items():
        if key in annotations:
            yield f"{at}metadata.annotations[{key}]: {said}"
    for i, volume in enumerate(spec.get("volumes") or ()):
        yield from (f"{where}.volumes[{i}].{name}: {said}" for name, said in _PLUGINS.items() if name in volume)
    for field, key in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        yield from _twice(spec.get(field) or (), key, f"{where}.{field}")
    yield from _fractions(spec.get("overhead") or {}, f"{where}.overhead")
    for container, here in every_container(spec, where):
        yield from _container(container, here)
    yield from _ports(spec, where)
    yield from _affinity(spec.get("affinity") or {}, f"{where}.affinity")


def _twice(items: Any, key: str, path: str) -> Warnings:
    seen = set()
    for i, each in enumerate(items):
        value = each.get(key) or ""
        if value in seen:
            yield f'{path}[{i}].{key}: duplicate {key} "{value}"'
        seen.add(value)
    if key == "name":
        yield from (f'{path}[{i}].name: invalid empty name ""' for i, each in enumerate(items) if not each.get("name"))


def _node_affinity(affinity: Manifest, path: str) -> Warnings:
    terms = (affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()
    yield from _node_terms(terms, f"{path}.{REQUIRED}.nodeSelectorTerms")
    for i, each in enumerate(affinity.get(PREFERRED) or ()):
        here = f"{path}.{PREFERRED}[{i}].preference"
        for j, expression in enumerate((each.get("preference") or {}).get("matchExpressions") or ()):
            yield from _node_key(expression, f"{here}.matchExpressions[{j}]")
            for k, value in enumerate(expression.get("values") or ()):
                for error in label_value_errors(value):
                    yield f"{here}.matchExpressions[{j}].values[{k}]: {value} is invalid, {error}"


def _node_terms(terms: Any, path: str) -> Warnings:
    for i, term in enumerate(terms):
        for j, expression in enumerate(term.get("matchExpressions") or ()):
            yield from _node_key(expression, f"{path}[{i}].matchExpressions[{j}]")


def _node_key(expression: Manifest, path: str) -> Warnings:
    if expression.get("key") in _LABELS:
        yield f"{path}.key: {expression['key']} is {_LABELS[expression['key']]}"


def _fractions(amounts: Manifest, path: str, names: tuple[str, ...] = ("memory", "ephemeral-storage")) -> Warnings:
    for name in names:
        if name in amounts and nanos(amounts[name]) % NANO:
            yield f'{path}[{name}]: fractional byte value "{amounts[name]}" is invalid, must be an integer'


def _container(container: Manifest, path: str) -> Warnings:
    resources = container.get("resources") or {}
    for name in ("memory", "ephemeral-storage"):
        for part in ("limits", "requests"):
            yield from _fractions(resources.get(part) or {}, f"{path}.resources.{part}", (name,))
    seen = set()
    for i, each in enumerate(container.get("env") or ()):
        name = each.get("name")
        if name in seen:
            reference, value = f"$({name})", each.get("value") or ""
            if each.get("valueFrom") is not None or value == reference or reference not in value:
                said = f'hides previous definition of "{name}", which may be dropped when using apply'
                yield f"{path}.env[{i}]: {said}"
        seen.add(name)


def _ports(spec: Manifest, where: str) -> Warnings:
    ports = [
        (port, f"{path}.ports[{i}]")
        for container, path in every_container(spec, where)
        for i, port in enumerate(container.get("ports") or ())
    ]
    for number, (port, path) in enumerate(ports):
        for other, there in ports[:number]:
            if any(port.get(name) != other.get(name) for name in ("containerPort", "protocol")):
                continue
            one, two = ((each.get("hostIP") or "", each.get("hostPort") or 0) for each in (port, other))
            if one == two:
                yield f"{path}: duplicate port definition with {there}"
            elif not one[1] or not two[1]:
                yield f"{path}: overlapping port definition with {there}"
            elif one[1] == two[1] and bool(one[0]) != bool(two[0]):
                yield f"{path}: dangerously ambiguous port definition with {there}"
    names: dict[str, str] = {}
    for port, path in ports:
        if name := port.get("name"):
            if name in names:
                said = f"services and probes that select ports by name will use {names[name]}"
                yield f'{path}: duplicate port name "{name}" with {names[name]}, {said}'
            names.setdefault(name, path)


def _affinity(affinity: Manifest, where: str) -> Warnings:
    for kind in ("podAffinity", "podAntiAffinity"):
        for field, inner in ((REQUIRED, ""), (PREFERRED, "podAffinityTerm")):
            for i, each in enumerate((affinity.get(kind) or {}).get(field) or ()):
                term = each.get(inner) or {} if inner else each
                if term.get("labelSelector") is None:
                    here = f"{where}.{kind}.{field}[{i}]{f'.{inner}' if inner else ''}"
                    yield f"{here}.labelSelector: {_NO_SELECTOR}"


def _service(service: Manifest) -> Warnings:
    spec = service["spec"]
    if spec.get("type") == "ClusterIP" and spec.get("clusterIP") == "None":
        for name, shown in (("loadBalancerIP",) * 2, ("externalIPs",) * 2, ("sessionAffinity", "SessionAffinity")):
            if spec.get(name) not in (None, "", "None"):
                yield f"spec.{shown} is ignored for headless services"
    if spec.get("type") == "ExternalName" and spec.get("externalIPs"):
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if spec.get("type") != "ExternalName" and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'


def _volume(volume: Manifest) -> Warnings:
    annotations, spec = volume["metadata"].get("annotations") or {}, volume["spec"]
    for name, said in (("storage-class", _STORAGE), ("mount-options", _MOUNTING)):
        if f"volume.beta.kubernetes.io/{name}" in annotations:
            yield f"metadata.annotations[volume.beta.kubernetes.io/{name}]: {said}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield f"spec.persistentVolumeReclaimPolicy: {_RECYCLE}"
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    yield from _node_terms(terms, "spec.nodeAffinity.required.nodeSelectorTerms")
    yield from (f"spec.{name}: {said}" for name, said in _PLUGINS.items() if name in spec)


def _claim(claim: Manifest) -> Warnings:
    key = "volume.beta.kubernetes.io/storage-class"
    if key in (claim["metadata"].get("annotations") or {}):
        yield f"metadata.annotations[{key}]: {_STORAGE}"
    for part in ("requests", "limits"):
        amounts = (claim["spec"].get("resources") or {}).get(part) or {}
        yield from _fractions(amounts, f"spec.resources.{part}", ("storage",))


def _ingress(ingress: Manifest) -> Warnings:
    key = "kubernetes.io/ingress.class"
    if key in (ingress["metadata"].get("annotations") or {}) and not ingress["spec"].get("ingressClassName"):
        yield f"annotation \"{key}\" is deprecated, please use 'spec.ingressClassName' instead"


def _storage_class(manifest: Manifest) -> Warnings:
    for i, term in enumerate(manifest.get("allowedTopologies") or ()):
        for j, each in enumerate(term.get("matchLabelExpressions") or ()):
            if each.get("key") in _LABELS:
                yield f"allowedTopologies[{i}].matchLabelExpressions[{j}].key: {_LABELS[each['key']]}"


def _node(node: Manifest) -> Warnings:
    if (node.get("spec") or {}).get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"


def _secret(secret: Manifest) -> Warnings:
    for part, name in (("certificate", "tls.crt"), ("key", "tls.key")):
        text = base64.b64decode((secret.get("data") or {}).get(name) or "")
        if secret.get("type") == "kubernetes.io/tls" and b"-----BEGIN " not in text:
            yield f"tls: failed to find any PEM data in {part} input"
            return


_KINDS: Mapping[str, Callable[[Manifest], Warnings]] = {
    "Service": _service,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "Ingress": _ingress,
    "StorageClass": _storage_class,
    "Node": _node,
    "Secret": _secret,
}
