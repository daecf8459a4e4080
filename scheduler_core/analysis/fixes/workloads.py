"""Fixes for workloads without progress: a pod that has to end first, an update strategy, a rollout, a Job that blocks the next one."""

import itertools
import json
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

from scheduler_core.analysis.fixes.admission import ask_api_server, pod_of
from scheduler_core.analysis.fixes.effects import Watch
from scheduler_core.analysis.fixes.fix import Budget, Findings, Fix, rank_fixes
from scheduler_core.analysis.fixes.kubectl import format_apply, renew_job
from scheduler_core.analysis.fixes.meanings import list_foreign_pods, list_lost_scalers
from scheduler_core.analysis.fixes.placed import (
    Proposals,
    name_of,
    propose_end,
    prove_each,
    remove_finalizers,
    set_field,
    without,
)
from scheduler_core.analysis.fixes.proof import Goal, Prover, belongs_to
from scheduler_core.analysis.fixes.proposals import is_of_old_template
from scheduler_core.analysis.fixes.quotas import UNNAMED, is_refused, search_uncreated
from scheduler_core.analysis.fixes.refused_pods import rebuild
from scheduler_core.apimachinery.objects import SECOND, LabelSelector, Manifest, Pod, controller_of
from scheduler_core.apimachinery.objects.affinity import least_missing, misses, wrong_labels
from scheduler_core.apimachinery.objects.node import Node, Taint
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, volume_name
from scheduler_core.apiserver.kinds import KINDS as MODELED
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.nodes.taint_eviction import no_execute, tolerance
from scheduler_core.controllers.volumes.attachments import ATTACHMENT, get_volume
from scheduler_core.controllers.workloads.cronjobs.controller import schedule_of
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.statefulsets.identity import ordinals, parent_and_ordinal
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.helper.fixes import OF_CONTROLLERS, delete_pod, list_refusing_taints
from scheduler_core.scheduler.plugins.helper.volumes import build_unbound_claim
from scheduler_core.scheduler.plugins.nodeaffinity.fixes import find_meant
from scheduler_core.scheduler.plugins.volumebinding.fixes import PROTECTION
from scheduler_core.world.simulation import Simulation

CRON_JOB = "CronJob"
KINDS = ("Deployment", "StatefulSet", "DaemonSet", "Job", CRON_JOB)
LEAST_DEADLINE, DEADLINE = 10, 60  # seconds; the controller looks at its CronJobs every 10 s
LAST_DAY = 28  # that each month has
MOST = 3  # deleted Jobs, one per fix
_ENDED = ("Complete", "Failed")
_EXCEEDED = re.compile(
    r"exceeded quota: (?P<quota>\S+), requested: (?P<name>[^=]+)=(?P<asked>\d+), used: \S+=(?P<used>\d+), limited: \S+=(?P<most>\d+)"
)
_NOT_STARTING = (
    "ImagePullBackOff",
    "ErrImagePull",
    "InvalidImageName",
    "CrashLoopBackOff",
    "CreateContainerConfigError",
)


def search_stuck(
    sim: Simulation, kind: str, namespace: str, name: str, budget: Budget
) -> Generator[None, None, Findings]:
    """Prove fixes for a workload that has all its pods, or waits for one of them to end."""
    owner, key = sim.store.get(kind, namespace, name), f"{namespace}/{name}-*"
    if owner is None:
        return Findings(key, "gone")
    jobs = (
        [job for job in sim.store.list("Job") if _is_controlled(job, owner) and not has_ended(job)]
        if kind == CRON_JOB
        else []
    )
    if refused := [job["metadata"]["name"] for job in jobs if is_refused(sim, job)]:
        return (yield from search_uncreated(sim, f"{namespace}/{refused[0]}{UNNAMED}", budget))
    prover = Prover(sim, key, budget, owner)
    return (yield from prove_each(sim, key, prover, _propose(sim, owner, prover), "searched"))


