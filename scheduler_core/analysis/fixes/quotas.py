"""Missing pods whose creation a quota refuses.

A proposal raises the quota by the amount that all of them need. If they do not set a limited resource, a LimitRange sets a default.
"""

import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.analysis.fixes.admission import (
    CONTROLLERS,
    EXCEEDED,
    admit_without_quotas,
    ask_api_server,
    complete_pod,
    find_absent_quota,
    find_foreign,
    find_last_refusal,
    find_refusal,
    find_servers,
    find_stopped,
    measure_pod,
    pod_of,
    quotas_of,
    read_refusal,
)
from scheduler_core.analysis.fixes.fix import Budget, Findings
from scheduler_core.analysis.fixes.kubectl import bare, clean, format_apply, workload_of
from scheduler_core.analysis.fixes.placed import name_of, prove_each
from scheduler_core.analysis.fixes.proof import Goal, Prover
from scheduler_core.analysis.fixes.proposals import SCALABLE, in_turn
from scheduler_core.analysis.fixes.refused_pods import find_bounds, propose_admission, rebuild, resume
from scheduler_core.analysis.fixes.shell import change_template, read_calls
from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of, nanos
from scheduler_core.apimachinery.objects.demand import Amount, add, amounts
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.apiserver.quota import in_scope, scopes_of, usage
from scheduler_core.controllers.quota import count_usage
from scheduler_core.controllers.workloads.pods import find_added
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.helper.fixes import end_pod
from scheduler_core.world.simulation import Simulation

POD = "Pod"
UNNAMED = "-*"  # suffix of the key of pods without a name
_NO_REPLICA_SET = "ReplicaSetCreateError"
MOST_FREED = 3
_OWNERS = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")

DEFAULTS = {"cpu": "100m", "memory": "128Mi", "ephemeral-storage": "1Gi"}  # of a container without requests
# Refusals that this world's API server models, and would repeat if they still applied.
_MODELED = re.compile(r"quota|usage per|ratio per|PriorityClass|RuntimeClass|Invalid value")
_DENIED = re.compile(
    r"^.*(?:admission webhook .* denied the request|security context constraint|Warden|denied by policy|status unknown for quota)",
    re.DOTALL,
)  # by admission that is not modeled
_CALLED = re.compile(r'^.*failed calling webhook "(?P<webhook>[^"]+)".*$', re.DOTALL)
_UNSAID = re.compile(r"((?:limits|requests)\.(?:cpu|memory|ephemeral-storage)) for: ")
_LIMITS, _REQUESTS = "limits.", "requests."


def search_uncreated(
    sim: Simulation, key: str, budget: Budget, pod: Manifest | None = None
) -> Generator[None, None, Findings]:
    """Search fixes for the pods namespace/owner-* that their owner could not create, or for a refused `pod` without an owner."""
    namespace, _, name = key.removesuffix(UNNAMED).partition("/")
    owner = _owner(sim, namespace, name) if pod is None else {**pod, "spec": {"template": pod}}
    if owner is None:
        return Findings(key, "gone")
    prover = Prover(sim, key, budget, workload_of(sim.store, owner) or owner)
    goal = prover.expect_new_pod()

    def goal_of(draft: Draft) -> Goal:
        if draft.kinds != ("name",):
            return goal
        meta = {"name": draft.changes[0].values["to"], "namespace": namespace}
        return Prover(sim, key, budget, {**owner, "metadata": meta}).expect_new_pod()

    drafts = _propose(sim, owner, namespace)
    if pod is not None:
        drafts = (_create_changed(draft, pod) for draft in drafts)
    proposals = ((draft, goal_of(draft)) for draft in drafts)
    return (yield from prove_each(sim, key, prover, proposals, "searched"))


def _create_changed(draft: Draft, pod: Manifest) -> Draft:
    """Return the draft for a pod without a controller: calls about the pod change its manifest, which is applied last."""
    made: Manifest = clean(bare(pod))
    calls: list[str] = []
    for text in draft.typed:
        (call,) = read_calls(text)
        mine = call.words[1:2] == ("pod",) and not call.objects and call.words[0] in ("patch", "set resources")
        made = change_template(made, call) if mine else made
        calls += [] if mine else [text]
    for values in (each.values for each in draft.changes if each.kind == "quota"):  # the API server reads the status
        path = "{.status.hard." + values["resource"].replace(".", r"\.") + "}"
        where = f"resourcequota {values['quota']} -n {made['metadata']['namespace']}"
        calls.append(f"kubectl wait {where} --for=jsonpath='{path}'={values['to']}")
    return replace(draft, typed=(*calls, format_apply(made)))


