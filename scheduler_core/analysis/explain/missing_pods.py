"""Missing pods: their controller could not create them (a quota, an admission plugin), or their workload is not to have them yet, because
it is paused, suspended, or managed by another controller.

They have no names yet. Their key is that of their owner: namespace/owner-*.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.analysis.explain.explanation import Explanation, Fact, GivenReason, Role, State
from scheduler_core.analysis.explain.holders import describe_end, describe_holder
from scheduler_core.analysis.explain.placement import note
from scheduler_core.analysis.explain.provenance import trace_surge
from scheduler_core.analysis.fixes.admission import (
    CREATING,
    acts,
    ask_api_server,
    describe_wait,
    find_absent_quota,
    find_foreign,
    find_servers,
    measure_pod,
    pod_of,
    read_refusal,
)
from scheduler_core.analysis.fixes.kubectl import workload_of
from scheduler_core.analysis.fixes.meanings import list_scalers, name_pod_webhooks
from scheduler_core.analysis.fixes.quotas import list_lower, list_missing_claims, missing_of
from scheduler_core.analysis.fixes.refused_pods import find_bounds, find_conflicts, find_unlimited, list_disallowed
from scheduler_core.analysis.fixes.workloads import has_ended
from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of
from scheduler_core.apimachinery.objects.demand import amounts, texts
from scheduler_core.apiserver.admission.plugins import pod_security
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.apiserver.quota import in_scope, overdue_at, scopes_of, usage
from scheduler_core.controllers.quota import RESYNC, count_usage
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import LISTS, add_containers, find_added, from_template
from scheduler_core.controllers.workloads.statefulsets.identity import new_pod, ordinals
from scheduler_core.world.simulation import Simulation

_OWNERS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")
_FAILED, _CREATED = "FailedCreate", "SuccessfulCreate"
_QUOTA = "exceeded quota: "
_QUEUE = "kueue.x-k8s.io/queue-name"
_LIMIT = "must be less than or equal to"
_BOUNDS = re.compile(r"(usage|ratio) per (Container|Pod|PersistentVolumeClaim)\b")
_OF_POD = re.compile(r"maximum (\S+) usage per Pod\b")
_SECURITY, _SELECTORS = "violates PodSecurity", "conflicts with its namespace node label selector"
_SCOPES = "insufficient quota to match these scopes"
_CALLED = re.compile(r'failed calling webhook "([^"]+)"')
USERS = 6  # of a quota that are named
_JOB_CONTROLLER = "kubernetes.io/job-controller"


def explain_refused_pod(world: Simulation, pod: Manifest, message: str) -> Explanation:
    """Explain a pod without a workload that the API server refused."""
    meta = pod["metadata"]
    key = ("Pod", str(meta["namespace"]), str(meta["name"]))
    found = _explain_missing(world, {**pod, "spec": {"template": pod}}, key, message, 1)
    return replace(found, pod=f"{key[1]}/{key[2]}")


def explain_uncreated(world: Simulation) -> list[Explanation]:
    """Return an explanation for each workload whose last pod was refused, or that is not to have its pods yet."""
    last, twin = _last_events(world), None
    found = list(_withheld(world))
    for kind in _OWNERS:
        for manifest in world.store.list(kind):
            if kind == "Deployment" and not _lacks_replica_set(manifest) and list_replica_sets(world, manifest):
                continue
            meta = manifest["metadata"]
            key = (kind, str(meta.get("namespace") or ""), str(meta["name"]))
            missing = 0 if _is_withheld(manifest) or has_ended(manifest) else count_missing(world, manifest)
            if kind == "Deployment" and missing <= 0 and read_refusal(manifest):
                missing = 1  # of the new revision, which has no ReplicaSet
            message = read_refusal(manifest) or last.get(key, "")
            if missing > 0 and not message and not acts(world, kind):
                if twin is None:
                    counted = count_quotas(world)
                    twin = world.fork() if counted else world
                    for each in counted:
                        twin.store.overwrite(each, "ResourceQuota")
                needed = (_predict_pod(world, manifest), *list_missing_claims(twin, manifest))
                message = next(filter(None, (ask_api_server(twin, each) for each in needed)), "")
            if message and missing > 0:
                found.append(_explain_missing(world, manifest, key, message, missing))
    return found


def _predict_pod(world: Simulation, manifest: Manifest) -> Manifest:
    """Return the next pod that a controller would send to the API server."""
    owner, template = Owner.of(manifest), manifest["spec"]["template"]
    if owner.kind == "StatefulSet":
        there = {pod.name for pod in list_pods(world, manifest)}
        missing = (each for each in ordinals(owner) if f"{owner.name}-{each}" not in there)
        pod = new_pod(owner, template, "", next(missing, 0))
    else:
        pod = from_template(owner, template)
    return add_containers(pod, find_added(world.store, manifest))


def count_missing(world: Simulation, owner: Manifest) -> int:
    """Return the number of pods that an owner wants and lacks. Without a status, its pods are counted."""
    if owner.get("status") or owner["kind"] in ("DaemonSet", "Deployment"):
        return missing_of(owner)
    spec, there = owner.get("spec") or {}, list_pods(world, owner)
    wanted = spec.get("parallelism" if owner["kind"] == "Job" else "replicas")
    return int(1 if wanted is None else wanted) - sum(not pod.deleting and not pod.terminal for pod in there)


def list_pods(world: Simulation, owner: Manifest) -> list[Pod]:
    """List the pods that an object controls: by its uid, or by its name, as a dump may have lost its uids."""
    return [pod for key in _list_controlled(world, "Pod", owner) if (pod := world.store.pod(*key)) is not None]


def list_replica_sets(world: Simulation, deployment: Manifest) -> list[Manifest]:
    """List the ReplicaSets that a Deployment controls."""
    keys = _list_controlled(world, "ReplicaSet", deployment)
    return [found for key in keys if (found := world.store.get("ReplicaSet", *key)) is not None]


def list_jobs(world: Simulation, cron_job: Manifest) -> list[Manifest]:
    """List the Jobs that a CronJob controls."""
    keys = _list_controlled(world, "Job", cron_job)
    return [found for key in keys if (found := world.store.get("Job", *key)) is not None]


def predict_job(world: Simulation, cron_job: Manifest) -> str:
    """Return the API server's refusal of one more Job of a CronJob, or "" if it would create the Job."""
    meta, template = cron_job["metadata"], (cron_job.get("spec") or {}).get("jobTemplate") or {}
    named = {**(template.get("metadata") or {}), "namespace": meta.get("namespace"), "name": meta["name"]}
    job = {"apiVersion": "batch/v1", "kind": "Job", **template, "metadata": named}
    if world.store.get("Job", str(named["namespace"] or "default"), meta["name"]) is not None:
        return ""
    return ask_api_server(world, job)


