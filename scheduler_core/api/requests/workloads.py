"""Workloads as they are pasted: their pods are made once, with owner references and names that depend on
nothing but the manifest.

Nobody keeps them so afterwards: the controllers of workloads are not modelled.

kube: pkg/controller/{deployment,replicaset,statefulset,job} @ v1.34.1 (names, labels and owner references)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.objects.ownership import controller_reference
from scheduler_core.objects.spec import canonical

Manifest = Mapping[str, Any]
EXPANDED = ("Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController")
IGNORED = {
    "CronJob": "a CronJob makes Jobs by the clock; its controller is not part of this cluster yet",
    "DaemonSet": "a DaemonSet's pods follow the nodes; its controller is not part of this cluster yet",
    "Event": "events tell what happened; this cluster makes its own",
}
MAX_REPLICAS = 10_000
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # kube's, which spells no words
_INDEX_LABEL = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True, slots=True)
class Expansion:
    """The workload with a uid that its pods can refer to, and what is made of it."""

    owner: Manifest
    created: list[Manifest] = field(default_factory=list)

    @property
    def pods(self) -> int:
        return sum(manifest["kind"] == "Pod" for manifest in self.created)


def expand(manifest: Manifest) -> Expansion:
    """Pods (and a Deployment's ReplicaSet) of a workload of sound structure."""
    owner = _with_uid(manifest)
    spec = owner.get("spec") or {}
    if owner["kind"] == "Deployment":
        replica_set = _replica_set(owner)
        return Expansion(owner, [replica_set, *_replicas(replica_set)])
    if owner["kind"] == "StatefulSet":
        return Expansion(owner, [_stateful_pod(owner, i) for i in range(replicas(spec))])
    if owner["kind"] == "Job":
        return Expansion(owner, _job_pods(owner))
    return Expansion(owner, _replicas(owner))


def replicas(spec: Mapping[str, Any]) -> int:
    """How many pods a workload asks for at once."""
    number = spec.get("replicas")
    return 1 if number is None else int(number)


def parallel(spec: Mapping[str, Any]) -> int:
    """How many pods a Job runs at first: its parallelism, no more than its completions; none while it is
    suspended.
    """
    if spec.get("suspend"):
        return 0
    wanted, completions = spec.get("parallelism"), spec.get("completions")
    count = 1 if wanted is None else int(wanted)
    return count if completions is None else min(count, int(completions))


def desired_pods(manifest: Manifest) -> int:
    spec = manifest.get("spec") or {}
    return parallel(spec) if manifest["kind"] == "Job" else replicas(spec)


def owned_by(pod: Manifest, owner: Manifest) -> bool:
    """Whether an owner reference of the object names this one."""
    references = (pod.get("metadata") or {}).get("ownerReferences") or ()
    name = owner["metadata"].get("name")
    return any(ref.get("kind") == owner["kind"] and ref.get("name") == name for ref in references)


def _with_uid(manifest: Manifest) -> Manifest:
    meta = manifest["metadata"]
    if meta.get("uid"):
        return manifest
    text = "/".join((manifest["kind"], meta.get("namespace") or "default", meta["name"]))
    uid = f"{manifest['kind'].lower()}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return {**manifest, "metadata": {**meta, "uid": uid}}


def _replica_set(deployment: Manifest) -> Manifest:
    spec = deployment["spec"]
    template = spec.get("template") or {}
    code = _code(canonical(template), 10)
    labels = {**((template.get("metadata") or {}).get("labels") or {}), "pod-template-hash": code}
    selector = spec.get("selector") or {}
    matched = {**(selector.get("matchLabels") or {}), "pod-template-hash": code}
    return _with_uid(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": _metadata(f"{deployment['metadata']['name']}-{code}", deployment, labels),
            "spec": {
                "replicas": replicas(spec),
                "selector": {**selector, "matchLabels": matched},
                "template": {**template, "metadata": {**(template.get("metadata") or {}), "labels": labels}},
            },
        }
    )


def _replicas(owner: Manifest) -> list[Manifest]:
    name = owner["metadata"]["name"]
    return [
        _pod(owner, f"{_cut(name)}-{_code(f'{name}/{i}', 5)}")
        for i in range(replicas(owner.get("spec") or {}))
    ]


def _stateful_pod(owner: Manifest, index: int) -> Manifest:
    name = f"{owner['metadata']['name']}-{index}"
    labels = {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(index)}
    return _pod(owner, name, labels)


def _job_pods(owner: Manifest) -> list[Manifest]:
    spec, name = owner["spec"], owner["metadata"]["name"]
    indexed = spec.get("completionMode") == "Indexed"
    shared = {"batch.kubernetes.io/job-name": name, "job-name": name}
    pods = []
    for i in range(parallel(spec)):
        code = _code(f"{name}/{i}", 5)
        if indexed:
            pod = _pod(
                owner, f"{_cut(name)}-{i}-{code}", {**shared, _INDEX_LABEL: str(i)}, {_INDEX_LABEL: str(i)}
            )
        else:
            pod = _pod(owner, f"{_cut(name)}-{code}", shared)
        pods.append(pod)
    return pods


def _pod(
    owner: Manifest,
    name: str,
    labels: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
) -> Manifest:
    template = owner["spec"].get("template") or {}
    template_metadata = template.get("metadata") or {}
    metadata = _metadata(name, owner, {**(template_metadata.get("labels") or {}), **(labels or {})})
    annotations = {**(template_metadata.get("annotations") or {}), **(notes or {})}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


def _metadata(name: str, owner: Manifest, labels: Mapping[str, str]) -> dict[str, Any]:
    meta = owner["metadata"]
    reference = controller_reference(owner["apiVersion"], owner["kind"], meta["name"], meta["uid"])
    namespace = owner["metadata"].get("namespace") or "default"
    return {"name": name, "namespace": namespace, "labels": dict(labels), "ownerReferences": [reference]}


def _cut(name: str) -> str:
    """kube: apiserver/pkg/storage/names/generate.go keeps 58 of 63 characters for the base."""
    return name[:57]


def _code(text: str, length: int) -> str:
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)