def _propose(sim: Simulation, owner: Manifest, namespace: str) -> Iterator[Draft]:
    yield from resume(sim, owner, namespace)
    if find_stopped(sim, CONTROLLERS):
        return
    pod, refusal = complete_pod(sim, owner, namespace), find_refusal(sim, owner)
    raised = _raise_quotas(sim, owner, pod, refusal)
    if raised.changes:
        yield raised
        refer = {"kind": owner["kind"], **{k: owner["metadata"].get(k) for k in ("name", "uid")}, "controller": True}
        meta = {"name": "new", "namespace": namespace, "ownerReferences": [refer]}
        yield from in_turn(Draft({**pod_of(owner, namespace), "metadata": meta}), sim)
        full = {change.values["quota"] for change in raised.changes if change.kind == "quota"}
        yield from _free_quotas(sim, owner, namespace, full)
    why = ask_api_server(sim, pod)
    reported = "" if why or raised.changes else _find_reported_refusal(sim, owner, refusal)
    if why or reported:
        yield from propose_admission(sim, owner, namespace, why or reported)
    elif not raised.changes and owner["kind"] != POD:
        yield from propose_admission(sim, owner, namespace, find_last_refusal(sim, owner))
        yield from rebuild(owner, namespace)
        if owner["kind"] == "Job" and (owner.get("status") or {}).get("failed"):
            return  # its controller backs off after a failure, regardless of changes
        kind, name = owner["kind"].lower(), owner["metadata"]["name"]
        change = Change("retry", {"owner": f"{owner['kind']} {name}"})
        call = f"kubectl annotate {kind} {name} -n {namespace} retry=now --overwrite"
        yield Draft(pod_of(owner, namespace)).typing(change, call)
    # A pod that the cluster refuses for parts outside its template is created here without these parts.
    known = not find_foreign(sim, owner, refusal) or bool(find_added(sim.store, owner))
    if (found := EXCEEDED.search(refusal)) and not why:
        asked, given = (measure_pod(sim, owner, pod, found[1], text) for text in (refusal, ""))
        known = known and asked == given
    if owner["kind"] != POD and known and (raised.changes or not (why or reported)):
        labels = [f"{k}={v}" for k, v in ((owner["spec"].get("selector") or {}).get("matchLabels") or {}).items()]
        call = f"kubectl get pods -n {namespace} -l {','.join(labels)} --watch"
        yield Draft(pod_of(owner, namespace)).typing(
            Change("wait", {"pod": f"{namespace}/{owner['metadata']['name']}"}), call
        )


def _find_reported_refusal(sim: Simulation, owner: Manifest, given: str) -> str:
    """Return the cluster's refusal `given` for the last pod if this world would admit it: a webhook's, or unmodeled admission's."""
    text = read_refusal(owner)
    if owner["kind"] != POD and find_foreign(sim, owner, given) and not EXCEEDED.search(given):
        return given  # about a container that nothing adds to pods here
    last, called = _DENIED.match(given), _CALLED.match(given)
    for *_, pods in find_servers(sim, called["webhook"]) if called else ():
        last = last if pods is None or any(each.ready for each in pods) else called
    namespace = owner["metadata"]["namespace"]
    stands = find_absent_quota(sim, namespace, text) or any(find_bounds(sim, namespace, text))
    return last.string if last else "" if _MODELED.search(text) and not stands else text


def is_refused(sim: Simulation, owner: Manifest) -> bool:
    """Return whether the API server refused an owner's missing pods, or would refuse them."""
    pod = complete_pod(sim, owner, str(owner["metadata"]["namespace"]))
    return missing_of(owner) > 0 and bool(find_last_refusal(sim, owner) or ask_api_server(sim, pod))