def _list_controlled(world: Simulation, kind: str, owner: Manifest) -> list[tuple[str, str]]:
    meta = owner["metadata"]
    if keys := world.store.controlled(kind, str(meta.get("uid") or "")):
        return keys
    wanted = (owner["kind"], meta["name"], meta.get("namespace"))
    found = []
    for manifest in world.store.list(kind):
        controller = controller_of(manifest) or {}
        if (controller.get("kind"), controller.get("name"), manifest["metadata"].get("namespace")) == wanted:
            found.append((str(manifest["metadata"]["namespace"]), str(manifest["metadata"]["name"])))
    return found


def _lacks_replica_set(deployment: Manifest) -> bool:
    """Return whether the API server refused the ReplicaSet of a new revision."""
    conditions = (deployment.get("status") or {}).get("conditions") or ()
    return any(each.get("reason") == "ReplicaSetCreateError" for each in conditions)


def _is_withheld(manifest: Manifest) -> bool:
    paused = manifest["kind"] == "Deployment" and (manifest.get("spec") or {}).get("paused")
    return bool(paused) or (manifest["kind"] == "Job" and _idle_job(manifest) is not None)


def count_quotas(world: Simulation) -> list[Manifest]:
    """Return the quotas without a status, with their computed usage."""
    found: list[Manifest] = []
    for quota in world.store.list("ResourceQuota"):
        hard = amounts((quota.get("spec") or {}).get("hard"))
        if (quota.get("status") or {}).get("used") is None and hard:
            status = {"hard": texts(hard), "used": texts(count_usage(world, quota, hard))}
            found.append({**quota, "status": status})
    return found


def _withheld(world: Simulation) -> Iterator[Explanation]:
    for manifest in world.store.list("Deployment"):
        owns = world.store.controlled("ReplicaSet", str(manifest["metadata"].get("uid") or ""))
        if (manifest.get("spec") or {}).get("paused") and not owns and (missing := missing_of(manifest)) > 0:
            yield _idle(manifest, State.PAUSED, "spec.paused is true", missing)
    for manifest in world.store.list("CronJob"):
        if (manifest.get("spec") or {}).get("suspend"):
            yield _idle(manifest, State.SUSPENDED, "spec.suspend is true", 0)
    for manifest in world.store.list("Job"):
        if (idle := _idle_job(manifest)) is not None and (missing := missing_of(manifest)) > 0:
            yield _idle(manifest, *idle, missing)