def _propose(sim: Simulation, owner: Manifest, prover: Prover) -> Proposals:
    meta = owner["metadata"]
    draft = Draft({"metadata": {"name": meta["name"], "namespace": meta["namespace"]}, "spec": {}})
    if owner["kind"] == CRON_JOB:
        yield from _clear_jobs(draft, sim, owner)
        return
    mine = [pod for pod in sim.store.pods() if pod.namespace == meta["namespace"] and belongs_to(sim, pod, owner)]
    ending = [each for each in mine if each.deleting and _awaits_ends(owner)]
    next_ones = [
        p for p in mine if owner["kind"] == "DaemonSet" and p.ready and p not in ending and is_of_old_template(p, owner)
    ]
    if next_ones:
        path = "updateStrategy.rollingUpdate.maxUnavailable"
        lacking = sum(not pod.ready or pod.deleting for pod in mine)
        yield set_field(draft, owner, path, lacking + 1), _goes_on(next_ones, prover)
    for pod in ending[:1]:
        for changed, goal in propose_end(draft, pod, sim.store.node(pod.node_name), prover):
            yield changed, _goes_on(next_ones, prover) if next_ones and "force-delete" in changed.kinds else goal
    for pod, _ in list_placed_for_a_time(sim, mine)[:1]:
        if (node := sim.store.node(pod.node_name)) is not None:
            yield from _stay(draft, owner, pod, node)
    for each in list_lost_scalers(sim, owner):
        for part, to in (("kind", owner["kind"]), ("name", meta["name"])):
            if each["spec"]["scaleTargetRef"].get(part) != to:
                yield set_field(draft, each, f"scaleTargetRef.{part}", to), _until(each, lambda now: True)
    for pod in [each for each in list_foreign_pods(sim, owner, mine) if not controller_of(each.manifest)][:1]:
        yield delete_pod(draft, pod), prover.expect_removal(pod)
    for _, by_domain, most in list_uneven(sim, owner, mine):
        yield from _even_out(draft, by_domain, most, prover)
    if owner["kind"] == "StatefulSet":
        yield from _go_on_in_order(draft, sim, owner, mine, prover)
    if owner["kind"] == "Job" and mine and all(pod.ready for pod in mine if not pod.terminal):
        width, left = int(owner["spec"].get("parallelism", 1)), int(owner["spec"].get("completions") or 0)
        left -= int((owner.get("status") or {}).get("succeeded") or 0)
        if left > width:
            yield set_field(draft, owner, "parallelism", min(left, 2 * width)), prover.expect_new_pod()
    for pod in mine if owner["kind"] == "Job" else ():
        yield from ((each, prover.expect_new_pod()) for each in _make_sidecars(draft, owner, pod))
    if owner["kind"] in ("StatefulSet", "DaemonSet"):
        yield from _update(draft, owner, mine, prover)
    if int(owner["spec"].get("minReadySeconds") or 0) and not _is_complete(owner):
        yield set_field(draft, owner, "minReadySeconds", 0), _until(owner, _is_complete)
    conditions = (owner.get("status") or {}).get("conditions") or ()
    unready = [pod for pod in mine if not pod.ready and not pod.terminal and not pod.deleting]
    over = any(each.get("reason") == "ProgressDeadlineExceeded" for each in conditions)
    failing = (
        [pod for pod in unready if _cannot_start(pod) or _is_unhealthy(sim, pod)]
        if owner["kind"] == "Deployment"
        else []
    )
    unready = failing or unready
    if unready and (over or failing):
        change = Change("undo", {"owner": f"{owner['kind']} {meta['name']}"})
        call = f"kubectl rollout undo {owner['kind'].lower()} {meta['name']} -n {meta['namespace']}"
        yield draft.typing(change, call), prover.expect_removal(unready[0])
    if owner["kind"] in ("StatefulSet", "DaemonSet"):
        yield from _take_back(draft, owner, mine, prover)


def _go_on_in_order(draft: Draft, sim: Simulation, owner: Manifest, mine: list[Pod], prover: Prover) -> Proposals:
    """Propose to delete a pod that blocks a StatefulSet's order or occupies a pod's name, or to recreate the StatefulSet as Parallel."""
    meta, replicas = owner["metadata"], int(owner["spec"].get("replicas", 1))
    if len(mine) > replicas:
        last = max(mine, key=lambda pod: parent_and_ordinal(pod.name)[1])
        for pod in [each for each in mine if not each.ready and not each.deleting and each is not last][:1]:
            yield delete_pod(draft, pod), prover.expect_removal(last)
    names = (f"{meta['name']}-{ordinal}" for ordinal in ordinals(Owner.of(owner)))
    there = filter(None, (sim.store.pod(meta["namespace"], name) for name in names))
    for pod in [each for each in there if not belongs_to(sim, each, owner)][:1]:
        yield delete_pod(draft, pod), prover.expect_removal(pod, replaced=True)
    if len(mine) < replicas and any(not pod.ready for pod in mine):
        yield from ((each, prover.expect_new_pod()) for each in rebuild(owner, meta["namespace"]))


