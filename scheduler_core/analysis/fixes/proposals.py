"""Proposals: for one rejection of one node, changes that could remove it, by the plugin that rejects. Every proposal is tried."""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from scheduler_core.analysis.fixes.admission import predict_claim
from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.analysis.fixes.kubectl import format_apply, workload_of
from scheduler_core.analysis.fixes.new_nodes import find_required_name
from scheduler_core.apimachinery.objects import LabelSelector, Manifest, Pod
from scheduler_core.apimachinery.objects.affinity import affinity_terms, wrong_labels
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, deleting, key_of
from scheduler_core.controllers.kubelet.admission import OS_LABEL
from scheduler_core.controllers.kubelet.pods import is_overdue
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.workloads.deployments.bounds import (
    get_desired_replicas,
    is_rolling,
    max_unavailable,
    size,
)
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework import Plugin, Status
from scheduler_core.scheduler.framework.drafts import Change, Draft, Refusal, RefusalSource, edit_at
from scheduler_core.scheduler.plugins.helper.fixes import delete_pod, end_pod, label_namespace
from scheduler_core.scheduler.plugins.helper.volumes import build_unbound_claim
from scheduler_core.world.simulation import Simulation

MOST_ENDING = 5
SCALABLE = ("Deployment", "ReplicaSet", "StatefulSet")
_WANTED_LABEL = re.compile(r"requires the `(?P<key>\S+): (?P<value>[^`]+)` label on the containing namespace")
WAIT = "24h"  # at most; a proof shows the actual time


def propose(draft: Draft, diagnosis: Diagnosis, row: int, status: Status) -> Iterator[Draft]:
    """Propose drafts that remove one rejection, aimed at the row's node unless they add another node."""
    plugin = diagnosis.framework.plugin(status.plugin)
    scheduler = diagnosis.scheduler
    if plugin is None or type(plugin).propose_fixes is Plugin.propose_fixes:
        yield from without(draft.aimed_at(diagnosis.nodes.names[row]), scheduler, diagnosis.framework.name, status)
        return
    asked = RefusalSource(scheduler.name, diagnosis.framework.name, scheduler.configuration.given)
    refusal = Refusal(diagnosis.pod, diagnosis.nodes, diagnosis.state, row, status, asked)
    yield from plugin.propose_fixes(draft.aimed_at(refusal.node.name), refusal)


def without(draft: Draft, scheduler: Scheduler, profile: str, status: Status) -> Iterator[Draft]:
    """Yield a draft whose configuration omits the plugin, or the extender by its address, that rejects the pod."""
    configuration = copy.deepcopy(dict(scheduler.configuration.given or {}))
    name = status.plugin
    if "://" in name:
        extenders = [each for each in configuration.get("extenders") or () if each.get("urlPrefix") != name]
        change = Change("extender", {"url": name})
        yield draft.with_configuration(change, scheduler.name, {**configuration, "extenders": extenders})
        return
    configuration.setdefault("apiVersion", "kubescheduler.config.k8s.io/v1")
    configuration.setdefault("kind", "KubeSchedulerConfiguration")
    profiles = configuration.setdefault("profiles", [{"schedulerName": profile}])
    mine = next((each for each in profiles if each.get("schedulerName", profile) == profile), None)
    if mine is not None and name:
        for points in (mine.setdefault("plugins", {"multiPoint": {}})).values():
            points["enabled"] = [each for each in points.get("enabled") or () if each["name"] != name]
        everywhere = mine["plugins"].setdefault("multiPoint", {})
        everywhere["disabled"] = [*(everywhere.get("disabled") or ()), {"name": name}]
        yield draft.with_configuration(
            Change("disable", {"plugin": name, "profile": profile}), scheduler.name, configuration
        )


def remove_gates(draft: Draft, gates: tuple[str, ...]) -> Draft:
    """Return a draft without the pod's scheduling gates, which block all other checks."""
    return draft.with_pod(Change("gates", {"gates": list(gates)}), edit_at("spec", schedulingGates=None))


