"""Fixes for pods with a node: pods that do not end, do not start, block a drain, or run on an undesired node."""

import re
from collections.abc import Generator, Iterator
from typing import Any

from scheduler_core.analysis.fixes.containers import find_missing_driver, propose_containers
from scheduler_core.analysis.fixes.effects import Watch, key_of
from scheduler_core.analysis.fixes.fix import Budget, Findings, Fix, rank_fixes
from scheduler_core.analysis.fixes.kubectl import bare, clean, format_apply, kubectl_of, workload_of
from scheduler_core.analysis.fixes.meanings import advise, index_events
from scheduler_core.analysis.fixes.placed.stricter import propose_stricter, without_node_name
from scheduler_core.analysis.fixes.proof import MANY, OVERTIME, Goal, Prover, belongs_to, make_fix
from scheduler_core.analysis.fixes.refused_pods import rebuild
from scheduler_core.apimachinery.objects import SECOND, LabelSelector, Manifest, Pod, controller_of, nanos, parse_time
from scheduler_core.apimachinery.objects.node import NO_EXECUTE, Node
from scheduler_core.apimachinery.objects.storage.volumes import (
    CLAIM,
    access_modes,
    class_of,
    list_drivers,
    volume_name,
    volumes_of,
)
from scheduler_core.apiserver.eviction import budgets_for
from scheduler_core.controllers.kubelet.pods import is_overdue
from scheduler_core.controllers.nodes.drain import list_wanted_flags
from scheduler_core.controllers.volumes.attachments import ATTACHMENT, get_volume
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.helper.fixes import (
    HOSTNAME,
    delete_pod,
    delete_pods,
    end_pod,
    list_refusing_taints,
)
from scheduler_core.scheduler.plugins.helper.volumes import build_unbound_claim, missing_claims
from scheduler_core.scheduler.plugins.noderesources.amounts import quantity, round_down
from scheduler_core.world.simulation import Simulation

_OF_NODE = "kubectl describe node "  # the command of problems of a node
_PENDING = "PodResizePending"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
LONGEST_END = 4 * 3600 * SECOND
_FOR_EVERY = ("SMTAlignmentError", "PodFeatureUnsupported")  # refusals that depend only on the pod's spec
Proposals = Iterator[tuple[Draft, Goal]]


def search_placed(sim: Simulation, pod: Pod, budget: Budget) -> Generator[None, None, Findings]:
    """Prove the proposals for a pod with a node, each by its own goal."""
    prover = Prover(sim, pod.key, budget)
    return (yield from prove_each(sim, pod.key, prover, _propose(sim, pod, prover), "bound"))


def prove_each(
    sim: Simulation, key: str, prover: Prover, proposals: Proposals, state: str
) -> Generator[None, None, Findings]:
    """Return the findings of proposals with individual goals."""
    fixes: list[Fix] = []
    tried = 0
    for draft, goal in proposals:
        if fixes and prover.budget.should_stop():
            break
        tried += 1
        text = kubectl_of(draft, sim.store)
        proof = yield from prover.prove(text, prover.budget.proof_steps, MANY, goal=goal)
        fix = make_fix(draft, text, proof)
        if proof.reached and all(each.outcome != fix.outcome for each in fixes):
            fixes.append(fix)
            prover.budget.found(fix)
    return Findings(key, state, rank_fixes(fixes), tried, tried - len(fixes), cut=prover.cut)