def _goes_on(pods: list[Pod], prover: Prover) -> Goal:
    """Return the goal that a pod of the old revision is replaced, so that the update continues."""
    goals = [prover.expect_removal(pod) for pod in pods]
    return lambda fixed: "" if any(goal(fixed) is not None for goal in goals) else None


def list_placed_for_a_time(sim: Simulation, pods: list[Pod]) -> list[tuple[Pod, int]]:
    """List the pods that tolerate a NoExecute taint of their node only for some seconds, with the seconds. Their successors do, too."""
    found = []
    for pod in (each for each in pods if not each.deleting and not each.terminal):
        node = sim.store.node(pod.node_name)
        stay = tolerance(_list_taints_of_owners(node), pod)
        if stay is not None and stay.seconds is not None:
            found.append((pod, stay.seconds))
    return found


def _list_taints_of_owners(node: Node | None) -> list[Taint]:
    return [each for each in no_execute(node) if not each.key.startswith(OF_CONTROLLERS)]


def _stay(draft: Draft, owner: Manifest, pod: Pod, node: Node) -> Proposals:
    """Propose to tolerate the taint permanently, or to remove the taint."""
    keys = {taint.key for taint in _list_taints_of_owners(node)}
    given = owner["spec"]["template"]["spec"].get("tolerations") or ()
    kept = [
        {k: v for k, v in each.items() if k != "tolerationSeconds" or each.get("key") not in keys} for each in given
    ]
    for taint in _list_taints_of_owners(node)[:1]:

        def holds(fixed: Watch) -> str | None:
            there = [
                p
                for p in fixed.world.store.pods()
                if p.node_name and not p.deleting and belongs_to(fixed.world, p, owner)
            ]
            return next((p.key for p in there if not list_placed_for_a_time(fixed.world, [p])), None)

        patch = {"spec": {"template": {"spec": {"tolerations": kept}}}}
        change = Change("toleration", {"taint": str(taint), "forever": True})
        yield draft.patching(change, name_of(owner), patch), holds
        yield draft.typing(Change("taint", {"node": node.name, "taint": str(taint)})), holds


def list_uneven(sim: Simulation, owner: Manifest, pods: list[Pod]) -> Iterator[tuple[str, dict[str, list[Pod]], int]]:
    """Yield the required spreads that a workload's pods currently violate: key, pods by domain, and maxSkew."""
    spec = ((owner["spec"].get("template") or {}).get("spec")) or {}
    whole = pods and all(pod.node_name and not pod.terminal and not pod.deleting for pod in pods)
    for each in spec.get("topologySpreadConstraints") or () if whole else ():
        key, most, selector = (
            each.get("topologyKey"),
            int(each.get("maxSkew") or 1),
            LabelSelector.of(each.get("labelSelector")),
        )
        near = (
            pod.key for pod in sim.store.pods() if pod.namespace == pods[0].namespace and selector.matches(pod.labels)
        )
        if {*near} != {pod.key for pod in pods}:
            continue  # it counts others, too
        nodes = [node for node in sim.store.nodes() if key in node.labels]
        able = [node for node in nodes if not node.unschedulable and not misses(pods[0], node)]
        by_domain: dict[str, list[Pod]] = {node.labels[key]: [] for node in able}
        domains = {node.name: by_domain[node.labels[key]] for node in nodes if node.labels[key] in by_domain}
        for pod in (each for each in pods if each.node_name in domains):
            domains[pod.node_name].append(pod)
        counts = [*map(len, by_domain.values())]
        if each.get("whenUnsatisfiable") == "DoNotSchedule" and counts and max(counts) - min(counts) > most:
            yield key, by_domain, most