def set_scheduler_name(draft: Draft, profile: str) -> Draft:
    """Return a draft with the schedulerName of an existing profile."""
    return draft.with_pod(Change("scheduler", {"name": profile}), edit_at("spec", schedulerName=profile))


def select_system(draft: Draft, system: str) -> Draft:
    """Return a draft that restricts the pod to nodes of the operating system in its spec.os."""

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"].pop("nodeName", None)
        manifest.pop("status", None)
        manifest["spec"]["nodeSelector"] = {**(manifest["spec"].get("nodeSelector") or {}), OS_LABEL: system}

    return draft.with_pod(Change("os", {"os": system}), edit)


def anywhere(draft: Draft, node: str, *, exists: bool = False) -> Draft:
    """Return a draft without the pod's nodeName, if no such node exists or the node refused the pod: the scheduler selects one."""
    change = Change("node-name", {"node": node, **({"exists": True} if exists else {})})
    return draft.with_pod(change, edit_at("spec", nodeName=None))


def without_claims(draft: Draft) -> Draft:
    """Return a draft without the pod's claims for devices."""
    names = [entry["name"] for entry in draft.original["spec"].get("resourceClaims") or ()]

    def edit(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        spec.pop("resourceClaims", None)
        for container in (*spec["containers"], *(spec.get("initContainers") or ())):
            (container.get("resources") or {}).pop("claims", None)

    return draft.with_pod(Change("without-claims", {"claims": names}), edit)


def create_claim_templates(draft: Draft, pod: Pod, sim: Simulation) -> Iterator[Draft]:
    """Propose the ResourceClaimTemplates that the pod names and its namespace lacks, as another namespace has them."""
    kind, made = "ResourceClaimTemplate", draft
    names = {str(each.get("resourceClaimTemplateName") or "") for each in pod.spec.resource_claims} - {""}
    for name in sorted(each for each in names if sim.store.get(kind, pod.namespace, each) is None):
        alike = [each for each in sim.store.list(kind) if each["metadata"]["name"] == name]
        if not alike:
            return
        meta = {"name": name, "namespace": pod.namespace}
        values = {"template": name, "namespace": pod.namespace, "from": alike[0]["metadata"]["namespace"]}
        manifest = {
            "apiVersion": alike[0]["apiVersion"],
            "kind": kind,
            "metadata": meta,
            "spec": alike[0].get("spec") or {},
        }
        made = made.with_applied(Change("claim-template", values), manifest)
    if made is not draft:
        yield made.taking_time()


def admit_claims(draft: Draft, pod: Pod, sim: Simulation) -> Iterator[Draft]:
    """Propose the namespace label that the API server requires for a claim of a template that the pod names."""
    for entry in pod.spec.resource_claims:
        name = str(entry.get("resourceClaimTemplateName") or "")
        template = sim.store.get("ResourceClaimTemplate", pod.namespace, name)
        said = "" if template is None else predict_claim(sim, pod, str(entry.get("name")), template)
        for found in _WANTED_LABEL.finditer(said):
            yield label_namespace(draft, pod.namespace, {found["key"]: found["value"]})


def profile_for(draft: Draft, scheduler: Scheduler, name: str) -> Draft:
    """Return a draft that adds the profile the pod requests to a scheduler."""
    given = dict(scheduler.configuration.given or {})
    profiles = list(given.get("profiles") or ({"schedulerName": each} for each in scheduler.profiles))
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        **given,
        "profiles": [*profiles, {"schedulerName": name}],
    }
    return draft.with_configuration(Change("profile", {"name": name}), scheduler.name, configuration)


# Proposals that no rejecting plugin makes


