"""A sound object with one part replaced by anything is accepted or refused, as a whole or as a patch, and breaks nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.apiserver.imports.plan import plan_import
from scheduler_core.apiserver.imports.trial import apply
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Refused
from tests.scheduler_core.apiserver.cluster.requests import api_server, make, priority_class
from tests.scheduler_core.apiserver.shapes import ANYTHING, DEPLOYMENT, NODE, POD, places, replaced

LIMITS = {"type": "Container", "max": {"cpu": "8"}, "default": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "8"}}
QUOTA = {
    "hard": {"pods": "5", "requests.cpu": "9"},
    "scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["x"]}]},
}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "s"}
RUNTIME = {
    "handler": "h",
    "overhead": {"podFixed": {"cpu": "1m"}},
    "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "a", "operator": "Exists"}]},
}
SELECTED = {"selector": {"matchLabels": {"v": "1"}}}
TEMPLATE: dict[str, Any] = DEPLOYMENT["spec"]["template"]
ENDING = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
EXIT = {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1, 2]}}
DISRUPTED = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
JOB = {"completions": 3, "parallelism": 2, "template": ENDING}
INDEXED = {
    **JOB,
    "completionMode": "Indexed",
    "backoffLimitPerIndex": 1,
    "maxFailedIndexes": 1,
    "podFailurePolicy": {"rules": [EXIT, DISRUPTED]},
    "successPolicy": {"rules": [{"succeededIndexes": "0-1", "succeededCount": 1}]},
}
CRON = {"schedule": "*/5 * * * mon", "timeZone": "Etc/UTC", "jobTemplate": {"spec": INDEXED}}
STATEFUL = {
    **SELECTED,
    "template": TEMPLATE,
    "ordinals": {"start": 1},
    "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": CLAIM}],
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
    "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"},
}
DAEMONS = {
    **SELECTED,
    "template": TEMPLATE,
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
}
OF_TERMS = ("namespaceSelector", "namespaces", "mismatchLabelKeys")
SPREAD = [{k: v for k, v in each.items() if k not in OF_TERMS} for each in POD["spec"]["topologySpreadConstraints"]]
PLAIN_POD: dict[str, Any] = {
    **POD,
    "metadata": {**POD["metadata"], "ownerReferences": []},
    "spec": {
        **POD["spec"],
        "priority": None,
        "priorityClassName": "x",
        "runtimeClassName": "r",
        "topologySpreadConstraints": SPREAD,
        "preemptionPolicy": None,
    },
}
SOUND: tuple[dict[str, Any], ...] = (
    priority_class("x", 4, globalDefault=True),
    make("RuntimeClass", "r", api="node.k8s.io/v1", **RUNTIME),
    PLAIN_POD,
    NODE,
    DEPLOYMENT,
    make("LimitRange", "l", "default", spec={"limits": [LIMITS]}),
    make("ResourceQuota", "q", "default", spec=QUOTA, status={"hard": QUOTA["hard"], "used": {}}),
    make("PersistentVolumeClaim", "c", "default", spec=CLAIM),
    make("PersistentVolume", "v", spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/"}}),
    make("StorageClass", "s", api="storage.k8s.io/v1", provisioner="p"),
    make("PodDisruptionBudget", "b", "default", "policy/v1", spec={**SELECTED, "minAvailable": "50%"}),
    make("Namespace", "n", metadata={"annotations": {"a": "b"}}),
    make("Lease", "l", "default", "coordination.k8s.io/v1", spec={"leaseDurationSeconds": 5}),
    make("Service", "s", "default", spec={"type": "NodePort", "ports": [{"port": 1}]}),
    make("Job", "j", "default", "batch/v1", spec=JOB),
    make("Job", "i", "default", "batch/v1", spec=INDEXED),
    make("CronJob", "c", "default", "batch/v1", spec=CRON),
    make("StatefulSet", "s", "default", "apps/v1", spec=STATEFUL),
    make("DaemonSet", "d", "default", "apps/v1", spec=DAEMONS),
)  # fmt: skip
BROKEN = st.sampled_from(SOUND).flatmap(
    lambda manifest: st.builds(replaced, st.just(manifest), st.sampled_from(list(places(manifest))), ANYTHING)
)


def _sound() -> APIServer:
    plugins = ("PodNodeSelector", "PodTolerationRestriction", "ExtendedResourceToleration")
    return api_server(*SOUND, enable_admission_plugins=plugins)


@given(st.lists(BROKEN, min_size=1, max_size=3))
def test_a_broken_object_is_accepted_or_refused(manifests: list[Any]) -> None:
    api = _sound()
    planned = plan_import(api, manifests)
    assert all(bool(item.errors) == (item.action == "refused") for item in planned.items)
    apply(api, planned.accepted)
    assert all(item.action in ("unchanged", "refused", "ignored") for item in plan_import(api, planned.accepted).items)


@given(BROKEN, st.sampled_from(("merge", "strategic")), st.sampled_from(("", "status", "resize")))
def test_a_broken_patch_is_carried_out_or_refused(patch: Any, type_: str, subresource: str) -> None:
    api = _sound()
    for manifest in SOUND:
        meta = manifest["metadata"]
        namespace = "default" if manifest["kind"] in ("Pod", "Deployment") else meta.get("namespace", "")
        try:
            api.patch((manifest["kind"], namespace, meta["name"]), patch, type_, subresource)
        except Refused:
            continue


ALIKE = st.lists(
    st.builds(
        replaced,
        st.just(make("Pod", "p", "default", spec={"containers": POD["spec"]["containers"], "nodeName": "n1"})),
        st.sampled_from(
            (("metadata", "labels"), ("metadata", "annotations"), ("spec", "nodeName"), ("status",), ("extra",))
        ),
        ANYTHING,
    ),
    min_size=2,
    max_size=6,
)


@given(ALIKE)
def test_pods_that_ask_for_the_same_become_what_each_becomes_alone(pods: list[Any]) -> None:
    listed = [{**each, "metadata": {**each["metadata"], "name": f"p{i}"}} for i, each in enumerate(pods)]
    together, apart = _sound(), _sound()
    accepted = plan_import(together, listed).accepted
    assert accepted == [each for each in listed if plan_import(apart, [each]).accepted]
    apply(together, accepted)
    for each in accepted:
        apply(apart, [each])
    assert together.store.list("Pod") == apart.store.list("Pod")