def _even_out(draft: Draft, by_domain: dict[str, list[Pod]], most: int, prover: Prover) -> Proposals:
    """Propose to delete the surplus pods of a domain: their replacements run in others."""
    lists, moved = [list(pods) for pods in by_domain.values()], list[Pod]()
    while max(map(len, lists)) - min(map(len, lists)) > most:
        pod = max(lists, key=len).pop()
        min(lists, key=len).append(pod)
        moved.append(pod)
    yield reduce(delete_pod, moved, draft), prover.expect_removal(moved[-1], replaced=True)


def divide_containers(pod: Pod) -> tuple[list[str], list[str]]:
    """Return the permanently ended containers of a running pod, and the others."""
    names: dict[bool, list[str]] = {True: [], False: []}
    for each in (pod.manifest.get("status") or {}).get("containerStatuses") or ():
        names["terminated" in (each.get("state") or {})].append(str(each.get("name")))
    final = pod.phase == "Running" and pod.manifest["spec"].get("restartPolicy", "Always") != "Always"
    return names[True] if final else [], names[False]


def _make_sidecars(draft: Draft, owner: Manifest, pod: Pod) -> Iterator[Draft]:
    """Propose to recreate a Job with the containers that outlive the others as sidecars."""
    ended, running = divide_containers(pod)
    if ended and running:
        spec = owner["spec"]["template"]["spec"]
        sidecars = [{**each, "restartPolicy": "Always"} for each in spec["containers"] if each["name"] in running]
        lists = {
            "initContainers": [*sidecars, *(spec.get("initContainers") or ())],
            "containers": [each for each in spec["containers"] if each["name"] not in running],
        }
        change = Change("sidecar", {"job": owner["metadata"]["name"], "containers": running})
        yield draft.typing(change, renew_job(owner, template={"spec": {**spec, **lists}}))


def _take_back(draft: Draft, owner: Manifest, pods: list[Pod], prover: Prover) -> Proposals:
    """Propose the previous revision's images, and the deletion of the pod that does not start with the new ones."""
    failing = next((pod for pod in pods if not pod.ready and not pod.deleting and _cannot_start(pod)), None)
    hashes = {pod.key: pod.labels.get("controller-revision-hash") for pod in pods}
    old = next((p for p in pods if failing and p.ready and hashes[p.key] != hashes[failing.key]), None)
    if failing is None or old is None:
        return
    had = {each["name"]: each.get("image") for each in old.manifest["spec"]["containers"]}
    now = owner["spec"]["template"]["spec"]["containers"]
    back = [{"name": c["name"], "image": had[c["name"]]} for c in now if had.get(c["name"], c["image"]) != c["image"]]
    if back:
        change = Change("undo", {"owner": f"{owner['kind']} {owner['metadata']['name']}"})
        patch = json.dumps({"spec": {"template": {"spec": {"containers": back}}}})
        gone = f"kubectl delete pod {failing.name} -n {failing.namespace}"
        yield (
            draft.typing(change, f"kubectl patch {name_of(owner)} -p '{patch}'", gone),
            prover.expect_removal(failing, replaced=True),
        )


def _cannot_start(pod: Pod) -> bool:
    """Return whether a pod's container can start only with another template."""
    states = ((pod.manifest.get("status") or {}).get("containerStatuses")) or ()
    return any(((each.get("state") or {}).get("waiting") or {}).get("reason") in _NOT_STARTING for each in states)


def _is_unhealthy(sim: Simulation, pod: Pod) -> bool:
    """Return whether an Event reports a failed probe of a running pod."""
    return any(e.reason == "Unhealthy" and (e.namespace, e.name) == (pod.namespace, pod.name) for e in sim.store.events)


def _is_complete(owner: Manifest) -> bool:
    """Return whether all pods of a workload are available and of the newest revision."""
    status, wanted = owner.get("status") or {}, int(owner["spec"].get("replicas", 1))
    return all(int(status.get(name) or 0) == wanted for name in ("replicas", "updatedReplicas", "availableReplicas"))


def _awaits_ends(owner: Manifest) -> bool:
    """Return whether a workload creates a new pod only after an old one has ended."""
    spec = owner.get("spec") or {}
    if owner["kind"] == "Deployment":
        return bool((spec.get("strategy") or {}).get("type") == "Recreate")
    default = "Failed" if spec.get("podFailurePolicy") else ""
    return bool(owner["kind"] != "Job" or spec.get("podReplacementPolicy", default) == "Failed")


