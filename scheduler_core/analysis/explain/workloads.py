"""Workloads and nodes in an undesired state: missing pods, rollouts and drains that make no progress."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.analysis.explain import missing_pods
from scheduler_core.analysis.explain.ended import FAILED, Past, explain_failed
from scheduler_core.analysis.explain.explanation import Explanation, Fact, GivenReason, State
from scheduler_core.analysis.explain.holders import describe_end, describe_holder, end_of, explain_bypass
from scheduler_core.analysis.explain.placement import note
from scheduler_core.analysis.explain.provenance import compare_template
from scheduler_core.analysis.explain.waiting import list_near
from scheduler_core.analysis.fixes.admission import CONTROLLERS, describe_wait, find_foreign, find_stopped
from scheduler_core.analysis.fixes.meanings import (
    find_contest,
    index_events,
    list_foreign_pods,
    list_lost_scalers,
    list_scalers,
    name_pod_webhooks,
)
from scheduler_core.analysis.fixes.proposals import is_of_old_template
from scheduler_core.analysis.fixes.workloads import (
    divide_containers,
    has_ended,
    list_placed_for_a_time,
    list_uneven,
    ran_out,
)
from scheduler_core.apimachinery.objects import SECOND, LabelSelector, Manifest, Pod, controller_of, parse_time
from scheduler_core.apimachinery.objects.names import read_words
from scheduler_core.apiserver.admission.plugins import pod_security
from scheduler_core.apiserver.eviction import budgets_for
from scheduler_core.apiserver.kube_events import WARNING
from scheduler_core.base.clock.cron import BadSchedule
from scheduler_core.controllers.disruption import predict_status
from scheduler_core.controllers.nodes.drain import list_wanted_flags
from scheduler_core.controllers.workloads.cronjobs.controller import most_recent, schedule_of
from scheduler_core.controllers.workloads.daemonsets.controller import surge, unavailable
from scheduler_core.controllers.workloads.daemonsets.daemons import Placement
from scheduler_core.controllers.workloads.jobs import backoff
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.statefulsets.identity import ordinals, parent_and_ordinal
from scheduler_core.scheduler.plugins.nodeaffinity.fixes import find_meant
from scheduler_core.world.simulation import Simulation

KINDS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob")
NODE = "Node"
_ALWAYS, _IF_HEALTHY = "AlwaysAllow", "IfHealthyBudget"
STICKING = frozenset(
    read_words("""
    BadSchedule ComponentStopped ConditionOf FailedAndWaits IndexesFailed JobFailed JobIsRefused LabelWasMeant
    MissedStarts NameIsTaken NamespaceEnds NeverStarts NodesWithoutPod OldRevisionStays OthersStillRun PausedRollout
    PlacedForATime ReplicasAreContested RolloutStuck
    SameNameWaits ScaleDownWaits TargetIsMissing UpdateWaitsFor WaitsForEnd WaitsInOrder
""")
)
SHOWN, LOOKED_AT = 3, 40  # of nodes
_BAD = frozenset(  # conditions of problems, except with the reasons in _FINE
    read_words("""
    AbleToScale=False DiskPressure=True MemoryPressure=True NamespaceDeletionDiscoveryFailure=True NamespaceFinalizersRemaining=True
    NetworkUnavailable=True PIDPressure=True Ready=False Ready=Unknown ScalingActive=False ScalingLimited=True Unschedulable=True