def _idle_job(manifest: Mapping[str, Any]) -> tuple[State, str] | None:
    """Return the state and the reason why no controller creates an unfinished Job's pods, or None."""
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    over = (each for each in status.get("conditions") or () if each.get("type") in ("Complete", "Failed"))
    if any(each.get("status") == "True" for each in over):
        return None
    if (by := spec.get("managedBy")) not in (None, _JOB_CONTROLLER):
        return State.MANAGED_ELSEWHERE, f"spec.managedBy is {by}"
    return (State.SUSPENDED, "spec.suspend is true") if spec.get("suspend") else None


def _idle(manifest: Mapping[str, Any], state: State, message: str, missing: int) -> Explanation:
    kind, meta = str(manifest["kind"]), manifest["metadata"]
    evidence = {"owner": {"kind": kind, "name": meta["name"]}, "missing": missing}
    key = f"{meta.get('namespace') or 'default'}/{meta['name']}-*"
    values = {"kind": kind, "owner": meta["name"]}
    facts = [Fact(Role.NOTES, "IsSuspended", values)] if state is State.SUSPENDED else []
    if queue := (meta.get("labels") or {}).get(_QUEUE):
        facts.append(Fact(Role.NOTES, "QueueHoldsBack", {**values, "queue": queue}))
    return Explanation(key, state, (GivenReason(state, "", message, evidence=evidence),), facts=tuple(facts))


def _last_events(world: Simulation) -> dict[tuple[str, str, str], str]:
    """Return, by object, the message of the refusal of its last pod, or "" if its last pod was created."""
    last: dict[tuple[str, str, str], str] = {}
    for event in world.store.events:
        if event.reason in (_FAILED, _CREATED):
            text = event.message.rpartition("Error creating: ")[2] if event.reason == _FAILED else ""
            last[event.kind, event.namespace, event.name] = " ".join(text.split())
    return last


def _explain_missing(
    world: Simulation, manifest: Manifest, key: tuple[str, str, str], message: str, missing: int
) -> Explanation:
    kind, namespace, name = key
    quota = find_absent_quota(world, namespace, message)
    state = State.QUOTA_EXCEEDED if _QUOTA in message and not quota else State.NOT_CREATED
    evidence: dict[str, Any] = {"owner": {"kind": kind, "name": name}, "missing": missing}
    facts = [Fact(Role.NOTES, "QuotaIsNotHere", {"quota": quota, "namespace": namespace})] if quota else []
    if state is State.QUOTA_EXCEEDED:
        evidence["quota"] = message.partition(_QUOTA)[2].partition(",")[0]
        facts += _describe_quota(world, manifest, namespace, evidence, message)
    elif _LIMIT in message or _BOUNDS.search(message):
        for each in (e for e in world.store.list("LimitRange") if e["metadata"].get("namespace") == namespace):
            limits = [item["default"] for item in each["spec"].get("limits") or () if item.get("default")]
            values = {"limitRange": each["metadata"]["name"], "namespace": namespace}
            if _LIMIT not in message:
                facts.append(Fact(Role.PROVENANCE, "LimitRangeRefuses", values))
                facts += _add_up(manifest, each, message)
            elif limits:
                values |= {"limits": [f"{k} {v}" for k, v in limits[0].items()]}
                facts.append(Fact(Role.PROVENANCE, "LimitRangeLimits", values))
        unknown = any(find_bounds(world, namespace, message)) and not find_foreign(world, manifest, message)
        if unknown and not ask_api_server(world, pod_of(manifest, namespace)):
            facts.append(Fact(Role.NOTES, "NotOfTemplate", {"webhooks": name_pod_webhooks(world)}))
    elif "Limit must be set" in message:
        for each in manifest["spec"]["template"]["spec"]["containers"]:
            for resource, _ in find_unlimited(each)[:1]:
                facts.append(Fact(Role.NOTES, "LimitIsMissing", {"container": each["name"], "resource": resource}))
    elif _SCOPES in message:
        spec = manifest["spec"]["template"].get("spec") or {}
        values = {"namespace": namespace, "priorityClass": spec.get("priorityClassName")}
        facts.append(Fact(Role.NOTES, "ScopeNeedsQuota", values))
    elif "tolerations) conflict with its namespace whitelist" in message:
        if names := list_disallowed(world, pod_of(manifest, namespace), namespace)[1]:
            facts.append(Fact(Role.PROVENANCE, "NotAllowed", {"namespace": namespace, "tolerations": names}))
    elif _SECURITY in message:
        labels = {k: v for of in (manifest, manifest["spec"]["template"]) for k, v in _labels_of(of).items()}
        if wrong := [f"{key}={value}" for key, value in labels.items() if key.startswith(pod_security.LABEL)]:
            facts.append(note("LabelIsOfNamespace", label=", ".join(wrong), namespace=namespace))
    elif _SELECTORS in message:
        for own, theirs in find_conflicts(world, pod_of(manifest, namespace)):
            facts.append(note("SelectorsConflict", namespace=namespace, own=own, theirs=theirs))
    elif called := _CALLED.search(message):
        facts += _list_own_webhook(world, manifest, namespace, called[1])
    if kind == "Pod":  # it has no added containers and no autoscaler, and may be malformed
        return Explanation(
            f"{namespace}/{name}-*", state, (GivenReason(state, "", message, evidence=evidence),), facts=tuple(facts)
        )
    if added := find_foreign(world, manifest, message):
        values = {"container": ", ".join(added), "webhooks": name_pod_webhooks(world)}
        facts.append(note("ContainerIsInjected", kind=kind, owner=name, **values))
    facts += _list_scalers(world, manifest)
    due = world.surroundings.queues.get(CREATING.get(kind, ""))
    again = due.due.get(f"{namespace}/{name}") if due is not None and acts(world, kind) else None
    if again is not None and again > world.now:
        code = "ControllerBacksOff" if evidence.get("room") else "TriedAgainAt"
        facts.append(Fact(Role.NOTES, code, {"kind": kind, "owner": name, "until": again}))
    return Explanation(
        f"{namespace}/{name}-*", state, (GivenReason(state, "", message, evidence=evidence),), again, facts=tuple(facts)
    )