def _update(draft: Draft, owner: Manifest, pods: list[Pod], prover: Prover) -> Proposals:
    """Propose updates for old pods that the update strategy skips: delete one by one, or lower the partition."""
    meta, strategy = owner["metadata"], (owner.get("spec") or {}).get("updateStrategy") or {}
    newest = (owner.get("status") or {}).get("updateRevision")
    revisions = [(pod, pod.labels.get("controller-revision-hash")) for pod in pods]
    old = [pod for pod, mine in revisions if (mine != newest if newest else is_of_old_template(pod, owner))]
    partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    kept = [pod for pod in old if parent_and_ordinal(pod.name)[1] < partition and not pod.deleting]
    if kept:
        lowest = min(kept, key=lambda pod: parent_and_ordinal(pod.name)[1])
        to = parent_and_ordinal(lowest.name)[1]
        change = Change("partition", {"owner": meta["name"], "from": partition, "to": to})
        patch = {"spec": {"updateStrategy": {"rollingUpdate": {"partition": to}}}}
        yield draft.patching(change, name_of(owner), patch), prover.expect_removal(lowest, replaced=True)
    if strategy.get("type") == "OnDelete":
        for pod in [each for each in old if not each.deleting][:1]:
            change = Change("next-revision", {"pod": pod.key, "owner": f"{owner['kind']} {meta['name']}"})
            call = f"kubectl delete pod {pod.name} -n {pod.namespace}"
            yield draft.typing(change, call), prover.expect_removal(pod, replaced=True)
            rolling = Change("update-strategy", {"owner": f"{owner['kind']} {meta['name']}"})
            given = {"spec": {"updateStrategy": {"type": "RollingUpdate"}}}
            yield draft.patching(rolling, name_of(owner), given), prover.expect_removal(pod, replaced=True)