""")
)
_LOSSES = {"--force": "DrainWantsForce", "--delete-emptydir-data": "DrainWantsToLoseData"}
_FINE = ("ScalingDisabled", "TooFewReplicas")
SHORTEST = 10  # seconds: the CronJob controller may check a schedule too late for a shorter deadline


def explain_workload(world: Simulation, kind: str, namespace: str, name: str) -> Explanation | None:
    """Explain what a workload lacks. Return None if the workload does not exist."""
    manifest = world.store.get(kind, namespace, name) if kind in KINDS else None
    if manifest is None:
        return None
    if kind == "CronJob":
        return _explain_cron_job(world, manifest, f"{kind}/{namespace}/{name}")
    makers = (missing_pods.list_replica_sets(world, manifest) if kind == "Deployment" else []) or [manifest]
    pods = [pod for maker in makers for pod in missing_pods.list_pods(world, maker)]
    names = {(maker["kind"], maker["metadata"]["name"]) for maker in (manifest, *makers)}
    missing = [each for each in missing_pods.explain_uncreated(world) if _is_of(each, namespace, names)]
    stuck = list(_list_stuck(world, manifest, pods))
    waiting = [pod for pod in pods if not pod.ready and not pod.terminal and not pod.deleting]
    there = [pod for pod in pods if not pod.deleting and not (kind == "Job" and pod.terminal)]
    figures = {"kind": kind, "owner": name, "pods": len(there)}
    figures["ready"] = sum(pod.ready and not pod.deleting for pod in pods)
    facts = [note("WorkloadHas", **figures, wanted=_count_wanted(world, manifest)), *stuck]
    facts += [_describe_unready(world, pod) for pod in waiting[:SHOWN]]
    facts += [fact for each in missing for fact in each.facts]
    stuck = [fact for fact in stuck if fact.code in (*STICKING, "AllFailed")]  # the pods explain the latter
    pod = {"metadata": {"namespace": namespace}, "spec": manifest["spec"].get("template", {}).get("spec") or {}}
    warned, refused = (
        pod_security.describe_violations(world.store, world.settings.release, pod, mode)
        for mode in (pod_security.WARN, pod_security.ENFORCE)
    )
    if warned and not refused:
        facts.append(note("SecurityWarns", namespace=namespace, message=warned))
    state = State.STUCK if stuck or missing or waiting else State.AS_WANTED
    reasons = tuple(reason for each in missing for reason in each.reasons)
    until = next((each.until for each in missing if each.until is not None), None)
    return Explanation(f"{kind}/{namespace}/{name}", state, reasons, until, facts=tuple(facts))


def _is_of(explanation: Explanation, namespace: str, names: Iterable[tuple[str, str]]) -> bool:
    owner = explanation.reasons[0].evidence["owner"]
    return explanation.pod.startswith(f"{namespace}/") and (owner["kind"], owner["name"]) in names


def _count_wanted(world: Simulation, manifest: Manifest) -> int:
    spec = manifest.get("spec") or {}
    if manifest["kind"] == "DaemonSet":
        placement = Placement.of(Owner.of(manifest))
        return sum(placement.on(node)[0] for node in world.store.nodes())
    wanted = spec.get("parallelism" if manifest["kind"] == "Job" else "replicas")
    return int(1 if wanted is None else wanted)


# Workloads without progress


def _list_stuck(world: Simulation, manifest: Manifest, pods: list[Pod]) -> Iterator[Fact]:
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    values = {"kind": manifest["kind"], "owner": manifest["metadata"]["name"]}
    yield from _list_end_of_namespace(world, manifest, values)
    if manifest["kind"] == "Deployment" and (manifest.get("spec") or {}).get("paused"):
        rolled = any(_has_template(each, manifest) for each in missing_pods.list_replica_sets(world, manifest))
        yield note("IsPaused" if rolled else "PausedRollout", **values)
    if manifest["kind"] == "StatefulSet":
        yield from _list_stuck_replicas(world, manifest, pods)
    if manifest["kind"] in ("StatefulSet", "DaemonSet"):
        yield from _list_old_revision(world, manifest, pods)
    yield from _list_awaited_ends(world, manifest, pods)
    yield from _list_failures(world, pods) if manifest["kind"] == "Job" and not has_ended(manifest) else ()
    lacks = manifest["kind"] != "Job" and not pods and _count_wanted(world, manifest) > 0
    if failed := _list_failed(world, manifest, pods):
        last = max(failed, key=lambda pod: pod.creation_time or 0)
        yield note("AllFailed", **values, pod=last.key, count=len(failed), why=_describe_failure(world, last))
        yield from explain_bypass(world, last)
    elif lacks and (stopped := find_stopped(world, CONTROLLERS)) is not None:
        yield note("ComponentStopped", **values, component=CONTROLLERS, pod=stopped[0], why=stopped[1])
    field = "parallelism" if manifest["kind"] == "Job" else "replicas"
    wanted, done = (manifest.get("spec") or {}).get("completions"), (manifest.get("status") or {}).get("succeeded")
    if wanted and done and 0 < wanted - done < _count_wanted(world, manifest):
        yield note("CompletionsLeft", **values, wanted=wanted, count=done, left=wanted - done)
    if (manifest.get("spec") or {}).get(field) == 0:
        yield note("WantsNone", **values, field=field)
    for pod, span in list_placed_for_a_time(world, pods)[:1]:
        yield note("PlacedForATime", **values, node=pod.node_name, seconds=span * SECOND)
    yield from _list_scaling_troubles(world, manifest, pods, values)
    for key, by_domain, most in list_uneven(world, manifest, pods):
        counts = [f"{name}: {len(there)}" for name, there in sorted(by_domain.items())]
        yield note("SpreadIsUneven", **values, key=key, counts=counts[:SHOWN], skew=most)
    for each in list_scalers(world, manifest):
        if (manifest.get("spec") or {}).get(field) == 0:
            yield note("AutoscalerIsOff", **values, autoscaler=each["metadata"]["name"])
        else:
            yield from (reports := [*describe_conditions([each]), *_list_kept_replicas(each)])
            yield from _list_injected(world, manifest, values, reports)
    if (seconds := (manifest.get("spec") or {}).get("minReadySeconds")) and manifest["kind"] != "Job":
        fresh = [pod.key for pod in pods if pod.ready and not _is_available(world, pod, seconds)]
        if fresh:
            values |= {"seconds": seconds * SECOND, "pods": fresh[:SHOWN], "count": len(fresh)}
            yield note("AvailableLater", **values)
    if indexes := (manifest.get("status") or {}).get("failedIndexes"):
        limit = (manifest.get("spec") or {}).get("backoffLimitPerIndex")
        yield note("IndexesFailed", owner=values["owner"], indexes=indexes, limit=limit)
    for each in conditions:
        text = f"{str(each.get('message') or '').rstrip('. ')}."
        if each.get("type") == "Progressing" and each.get("reason") == "ProgressDeadlineExceeded":
            yield note("RolloutStuck", **values, message=text)
        if manifest["kind"] == "Job" and each.get("type") == "Failed" and each.get("status") == "True":
            yield note("JobFailed", **values, reason=each.get("reason") or "", message=text)
            if not pods and manifest["spec"]["template"]["spec"].get("restartPolicy") == "OnFailure":
                yield note("JobDeletesItsPods", **values)
    if manifest["kind"] == "DaemonSet":
        yield from _list_bare_nodes(world, manifest, pods)
    if manifest["kind"] == "Job" and ran_out(manifest):
        yield from _list_last_refusal(world, manifest)


def _list_scaling_troubles(
    world: Simulation, manifest: Manifest, pods: list[Pod], values: Mapping[str, Any]
) -> Iterator[Fact]:
    """Yield autoscalers whose target is missing, another writer of the replicas, and foreign pods that an autoscaler counts."""
    for each in list_lost_scalers(world, manifest):
        target = f"{each['spec']['scaleTargetRef']['kind']} {each['spec']['scaleTargetRef']['name']}"
        yield note("TargetIsMissing", **values, autoscaler=each["metadata"]["name"], target=target)
    if (contest := find_contest(world, manifest)) is not None:
        yield note("ReplicasAreContested", **values, **contest)
    for pod in list_foreign_pods(world, manifest, pods)[:SHOWN]:
        yield note("ScaledPodIsForeign", **values, pod=pod.key)


def _list_end_of_namespace(world: Simulation, manifest: Manifest, values: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield that a workload's namespace is being deleted, and the pods that block the deletion."""
    namespace = world.store.get("Namespace", "", str(manifest["metadata"].get("namespace") or "default"))
    if namespace is None or not namespace["metadata"].get("deletionTimestamp"):
        return
    name = namespace["metadata"]["name"]
    here = [pod for pod in world.store.pods() if pod.namespace == name]
    left = [pod.key for pod in here if pod.manifest["metadata"].get("finalizers")]
    yield note("NamespaceEnds", **values, namespace=name)
    yield from describe_conditions([namespace])
    if left:
        yield note("NamespaceWaitsFor", namespace=name, pods=left[:SHOWN], count=len(left))


