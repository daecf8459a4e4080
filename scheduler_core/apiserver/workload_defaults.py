"""Defaults of workloads: in their specs, and in their pod templates.

kube: pkg/apis/{apps,batch,core}/v1/defaults.go @ v1.34.1
"""

from collections.abc import Callable, Mapping
from functools import partial

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.object_defaults import with_template_defaults
from scheduler_core.apiserver.rewriting import fill

MAX_INT32 = 2**31 - 1
_fill_missing = partial(fill, unset=(None, ""))
_CONTROLLER_UID = "batch.kubernetes.io/controller-uid"


def apply_workload_defaults(manifest: Manifest) -> Manifest:
    """Return a workload with its defaults; other objects and complete workloads are returned unchanged."""
    default = _DEFAULTS.get(str(manifest.get("kind")))
    if default is None:
        return manifest
    spec = manifest.get("spec") or {}
    full = with_template_defaults(default(spec))
    filled = manifest if full == spec else {**manifest, "spec": full}
    if manifest["kind"] not in ("Job", "ReplicationController"):
        return filled
    meta = filled["metadata"]
    labels = ((filled["spec"].get("template") or {}).get("metadata") or {}).get("labels")
    labelled = {**filled, "metadata": {**meta, "labels": labels}} if labels and not meta.get("labels") else filled
    return _selecting(labelled) if manifest["kind"] == "Job" else labelled


def _selecting(job: Manifest) -> Manifest:
    """Return a Job that selects its pods by its uid, unless manualSelector is set or it has no uid yet.

    kube: pkg/registry/batch/job/strategy.go (generateSelector)
    """
    meta, spec = job["metadata"], job["spec"]
    if spec["manualSelector"] or not meta.get("uid"):
        return job
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    own = dict.fromkeys(("job-name", "batch.kubernetes.io/job-name"), meta.get("name") or "")
    own |= {"controller-uid": meta["uid"], _CONTROLLER_UID: meta["uid"]}
    marked = {**(template.get("metadata") or {}), "labels": {**own, **labels}}
    selector = spec.get("selector") or {}
    matched = {_CONTROLLER_UID: meta["uid"], **(selector.get("matchLabels") or {})}
    full = {**spec, "selector": {**selector, "matchLabels": matched}, "template": {**template, "metadata": marked}}
    # In Go, labels from the template are the template's map itself, including the added labels.
    named = (
        {**meta, "labels": marked["labels"]}
        if labels and meta.get("labels") == labels and not meta.get("generateName")
        else meta
    )
    return job if full == spec else {**job, "metadata": named, "spec": full}


def _deployment(spec: Manifest) -> Manifest:
    strategy = dict(spec.get("strategy") or {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        strategy["rollingUpdate"] = _fill_missing(rolling, maxUnavailable="25%", maxSurge="25%")
    full = _fill_missing(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    return {**full, "strategy": strategy}


def _replica_set(spec: Manifest) -> Manifest:
    return _fill_missing(spec, replicas=1)


def _replication_controller(spec: Manifest) -> Manifest:
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    full = _fill_missing(spec, replicas=1)
    return {**full, "selector": labels} if labels and not spec.get("selector") else full


def _stateful_set(spec: Manifest) -> Manifest:
    strategy = dict(spec.get("updateStrategy") or {})
    if not strategy.get("type"):
        strategy = {"rollingUpdate": {}, **strategy, "type": "RollingUpdate"}
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        strategy["rollingUpdate"] = _fill_missing(strategy["rollingUpdate"], partition=0)
    kept = _fill_missing(
        spec.get("persistentVolumeClaimRetentionPolicy") or {}, whenDeleted="Retain", whenScaled="Retain"
    )
    full = _fill_missing(spec, podManagementPolicy="OrderedReady", replicas=1, revisionHistoryLimit=10)
    return {**full, "updateStrategy": strategy, "persistentVolumeClaimRetentionPolicy": kept}


def _daemon_set(spec: Manifest) -> Manifest:
    strategy = dict(spec.get("updateStrategy") or {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = _fill_missing(strategy.get("rollingUpdate") or {}, maxUnavailable=1, maxSurge=0)
    return {**_fill_missing(spec, revisionHistoryLimit=10), "updateStrategy": strategy}


def _job(spec: Manifest) -> Manifest:
    full = dict(spec)
    if full.get("completions") is None and full.get("parallelism") is None:
        full["completions"] = 1
    policy = full.get("podFailurePolicy")
    empty = {name: "" for name in ("completionMode", "podReplacementPolicy") if full.get(name) == ""}
    filled = _fill_missing(
        full,
        parallelism=1,
        backoffLimit=6 if full.get("backoffLimitPerIndex") is None else MAX_INT32,
        completionMode="NonIndexed",
        suspend=False,
        podReplacementPolicy="TerminatingOrFailed" if policy is None else "Failed",
        manualSelector=False,
    )
    full = {**filled, **empty}  # validation refuses the empty ones
    if policy is not None:
        full["podFailurePolicy"] = {**policy, "rules": [_rule(rule) for rule in policy.get("rules") or ()]}
    return full


def _rule(rule: Manifest) -> Manifest:
    """Return a rule of a podFailurePolicy with the default status of its conditions."""
    patterns = rule.get("onPodConditions")
    return {**rule, "onPodConditions": [_fill_missing(one, status="True") for one in patterns]} if patterns else rule


def _cron_job(spec: Manifest) -> Manifest:
    jobs = spec.get("jobTemplate") or {}
    full = with_template_defaults(jobs.get("spec") or {})
    return _fill_missing(
        spec if full == jobs.get("spec") else {**spec, "jobTemplate": {**jobs, "spec": full}},
        concurrencyPolicy="Allow",
        suspend=False,
        successfulJobsHistoryLimit=3,
        failedJobsHistoryLimit=1,
    )


_DEFAULTS: Mapping[str, Callable[[Manifest], Manifest]] = {
    "Deployment": _deployment,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replication_controller,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Job": _job,
    "CronJob": _cron_job,
}
WORKLOADS = tuple(_DEFAULTS)