def propose_anyway(draft: Draft, diagnosis: Diagnosis, sim: Simulation) -> Iterator[Draft]:
    """Propose fixes for a pod of an old template, for terminating pods, and for partner pods that preemption would evict."""
    yield from replace_old_revision(draft, sim)
    pod = diagnosis.pod
    yield from _select_in_template(draft, diagnosis, sim)
    yield from end_finished_users(draft, pod, sim)
    ending = [each for each in sim.store.pods() if each.deleting and each.node_name][: MOST_ENDING + 1]
    if pod.nominated_node_name or not all(is_overdue(sim, each) for each in ending):
        yield wait(draft, pod)
    if diagnosis.whole is None and len(ending) <= MOST_ENDING:
        yield from (end_pod(draft, each) for each in ending)
    yield from _raise_partners(draft, pod, sim)
    partners = list_partners(sim, pod)
    if len(partners) == 1 and (owner := workload_of(sim.store, partners[0].manifest)) and owner["kind"] != _DAEMONS:
        yield delete_pod(draft, partners[0])  # its controller recreates it on a node that fits both
    for owner in list_owners(sim, partners):
        now, meta, kind = int(owner["spec"].get("replicas", 1)), owner["metadata"], owner["kind"]
        values = {"owner": f"{kind} {meta['name']}", "from": now, "to": now + 1}
        call = f"kubectl scale {kind.lower()} {meta['name']} -n {meta['namespace']} --replicas={now + 1}"
        yield draft.typing(Change("replicas", values), call).taking_time()
    given = sim.store.get("PriorityClass", "", str(draft.original["spec"].get("priorityClassName") or ""))
    if given is not None and int(given.get("value") or 0) > pod.priority:  # the class' value has changed since
        anew = recreate(draft, pod, sim)
        values = {"pod": pod.key, "class": given["metadata"]["name"]}
        yield replace(anew, changes=(*draft.changes, Change("recreate", values)))


def _select_in_template(draft: Draft, diagnosis: Diagnosis, sim: Simulation) -> Iterator[Draft]:
    """Propose that a DaemonSet's template requires the labels that admission adds to its pods, so that other nodes get no pods."""
    owner, row = workload_of(sim.store, draft.original), diagnosis.nodes.row(find_required_name(diagnosis.pod))
    if owner is None or owner["kind"] != _DAEMONS or row is None:
        return
    given = owner["spec"]["template"]["spec"].get("nodeSelector") or {}
    wrong = wrong_labels(diagnosis.pod, diagnosis.nodes.nodes[row])
    added = {key: value for key, value in wrong.items() if given.get(key) != value}
    if added:
        name = owner["metadata"]["name"]
        values = {"owner": f"DaemonSet {name}", "labels": [f"{key}={value}" for key, value in added.items()]}
        patch = {"spec": {"template": {"spec": {"nodeSelector": added}}}}
        yield draft.patching(Change("daemon-selector", values), f"daemonset {name} -n {diagnosis.pod.namespace}", patch)


def end_finished_users(draft: Draft, pod: Pod, sim: Simulation) -> Iterator[Draft]:
    """Propose to delete the ended pods that keep a terminating claim of the pod, and to create the claim again."""
    for claim in filter(None, (sim.store.get(CLAIM, *key.split("/", 1)) for key in claims_of(pod))):
        over = [p for p in sim.store.pods() if p.terminal and key_of(claim) in claims_of(p)]
        if over and deleting(claim):
            calls = [f"kubectl delete pod {each.name} -n {each.namespace}" for each in over]
            change = Change("free-claim", {"pods": [each.key for each in over], "claim": key_of(claim)})
            yield draft.typing(change, *calls, format_apply(build_unbound_claim(claim), "replace --force"))


def is_between_pods(diagnosis: Diagnosis, status: Status) -> bool:
    """Return whether the rejection may come from pods of the same workload."""
    plugin = diagnosis.framework.plugin(status.plugin)
    return plugin is not None and plugin.between_pods