def _free_quotas(sim: Simulation, owner: Manifest, namespace: str, full: set[str]) -> Iterator[Draft]:
    """Propose to remove pods that a `full` quota counts: terminating ones, and those that wait for a node."""
    pod = pod_of(owner, namespace)
    for quota in [each for each in quotas_of(sim, pod) if each["metadata"]["name"] in full]:
        of_objects = "count/pods" in (quota["spec"].get("hard") or {})  # pods that have ended, too
        mine = [p for p in sim.store.pods() if p.namespace == namespace and (of_objects or not p.terminal)]
        mine = [p for p in mine if all(in_scope(scope, KINDS[POD], p.manifest) for scope in scopes_of(quota))]
        for each in [each for each in mine if each.deleting][:MOST_FREED]:
            yield end_pod(Draft(pod), each)
        idle = (each for each in mine if (each.terminal or not each.node_name) and not each.deleting)
        waiting = sorted(idle, key=lambda each: each.key)
        name = quota["metadata"]["name"]
        for count in range(1, min(len(waiting), MOST_FREED) + 1):
            chosen = tuple((each.namespace, each.name) for each in waiting[:count])
            values = {"quota": name, "pods": [each.key for each in waiting[:count]]}
            yield Draft(pod).without_pods(Change("free-quota", values), chosen)
        above = (workload_of(sim.store, each.manifest) for each in list_lower(sim, owner, namespace)[1] if each in mine)
        for other in {e["metadata"]["name"]: e for e in above if e is not None and e["kind"] in SCALABLE}.values():
            now, target = int(other["spec"].get("replicas", 1)), name_of(other)
            values = {"owner": f"{other['kind']} {other['metadata']['name']}", "from": now, "to": now - 1}
            yield Draft(pod).typing(Change("fewer-replicas", values), f"kubectl scale {target} --replicas={now - 1}")


def list_lower(sim: Simulation, owner: Manifest, namespace: str) -> tuple[int, list[Pod]]:
    """Return the priority of the pods that an owner wants, and the pods of its namespace with a lower one."""
    name = str((owner["spec"]["template"].get("spec") or {}).get("priorityClassName") or "")
    value = int((sim.store.get("PriorityClass", "", name) or {}).get("value") or 0)
    return value, [pod for pod in sim.store.pods() if pod.namespace == namespace and pod.priority < value]


def _owner(sim: Simulation, namespace: str, name: str) -> Manifest | None:
    """Return the object that creates the pods. For a Deployment, return the newest ReplicaSet, or the Deployment if it has none."""
    deployment = sim.store.get("Deployment", namespace, name)
    if deployment is not None:
        keys = sim.store.controlled("ReplicaSet", str(deployment["metadata"].get("uid") or ""))
        if any(
            each.get("reason") == _NO_REPLICA_SET for each in (deployment.get("status") or {}).get("conditions") or ()
        ):
            return deployment
        name = keys[-1][1] if keys else name
    found = (sim.store.get(kind, namespace, name) for kind in _OWNERS)
    return next((each for each in found if each), deployment)


def _raise_quotas(sim: Simulation, owner: Manifest, pod: Manifest, refusal: str) -> Draft:
    """Return a draft that raises each limit to the usage including the missing pods, with defaults for unset resources."""
    made, draft = admit_without_quotas(sim, pod), Draft(pod)
    namespace = str(pod["metadata"]["namespace"])
    more: dict[str, Amount] = {}
    if owner["kind"] == "Deployment":
        add(more, usage(KINDS["ReplicaSet"], {**owner, "kind": "ReplicaSet"}, 0))
    for claim in list_missing_claims(sim, owner):
        add(more, usage(KINDS[CLAIM], claim, 0))
    unsaid = dict.fromkeys(_UNSAID.findall(refusal) if find_foreign(sim, owner, refusal) else ())
    for quota in quotas_of(sim, pod):
        unsaid |= dict.fromkeys(_unsaid(quota, made))
        needed, each = {**more}, measure_pod(sim, owner, made, quota["metadata"]["name"], refusal)
        for _ in range(_count_missing(sim, owner, namespace)):
            add(needed, each)
        draft = _with_room(sim, draft, quota, needed)
    return _with_defaults(draft, namespace, list(unsaid), pod) if unsaid else draft