def _clear_jobs(draft: Draft, sim: Simulation, owner: Manifest) -> Proposals:
    """Propose to delete Jobs that block a CronJob's next one: the Job that still runs, or ended Jobs that a quota counts."""
    meta, spec = owner["metadata"], owner.get("spec") or {}
    if spec.get("suspend"):
        change, patch = Change("resume", {"owner": f"CronJob {meta['name']}"}), {"spec": {"suspend": False}}
        yield draft.patching(change, name_of(owner), patch), _until(owner, lambda now: not now["spec"].get("suspend"))
        return
    mine = [job for job in sim.store.list("Job") if _is_controlled(job, owner)]
    active = [job for job in mine if not has_ended(job)]
    if int(spec.get("startingDeadlineSeconds") or LEAST_DEADLINE) < LEAST_DEADLINE:
        yield set_field(draft, owner, "startingDeadlineSeconds", DEADLINE), _starts_one(sim, owner)
    minute, hour, day, *rest = [*str(spec["schedule"]).split(), "", "", ""][:5]
    if day.isdigit() and int(day) > LAST_DAY and schedule_of(Owner.of(owner)).next(sim.store.epoch // SECOND) is None:
        yield set_field(draft, owner, "schedule", " ".join((minute, hour, str(LAST_DAY), *rest))), _starts(owner)
    forbids = spec.get("concurrencyPolicy") == "Forbid" and bool(active)
    template = {"apiVersion": "batch/v1", "kind": "Job", **(spec.get("jobTemplate") or {})}
    asked = {**template, "metadata": {"name": meta["name"], "namespace": meta["namespace"]}}

    def has_room(fixed: Watch) -> str | None:
        return None if ask_api_server(fixed.world, asked) else ""

    found = None if forbids else _EXCEEDED.search(ask_api_server(sim, asked))
    quota = sim.store.get("ResourceQuota", meta["namespace"], found["quota"]) if found else None
    if found is not None and quota is not None:
        to = str(int(found["used"]) + int(found["asked"]))
        values = {"quota": found["quota"], "resource": found["name"], "from": found["most"], "to": to}
        yield draft.patching(Change("quota", values), name_of(quota), {"spec": {"hard": {found["name"]: to}}}), has_room
    for job in active[:1] if forbids else [job for job in mine if has_ended(job)][:MOST]:
        name = job["metadata"]["name"]
        change = Change("delete-job", {"job": name, "owner": meta["name"]})
        yield draft.typing(change, f"kubectl delete job {name} -n {meta['namespace']}"), without(job)


def _is_controlled(job: Manifest, owner: Manifest) -> bool:
    found, namespace = controller_of(job) or {}, owner["metadata"]["namespace"]
    named = (found.get("kind"), found.get("name")) == (CRON_JOB, owner["metadata"]["name"])
    return bool(named and job["metadata"].get("namespace") == namespace)


def ran_out(job: Manifest) -> bool:
    """Return whether a Job failed by its deadline, which counts from the start, also while pods wait."""
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Failed" and each.get("reason") == "DeadlineExceeded" for each in conditions)


def has_ended(job: Manifest) -> bool:
    """Return whether a Job is complete or failed."""
    conditions: Iterator[Any] = iter((job.get("status") or {}).get("conditions") or ())
    return any(each.get("type") in _ENDED and each.get("status") == "True" for each in conditions)


def _until(owner: Manifest, holds: Callable[[Manifest], bool]) -> Goal:
    """Return the goal that a condition holds for the object."""
    kind, meta = owner["kind"], owner["metadata"]

    def look(fixed: Watch) -> str | None:
        found = fixed.world.store.get(kind, meta["namespace"], meta["name"])
        return "" if found is not None and holds(found) else None

    return look


def _starts(owner: Manifest) -> Goal:
    """Return the goal that the CronJob has a next start."""
    return _until(owner, lambda now: schedule_of(Owner.of(now)).next(0) is not None)


def _starts_one(sim: Simulation, owner: Manifest) -> Goal:
    """Return the goal that the CronJob has one more Job."""
    there = {job["metadata"]["name"] for job in sim.store.list("Job")}

    def look(fixed: Watch) -> str | None:
        new = (job for job in fixed.world.store.list("Job") if job["metadata"]["name"] not in there)
        return "" if any(_is_controlled(job, owner) for job in new) else None

    return look


# Pods with an ordinal that their StatefulSet does not want


def search_unwanted(sim: Simulation, owner: Manifest, key: str, budget: Budget) -> Generator[None, None, Findings]:
    """Prove a lower first ordinal, or more replicas, for a pod outside the ordinals of its StatefulSet."""
    number, spec = parent_and_ordinal(key.partition("/")[2])[1], owner["spec"]
    first, replicas = int((spec.get("ordinals") or {}).get("start") or 0), int(spec.get("replicas", 1))
    prover, draft = Prover(sim, key, budget, owner), Draft({"metadata": {**owner["metadata"]}, "spec": {}})

    def placed(fixed: Watch) -> str | None:
        pod = fixed.world.store.pod_at(key)
        return key if pod is not None and pod.node_name else None

    proposals: list[tuple[Draft, Goal]] = []
    if number < first:
        proposals.append((set_field(draft, owner, "ordinals.start", number), placed))
    elif number >= first + replicas:
        proposals.append((set_field(draft, owner, "replicas", number - first + 1), placed))
    return (yield from prove_each(sim, key, prover, iter(proposals), "searched"))


# Nodes without a DaemonSet's pod


def search_daemons(
    sim: Simulation, namespace: str, name: str, budget: Budget, only: str = ""
) -> Generator[None, None, Findings]:
    """Prove tolerations and labels for the nodes without a pod of a DaemonSet, or for one of these nodes."""
    key, owner = f"{namespace}/{name}", sim.store.get("DaemonSet", namespace, name)
    if owner is None:
        return Findings(key, "gone")
    pod = Pod.from_manifest(pod_of(owner, namespace))
    prover = Prover(sim, key, budget, owner)
    nodes = [node for node in sim.store.nodes() if only in ("", node.name)]
    drafts = itertools.chain(_respell(sim, nodes, owner, pod), _tolerate(nodes, owner, pod), _label(sim, nodes, pod))

    def comes(fixed: Watch) -> str | None:
        there = fixed.world.store.pods_on(only)
        return next((each.key for each in there if belongs_to(fixed.world, each, owner)), None)

    proposals = ((draft, comes if only else prover.expect_new_pod()) for draft in drafts)
    return (yield from prove_each(sim, key, prover, proposals, "searched"))


def _respell(sim: Simulation, nodes: list[Node], owner: Manifest, pod: Pod) -> Iterator[Draft]:
    """Propose that the template requires the label that nodes have instead of one that no node has."""
    for key, value in pod.spec.node_selector.items():
        is_there = any(node.labels.get(key) == value for node in sim.store.nodes())
        meant = {each for node in nodes for each in find_meant(node, key, value)} if not is_there else set()
        for other, has in sorted(meant):
            change = Change("selector-value", {"from": f"{key}={value}", "to": f"{other}={has}"})
            patch = {"spec": {"template": {"spec": {"nodeSelector": {key: None, other: has}}}}}
            yield Draft(pod.manifest).patching(change, name_of(owner), patch)


def _tolerate(nodes: list[Node], owner: Manifest, pod: Pod) -> Iterator[Draft]:
    given = list(owner["spec"]["template"]["spec"].get("tolerations") or ())
    taints = dict.fromkeys(taint for node in nodes for taint in list_refusing_taints(node, pod))
    for taint in taints:
        new = {"key": taint.key, "operator": "Exists", "effect": taint.effect}
        patch = {"spec": {"template": {"spec": {"tolerations": [*given, new]}}}}
        yield Draft(pod.manifest).patching(Change("toleration", {"taint": str(taint)}), name_of(owner), patch)


def _label(sim: Simulation, nodes: list[Node], pod: Pod) -> Iterator[Draft]:
    """Propose the single node label that a node selector or the required affinity lacks on a node, with other nodes' value."""
    terms = pod.spec.node_affinity_required
    for node in nodes:
        lacks = wrong_labels(pod, node)
        for each in terms.terms[least_missing(terms, node)[0]].expressions if terms is not None and terms.terms else ():
            used = [other.labels[each.key] for other in sim.store.nodes() if each.key in other.labels]
            value = next((value for value in (*used, *each.values) if each.matches({each.key: value})), None)
            lacks |= {} if each.matches(node.labels) or value is None else {each.key: value}
        if len(lacks) == 1 and misses(pod, node) == 1:
            ((key, value),) = lacks.items()
            yield Draft(pod.manifest).typing(Change("label", {"node": node.name, "key": key, "value": value}))


# Namespaces, claims, and volumes that are being deleted

VOLUME = "PersistentVolume"
OBJECTS = ("Namespace", CLAIM, VOLUME)
PROTECTIONS = (PROTECTION, "kubernetes.io/pv-protection")  # kube removes these after the last user is gone


def find_object(sim: Simulation, key: str) -> Manifest | None:
    """Return the namespace Namespace/NAME, the claim PersistentVolumeClaim/NS/NAME, or the volume PersistentVolume/NAME, or None."""
    kind, _, rest = key.partition("/")
    namespace, _, name = rest.rpartition("/")
    return sim.store.get(kind, namespace, name) if kind in OBJECTS else None


def list_held(sim: Simulation, found: Manifest) -> list[tuple[Manifest, list[str]]]:
    """Return an object, a volume's attachments, and a namespace's objects, with the finalizers that other components have to remove."""
    near = [*list_attachments(sim, found), found]
    if found["kind"] == "Namespace":
        every = (each for kind in sim.store.kinds() for each in sim.store.list(kind))
        near += [each for each in every if each["metadata"].get("namespace") == found["metadata"]["name"]]
    kept = ([each for each in it["metadata"].get("finalizers") or () if each not in PROTECTIONS] for it in near)
    return [(it, names) for it, names in zip(near, kept, strict=True) if names]


def list_attachments(sim: Simulation, volume: Manifest) -> list[Manifest]:
    """Return the VolumeAttachments of a volume, or none for another object."""
    name = volume["metadata"]["name"] if volume["kind"] == VOLUME else None
    return [each for each in sim.store.list(ATTACHMENT) if get_volume(each) == name]


def find_claim(sim: Simulation, volume: Manifest) -> Manifest | None:
    """Return the claim that a volume is bound to, if it still exists."""
    ref = volume["spec"].get("claimRef") or {}
    found = sim.store.get(CLAIM, str(ref.get("namespace")), str(ref.get("name")))
    return found if found is not None and found["spec"].get("volumeName") == volume["metadata"]["name"] else None


def is_kept(sim: Simulation, volume: Manifest) -> bool:
    """Return whether a volume is to be deleted after its claim, but its driver does not delete it."""
    phase, policy = (volume.get("status") or {}).get("phase"), volume["spec"].get("persistentVolumeReclaimPolicy")
    if phase != "Released" or policy != "Delete":
        return bool(phase == "Failed")
    place = (VOLUME, volume["metadata"]["name"], "VolumeFailedDelete")
    return any((event.kind, event.name, event.reason) == place for event in sim.store.events)


def list_users(sim: Simulation, claim: Manifest) -> list[Pod]:
    """Return the pods that use a claim."""
    key = f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
    return [pod for pod in sim.store.pods() if pod.spec.volumes and key in claims_of(pod)]


def search_object(sim: Simulation, key: str, found: Manifest, budget: Budget) -> Generator[None, None, Findings]:
    """Prove fixes that let a namespace, a claim, or a volume end. Fixes for kinds without a controller here are not proven."""
    lost = found["kind"] == CLAIM and (found.get("status") or {}).get("phase") == "Lost"
    if not (found["metadata"].get("deletionTimestamp") or lost or (found["kind"] == VOLUME and is_kept(sim, found))):
        return Findings(key, "fits")
    findings = yield from prove_each(sim, key, Prover(sim, key, budget), _let_go(sim, found), "searched")
    freed = [_free(*held) for held in list_held(sim, found) if held[0]["kind"] not in MODELED]
    steps = [Fix((change,), (), "", 0, recreated=False, kubectl=call, proven=False) for change, call in freed[:MOST]]
    return replace(findings, fixes=rank_fixes((*findings.fixes, *steps)))


def _let_go(sim: Simulation, found: Manifest) -> Proposals:
    meta = found["metadata"]
    draft = Draft({"metadata": {"name": meta["name"], "namespace": meta.get("namespace")}, "spec": {}})
    if found["kind"] == CLAIM and meta.get("deletionTimestamp") and (users := list_users(sim, found)):
        yield reduce(delete_pod, users, draft), without(found)
    elif found["kind"] == CLAIM and not meta.get("deletionTimestamp"):
        values = {"claim": f"{meta['namespace']}/{meta['name']}", "volume": volume_name(found), "lost": True}
        call = format_apply(build_unbound_claim(found), "replace --force")
        yield draft.typing(Change("claim-anew", values), call), _until(found, lambda now: now["spec"] != found["spec"])
    for each in list_attachments(sim, found):
        place, name = str(each["spec"].get("nodeName")), each["metadata"]["name"]
        if not each["metadata"].get("deletionTimestamp") and not _is_mounted(sim, found, place):
            change = Change("detach", {"volume": meta["name"], "node": place, "unused": True})
            yield draft.typing(change, f"kubectl delete volumeattachment {name} --wait=false"), _leaves(each)
    held = list_held(sim, found) if meta.get("deletionTimestamp") else []
    for each, names in held[:MOST]:
        if each["kind"] in MODELED:
            change, call = _free(each, names)
            yield draft.typing(change, call), without(each)


def _is_mounted(sim: Simulation, volume: Manifest, node: str) -> bool:
    """Return whether a pod on a node uses a volume's claim."""
    ref = volume["spec"].get("claimRef") or {}
    key = f"{ref.get('namespace')}/{ref.get('name')}"
    return any(pod.spec.volumes and key in claims_of(pod) and not pod.terminal for pod in sim.store.pods_on(node))


def _leaves(found: Manifest) -> Goal:
    """Return the goal that an object is gone, or marked as deleted."""
    kind, name = found["kind"], found["metadata"]["name"]

    def look(fixed: Watch) -> str | None:
        now = fixed.world.store.get(kind, "", name)
        return "" if now is None or now["metadata"].get("deletionTimestamp") else None

    return look


def _free(found: Manifest, names: list[str]) -> tuple[Change, str]:
    kind, meta, group = found["kind"], found["metadata"], str(found["apiVersion"]).rpartition("/")[0].split("/")[0]
    word = kind.lower() if kind in MODELED else ".".join(filter(None, (kind.lower(), group)))
    where = f" -n {meta['namespace']}" if meta.get("namespace") else ""
    values = {"pod": f"{kind} {meta['name']}", "finalizers": names}
    return Change("finalizer", values), remove_finalizers(f"{word} {meta['name']}{where}")