def _propose(sim: Simulation, pod: Pod, prover: Prover) -> Proposals:
    node = sim.store.node(pod.node_name)
    draft = Draft(pod.manifest)
    if pod.deleting:
        yield from propose_end(draft, pod, node, prover)
        yield from _keep_apart(draft, sim, pod)
    elif node is None or pod.terminal:
        yield from _delete_ended(draft, pod, prover)
    else:
        yield from _unblock_drain(draft, sim, pod, node, prover)
        yield from _restart_elsewhere(draft, pod, node, prover)
        yield from _schedule(draft, sim, pod, node, prover)
        goals = {
            "platform": prover.expect_move(pod),
            "delete": prover.expect_removal(pod, replaced=True),
            **dict.fromkeys(("limits", "driver-nodes"), prover.expect_placement()),
        }
        for each in propose_containers(draft, sim, pod, node):
            yield each, goals.get(each.kinds[-1]) or runs(pod, prover)
        yield from _start(draft, sim, pod, prover)
        yield from _leave_node(draft, sim, pod, prover)
        yield from _in_bytes(draft, pod, prover)
        yield from _resize(draft, pod, node, prover)
        if pod.ready or not (pod.manifest.get("status") or {}).get("containerStatuses"):
            is_daemon = (controller_of(pod.manifest) or {}).get("kind") == "DaemonSet"
            goal = prover.expect_removal(pod) if is_daemon else prover.expect_move(pod)
            yield from ((each, goal) for each in propose_stricter(draft, sim, pod, node))


# Claims without a volume because their driver supports no volume that several nodes write to

_ONE_NODE, _FAILED = "ReadWriteOnce", "ProvisioningFailed"
_NOT_SHARED = re.compile(
    r"MULTI_NODE_MULTI|multi.?(writer|node)|ReadWriteMany|only supports? .*ReadWriteOnce|access.?modes?.* (not|un)supported|"
    r"unsupported access.?mode",
    re.IGNORECASE,
)
_SHARING = re.compile(
    r"efs|nfs|cephfs|file\.|filestore|fsx\.|glusterfs|manila|longhorn"
)  # names of provisioners with shared volumes


def propose_modes(sim: Simulation, pod: Pod) -> Iterator[Draft]:
    """Propose to recreate a claim that its driver refuses because of the access mode: in a class with shared volumes, or for one node."""
    for name in {use.name(pod): None for use in volumes_of(pod.spec).claims} if pod.spec.volumes else ():
        subject, found = (CLAIM, pod.namespace, name), sim.store.get(CLAIM, pod.namespace, name)
        said = [e.message for e in sim.store.events if (e.kind, e.namespace, e.name) == subject and e.reason == _FAILED]
        if found is None or volume_name(found) or not said or not _NOT_SHARED.search(said[-1]):
            continue
        key, had = f"{pod.namespace}/{name}", access_modes(found)
        for each in sim.store.list("StorageClass"):
            to = str(each["metadata"]["name"])
            if to != class_of(found) and _SHARING.search(str(each.get("provisioner"))):
                change = Change("claim-class", {"claim": key, "from": class_of(found), "to": to})
                yield Draft(pod.manifest).with_object(change, build_unbound_claim(found, class_name=to))
        if had != (_ONE_NODE,):
            change = Change("claim-mode", {"claim": key, "from": ", ".join(had), "to": _ONE_NODE})
            yield Draft(pod.manifest).with_object(change, build_unbound_claim(found, modes=[_ONE_NODE]))


# Terminating pods


def is_dead(sim: Simulation, node: Node) -> bool:
    """Return whether nothing acts on the node: its kubelet does not report."""
    return node.ready not in ("True", "") or node.name in sim.surroundings.inputs.stopped


def find_last_end(sim: Simulation) -> int:
    """Return how long (ns) the grace periods of terminating pods last, up to a proof's maximum wait."""
    ends = [str(pod.manifest["metadata"]["deletionTimestamp"]) for pod in sim.store.pods() if pod.deleting]
    left = (parse_time(each) - sim.store.epoch - sim.now for each in ends)
    return max((each for each in left if 0 < each < LONGEST_END), default=0)


def propose_end(draft: Draft, pod: Pod, node: Node | None, prover: Prover) -> Proposals:
    """Propose to release a pod that a finalizer or a dead node keeps."""
    goal = prover.expect_removal(pod, replaced=prover.owner is not None and prover.owner["kind"] == "StatefulSet")
    yield end_pod(draft, pod), goal
    if node is None:
        return
    if not is_dead(prover.sim, node):
        if is_overdue(prover.sim, pod, prover.sim.now):
            return
        where = f"{pod.name} -n {pod.namespace} --timeout=24h"
        yield (
            draft.typing(Change("wait", {"pod": pod.key, "ends": True}), f"kubectl wait --for=delete pod/{where}"),
            goal,
        )
        return
    values = {"node": node.name}
    yield (draft.typing(Change("out-of-service", values), f"kubectl taint node {node.name} {OUT_OF_SERVICE}"), goal)
    yield draft.typing(Change("ready", values)), goal
    yield draft.typing(Change("remove-node", values), f"kubectl delete node {node.name}"), goal