def _list_last_refusal(world: Simulation, job: Manifest) -> Iterator[Fact]:
    """Yield the scheduler's last report about the pods of a Job whose deadline has passed."""
    namespace, owner = str(job["metadata"].get("namespace") or ""), job["metadata"]["name"]
    said = [each for each in world.store.events if each.namespace == namespace and each.name.startswith(f"{owner}-")]
    for event in [each for each in said if each.reason == "FailedScheduling"][-1:]:
        text = event.message.rstrip(". ")
        yield note("WaitedTooLong", owner=owner, pod=f"{namespace}/{event.name}", message=text)


def _list_injected(
    world: Simulation, manifest: Manifest, values: Mapping[str, Any], reports: list[Fact]
) -> Iterator[Fact]:
    """Yield the containers that reports name, and that a workload's pods have although its template lacks them."""
    makers = (missing_pods.list_replica_sets(world, manifest) if manifest["kind"] == "Deployment" else []) or [manifest]
    text, webhooks = " ".join(str(fact.values.get("message")) for fact in reports), name_pod_webhooks(world)
    for name in dict.fromkeys(name for maker in makers for name in find_foreign(world, maker, "")):
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
            yield note("ContainerIsInjected", **values, container=name, webhooks=webhooks)


def _list_kept_replicas(scaler: Manifest) -> Iterator[Fact]:
    """Yield why an autoscaler keeps its replicas although the usage is below its target: it rounds up, and tolerates a tenth."""
    spec, status = scaler.get("spec") or {}, scaler.get("status") or {}
    now, measured = int(status.get("currentReplicas") or 0), status.get("currentMetrics") or ()
    uses = {(each.get("resource") or {}).get("name"): (each.get("resource") or {}).get("current") for each in measured}
    for given in [each["resource"] for each in spec.get("metrics") or () if "resource" in each]:
        target, used = (each.get("averageUtilization") for each in (given["target"], uses.get(given["name"]) or {}))
        below = min((target or 0) * (now - 1) // max(now, 1), (9 * (target or 0) - 1) // 10)
        if used and now > int(spec.get("minReplicas") or 1) and below < used < (target or 0):
            values = {"autoscaler": scaler["metadata"]["name"], "resource": given["name"], "replicas": now}
            yield note("AutoscalerKeeps", **values, used=used, target=target, below=below)


def _list_failed(world: Simulation, manifest: Manifest, pods: list[Pod]) -> list[Pod]:
    """List the pods of a workload, or of its revision, if it wants pods and all have ended."""
    makers = missing_pods.list_replica_sets(world, manifest) if manifest["kind"] == "Deployment" else []
    by_maker = [(each, missing_pods.list_pods(world, each)) for each in makers] or [(manifest, pods)]
    ended = (mine for each, mine in by_maker if all(pod.terminal for pod in mine) and _count_wanted(world, each) > 0)
    return next((mine for mine in ended if mine and manifest["kind"] != "Job"), [])


def _has_template(replica_set: Manifest, deployment: Manifest) -> bool:
    """Return whether a ReplicaSet has its Deployment's template, except for the label pod-template-hash."""
    spec, other = (each["spec"]["template"] for each in (replica_set, deployment))
    labels = {k: v for k, v in (spec.get("metadata") or {}).get("labels", {}).items() if k != "pod-template-hash"}
    return bool(spec.get("spec") == other.get("spec") and labels == (other.get("metadata") or {}).get("labels"))


def _list_stuck_replicas(world: Simulation, manifest: Manifest, pods: list[Pod]) -> Iterator[Fact]:
    """Yield the pods that a StatefulSet waits for: a terminating one and, in order, one that is not ready."""
    owner, by_name = Owner.of(manifest), {pod.name: pod for pod in pods}
    names = [f"{owner.name}-{ordinal}" for ordinal in ordinals(owner)]
    values = {"owner": owner.name}
    for name in [name for name in names if name not in by_name]:
        if (taken := world.store.pod(str(manifest["metadata"]["namespace"]), name)) is not None:
            by = describe_holder(world, taken)["owner"] or "no workload"
            yield note("NameIsTaken", **values, pod=taken.key, by=by)
    there = [by_name[name] for name in names if name in by_name]
    for ending in (each for each in there if each.deleting and end_of(world, each) is None):
        yield note("SameNameWaits", **values, pod=ending.key)
        yield from describe_end(world, ending)
    lacking = (each for name in names if (each := by_name.get(name)) is None or not _is_done(each))
    blocker = next(lacking, None)
    if blocker is None or blocker.deleting:
        return
    later = [name for name in names if name not in by_name]
    in_order = owner.spec.get("podManagementPolicy") != "Parallel"
    if later and in_order:
        yield note("WaitsInOrder", **values, pod=blocker.key, pods=later[:SHOWN], count=len(later))
    beyond = [pod for pod in pods if pod.name not in names and not pod.deleting]
    if beyond and in_order:
        keys = [pod.key for pod in beyond[:SHOWN]]
        yield note("ScaleDownWaits", **values, pod=blocker.key, pods=keys, count=len(beyond))
    newer = compare_template(world, blocker)
    if newer is not None and in_order:
        yield newer
        yield note("OldRevisionStays", **values, pod=blocker.key)


def _list_awaited_ends(world: Simulation, manifest: Manifest, pods: list[Pod]) -> Iterator[Fact]:
    """Yield the pods that have to end before a workload creates others, because of its strategy or its policy."""
    spec, rule, awaited = manifest.get("spec") or {}, "", []
    if manifest["kind"] == "Deployment" and (spec.get("strategy") or {}).get("type") == "Recreate":
        old = [each for each in missing_pods.list_replica_sets(world, manifest) if not _has_template(each, manifest)]
        awaited = [pod for each in old for pod in missing_pods.list_pods(world, each) if not pod.terminal]
        rule = "strategy Recreate"
    default = "Failed" if spec.get("podFailurePolicy") else ""
    if manifest["kind"] == "Job" and spec.get("podReplacementPolicy", default) == "Failed":
        awaited, rule = [pod for pod in pods if not pod.terminal], "podReplacementPolicy Failed"
    ending = [pod for pod in awaited if pod.deleting]
    if ending and len(ending) == len(awaited):
        values = {"kind": manifest["kind"], "owner": manifest["metadata"]["name"]}
        yield note("WaitsForEnd", **values, pod=ending[0].key, rule=rule)
        yield from describe_end(world, ending[0])


def _list_failures(world: Simulation, pods: list[Pod]) -> Iterator[Fact]:
    """Yield the last failure of a Job without running pods, and its backoff; and containers that keep a pod from ending."""
    for pod in pods:
        ended, running = divide_containers(pod)
        if ended and running:
            yield note("OthersStillRun", pod=pod.key, ended=ended, containers=running)
    failed = sorted((pod for pod in pods if pod.phase == FAILED), key=backoff.get_finish_time)
    if failed and all(pod.terminal for pod in pods):
        last, until = failed[-1], backoff.waits_until(len(failed), backoff.get_finish_time(failed[-1]))
        why = _describe_failure(world, last)
        left = until - world.store.epoch - world.now
        values = {"pod": last.key, "count": len(failed), "why": why, "left": left}
        yield note("FailedAndWaits" if left > 0 else "FailedBefore", **values)


def _describe_failure(world: Simulation, pod: Pod) -> str:
    return next((str(each.message) for each in explain_failed(pod, Past(world)).reasons), pod.phase).rstrip(". ")


def _list_old_revision(world: Simulation, manifest: Manifest, pods: list[Pod]) -> Iterator[Fact]:
    """Yield why pods of an old template remain: the update strategy, a partition, or an unavailable pod."""
    owner = Owner.of(manifest)
    strategy = owner.spec.get("updateStrategy") or {}
    old = [pod for pod in pods if not pod.deleting and _is_old(world, pod, manifest)]
    values = {"kind": manifest["kind"], "owner": owner.name}
    if old and strategy.get("type") == "OnDelete":
        yield note("UpdatedOnDelete", **values, pods=[pod.key for pod in old[:SHOWN]], count=len(old))
        return
    partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    kept = [pod for pod in old if parent_and_ordinal(pod.name)[1] < partition]
    if partition and kept:
        names = [pod.key for pod in kept[:SHOWN]]
        yield note("KeptByPartition", **values, partition=partition, pods=names, count=len(kept))
    if manifest["kind"] != "DaemonSet" or not old or surge(owner, 1):
        return
    lacking, most = [pod for pod in pods if not _is_done(pod)], unavailable(owner, len(pods)) or 1
    if len(lacking) >= most:
        first = lacking[0]
        yield note("UpdateWaitsFor", **values, pod=first.key, node=first.node_name, most=most, count=len(old))
        yield from describe_end(world, first)


def _is_available(world: Simulation, pod: Pod, seconds: int) -> bool:
    since = (pod.condition("Ready") or {}).get("lastTransitionTime")
    return not since or parse_time(since) + seconds * SECOND <= world.store.epoch + world.now


def _is_old(world: Simulation, pod: Pod, owner: Manifest) -> bool:
    newest, revision = (owner.get("status") or {}).get("updateRevision"), pod.labels.get("controller-revision-hash")
    if newest and revision:
        return bool(revision != newest)
    return compare_template(world, pod) is not None or is_of_old_template(pod, owner)


def _explain_cron_job(world: Simulation, manifest: Manifest, key: str) -> Explanation | None:
    """Explain a CronJob: a Job that still runs, an API server that refuses the next, a missed start. Return None if it is suspended,
    which missing_pods explains.
    """
    spec, meta = manifest.get("spec") or {}, manifest["metadata"]
    if spec.get("suspend"):
        return None
    active = [job for job in missing_pods.list_jobs(world, manifest) if not has_ended(job)]
    names = {("Job", str(job["metadata"]["name"])) for job in active}
    missing = [each for each in missing_pods.explain_uncreated(world) if _is_of(each, str(meta["namespace"]), names)]
    facts = [fact for each in missing for fact in each.facts]
    if active and spec.get("concurrencyPolicy") == "Forbid":
        facts.append(note("ForbidsSecond", owner=meta["name"], job=active[0]["metadata"]["name"]))
        waiting = [pod for pod in missing_pods.list_pods(world, active[0]) if not pod.ready and not pod.terminal]
        facts += [_describe_unready(world, pod) for pod in waiting[:SHOWN]]
    elif message := missing_pods.predict_job(world, manifest):
        facts.append(note("JobIsRefused", owner=meta["name"], message=message.rstrip(". ")))
        done = [job["metadata"]["name"] for job in missing_pods.list_jobs(world, manifest) if has_ended(job)]
        if done and "count/jobs" in message:
            limit = spec.get("successfulJobsHistoryLimit", 3)
            facts.append(note("JobsUseQuota", owner=meta["name"], names=done[:SHOWN], count=len(done), limit=limit))
    else:
        facts += _list_missed_starts(world, Owner.of(manifest), active)
    for event in index_events(world).get(("CronJob", str(meta["namespace"]), meta["name"]), {}).values():
        refusals = [
            str(fact.values["message"]).partition(" is forbidden: ")[2] for fact in facts if fact.code == "JobIsRefused"
        ]
        if event.type == WARNING and not any(text and text in event.message for text in refusals):
            said = {"reason": event.reason, "message": event.message.rstrip(". ")}
            facts.append(note("ConditionOf", kind="CronJob", name=meta["name"], **said))
    stuck = missing or any(fact.code in STICKING or fact.code == "ForbidsSecond" for fact in facts)
    state = State.STUCK if stuck else State.AS_WANTED
    return Explanation(key, state, tuple(reason for each in missing for reason in each.reasons), facts=tuple(facts))


def _list_missed_starts(world: Simulation, owner: Owner, active: list[Manifest]) -> Iterator[Fact]:
    """Yield a missed start of a CronJob, the effect of its deadline, and the next start."""
    wall, last = world.store.epoch + world.now, owner.status.get("lastScheduleTime")
    deadline, text = owner.spec.get("startingDeadlineSeconds"), str(owner.spec.get("schedule"))
    try:
        schedule = schedule_of(owner)
        due = most_recent(owner, schedule, wall, deadline=False)
    except BadSchedule as error:
        yield note("BadSchedule", owner=owner.name, schedule=text, message=str(error))
        return
    since = {} if last is None else {"left": wall - parse_time(last)}
    if due.missed > 1:
        yield note("MissedStarts", owner=owner.name, count=due.missed - 1, left=wall - due.since * SECOND)
    elif since and not active:
        yield note("LastStart", owner=owner.name, schedule=text, **since)
    following = schedule.next(wall // SECOND)
    if following is None:
        yield note("NeverStarts", owner=owner.name, schedule=text)
    elif not active:
        yield note("NextStart", owner=owner.name, schedule=text, until=following * SECOND - world.store.epoch)
        if not owner.spec.get("timeZone") and text.split()[1:2] not in ([], ["*"]):
            yield note("ScheduleIsInUTC", owner=owner.name)
    if deadline is not None:
        code = "DeadlineIsShort" if deadline < SHORTEST else "SkipsLateStarts"
        yield note(code, owner=owner.name, seconds=deadline * SECOND)


def describe_conditions(manifests: Iterable[Manifest]) -> Iterator[Fact]:
    """Yield the problems that the conditions of a pod's or a workload's related objects report."""
    for each in manifests:
        for found in (each.get("status") or {}).get("conditions") or ():
            if f"{found.get('type')}={found.get('status')}" in _BAD and found.get("reason") not in _FINE:
                said = {"reason": found.get("reason") or "-", "message": str(found.get("message") or "").rstrip(". ")}
                yield note("ConditionOf", kind=each["kind"], name=each["metadata"]["name"], **said)


def _describe_unready(world: Simulation, pod: Pod) -> Fact:
    why = describe_wait(pod)
    if why == pod.phase and (last := Past(world).find_warning(pod)) is not None:
        why = last.message
    return note("PodIsNotReady", pod=pod.key, phase=pod.phase, node=pod.node_name, why=why.rstrip(". "))


def _is_done(pod: Pod) -> bool:
    return pod.phase == "Running" and pod.ready and not pod.deleting


def _list_bare_nodes(world: Simulation, manifest: Manifest, pods: list[Pod]) -> Iterator[Fact]:
    placement, there = Placement.of(Owner.of(manifest)), {pod.node_name for pod in pods}
    wanted = [node.name for node in world.store.nodes() if placement.on(node)[0]]
    targets = {str(pod.manifest["spec"].get("nodeName") or "") for pod in pods} | there
    bare = [name for name in wanted if name not in targets]
    for node in world.store.nodes():
        if not placement.on(node)[0] and node.name not in targets:
            taints = [str(taint) for taint in node.taints if not placement.spec.tolerates(taint)]
            code = "DaemonLeavesOut" if taints else "DaemonSelectsOthers"
            yield note(code, owner=manifest["metadata"]["name"], node=node.name, taints=taints)
            yield from list_near(str(manifest["metadata"]["name"]), placement.spec.tolerations, node.taints)
    nodes = [] if wanted else world.store.nodes()[:LOOKED_AT]
    for pair in placement.spec.node_selector.items():
        meant = ((node.name, each) for node in nodes for each in find_meant(node, *pair))
        if not any(pair in node.labels.items() for node in nodes) and (found := next(meant, None)):
            values = {"node": found[0], "key": "=".join(pair), "other": "=".join(found[1])}
            yield note("LabelWasMeant", pod=manifest["metadata"]["name"], **values)
    if bare and len(pods) < len(wanted):
        yield note("NodesWithoutPod", owner=manifest["metadata"]["name"], nodes=bare[:SHOWN], count=len(bare))


def explain_unborn(world: Simulation, key: str) -> Explanation | None:
    """Explain a StatefulSet's pod that does not exist yet, by its future name."""
    namespace, _, name = key.partition("/")
    owner, ordinal = parent_and_ordinal(name)
    manifest = world.store.get("StatefulSet", namespace, owner) if ordinal >= 0 else None
    if manifest is None:
        return None
    wanted = ordinals(Owner.of(manifest))
    if ordinal not in wanted:
        values = {"replicas": len(wanted), "start": wanted.start if wanted else 0}
        names = [f"{owner}-{each}" for each in dict.fromkeys((*wanted[:1], *wanted[-1:]))]
        fact = note("BeyondReplicas", owner=owner, pod=key, names=names or ["-"], **values)
        return Explanation(key, State.AS_WANTED, facts=(fact,))
    whole = explain_workload(world, "StatefulSet", namespace, owner)
    assert whole is not None
    text, owned = f"StatefulSet {owner} has not created it", {"owner": {"kind": "StatefulSet", "name": owner}}
    given = GivenReason(
        State.NOT_CREATED, "", text, evidence={**owned, "missing": missing_pods.count_missing(world, manifest)}
    )
    return Explanation(key, State.NOT_CREATED, (*whole.reasons, given), whole.until, facts=whole.facts)


# Drains


def explain_node(world: Simulation, name: str) -> Explanation | None:
    """Explain why a node cannot be drained, in a drain in progress or a future one."""
    node = world.store.node(name)
    if node is None:
        return None
    drain = world.surroundings.nodes.drains.get(name)
    left = {each.key: each for each in drain.pods if not each.done or each.refusal} if drain is not None else {}
    pods = [pod for pod in world.store.pods_on(name) if drain is None or pod.key in left]
    facts = [fact for pod in pods for fact in describe_budgets(world, pod)]
    failed = drain is not None and bool(drain.outcome or any(each.refusal for each in left.values()))
    if drain is not None and failed:
        refused = [each.key for each in left.values() if each.refusal] or list(left)
        facts.insert(
            0, note("DrainStuck", node=name, pods=refused[:SHOWN], count=len(refused), over=drain.ended is not None)
        )
    ending = [pod for pod in pods if pod.deleting and end_of(world, pod) is None]
    if ending:
        facts.append(note("DrainWaitsFor", node=name, pods=[pod.key for pod in ending[:SHOWN]], count=len(ending)))
    facts += [fact for pod in pods if failed or pod in ending for fact in describe_end(world, pod)]
    text = "" if drain is None else drain.outcome or next((each.refusal for each in left.values() if each.refusal), "")
    reasons = (GivenReason(State.STUCK, "", text, (name,), 1),) if failed else ()
    blocked = failed or bool(facts and node.unschedulable)
    facts += (unwell := list(describe_conditions([node.manifest])))
    for flag, kept in list_wanted_flags(world, name).items() if drain is None or drain.ended is not None else ():
        if flag in _LOSSES:
            facts.append(note(_LOSSES[flag], node=name, pods=[pod.key for pod in kept[:SHOWN]], count=len(kept)))
    state = State.STUCK if blocked or unwell else State.AS_WANTED
    return Explanation(f"{NODE}/{name}", state, reasons, node=name, facts=tuple(facts))


def describe_budgets(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield why budgets do not allow a pod's eviction: several cover the pod, or one allows no disruption."""
    if pod.deleting or pod.phase in ("Succeeded", "Failed", "Pending"):
        return
    budgets = budgets_for(world.api, pod)
    if len(budgets) > 1:
        yield note("SeveralBudgets", pod=pod.key, budgets=[each["metadata"]["name"] for each in budgets])
        return
    for budget in budgets:
        spec, status = budget.get("spec") or {}, budget.get("status") or predict_status(world.store, budget)
        desired, healthy = int(status.get("desiredHealthy") or 0), int(status.get("currentHealthy") or 0)
        if status.get("disruptionsAllowed"):
            continue
        policy = str(spec.get("unhealthyPodEvictionPolicy") or _IF_HEALTHY)
        if (by := controller_of(budget)) is not None:
            names = {"kind": by.get("kind"), "owner": by.get("name")}
            yield note("BudgetIsOf", budget=budget["metadata"]["name"], **names)
        values = {"pod": pod.key, "budget": budget["metadata"]["name"], "healthy": healthy}
        values |= {"desired": desired, "policy": policy}
        lacking = pod.ready and int(status.get("expectedPods") or 0) > healthy
        others = (p for p in world.store.pods() if lacking and p.namespace == pod.namespace and not p.terminal)
        mine = LabelSelector.of(spec.get("selector"))
        rest = [p for p in others if mine.matches(p.labels) and not p.ready and not p.deleting]
        if rest:
            missed = [f"{each.key.partition('/')[2]} ({describe_wait(each)})" for each in rest[:SHOWN]]
            yield note("BudgetMisses", budget=values["budget"], missed=missed)
        failed = next((c for c in status.get("conditions") or () if c.get("reason") == "SyncFailed"), None)
        if failed is not None and failed.get("status") == "False":
            yield note("BudgetIsNotCounted", **values, message=str(failed.get("message") or "").rstrip(". "))
        elif pod.ready:
            yield note("BudgetAllowsNone", **values)
        elif policy != _ALWAYS and healthy < desired:
            yield note("BudgetKeepsUnready", **values)