def scale_down(draft: Draft, diagnosis: Diagnosis, sim: Simulation) -> Iterator[Draft]:
    """Propose to scale the workload to its pods with a node, if its own pods may keep this pod out."""
    owner, pod = workload_of(sim.store, draft.original), diagnosis.pod
    statuses = dict.fromkeys(status for status in (diagnosis.whole, *diagnosis.refused.values()) if status is not None)
    if owner is None or owner["kind"] not in SCALABLE or not any(is_between_pods(diagnosis, each) for each in statuses):
        return
    now, meta = int(owner["spec"].get("replicas", 1)), owner["metadata"]
    selector = LabelSelector.of(owner["spec"].get("selector"))
    there = diagnosis.nodes.pod_table.list_pods(
        lambda each: each.namespace == pod.namespace and selector.matches(each.labels)
    )
    if 0 < len(there) < now:
        values = {"owner": f"{owner['kind']} {meta['name']}", "from": now, "to": len(there)}
        call = f"kubectl scale {owner['kind'].lower()} {meta['name']} -n {pod.namespace} --replicas={len(there)}"
        yield draft.typing(Change("fewer-replicas", values), call)


def wait(draft: Draft, pod: Pod) -> Draft:
    """Return a draft that changes nothing."""
    call = f"kubectl wait --for=condition=PodScheduled pod/{pod.name} -n {pod.namespace} --timeout={WAIT}"
    return draft.typing(Change("wait", {"pod": pod.key}), call)


def recreate(draft: Draft, pod: Pod, sim: Simulation) -> Draft:
    """Return a draft that recreates the pod: a new pod is tried at once, regardless of the old pod's wait."""
    change = Change("recreate", {"pod": pod.key})
    if workload_of(sim.store, pod.manifest) is None:
        return draft.with_object(change, {**pod.manifest, "status": {}}).taking_time()
    return draft.typing(change, f"kubectl delete pod {pod.name} -n {pod.namespace}")


def replace_old_revision(draft: Draft, sim: Simulation) -> Iterator[Draft]:
    """Propose to delete a waiting pod of an old template, if the controller waits for that pod."""
    meta = draft.original["metadata"]
    owner = workload_of(sim.store, draft.original)
    if owner is None or owner["kind"] == "Deployment":
        return
    if is_of_old_template(Pod.from_manifest(draft.original), owner):
        values = {"pod": f"{meta['namespace']}/{meta['name']}", "owner": f"{owner['kind']} {owner['metadata']['name']}"}
        yield draft.typing(Change("old-revision", values), f"kubectl delete pod {meta['name']} -n {meta['namespace']}")


def is_of_old_template(pod: Pod, owner: Manifest) -> bool:
    """Return whether a workload's template now has other containers' images or requests than the pod."""
    had = {each["name"]: each for each in pod.manifest["spec"].get("containers") or ()}
    now = owner["spec"]["template"]["spec"].get("containers") or ()
    return any(_differs(had.get(each["name"]) or {}, each) for each in now)