def _keep_apart(draft: Draft, sim: Simulation, pod: Pod) -> Proposals:
    """Propose to recreate a pod that its owner adopted and deletes as surplus, with a label that the owner does not select."""
    owner = controller_of(pod.manifest) or {}
    found = sim.store.get(str(owner.get("kind")), pod.namespace, str(owner.get("name")))
    selector = ((found or {}).get("spec") or {}).get("selector") or {}
    keys = (
        [*(selector.get("matchLabels") or (selector if owner["kind"] == "ReplicationController" else ()))]
        if found
        else []
    )
    if not keys or pod.name.startswith(f"{owner['name']}-"):
        return
    made = clean(bare(pod.manifest))
    kept = {name: value for name, value in made["metadata"].items() if name != "ownerReferences"}
    made["metadata"] = {**kept, "labels": {**pod.labels, keys[0]: pod.name}}
    made["spec"] = {name: value for name, value in pod.manifest["spec"].items() if name != "nodeName"}

    def stays(fixed: Watch) -> str | None:
        now = fixed.world.store.pod_at(pod.key)
        is_free = now is not None and now.uid != pod.uid and not now.deleting and not controller_of(now.manifest)
        return pod.key if now is not None and is_free and now.node_name else None

    values = {"pod": pod.key, "owner": f"{owner['kind']} {owner['name']}", "labels": [f"{keys[0]}={pod.name}"]}
    gone = f"kubectl delete pod {pod.name} -n {pod.namespace}"
    yield draft.typing(Change("other-labels", values), gone, format_apply(made)), stays


def _delete_ended(draft: Draft, pod: Pod, prover: Prover) -> Proposals:
    """Propose to delete a pod that failed or that its kubelet refused: its owner creates another, or the scheduler places the new one."""
    change = Change("delete", {"pod": pod.key, "ended": True})
    for changed in propose_containers(draft, prover.sim, pod, None) if pod.terminal else ():
        yield changed, prover.expect_placement()
    if prover.owner is not None:
        for each in rebuild(prover.owner, pod.namespace):
            if "job-anew" in each.kinds:
                yield each, prover.expect_new_pod()
        call = f"kubectl delete pod {pod.name} -n {pod.namespace} --grace-period=0 --force"
        others = (p for p in prover.sim.store.pods() if p.namespace == pod.namespace and not p.terminal)
        later = (each for each in others if (each.creation_time or 0) >= (pod.creation_time or 0))
        replaced = any(belongs_to(prover.sim, each, prover.owner) for each in later)
        yield draft.typing(change, call), prover.expect_removal(pod, replaced=not replaced)
        return
    if is_refused_as_it_is(pod):
        return
    status = pod.manifest.get("status") or {}
    ends = [(each.get("state") or {}).get("terminated") or {} for each in status.get("containerStatuses") or ()]
    again = status.get("reason") in (OVERTIME, "Evicted") or any(each.get("exitCode") for each in ends)
    values = {"pod": pod.key, **({"again": True} if again else {})}
    yield draft.with_pod(Change("recreate", values), without_node_name), prover.expect_placement()


def is_refused_as_it_is(pod: Pod) -> bool:
    """Return whether a kubelet refused a pod only for its requests, and would refuse the same pod again."""
    return str((pod.manifest.get("status") or {}).get("reason")) in _FOR_EVERY


def _restart_elsewhere(draft: Draft, pod: Pod, node: Node, prover: Prover) -> Proposals:
    """Propose to restart a pod of a dead node."""
    if not is_dead(prover.sim, node):
        return
    yield (draft.typing(Change("ready", {"node": node.name})), _starts(pod))
    if prover.owner is not None and prover.owner["kind"] != "DaemonSet":
        values = {"pod": pod.key}
        call = f"kubectl delete pod {pod.name} -n {pod.namespace} --grace-period=0 --force"
        yield draft.typing(Change("delete", values), call), prover.expect_removal(pod, replaced=True)