def list_missing_claims(sim: Simulation, owner: Manifest) -> Iterator[Manifest]:
    """Yield the claims that a StatefulSet lacks for its replicas."""
    namespace, made = str(owner["metadata"].get("namespace") or "default"), {"apiVersion": "v1", "kind": CLAIM}
    for template in owner["spec"].get("volumeClaimTemplates") or ():
        for number in range(int(owner["spec"].get("replicas", 1))):
            name = f"{template['metadata']['name']}-{owner['metadata']['name']}-{number}"
            if sim.store.get(CLAIM, namespace, name) is None:
                yield {**template, **made, "metadata": {"name": name, "namespace": namespace}}


def _count_missing(sim: Simulation, owner: Manifest, namespace: str) -> int:
    """Return the number of missing pods by the status, but at most those that the existing pods leave; at least 1."""
    meta, wanted = owner["metadata"], owner["spec"].get("replicas")
    pods = (pod for pod in sim.store.pods() if pod.namespace == namespace and not pod.deleting and not pod.terminal)
    owners = (controller_of(pod.manifest) or {} for pod in pods)
    mine = [each for each in owners if (each.get("kind"), each.get("name")) == (owner["kind"], meta["name"])]
    left = missing_of(owner) if wanted is None else min(missing_of(owner), int(wanted) - len(mine))
    return max(left, 1)


def missing_of(owner: Manifest) -> int:
    """Return the number of pods that an owner wants but does not have."""
    kind, spec, status = owner["kind"], owner.get("spec") or {}, owner.get("status") or {}
    if kind == "DaemonSet":
        return int(status.get("desiredNumberScheduled") or 0) - int(status.get("currentNumberScheduled") or 0)
    wanted = spec.get("parallelism" if kind == "Job" else "replicas")
    return int(1 if wanted is None else wanted) - int(status.get("active" if kind == "Job" else "replicas") or 0)


def _unsaid(quota: Manifest, pod: Manifest) -> Iterator[str]:
    """Yield the fields that the quota limits and that some container does not set, such as "limits.cpu"."""
    spec = pod["spec"]
    for name in quota["spec"].get("hard") or {}:
        field, _, resource = name.rpartition(".")
        field = field or ("requests" if name in DEFAULTS else "")
        if field not in ("limits", "requests") or resource not in DEFAULTS:
            continue
        for container in (*spec["containers"], *(spec.get("initContainers") or ())):
            said = container.get("resources") or {}
            given = {**(said.get("limits") or {}), **((said.get("requests") or {}) if field == "requests" else {})}
            if resource not in given:
                yield f"{field}.{resource}"


def _with_defaults(draft: Draft, namespace: str, unsaid: list[str], pod: Manifest) -> Draft:
    """Return a draft with a LimitRange, whose defaults the API server writes into new pods. No limit is below a request."""
    asked = [((each.get("resources") or {}).get("requests") or {}) for each in pod["spec"]["containers"]]
    limits, requests = (
        {name.removeprefix(field): DEFAULTS[name.removeprefix(field)] for name in unsaid if name.startswith(field)}
        for field in (_LIMITS, _REQUESTS)
    )
    for name, least in limits.items():
        limits[name] = max((least, *(each[name] for each in asked if name in each)), key=lambda amount: nanos(amount))
    item: dict[str, Any] = {"type": "Container"}
    item |= {"default": limits} if limits else {}
    item |= {"defaultRequest": requests} if requests else {}
    manifest = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "container-defaults", "namespace": namespace},
        "spec": {"limits": [item]},
    }
    values = {"namespace": namespace, "resources": unsaid}
    return draft.with_applied(Change("limit-range", values), manifest)


def _with_room(sim: Simulation, draft: Draft, quota: Manifest, needed: Mapping[str, Amount]) -> Draft:
    hard, used = amounts(quota["spec"].get("hard")), (quota.get("status") or {}).get("used")
    # A file may have a quota as its author wrote it. The controller computes the usage before the quota admits anything.
    after = count_usage(sim, quota, hard) if used is None else amounts(used)
    add(after, {name: amount for name, amount in needed.items() if name in hard})
    for name in sorted(hard):
        if name in needed and after[name].nanos > hard[name].nanos:
            meta, text = quota["metadata"], after[name].text
            values = {"quota": meta["name"], "resource": name, "from": hard[name].text, "to": text}
            spec = {**quota["spec"], "hard": {**quota["spec"]["hard"], name: text}}
            quota = {**quota, "spec": spec}
            draft = draft.with_applied(Change("quota", values), quota)
    return draft
