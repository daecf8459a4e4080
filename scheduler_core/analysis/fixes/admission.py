"""The API server's answer to one more pod of a workload, for a snapshot in which no controller has tried to create the pod."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.analysis.fixes.shell import WEBHOOKS
from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.demand import Amount, amounts
from scheduler_core.apiserver import KINDS, Refused
from scheduler_core.apiserver.admission.admission import apply_object_defaults
from scheduler_core.apiserver.quota import in_scope, scopes_of, usage
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import add_containers, find_added, name_containers
from scheduler_core.controllers.workloads.statefulsets.identity import volumes
from scheduler_core.world.simulation import Simulation

QUOTA = "ResourceQuota"
SCHEDULER, CONTROLLERS = "kube-scheduler", "kube-controller-manager"
_OF_COMPONENTS, _BESIDE = ("component", "k8s-app"), ("kube-apiserver", SCHEDULER, CONTROLLERS)
_REPORTED = (
    ("FailedCreate", "True"),
    ("ReplicaSetCreateError", "False"),
)  # kube: ReplicaSetReplicaFailure, DeploymentProgressing
EXCEEDED = re.compile(r"exceeded quota: ([^\s,]+)(?:, requested: (\S+?),? used:)?")
_NAMED = re.compile(r'container "([^"]+)"|\bfor: ([\w.,-]+)')  # kube: names in messages of Pod Security and of a quota
_MADE_ONCE = ("ReplicaSet", "ReplicationController", "Job", "Pod")  # their templates do not change
CREATING = {
    "ReplicaSet": "replicaset-controller",
    "ReplicationController": "replicationcontroller-controller",
    "StatefulSet": "statefulset-controller",
    "DaemonSet": "daemonset-controller",
    "Job": "job-controller",
}


def ask_api_server(sim: Simulation, manifest: Manifest) -> str:
    """Return the API server's refusal of an object, or "" if it would create the object."""
    try:
        sim.api.create(manifest, dry_run=True)
    except Refused as refused:
        return str(refused.answer.message)
    return ""


def admit_without_quotas(sim: Simulation, pod: Manifest) -> Manifest:
    """Return a pod as the API server would store it without quotas: with defaults, also those of LimitRanges, and overhead."""
    store = sim.store.replica()
    for quota in store.list("ResourceQuota"):
        store.remove("ResourceQuota", quota["metadata"]["namespace"], quota["metadata"]["name"])
    try:
        return replace(sim.api, store=store, memo=None).create(pod, dry_run=True)
    except Refused:
        return apply_object_defaults(pod, KINDS["Pod"])


def predict_claim(sim: Simulation, pod: Pod, entry: str, template: Manifest) -> str:
    """Return the API server's refusal of a template's claim for a pod, or "" if the API server would create the claim."""
    given = template.get("spec") or {}
    meta, spec = given.get("metadata") or {}, given.get("spec") or {}
    named = {**meta, "name": f"{pod.name}-{entry}", "namespace": pod.namespace}
    kind = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
    return ask_api_server(sim, {**kind, "metadata": named, "spec": spec})


def find_absent_quota(sim: Simulation, namespace: str, text: str) -> str:
    """Return the quota in a refusal that its namespace lacks, because it covers several namespaces or is not in the input; else ""."""
    found = EXCEEDED.search(text)
    return found[1] if found and sim.store.get("ResourceQuota", namespace, found[1]) is None else ""


def read_refusal(owner: Manifest) -> str:
    """Return the refusal's message that the cluster's controller wrote into an owner's status, or ""."""
    status = owner.get("status")
    for each in (status.get("conditions") or ()) if isinstance(status, Mapping) else ():
        if each and (each.get("reason"), each.get("status")) in _REPORTED:
            return " ".join(str(each.get("message") or "").split())
    return ""


def find_refusal(sim: Simulation, owner: Manifest) -> str:
    """Return the refusal's message in an owner's status or its last Event, or ""."""
    return read_refusal(owner) or find_last_refusal(sim, owner)


def find_last_refusal(sim: Simulation, owner: Manifest) -> str:
    """Return the message of the last Event about a pod or a pod's claim that could not be created, or ""."""
    subject = (owner["kind"], owner["metadata"]["namespace"], owner["metadata"]["name"])
    events = (e for e in reversed(sim.store.events) if (e.kind, e.namespace, e.name) == subject)
    return next((each.message for each in events if each.reason == _REPORTED[0][0]), "")