def _starts(pod: Pod) -> Goal:
    def look(fixed: Watch) -> str | None:
        found = fixed.world.store.pod_at(pod.key)
        node = None if found is None else fixed.world.store.node(found.node_name)
        return pod.key if found is not None and node is not None and node.ready == "True" else None

    return look


# Drains


def _unblock_drain(draft: Draft, sim: Simulation, pod: Pod, node: Node, prover: Prover) -> Proposals:
    """Propose the changes of budgets and workloads that let a cordoned node's pod be evicted."""
    covering = budgets_for(sim.api, pod)
    if not (node.manifest.get("spec") or {}).get("unschedulable"):
        return
    if not covering:
        if prover.owner is not None and prover.owner["kind"] != "DaemonSet":
            yield delete_pod(draft, pod), prover.expect_removal(pod, replaced=True, off=pod.node_name)
        return
    drain = f"kubectl drain {node.name} --ignore-daemonsets --delete-emptydir-data"
    drain += "" if controller_of(pod.manifest) else " --force"
    goal = prover.expect_removal(pod)
    if len(covering) > 1:
        for manifest in covering:
            change = Change("one-budget", {"budget": key_of(manifest)})
            yield draft.typing(change, f"kubectl delete {name_of(manifest)}", drain), goal
        return
    (manifest,) = covering
    if (manifest["spec"].get("unhealthyPodEvictionPolicy") or "") != "AlwaysAllow" and not pod.ready:
        patch = {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}
        change = Change("unready-eviction", {"budget": key_of(manifest)})
        yield draft.patching(change, name_of(manifest), patch, drain), goal
    owner, selector = prover.owner, LabelSelector.of(manifest["spec"].get("selector"))
    covered = [
        p for p in sim.store.pods() if p.namespace == pod.namespace and selector.matches(p.labels) and not p.terminal
    ]
    unready = [p for p in covered if p.key != pod.key and controller_of(p.manifest) and not (p.ready or p.deleting)]
    for each in unready[:1]:
        yield delete_pod(draft, each, drain), goal
    if owner is not None and owner["kind"] in ("Deployment", "ReplicaSet", "StatefulSet"):
        now, name = int(owner["spec"].get("replicas", 1)), owner["metadata"]["name"]
        change = Change("replicas", {"owner": f"{owner['kind']} {name}", "from": now, "to": now + 1})
        call = f"kubectl scale {owner['kind'].lower()} {name} -n {pod.namespace} --replicas={now + 1}"
        yield draft.typing(change, call, drain), goal
    most, conditions = manifest["spec"].get("maxUnavailable"), (manifest.get("status") or {}).get("conditions") or ()
    if isinstance(most, int) and any(each.get("reason") == "SyncFailed" for each in conditions):
        least = max(len(covered) - max(most, 1), 0)
        values = {"budget": key_of(manifest), "field": "maxUnavailable", "from": most, "to": least, "counted": True}
        new = {"maxUnavailable": None, "minAvailable": least}
        yield draft.patching(Change("budget", values), name_of(manifest), {"spec": new}, drain), goal
        return
    field = "maxUnavailable" if manifest["spec"].get("maxUnavailable") is not None else "minAvailable"
    was = manifest["spec"].get(field, 0)
    to = was + 1 if field == "maxUnavailable" and isinstance(was, int) else was - 1 if isinstance(was, int) else 0
    values = {"budget": key_of(manifest), "field": field, "from": was, "to": max(to, 0)}
    yield draft.patching(Change("budget", values), name_of(manifest), {"spec": {field: max(to, 0)}}, drain), goal