def _list_scalers(world: Simulation, manifest: Manifest) -> Iterator[Fact]:
    """Yield the autoscaler that has set the workload's replicas."""
    root = workload_of(world.store, manifest) or manifest
    values = {"kind": root["kind"], "owner": root["metadata"]["name"], "replicas": root["spec"].get("replicas")}
    for each in list_scalers(world, root):
        if values["replicas"] and values["replicas"] == (each.get("status") or {}).get("desiredReplicas"):
            yield note("IsScaledTo", **values, autoscaler=each["metadata"]["name"])


def _labels_of(manifest: Manifest) -> Mapping[str, str]:
    return (manifest.get("metadata") or {}).get("labels") or {}


def _add_up(manifest: Manifest, limit_range: Manifest, message: str) -> Iterator[Fact]:
    """Yield the container limits, including defaults, that a LimitRange adds up for a pod."""
    if (found := _OF_POD.search(message)) is None:
        return
    given = [(each.get("default") or {}).get(found[1]) for each in limit_range["spec"].get("limits") or ()]
    default = next((f"{amount} (default)" for amount in given if amount), "")
    containers = (manifest["spec"]["template"].get("spec") or {}).get("containers") or ()
    own = [((each.get("resources") or {}).get("limits") or {}).get(found[1]) or default for each in containers]
    parts = [f"{each['name']} {amount}" for each, amount in zip(containers, own, strict=True) if amount]
    if len(parts) > 1:
        yield Fact(Role.PROVENANCE, "AddsUp", {"kind": "limits", "name": found[1], "list": parts})


def _list_own_webhook(world: Simulation, manifest: Manifest, namespace: str, webhook: str) -> Iterator[Fact]:
    """Yield a webhook that does not answer because its own pods can't be created without it."""
    labels = _labels_of(manifest["spec"]["template"])
    for service, selector, servers in find_servers(world, webhook):
        there = str(service.get("namespace"))
        if servers is not None and not any(pod.ready for pod in servers):
            states = [f"{pod.name} ({describe_wait(pod).rstrip('. ')})" for pod in servers[:1]] or ["-"]
            values = {"webhook": webhook, "service": service["name"], "namespace": there}
            yield Fact(Role.NOTES, "ServiceIsDown", {**values, "servers": states})
        if there == namespace and selector and selector.items() <= labels.items():
            yield Fact(Role.NOTES, "WebhookServesItself", {"webhook": webhook, "service": service["name"]})