def pod_of(owner: Manifest, namespace: str) -> dict[str, Any]:
    """Return a pod of the owner's template. A StatefulSet's pod gets the claims of the first pod."""
    template = owner["spec"]["template"]
    if owner["spec"].get("volumeClaimTemplates"):
        spec = template.get("spec") or {}
        template = {**template, "spec": {**spec, "volumes": volumes(Owner.of(owner), spec, 0)}}
    meta = {**(template.get("metadata") or {}), "namespace": namespace, "name": "new"}
    return {"apiVersion": "v1", "kind": "Pod", **template, "metadata": meta}


def complete_pod(sim: Simulation, owner: Manifest, namespace: str) -> Manifest:
    """Return a pod of the owner's template, with the containers that admission adds to such pods."""
    return add_containers(pod_of(owner, namespace), find_added(sim.store, owner))


def find_foreign(sim: Simulation, owner: Manifest, message: str) -> list[str]:
    """List the containers in a refusal that the template lacks, with those that the owner's other pods have in addition."""
    given = name_containers(owner["spec"]["template"].get("spec") or {})
    named = [name for found in _NAMED.finditer(message) for name in (found[1] or found[2]).split(",")]
    added = [each["name"] for found in find_added(sim.store, owner).values() for each in found]
    return [name for name in dict.fromkeys((*added, *named)) if name and name not in given]


def measure_pod(sim: Simulation, owner: Manifest, pod: Manifest, quota: str, message: str) -> dict[str, Amount]:
    """Return the usage that quotas count for an owner's pod: according to the manifest, or to a refusal that reports more."""
    kind = KINDS["Pod"]
    each = usage(kind, apply_object_defaults(pod, kind), sim.store.epoch + sim.now)
    for found in EXCEEDED.finditer(message if owner["kind"] in _MADE_ONCE else ""):
        asked = amounts(dict(part.split("=", 1) for part in (found[2] or "").split(",") if "=" in part))
        more = asked if found[1] == quota else {}
        each |= {name: more[name] for name in more if name not in each or more[name].nanos > each[name].nanos}
    return each


def quotas_of(sim: Simulation, pod: Manifest) -> Iterator[Manifest]:
    """Yield the quotas that count the pod."""
    for quota in sim.store.list(QUOTA):
        here = quota["metadata"]["namespace"] == pod["metadata"]["namespace"]
        if here and all(in_scope(scope, KINDS["Pod"], pod) for scope in scopes_of(quota)):
            yield quota


def find_stopped(sim: Simulation, component: str) -> tuple[str, str] | None:
    """Return a pod of a control plane component without ready pods, and the reason. Return None if one is ready or none is visible."""
    keys = sim.store.keys("Pod")  # sorted: there may be 50,000 in other namespaces
    here = keys[bisect_left(keys, ("kube-system", "")) : bisect_left(keys, ("kube-system\0", ""))]
    plane = [pod for key in here if (pod := sim.store.pod(*key)) and pod.labels.keys() & _OF_COMPONENTS]
    pods = [pod for pod in plane if component in map(pod.labels.get, _OF_COMPONENTS)]
    beside = next((pod for pod in plane if pod.labels.get("component") in _BESIDE), None)
    if not pods and beside is not None:
        return f"{component}-{beside.node_name}", "NotFound"
    return None if not pods or any(pod.ready for pod in pods) else (pods[0].name, describe_wait(pods[0]).rstrip(". "))


def find_servers(
    sim: Simulation, webhook: str
) -> Iterator[tuple[Mapping[str, str], Mapping[str, str], list[Pod] | None]]:
    """Yield, per webhook of a name, the reference of its Service, its selector, and its pods (None: no Service)."""
    hooks = (hook for kind in WEBHOOKS for made in sim.store.list(kind) for hook in made.get("webhooks") or ())
    for each in (hook for hook in hooks if hook["name"] == webhook):
        named = (each.get("clientConfig") or {}).get("service") or {}
        service = sim.store.get("Service", str(named.get("namespace")), str(named.get("name"))) or {}
        selector = (service.get("spec") or {}).get("selector") or {}
        pods = (pod for pod in sim.store.pods() if selector and pod.namespace == named["namespace"])
        yield named, selector, [pod for pod in pods if selector.items() <= pod.labels.items()] if service else None


def describe_wait(pod: Pod) -> str:
    """Return what a pod's containers wait for according to its status, or the pod's phase."""
    for each in pod.container_statuses:
        waiting = (each.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") not in (None, "ContainerCreating", "PodInitializing"):
            return ": ".join(str(waiting[name]) for name in ("reason", "message") if waiting.get(name))
    return pod.phase


def acts(sim: Simulation, kind: str) -> bool:
    """Return whether the controller that creates the pods of this kind of workload runs."""
    running = sim.settings.cluster.controllers
    return running is None or CREATING.get(kind) in running