def search_drain(sim: Simulation, node: str, budget: Budget) -> Generator[None, None, Findings]:
    """Prove the drain of a cordoned node with the flags that kubectl requires."""
    key, found, wanted = f"Node/{node}", sim.store.node(node), list_wanted_flags(sim, node)
    first = next((pods[0] for flag, pods in wanted.items() if flag != "--ignore-daemonsets"), None)
    if found is None or first is None or not found.unschedulable:
        return Findings(key, "gone" if found is None else "fits")
    lost = [pod.key for pod in wanted.get("--force", ())]
    change = Change("drain", {"node": node, "flags": list(wanted), "pods": lost})
    prover = Prover(sim, key, budget)
    proposals = [
        (Draft(first.manifest).typing(change, f"kubectl drain {node} {' '.join(wanted)}"), prover.expect_removal(first))
    ]
    return (yield from prove_each(sim, key, prover, iter(proposals), "searched"))


def set_field(draft: Draft, owner: Manifest, path: str, to: int | str, *more: str) -> Draft:
    """Return a draft that sets a field in an object's spec, by its path."""
    *parts, last = path.split(".")
    within: Any = owner["spec"]
    patch: dict[str, Any] = {last: to}
    for part in parts:
        within = within.get(part) or {}
    for part in reversed(parts):
        patch = {part: patch}
    values = {"owner": f"{owner['kind']} {owner['metadata']['name']}", "field": path, "from": within.get(last, 0)}
    return draft.patching(Change("field", {**values, "to": to}), name_of(owner), {"spec": patch}, *more)


def remove_finalizers(where: str) -> str:
    """Return the call that removes an object's finalizers. `where` names the object in kubectl's form."""
    return f"kubectl patch {where} --type=merge -p " + """'{"metadata": {"finalizers": null}}'"""


def without(found: Manifest) -> Goal:
    """Return the goal that an object is gone."""
    kind, meta = found["kind"], found["metadata"]

    def look(fixed: Watch) -> str | None:
        return "" if fixed.world.store.get(kind, meta.get("namespace") or "", meta["name"]) is None else None

    return look


def is_guarded(sim: Simulation, pod: Pod) -> bool:
    """Return whether a budget covers a pod."""
    return bool(budgets_for(sim.api, pod))


def name_of(manifest: Manifest) -> str:
    meta = manifest["metadata"]
    return f"{manifest['kind'].lower()} {meta['name']} -n {meta.get('namespace') or 'default'}"


# Pods that no scheduler placed


def _schedule(draft: Draft, sim: Simulation, pod: Pod, node: Node, prover: Prover) -> Proposals:
    """Propose to schedule a pod whose manifest names its node: no scheduler has considered taints and claims."""
    template = (prover.owner or {"spec": {}})["spec"].get("template") or draft.original
    if not (template.get("spec") or {}).get("nodeName"):
        return
    attempts = sim.journal.last_attempt.get(pod.key)
    taints = list_refusing_taints(node, pod)
    names = [use.name(pod) for use in volumes_of(pod.spec).claims] if pod.spec.volumes else []
    unbound = any(not volume_name(sim.store.get(CLAIM, pod.namespace, name) or {}) for name in names)
    waits = pod.phase in ("", "Pending") and (unbound or bool(pod.spec.resource_claims))
    is_mirror = "kubernetes.io/config.mirror" in (pod.manifest["metadata"].get("annotations") or {})
    if attempts is not None or is_mirror or not (taints or waits):
        return
    by_label = draft.with_pod(Change("node-selector", {"node": node.name}), _by_selector(node))
    yield by_label, prover.expect_placement() if waits else prover.expect_move(pod)
    if taints:
        yield (
            draft.with_pod(Change("node-name", {"node": node.name, "exists": True}), without_node_name),
            prover.expect_move(pod),
        )
        taint = f"{taints[0].key}{f'={taints[0].value}' if taints[0].value else ''}:{NO_EXECUTE}"
        change = Change("no-execute", {"node": node.name, "taint": taint})
        yield draft.typing(change, f"kubectl taint node {node.name} {taint}"), prover.expect_removal(pod)


def _by_selector(node: Node) -> Any:
    def edit(manifest: dict[str, Any]) -> None:
        without_node_name(manifest)
        label = node.labels.get(HOSTNAME, node.name)
        manifest["spec"]["nodeSelector"] = {**(manifest["spec"].get("nodeSelector") or {}), HOSTNAME: label}

    return edit


# Pods that do not start, or not as specified