def _describe_quota(
    world: Simulation, manifest: Manifest, namespace: str, evidence: dict[str, Any], message: str
) -> Iterator[Fact]:
    """Yield the pods that use up a quota, those without a node and those that end first; add to the evidence whether room remains."""
    quota = world.store.get("ResourceQuota", namespace, str(evidence["quota"]))
    if quota is None:
        return
    stated, hard = ((quota.get(part) or {}).get("hard") or {} for part in ("spec", "status"))
    changed = [name for name in sorted(stated) if hard and hard.get(name) != stated[name]]
    if old := [f"{name} {hard.get(name)} → {stated[name]}" for name in changed]:
        yield Fact(Role.PROVENANCE, "QuotaStatusIsOld", {"quota": evidence["quota"], "figures": old})
    hard = amounts(hard or stated)
    wall = world.store.epoch + world.now
    pod = _predict_pod(world, manifest)
    each, plain = (measure_pod(world, manifest, pod, str(evidence["quota"]), text) for text in (message, ""))
    used = count_usage(world, quota, hard)
    over = [name for name in sorted(hard) if name in each and (used[name] + each[name]).nanos > hard[name].nanos]
    evidence["room"] = not over and any(name in hard for name in each)
    if not any(name in hard for name in each):
        refused = message.rpartition("error: ")[2].rstrip(". ").replace(f" is forbidden: {_QUOTA}", " (quota: ", 1)
        yield Fact(Role.NOTES, "QuotaOfOther", {"quota": evidence["quota"], "message": f"{refused})"})
        return
    if scopes := scopes_of(quota):
        values = {"quota": evidence["quota"], "scopes": [_describe_scope(each) for each in scopes]}
        yield Fact(Role.PROVENANCE, "QuotaScope", values)
    for name in over:
        figures = {"each": each[name].text, "used": used[name].text, "hard": hard[name].text}
        yield Fact(Role.PROVENANCE, "QuotaFigures", {"quota": evidence["quota"], "name": name, **figures})
        if each[name] != plain.get(name):
            values = {"name": name, "asked": each[name].text, "given": plain[name].text if name in plain else "none"}
            yield Fact(Role.PROVENANCE, "RequestedMore", values)
        side, _, resource = name.rpartition(".")
        given = {c["name"]: c.get("resources") or {} for field in LISTS for c in pod["spec"].get(field) or ()}
        parts = [f"{c} {of[side][resource]}" for c, of in given.items() if resource in of.get(side, {})]
        if parts and find_added(world.store, manifest):
            yield Fact(Role.PROVENANCE, "SumOfContainers", {"name": name, "each": figures["each"], "list": parts})
    yield from trace_surge(world, manifest, [pod for pod in world.store.pods() if pod.namespace == namespace])
    value, lower = list_lower(world, manifest, namespace)
    if lower:
        names = [pod.key for pod in lower[:USERS]]
        yield note("QuotaIgnoresPriority", quota=evidence["quota"], priority=value, pods=names)
    yield from _list_users(world, quota, over or [name for name in sorted(hard) if name in each], wall)


def _describe_scope(scope: Mapping[str, Any]) -> str:
    values = f" ({', '.join(scope['values'])})" if scope.get("values") else ""
    return f"{scope.get('scopeName')}{'' if scope.get('operator') == 'Exists' else ' ' + str(scope.get('operator'))}{values}"


def _list_users(world: Simulation, quota: Manifest, names: list[str], wall: int) -> Iterator[Fact]:
    kind, found = KINDS["Pod"], []
    for pod in world.store.pods():
        if pod.namespace != quota["metadata"]["namespace"]:
            continue
        if not all(in_scope(scope, kind, pod.manifest) for scope in scopes_of(quota)):
            continue
        of_pod = {name: amount for name, amount in usage(kind, pod.manifest, wall).items() if name in names}
        if any(amount.nanos for amount in of_pod.values()):
            idle = pod.terminal or pod.deleting or not pod.node_name
            found.append((not idle, not pod.deleting, pod.key, pod, of_pod))
    for *_, pod, of_pod in sorted(found, key=lambda each: each[:3])[:USERS]:
        name, amount = next(iter(of_pod.items()))
        values = {**describe_holder(world, pod), "quota": quota["metadata"]["name"], "name": name, "used": amount.text}
        code = "HoldsQuota" if pod.node_name else "HoldsQuotaWithoutNode"
        code = "HoldsQuotaAfterEnd" if pod.terminal else code
        yield Fact(Role.HOLDERS, code, values)
        yield from describe_end(world, pod)
        if pod.deleting and values["until"] is None and (counted := overdue_at(pod.manifest)) is not None:
            until = -(-(counted + 1 - world.store.epoch) // RESYNC) * RESYNC
            yield Fact(Role.HOLDERS, "QuotaCountsUntil", {"pod": pod.key, "quota": values["quota"], "until": until})