def _differs(had: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether a template has another image or other requests than an old pod's container."""
    before, after = ((each.get("resources") or {}).get("requests") or {} for each in (had, now))
    return had.get("image") != now.get("image") or any(before.get(k) != v for k, v in after.items())


def list_partners(sim: Simulation, pod: Pod) -> list[Pod]:
    """Return the pods with a node that match a pod's required affinity."""
    terms = affinity_terms(pod).required
    keys = sorted({each.key for term in terms for each in term.selector.requirements})

    @cache  # of many pods, most have the same values
    def is_selected(*values: str | None) -> bool:
        labels = {key: value for key, value in zip(keys, values, strict=True) if value is not None}
        return any(term.selector.matches(labels) for term in terms)

    near = (each for each in sim.store.pods() if each.node_name and not each.deleting) if terms else ()
    return [each for each in near if is_selected(*map(each.labels.get, keys)) and each.key != pod.key]


def map_namespace_labels(sim: Simulation) -> dict[str, Mapping[str, str]]:
    """Return the labels of each namespace, by its name."""
    return {each["metadata"]["name"]: each["metadata"].get("labels") or {} for each in sim.store.list("Namespace")}


def list_owners(sim: Simulation, pods: list[Pod]) -> list[Manifest]:
    """List the workloads with replicas that control pods."""
    owners = {pod.key: workload_of(sim.store, pod.manifest) for pod in pods}
    found = {each["metadata"]["uid"]: each for each in owners.values() if each is not None and each["kind"] in SCALABLE}
    return list(found.values())


def _raise_partners(draft: Draft, pod: Pod, sim: Simulation) -> Iterator[Draft]:
    """Propose the pod's PriorityClass for its affinity partners of lower priority, which its preemption would evict."""
    name = str(draft.original["spec"].get("priorityClassName") or "")
    if not name or pod.priority <= 0:
        return
    partners = [each for each in list_partners(sim, pod) if each.priority < pod.priority]
    if not 0 < len(partners) <= MOST_ENDING:
        return
    changed = draft
    for each in partners:
        spec = {k: v for k, v in each.manifest["spec"].items() if k not in ("priority", "preemptionPolicy")}
        changed = changed.beside_anew({**each.manifest, "spec": {**spec, "priorityClassName": name}})
    values = {"class": name, "pods": [each.key for each in partners]}
    yield replace(changed, changes=(*draft.changes, Change("partner-priority", values)), patient=True)


# A rollout whose new pod does not fit beside the old ones: an old pod has to end first.

_DEPLOYMENT, _DAEMONS = "Deployment", "DaemonSet"


def in_turn(draft: Draft, sim: Simulation) -> Iterator[Draft]:
    """Propose maxSurge 0 and one more unavailable pod for the pod's workload, if the rollout ends no old pod before the new one runs."""
    meta = draft.original["metadata"]
    deployment = workload_of(sim.store, draft.original)
    if deployment is not None and deployment["kind"] == _DAEMONS:
        update = deployment["spec"].get("updateStrategy") or {}
        if (update.get("rollingUpdate") or {}).get("maxSurge") not in (None, 0, "0", "0%"):
            yield _roll_in_turn(draft, deployment, "updateStrategy", 1)
        return
    if deployment is None or deployment["kind"] != _DEPLOYMENT:
        return
    spec: dict[str, Any] = dict(deployment["spec"])
    selector, space = LabelSelector.of(spec.get("selector")), meta.get("namespace") or "default"
    there = sum(pod.ready and pod.namespace == space and selector.matches(pod.labels) for pod in sim.store.pods())
    available = int(deployment["status"].get("availableReplicas") or 0) if deployment.get("status") else there
    needed = max(get_desired_replicas(spec) - available, 0) + 1
    if not is_rolling(spec) or max_unavailable(spec) >= needed or needed > get_desired_replicas(spec):
        return
    mine = {ref["name"] for ref in meta.get("ownerReferences") or ()}
    keys = sim.store.controlled("ReplicaSet", deployment["metadata"]["uid"])
    old = (sim.store.get("ReplicaSet", key[0], key[1]) for key in keys if key[1] not in mine)
    if not any(each is not None and size(each) for each in old):
        return
    yield _roll_in_turn(draft, deployment, "strategy", needed)


def _roll_in_turn(draft: Draft, owner: Manifest, field: str, most: int) -> Draft:
    change = Change("rollout", {"deployment": owner["metadata"]["name"], "unavailable": most})
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": most}}
    return draft.with_applied(change, {**owner, "spec": {**owner["spec"], field: strategy}}).taking_time()


def all_anew(draft: Draft, sim: Simulation) -> Iterator[Draft]:
    """Propose that the Deployment ends all old pods first: the new template may not work beside an old pod."""
    deployment = workload_of(sim.store, draft.original)
    if deployment is not None and deployment["kind"] == _DEPLOYMENT and is_rolling(deployment["spec"]):
        change = Change("recreate-strategy", {"owner": deployment["metadata"]["name"]})
        spec = {k: v for k, v in deployment["spec"].items() if k != "strategy"} | {"strategy": {"type": "Recreate"}}
        yield draft.with_applied(change, {**deployment, "spec": spec}).taking_time()