def runs(pod: Pod, prover: Prover) -> Goal:
    """Return the goal that the pod, or a new one of its workload, has started."""

    def look(fixed: Watch) -> str | None:
        mine = [key for _, key, _ in fixed.log if key == pod.key or prover.is_mine(fixed, key)]
        found = (fixed.world.store.pod_at(key) for key in mine)
        return next((each.key for each in found if each is not None and each.phase == "Running"), None)

    return look


def _start(draft: Draft, sim: Simulation, pod: Pod, prover: Prover) -> Proposals:
    """Propose to create a missing claim, or to free a volume of one node from its users on another."""
    scheduler = next(iter(sim.schedulers), None)
    framework = None if scheduler is None else scheduler.framework_of(pod)
    plugin = next(iter(framework.plugins), None) if framework is not None else None
    if plugin is None or pod.phase not in ("", "Pending") or not pod.spec.volumes:
        return
    for each in missing_claims(draft, pod, plugin.handle):
        if "claim" in each.kinds:
            yield each, runs(pod, prover)
            change = Change("recreate", {"pod": pod.key})
            yield each.with_pod(change, without_node_name), prover.expect_placement()
    claims = {use.name(pod) for use in volumes_of(pod.spec).claims}
    for other in _list_nodes_of_volumes(sim, pod, claims):
        change = Change("node-selector", {"node": other.name, "claims": sorted(claims)})
        yield draft.with_pod(change, _by_selector(other)), runs(pod, prover)
    others = [
        other
        for other in sim.store.pods()
        if other.namespace == pod.namespace
        and other.node_name not in ("", pod.node_name)
        and not other.terminal
        and other.spec.volumes
        and claims & {use.name(other) for use in volumes_of(other.spec).claims}
    ]
    volumes = {volume_name(sim.store.get(CLAIM, pod.namespace, name) or {}) for name in claims}
    for attached in sim.store.list(ATTACHMENT):
        place, volume = str(attached["spec"].get("nodeName")), get_volume(attached)
        if volume in volumes and sim.store.node(place) is None:
            where = f"volumeattachment {attached['metadata']['name']}"
            calls = [f"kubectl delete {where} --wait=false", remove_finalizers(where)]
            calls = calls if attached["metadata"].get("finalizers") else calls[:1]
            yield draft.typing(Change("detach", {"volume": volume, "node": place}), *calls), runs(pod, prover)
    if not others:
        return
    owner = prover.owner
    if owner is not None and owner["kind"] == "Deployment":
        change = Change("recreate-strategy", {"owner": owner["metadata"]["name"]})
        strategy = {"type": "Recreate", "rollingUpdate": None}
        yield draft.patching(change, name_of(owner), {"spec": {"strategy": strategy}}), runs(pod, prover)
    for above in [workload_of(sim.store, other.manifest) for other in others]:
        if above is not None and above["kind"] in ("Deployment", "StatefulSet") and above != owner:
            named = f"{above['kind']} {above['metadata']['name']}"
            values = {"owner": named, "from": int(above["spec"].get("replicas", 1)), "to": 0}
            call = f"kubectl scale {name_of(above)} --replicas=0"
            yield draft.typing(Change("fewer-replicas", values), call), runs(pod, prover)
    yield delete_pods(draft, others[0].node_name, others), runs(pod, prover)


def _leave_node(draft: Draft, sim: Simulation, pod: Pod, prover: Prover) -> Proposals:
    """Propose to recreate a pod on another node if a problem of its node keeps the pod from starting."""
    owner, means = prover.owner, advise(sim, pod.key, index_events(sim)) if pod.phase in ("", "Pending") else []
    if owner is not None and owner["kind"] != "DaemonSet" and any(each.show.startswith(_OF_NODE) for each in means):
        change = Change("delete", {"pod": pod.key, "node": pod.node_name, "cordons": True})
        calls = f"kubectl cordon {pod.node_name}", f"kubectl delete pod {pod.name} -n {pod.namespace}"
        yield draft.typing(change, *calls), prover.expect_placement()


def _list_nodes_of_volumes(sim: Simulation, pod: Pod, claims: set[str]) -> list[Node]:
    """Return the node to which a volume of a pod without a controller is attached, or a node that has the volume's missing driver."""
    found = (sim.store.get(CLAIM, pod.namespace, name) or {} for name in sorted(claims))
    volumes = dict.fromkeys(filter(None, map(volume_name, found)))
    attached = sim.store.list(ATTACHMENT) if controller_of(pod.manifest) is None else ()
    names = [str(each["spec"].get("nodeName")) for each in attached if get_volume(each) in volumes]
    for volume in volumes:
        if driver := find_missing_driver(sim, volume, pod.node_name):
            there = (e for e in sim.store.list("CSINode") if driver in list_drivers(e))
            names += [str(each["metadata"]["name"]) for each in there][:1]
    nodes = (sim.store.node(name) for name in dict.fromkeys(names) if name != pod.node_name)
    return [node for node in nodes if node is not None][:1]


def _in_bytes(draft: Draft, pod: Pod, prover: Prover) -> Proposals:
    """Propose memory in mebibytes instead of thousandths of a byte in a manifest."""
    for field in ("containers", "initContainers"):
        for index, container in enumerate(pod.manifest["spec"].get(field) or ()):
            given = container.get("resources") or {}
            amounts = {part: str((given.get(part) or {}).get("memory") or "") for part in ("requests", "limits")}
            meant = {
                part: f"{text[:-1]}Mi" for part, text in amounts.items() if text[:-1].isdigit() and text[-1] == "m"
            }
            if not meant:
                continue

            def edit(manifest: dict[str, Any], field: str = field, index: int = index, meant: Any = meant) -> None:
                without_node_name(manifest)
                for part, text in meant.items():
                    manifest["spec"][field][index]["resources"][part]["memory"] = text

            to = next(iter(meant.values()))
            values = {"container": container["name"], "from": f"{to[:-2]}m", "to": to}
            yield draft.with_pod(Change("unit", values), edit), prover.expect_placement()


def _resize(draft: Draft, pod: Pod, node: Node, prover: Prover) -> Proposals:
    """Propose to revert a resize that the kubelet does not carry out, or to limit it to the node's room."""
    status = pod.manifest.get("status") or {}
    if not any(each.get("type") == _PENDING for each in status.get("conditions") or ()):
        return
    has = {each["name"]: each.get("allocatedResources") or {} for each in status.get("containerStatuses") or ()}
    others = [each for each in prover.sim.store.pods() if each.node_name == node.name and not each.terminal]
    for container in pod.manifest["spec"]["containers"]:
        asked, now = ((container.get("resources") or {}).get("requests") or {}, has.get(container["name"]) or {})
        for resource in ("cpu", "memory"):
            if resource not in asked or resource not in now or nanos(asked[resource]) == nanos(now[resource]):
                continue
            taken = sum(each.requests.get(resource) for each in others if each.key != pod.key)
            scale = 1_000_000 if resource == "cpu" else 1_000_000_000
            room = round_down(resource, node.allocatable.get(resource) - taken)
            amounts = [quantity(resource, -(-nanos(now[resource]) // scale))]
            if nanos(now[resource]) < room * scale < nanos(asked[resource]):
                amounts.insert(0, quantity(resource, room))
            for text in amounts:
                yield _smaller(draft, pod, container, resource, text), _resized(pod)


def _smaller(draft: Draft, pod: Pod, container: Manifest, resource: str, text: str) -> Draft:
    parts = {part: {resource: text} for part, each in container["resources"].items() if resource in (each or {})}
    values = {"pod": pod.key, "resource": resource, "from": container["resources"]["requests"][resource], "to": text}
    patch = {"spec": {"containers": [{"name": container["name"], "resources": parts}]}}
    return draft.with_patch(Change("resize", values), ("Pod", pod.namespace, pod.name, "resize"), patch)


def _resized(pod: Pod) -> Goal:
    def look(fixed: Watch) -> str | None:
        found = fixed.world.store.pod_at(pod.key)
        status = {} if found is None else found.manifest.get("status") or {}
        waits = any(each.get("type") == _PENDING for each in status.get("conditions") or ())
        return pod.key if found is not None and not waits else None

    return look
